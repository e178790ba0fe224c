"""What a rule is: the rows of the table (`rules.lookup`).

A rule says how one function is differentiated.  It knows mathematics and tangents; it has never
heard of bytecode or graphs.  Internally a rule is used through two methods in *flat* form, where
primals and their derivatives are separate tuples and ``None`` is the symbolic zero:

``frule(args, dargs, kwargs) -> (out, dout)``
    `dargs[i]` is the tangent of `args[i]`, or None for zero.  `dout` likewise.

``rrule(args, fargs, kwargs) -> (out, fout, pullback)`` and ``pullback(bout) -> (bargs...)``
    `fargs[i]` is the shadow of `args[i]`: its fdata if it is identified by address, `NO_FDATA` if
    it is active but identified by value, a tuple of such for a tuple, and None if it is inactive.
    `bout` is the rdata of the output (None: zero), the result one rdata (or None) per argument.
    The pullback first restores what the call overwrote, then increments shadows in place.

Keyword arguments that a rule names among its `parameters` are moved to their positions before it
sees them (`Rule.bind`); the others stay in `kwargs`, which holds inactive values only.

A function may have several rows, told apart by the classes of the arguments; the first row whose `when`
accepts them wins, so rows stand from special to general.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adbc.chainrules.registry import BOTH, BUILT_IN, Origin, least_arguments
from adbc.records import record
from adbc.rules.effects import ANYTHING, HANDS_ON, READS, RETURNS, WRITES, Use
from adbc.rules.formulas import AnyFormula, FormulaCall
from adbc.rules.kinds import RowKind
from adbc.rules.spelling import SPELLING
from adbc.tangents import (
    NO_FDATA,
    accumulate,
    cotangent_of,
    fresh_shadow,
    fresh_tangent,
    multiply,
    project,
)
from adbc.tangents.protocol import register_tangent

__all__ = [
    "NO_KWARGS",
    "NUMBERS",
    "ArrayLike",
    "Halves",
    "Known",
    "Overlay",
    "Primitive",
    "PureRule",
    "Rule",
    "ScalarRule",
    "TextRule",
    "ZeroRule",
]

Pullback = Callable[[Any], Sequence[Any]]
Args = Sequence[Any]
Kwargs = Mapping[str, Any]


class _NoKeywords(dict[str, Any]):
    """No arguments by keyword.  As a constant of code it has a hash, as code has that is differentiated."""

    __slots__ = ()

    __hash__ = object.__hash__  # type: ignore[assignment]  # nothing is ever put there


NO_KWARGS: Kwargs = _NoKeywords()
register_tangent(_NoKeywords, None)
When = Callable[..., bool] | None


@record(frozen=True)
class ArrayLike:
    """What is known of an array before the program runs: of a result perhaps not the number of axes."""

    dtype: str
    ndim: int | None


@record(frozen=True)
class Known:
    """A value that is known before the program runs.

    is_exact: whether an example must have just this value, of which others have the type too otherwise.
    """

    value: Any
    is_exact: bool = False


UNKNOWN: Any = object()
"""Stands for the result of a function that has not been called yet."""


@record(frozen=True)
class Halves:
    """A rule of reverse mode in two functions, for code that calls it again and again.

    ``forwards(*args, *fargs) -> (out, fout, saved)`` and ``backwards(saved, bout) -> (bargs...)`` do what the
    rule and its pullback do, and nothing is left to fit.
    """

    count: int
    forwards: Callable[..., tuple[Any, Any, Any]]
    backwards: Callable[[Any, Any], Sequence[Any]]


class Rule:
    """A row of the table of rules: how one function is differentiated.

    function: what is differentiated (a function, a method descriptor such as ``list.append``, a class).
    when: predicate on the classes of the arguments (positional, after binding), or None for any.
    parameters: names of the leading parameters that may be active, in order, for calls by keyword.
    result: the class of the result if it follows from the classes of the arguments: a class, or a
        function from the classes to a class or None, or the name of a function from types to a type in
        `types.inference.ARRAY_RESULTS`; None if it does not.
    kind: what the row says about its function, for planning calls.
    """

    kind: RowKind = RowKind.PRIMITIVE
    origin: Origin = BUILT_IN
    """Who has declared it."""
    modes: frozenset[str] = BOTH
    """The modes that it is the rule in; in others the next row that accepts the classes is."""
    for_speed = False
    """Whether the function could as well be derived: a minimal context passes over the row."""
    inline: str | None = None
    """"load", "store" or "append" if the row says what reading, writing or adding one slot of a container
    means, so that builders may write that inline where they know that the slot holds one number;
    "item" if it reads one element of an array by its place.
    "update" if the function adds to an array of numbers (`sign` 1) or subtracts from it (-1): what
    ``save(u, fu, active)`` gives before is then restored.  None if there is nothing to write inline."""

    save: Callable[..., Any] | None = None
    """save(u, fu, active): what is needed to put back all of the array `u`, which is about to be changed in
    place, by active values or not; raises if it may not be."""
    save_part: Callable[..., Any] | None = None
    """save_part(u, fu, index, fv): the same of ``u[index]``, a view, which is about to be overwritten by
    values with shadow `fv`."""
    write_tangent: Callable[..., Any] | None = None
    """write_tangent(u, du, index, dv): does to the tangent of `u` what ``u[index] = v`` does to `u`."""
    update_tangent: Callable[..., Any] | None = None
    """update_tangent(u, du, dv): does to the tangent of `u` what the function does to `u`, given `v`."""
    halves: Sequence[Halves] = ()
    """By number of arguments, the rule of reverse mode in two halves."""
    leading: int = 0
    """How many of the first arguments `when` has to be asked about: if it does not accept these alone, it
    does not with others behind them.  0: all."""
    asks_rest = False
    """Whether the others have a say where it accepts the first."""
    consuming: tuple[Callable[..., Any], int] | None = None
    """The body that stands in for the function, and which argument it iterates over, and does nothing else
    with; None if there is none."""
    inside: Callable[..., Any] | None = None
    """A function in Python that computes the same and has the same derivative: it stands in for the
    function in derivatives that are differentiated themselves.  For rows of one mode."""
    is_apart: bool = False
    """Whether the function belongs to the machinery that differentiates: it is called as it is, whatever it
    is given, and what it gives is a constant or has its derivative by its address."""

    puts_in_step = False
    """Whether the function, which stands apart too, changes memory and gives the objects in which it has done
    so, each with what stood there, and what puts back the rest: shadows are brought in step."""

    is_drawn = False
    """Whether a call of which no argument has a derivative is made as it is, and gives a constant: what it
    changes is out of sight."""

    is_late: bool = False
    """Whether it is decided when the function is called which of its rows makes the call, as what this one
    makes is not made in C: iterators like those of `zip`, of any number of arguments."""

    sample: Callable[..., Any] | None = None
    """A function that finds out by example what the function of the rule returns for arguments described by
    `ArrayLike`, `Known` and classes (`rules.numpy.sampling`).  None if it may not be called for that: it
    has effects, or its result does not follow from the types of its arguments."""

    joined: Callable[..., Any] | None = None
    """A function with the same result that takes the elements of the first argument, a tuple or list, one by
    one, and the other arguments by name (`joined_names`); it has a row too."""
    joined_names: Sequence[str] = ()
    joined_array: Callable[..., Any] | None = None
    """What makes an array of an element of the display that is a list or a tuple, as `function` does."""
    joined_shape = False
    """Whether `joined` takes the elements of nested displays, and their shape as ``shape=``."""
    elements: Any = None
    """How the function, which takes sequences of numbers, is one of their elements (`rules.elements`)."""
    splits: Sequence[Callable[..., Any]] = ()
    """Functions of the same arguments that give the elements of the tuple which the function gives for real
    numbers, one each, the first of them with its errors.  They have rows too."""
    whole: Callable[..., Any] | None = None
    """The function that takes sequences, if the function takes their elements (`rules.elements`)."""
    makes_arrays = False
    """Whether the result is an array though none of the arguments need be."""
    follows_first = False
    """Whether the frule gives an array as result a tangent, and not None, if its first argument has one."""

    mirrored = False
    """Whether the tangent of the result is what the function makes of the tangents of its lists, where all of
    them have one: all other arguments are ints, and slices of ints."""

    of_text = False
    """Whether the result is text that says what the arguments are, or a number that is read from text: such
    text is remembered, for its numbers have lost their derivative (`runtime.calls.texts`)."""

    stops = False
    """Whether the result is the one argument, as a constant."""

    takes_result = False
    """Whether `frule` and `rrule` take the result as a further argument, where the function has been called
    on arguments by position by somebody else: what it warns of names its caller."""

    is_step = False
    """Whether the derivative is zero because the function rounds, which it does not do to large numbers."""

    def limit(self, given: Sequence[Any]) -> float | None:
        """The size of the result of a step from which on nothing is rounded in a call with `given` arguments,
        `UNKNOWN` for what is known only later; None if that decides it.  The method `complain` then says so.
        """
        return None

    is_checked = False
    """Whether calls with arguments of which a part has a derivative, and an address, are made by `frule` and
    `rrule` though the derivative is zero: these look at what becomes of the arguments."""

    converts: slice | None = None
    """The arguments by position from which numbers or arrays are made if they are text, or hold text; None if
    that is an error."""

    meets_text: bool
    """Whether calls by the row have to be looked at if text was made from numbers with a derivative."""

    takes_values = 0
    """For how many of the first arguments the rrule may be given `NO_FDATA` as shadow if they are arrays: it
    only reads them, keeps nothing of them in its result, and its pullback returns their cotangents."""
    together: Callable[..., Any] | None = None
    """A function that gives the cotangents of all arrays at once (`FormulaCall.together`), or None."""
    formulas: Sequence[AnyFormula] | None = None
    """For each argument what builders write inline for arrays of real numbers (`rules.formulas`), or None."""

    effects: Sequence[Use] | None = None
    """For each argument what the function does with its memory, the last for all others; None: what `uses`
    concludes from the other attributes of the row."""

    by_hand: Sequence[Callable[..., Any]] = ()
    """The rules that were written by hand, which get what is left by keyword as their third argument."""
    drops_keywords: bool | None = None
    """Whether one of these never looks at that; None if nobody has asked yet (`types.keywords`)."""

    mutates = False
    """Whether the function changes an argument.  The rule must be used even where nothing is active, because
    its pullback also restores what was overwritten."""

    keeps_books: Callable[[Args], bool] | None = None
    """Says by the arguments whether the rule keeps books of the call that is under way, so that no other
    level may follow it; where it does not, other levels make the call as it is."""

    def direct(self, count: int, keywords: Sequence[str]) -> Callable[..., Any] | None:
        """A function that gives the same in less time for calls with `count` arguments, the first an array of
        NumPy's own class; None if there is none.  It has a row too, with the same derivative."""
        return None

    moves: str | None = None
    """How the function gives a view of its first argument if all others are ints (and tuples of such):
    "reshape" if the elements keep their order, "transpose" if it permutes the axes, and reverses their order
    when it is called without other arguments.  None if it does neither."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        when: When = None,
        parameters: Sequence[str] | None = None,
        result: Any = None,
    ) -> None:
        self.function = function
        self.when = when
        self.parameters = tuple(parameters or ())
        self.result = result
        self.meets_text = self.of_text or function in SPELLING

    def accepts(self, classes: Sequence[type]) -> bool:
        """Whether the row is for calls whose arguments by position are of these classes."""
        return self.when is None or (len(classes) >= least_arguments(self.when) and bool(self.when(*classes)))

    def accepts_leading(self, classes: Sequence[type]) -> bool | None:
        """Whether the row is for calls whose first arguments are of these `classes`, whatever follows them;
        None if that has a say."""
        if self.when is None:
            return True
        if not 0 < self.leading <= len(classes):
            return None
        return bool(self.when(*classes[: self.leading])) and (None if self.asks_rest else True)

    def bind(self, args: Args, kwargs: Kwargs) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """`args` and `kwargs`, the keywords that directly follow `args` in `parameters` made positional."""
        if not kwargs or not self.parameters:
            return tuple(args), dict(kwargs)
        bound, rest = list(args), dict(kwargs)
        for name in self.parameters[len(args) :]:
            if name not in rest:
                break
            bound.append(rest.pop(name))
        return tuple(bound), rest

    def formula_call(
        self, count: int, keywords: Sequence[str], is_complex: bool = False
    ) -> FormulaCall | None:
        """The formulas for a call with `count` arguments, the last of them by keyword; None if the call is
        not differentiated by formulas alone.  is_complex: whether some of the numbers are not real."""
        if self.formulas is None or is_complex or keywords or count != len(self.formulas):
            return None
        return FormulaCall(tuple(self.formulas), tuple(range(count)), together=self.together)

    def halves_of(self, count: int) -> Halves | None:
        """The halves of the rule for calls with `count` arguments by position."""
        return next((halves for halves in self.halves if halves.count == count), None)

    def at_site(self) -> Rule:
        """The row for one call in written code: itself, unless its rules keep something for that call."""
        return self

    def is_pure(self, count: int, keywords: Sequence[str]) -> bool:
        """Whether a call with `count` arguments has no effects, and a result that is new."""
        return self.kind in (RowKind.SCALAR, RowKind.PURE)

    def numeric(self, count: int) -> Sequence[int]:
        """Which of `count` positional arguments are numbers to compute with where they are ints, and not
        lengths, axes or places: what the function returns may be of another class for large ones."""
        return ()

    def uncovered(self, count: int) -> Sequence[int]:
        """The places of those of `count` positional arguments by which the rule has no derivative, and which
        it refuses if they have one."""
        return ()

    def is_zero(self, count: int, keywords: Sequence[str]) -> bool:
        """Whether a call with `count` arguments has the derivative zero, and writes into none of them."""
        return self.kind is RowKind.ZERO

    def is_inline(self, count: int, keywords: Sequence[str]) -> bool:
        """Whether the partial derivatives of a scalar rule are all that a call with `count` numbers needs."""
        return not keywords

    def uses(self, count: int, keywords: Sequence[str]) -> Sequence[Use]:
        """What a call does with the memory of each of its `count` arguments; those by keyword are last."""
        if self.effects is not None:
            return [self.effects[min(i, len(self.effects) - 1)] for i in range(count)]
        first = WRITES | RETURNS | HANDS_ON if self.mutates else RETURNS | HANDS_ON
        if self.kind is RowKind.SCALAR:
            first = READS
        by_position = count - len(keywords)
        found = [READS if i < min(self.takes_values, by_position) else ANYTHING for i in range(count)]
        if found and (self.mutates or found[0] is ANYTHING):
            found[0] = first
        return found

    def tangent_call(self, count: int, keywords: Sequence[str]) -> FormulaCall | None:
        """The formulas for the tangent of a call with `count` arguments: each takes the tangent of its array
        where the formulas of `formula_call` take the cotangent of the result.  None if there are none."""
        return None

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        raise NotImplementedError

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {getattr(self.function, '__qualname__', self.function)}>"


class ZeroRule(Rule):
    """The rule of a function whose derivative is zero: its output does not depend smoothly on the arguments.

    The output must not alias an argument.  A mutable output is newly made and gets a zero shadow, so
    that active values written into it later have a shadow to go with.
    """

    kind = RowKind.ZERO

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        out = self.function(*args, **kwargs)
        return out, fresh_tangent(out)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        out = self.function(*args, **kwargs)
        nothing = (None,) * len(args)
        return out, fresh_shadow(out, active=False), lambda bout: nothing


class TextRule(ZeroRule):
    """The rule of a function that makes text, or reads numbers from it: the derivative is zero, and what is
    made from a number with a derivative must not be read again as a constant."""

    of_text = True


class ScalarRule(Rule):
    """The rule of a function of numbers, given by its partial derivatives.

    `partials` holds one function per leading argument, None where the derivative is zero:
    ``partials[i](out, *args)`` is the derivative by argument `i`.  Each is plain Python that adbc
    can lift, and mostly a single expression, so that builders inline it where the arguments are
    proved to be real; only those of active arguments are evaluated.  The function is holomorphic in
    complex arguments; the cotangent of an argument is ``conj(partial) * bout``, its real part if the
    argument is real.
    """

    kind = RowKind.SCALAR
    takes_result = True
    is_of_floats = True
    """Whether an argument of unknown type is likely to be a float."""
    is_quotient = False
    """Whether all partial derivatives have one divisor, and their sum is divided by it once."""
    is_looked_at = False
    """Whether what the partial derivatives give is checked: a user has written them."""

    def __init__(
        self,
        function: Callable[..., Any],
        partials: Sequence[Callable[..., Any] | None],
        **options: Any,
    ) -> None:
        super().__init__(function, **options)
        self.partials = tuple(partials)

    def check_of(self, index: int) -> Callable[[Any, Any, Any], Any]:
        """What builders write behind partial derivative `index`, of a rule that `is_looked_at`, where they
        cannot prove that it gives a real number: ``check(derivative, result, argument)`` is that number."""
        raise NotImplementedError

    def frule(
        self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN
    ) -> tuple[Any, Any]:
        if out is UNKNOWN:
            out = self.function(*args, **kwargs)
        dout = None
        for partial, dx in zip(self.partials, dargs, strict=False):
            if partial is not None and dx is not None:
                p = partial(out, *args)
                term = multiply(p, dx)
                dout = term if dout is None else dout + term
        if dout is None or (dout.__class__ is float and type(out) is float):
            return out, dout
        return out, project(dout, out)

    def rrule(
        self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN
    ) -> tuple[Any, Any, Pullback]:
        if out is UNKNOWN:
            out = self.function(*args, **kwargs)
        if len(args) == 2 and len(self.partials) == 2:
            return self._rrule_of_two(out, args, fargs)
        active = [
            i
            for i, (partial, f) in enumerate(zip(self.partials, fargs, strict=False))
            if partial is not None and f is not None
        ]
        if type(out) in NUMBERS:
            fout = NO_FDATA if active else None
        else:
            fout = fresh_shadow(out, active=bool(active))

        def scalar_pullback(bout: Any) -> Sequence[Any]:
            result: list[Any] = [None] * len(args)
            by = bout if fout is NO_FDATA else cotangent_of(fout, bout)
            if by is not None:
                for i in active:
                    result[i] = _term(self.partials[i](out, *args), by, fargs[i], args[i])  # type: ignore[misc]  # not None
            return result

        return out, fout, scalar_pullback

    def _rrule_of_two(self, out: Any, args: Args, fargs: Args) -> tuple[Any, Any, Pullback]:
        """The `rrule` for two arguments: the operators of Python come here whenever types are not known."""
        x, y = args
        fx, fy = fargs
        by_x, by_y = self.partials
        if fx is None:
            by_x = None
        if fy is None:
            by_y = None
        active = by_x is not None or by_y is not None
        if type(out) in NUMBERS:
            fout = NO_FDATA if active else None
        else:
            fout = fresh_shadow(out, active)

        def pullback_of_two(bout: Any) -> Sequence[Any]:
            by = bout if fout is NO_FDATA else cotangent_of(fout, bout)
            if by is None:
                return None, None
            return (
                None if by_x is None else _term(by_x(out, x, y), by, fx, x),
                None if by_y is None else _term(by_y(out, x, y), by, fy, y),
            )

        return out, fout, pullback_of_two


def _term(partial: Any, by: Any, f: Any, x: Any) -> Any:
    """The rdata of argument `x`, whose shadow is `f`: of the derivative by `x` times `by`, the cotangent of
    the result."""
    if type(partial) is float and type(by) is float and type(x) is float:
        product = partial * by
        return product if product == product else multiply(partial, by)
    if f is NO_FDATA and {partial.__class__, by.__class__, type(x)} <= _OF_PYTHON:
        product = partial.conjugate() * by
        if product != product and not (partial and by):
            product = 0.0  # as in `multiply`
        return product.real if type(x) is float else complex(product)
    if f is NO_FDATA and {partial.__class__, by.__class__, type(x)} <= NUMBERS:
        return _product_of_numbers(partial, by, isinstance(x, float))
    return accumulate(f, x, multiply(_conjugate(partial), by))


_OF_PYTHON: frozenset[Any] = frozenset({float, complex})
"""Classes of Python's numbers that need no fitting but that the real part is taken."""
NUMBERS: set[Any] = {float, complex}
"""These, and NumPy's of as many bits once its rules are loaded: no shadow of theirs has memory."""


