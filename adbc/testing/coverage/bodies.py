"""Functions in Python that stand in for those of libraries, made wrong on purpose.

The row of an overlay has no formulas: its derivative is that of a body in Python, and of what the body
calls.  So the text of these functions is changed, one expression after the other: a sum gets the other sign
or loses a term, a product or a result becomes a hundredth more, a sign or a transposition is left out.  Which
functions are differentiated in a call is seen when it is, for most rows are of functions that no public name
stands for.
"""

from __future__ import annotations
import __future__

import ast
import copy
import dataclasses
import functools
import gc
import inspect
import textwrap
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from adbc.errors import AdbcError
from adbc.testing.coverage.cases import Case
from adbc.testing.coverage.judge import judge
from adbc.testing.coverage.met import HOME, Met, derive_anew
from adbc.testing.coverage.tables.survivors import SURVIVORS

__all__ = ["BodyMutation", "mutations_in", "survey_of_bodies", "wrong"]


@dataclasses.dataclass(frozen=True)
class BodyMutation:
    """A way in which a function is made wrong.

    entry: the function.  what: what is wrong, as text.  codes: the wrong code objects of the function and of
    those inside, by what stands there without the mutation.
    """

    entry: str
    what: str
    codes: dict[types.CodeType, types.CodeType]

    @property
    def name(self) -> str:
        return f"{self.entry}: {self.what}"


@functools.cache
def _by_code() -> dict[types.CodeType, list[types.FunctionType]]:
    """The functions of rules that there are, by their code."""
    found: dict[types.CodeType, list[types.FunctionType]] = {}
    for f in gc.get_objects():
        if type(f) is types.FunctionType and str(f.__module__).startswith(HOME):
            found.setdefault(f.__code__, []).append(f)
    return found


# -- how they are made wrong ------------------------------------------------------------------------------