def _product_of_numbers(partial: Any, by: Any, is_real: bool) -> Any:
    """The rdata of an argument, which `is_real`, of the derivative by it times `by`, where one of these is a
    number of NumPy's: Python's arithmetic takes a fraction of the time, and warns of nothing."""
    if isinstance(partial, float) and isinstance(by, float):
        product = multiply(float(partial), float(by))
        return product if is_real else complex(product)
    whole = multiply(complex(partial).conjugate(), complex(by))
    return whole.real if is_real else whole


def _conjugate(x: Any) -> Any:
    conjugate = getattr(x, "conjugate", None)
    return x if conjugate is None else conjugate()


class PureRule(Rule):
    """The rule of a function without side effects whose result is new memory (or numbers).

    `jvp` and `vjp` hold one function per leading argument, None where there is no derivative:
    ``jvp[i](dx, out, *args)`` is the part of `dout` that comes from argument `i`, and
    ``vjp[i](bout, out, *args)`` the cotangent of argument `i`.  Results are projected to the space
    of the argument (`project`: broadcasting undone, dtype kept, real part taken), so formulas may
    ignore broadcasting.  Formulas must not keep or change what they are given.
    """

    kind = RowKind.PURE

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        jvp: Sequence[Callable[..., Any] | None],
        vjp: Sequence[Callable[..., Any] | None],
        **options: Any,
    ) -> None:
        super().__init__(function, **options)
        self.jvp = tuple(jvp)
        self.vjp = tuple(vjp)

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        out = self.function(*args, **kwargs)
        dout = None
        for jvp, dx in zip(self.jvp, dargs, strict=False):
            if jvp is not None and dx is not None:
                term = jvp(dx, out, *args, **kwargs)
                dout = term if dout is None else dout + term
        return out, fresh_tangent(out) if dout is None else project(dout, out, fresh=True)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        out = self.function(*args, **kwargs)
        fout = fresh_shadow(out, active=any(f is not None for f in fargs))

        def pure_pullback(bout: Any) -> Sequence[Any]:
            by = cotangent_of(fout, bout)
            result: list[Any] = [None] * len(args)
            if by is not None:
                for i, vjp in enumerate(self.vjp[: len(args)]):
                    if vjp is not None and fargs[i] is not None:
                        result[i] = accumulate(fargs[i], args[i], vjp(by, out, *args, **kwargs))
            return result

        return out, fout, pure_pullback


class Primitive(Rule):
    """A rule written by hand in flat form: views, mutation, containers.

    What its pullback returns is fitted to the arguments like all else (`tangents.accumulate`): mostly that is
    None for what has an address, whose shadow the pullback itself has incremented.

    is_fitted: whether nothing is left to fit, because the pullback does it or only moves slots of containers:
    for rows that are met at every turn of a loop.
    leading, asks_rest: `Rule.leading`.
    """

    kind = RowKind.PRIMITIVE

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        frule: Callable[[Args, Args, Kwargs], tuple[Any, Any]],
        rrule: Callable[[Args, Args, Kwargs], tuple[Any, Any, Pullback]],
        is_fitted: bool = False,
        halves: Sequence[Halves] = (),
        leading: int = 0,
        asks_rest: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(function, **options)
        self.halves, self.leading, self.asks_rest = halves, leading, asks_rest
        self.frule = frule  # type: ignore[method-assign,assignment]  # a field of this kind of row
        self.rrule = rrule if is_fitted else _fitted(rrule)  # type: ignore[method-assign,assignment]
        self.by_hand = frule, rrule


def _fitted(rrule: Callable[[Args, Args, Kwargs], tuple[Any, Any, Pullback]]) -> Callable[..., Any]:
    """The reverse rule `rrule` with what its pullbacks return fitted to the arguments."""

    def fitted(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        out, fout, pullback = rrule(args, fargs, kwargs)

        def fitted_pullback(bout: Any) -> Sequence[Any]:
            returned = pullback(bout)
            for r, f in zip(returned, fargs):  # noqa: B905  # called often
                if r is not None and (f is not NO_FDATA or r.__class__ is not float):
                    return tuple(map(accumulate, fargs, args, returned))
            return returned

        return out, fout, fitted_pullback

    return fitted


class Overlay(Rule):
    """The rule of a function in C that a Python body stands in for: the body is differentiated instead.

    only_active: where nothing with a derivative is reached, by what the function calls either, it is called
    as it is.  consumes: which argument the function iterates over, as the body does, and nothing else.
    """

    kind = RowKind.OVERLAY

    def __init__(
        self,
        function: Callable[..., Any],
        body: Callable[..., Any],
        only_active: bool = False,
        consumes: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(function, **options)
        self.body = body
        self.only_active = only_active
        self.consuming = None if consumes is None else (body, consumes)
        flags = getattr(getattr(body, "__code__", None), "co_flags", 0)
        self.is_late = only_active or (isinstance(function, type) and bool(flags & inspect.CO_VARARGS))