def mutations_in(function: types.FunctionType) -> Iterator[BodyMutation]:
    """The mutations of a function, a line of which is given with what is wrong in it."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(text)
    except (OSError, SyntaxError):
        return
    name = f"{function.__module__}.{function.__qualname__}"
    seen: dict[str, int] = {}
    for number, node in enumerate(_expressions(tree)):
        for said, change in _ways(node):
            wrong_tree = copy.deepcopy(tree)
            place = _expressions(wrong_tree)[number]
            made = change(place)
            _Put(place, made).visit(wrong_tree)
            what = f"{ast.unparse(node)[:60]}, {said}"
            seen[what] = seen.get(what, 0) + 1
            codes = _codes(function, wrong_tree)
            if codes is not None:
                yield BodyMutation(name, what if seen[what] == 1 else f"{what} ({seen[what]})", codes)


class _Put(ast.NodeTransformer):
    def __init__(self, place: ast.AST, made: ast.AST) -> None:
        self.place, self.made = place, made

    def visit(self, node: ast.AST) -> Any:
        return ast.copy_location(self.made, node) if node is self.place else super().visit(node)


def _expressions(tree: ast.AST) -> list[ast.expr]:
    """What may be made wrong: neither what is said of errors, nor conditions, places and defaults."""
    found: list[ast.expr] = []
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.arguments):
            continue
        if isinstance(node, ast.expr) and (isinstance(node, _FORMS) or _turned(node) is not None):
            found.append(node)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Call | ast.Subscript):
            found.append(node.value)
        skipped: list[Any] = [
            getattr(node, field, None)
            for field in ("slice", "test", "returns", "annotation", "decorator_list")
        ]
        pending += [child for child in ast.iter_child_nodes(node) if not any(child is s for s in skipped)]
    return [node for i, node in enumerate(found) if not any(node is other for other in found[:i])]


_FORMS = (ast.BinOp, ast.UnaryOp)
_TURNING = ("adjoint", "transpose", "swapaxes", "moveaxis", "conj", "conjugate")


def _turned(node: ast.AST) -> ast.expr | None:
    """What is transposed or conjugated in an expression that does just that."""
    if isinstance(node, ast.Attribute) and node.attr == "T" and isinstance(node.ctx, ast.Load):
        return node.value
    if isinstance(node, ast.Call) and node.args and ast.unparse(node.func).rpartition(".")[2] in _TURNING:
        return node.args[0]
    return None


Change = Callable[[Any], ast.expr]


def _ways(node: ast.expr) -> Iterator[tuple[str, Change]]:
    if isinstance(node, ast.UnaryOp):
        if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            yield "the other sign", lambda place: place.operand
        return
    if (inner := _turned(node)) is not None:
        yield "not transposed", lambda place: _turned(place) or inner
        return
    if isinstance(node, ast.BinOp):
        if _is_of_text(node):
            return
        if isinstance(node.op, ast.Add | ast.Sub):
            other: ast.operator = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
            yield "the other sign", lambda place: ast.BinOp(place.left, other, place.right)
            yield "a term dropped", lambda place: place.left
            return
        if not isinstance(node.op, ast.Mult | ast.Div | ast.MatMult | ast.Pow):
            return
    yield "a hundredth more", lambda place: ast.BinOp(ast.Constant(1.01), ast.Mult(), place)


def _is_of_text(node: ast.BinOp) -> bool:
    """Whether tuples or texts are put together."""
    sides = (node.left, node.right)
    return any(isinstance(s, ast.Tuple | ast.List | ast.JoinedStr) for s in sides) or any(
        isinstance(s, ast.Constant) and isinstance(s.value, str) for s in sides
    )


def _codes(function: types.FunctionType, tree: ast.Module) -> dict[types.CodeType, types.CodeType] | None:
    """What takes the place of the code of `function`, and of the functions inside, if its text is `tree`."""
    code = function.__code__
    (definition,) = tree.body
    definition.decorator_list = []  # type: ignore[attr-defined]  # of a function
    ast.increment_lineno(tree, code.co_firstlineno - 1)
    if code.co_freevars:
        names = ", ".join(code.co_freevars)
        outer = ast.parse(f"def outer({names}):\n    pass" if names != "__class__" else _WITH_CLASS)
        outer.body[0].body.append(definition)  # type: ignore[attr-defined]
        tree = outer
    whole = compile(
        ast.fix_missing_locations(tree), code.co_filename, "exec", dont_inherit=True, flags=_FLAGS
    )
    made = _found(whole, code)
    if made is None or made.co_freevars != code.co_freevars:
        return None
    return dict(_pairs(code, made))


_WITH_CLASS = "def outer():\n    __class__ = None"
_FLAGS = __future__.annotations.compiler_flag


def _found(whole: types.CodeType, code: types.CodeType) -> types.CodeType | None:
    for part in whole.co_consts:
        if isinstance(part, types.CodeType):
            if part.co_name == code.co_name:
                return part
            inner = _found(part, code)
            if inner is not None:
                return inner
    return None


def _pairs(old: types.CodeType, new: types.CodeType) -> Iterator[tuple[types.CodeType, types.CodeType]]:
    yield old, new
    inside = [c for c in new.co_consts if isinstance(c, types.CodeType)]
    for part in old.co_consts:
        if isinstance(part, types.CodeType):
            other = next((c for c in inside if c.co_name == part.co_name), None)
            if other is not None and other.co_freevars == part.co_freevars:
                inside.remove(other)
                yield from _pairs(part, other)


@contextmanager
def wrong(mutation: BodyMutation) -> Iterator[None]:
    """A block of code in which the functions of `mutation` are wrong, and nothing derived before is used."""
    changed = [(f, old, new) for old, new in mutation.codes.items() for f in _by_code().get(old, ())]
    for f, _, new in changed:
        f.__code__ = new
    derive_anew()
    try:
        yield
    finally:
        for f, old, _ in changed:
            f.__code__ = old
        derive_anew()


def _word(mutation: BodyMutation, cases: Sequence[Case], limit: int) -> str:
    with wrong(mutation):
        for case in cases:
            try:
                verdict = judge(case, limit)
            except AdbcError:
                return "found"
            if verdict is None or verdict.status != "right":
                return "found"
    return "listed" if mutation.name in SURVIVORS else "survives"


def survey_of_bodies(met: Met, limit: int = 20) -> Iterator[tuple[BodyMutation, str]]:
    """The mutations of all functions of rules that were `met` in calls of public functions, each "found",
    "listed" among those that cannot be, or one that "survives".  What only makes such functions is passed
    over."""
    for function, cases in met.bodies.items():
        for mutation in mutations_in(function):
            if not met.entered.isdisjoint(_changed(mutation)):
                yield mutation, _word(mutation, cases, limit)


def _changed(mutation: BodyMutation) -> Iterator[types.CodeType]:
    """The code that is wrong itself: what is around it, or inside, is as it was.  What makes rows when a
    module is loaded does not run again, so that it cannot be wrong."""
    for old, new in mutation.codes.items():
        if (old.co_code, old.co_names, _values(old)) != (new.co_code, new.co_names, _values(new)):
            yield old


def _values(code: types.CodeType) -> list[Any]:
    return [x for x in code.co_consts if not isinstance(x, types.CodeType)]
