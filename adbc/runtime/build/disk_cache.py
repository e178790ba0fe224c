"""Derived rules on disk, so that the next process need not build them again.

An entry is the code of one derived rule, its constants by name (`naming`), and everything that the builders
looked at: the code of the function and of those it calls, what names in their globals led to, classes, the
guesses of types.  All of it is compared before an entry is used, and in the name of its file there is the
interpreter, NumPy, a digest of the sources of adbc, and which of them are loaded.  What does not compare
is built and written anew.

Rules whose constants have no name are not kept: those with a function of the user's in them that no module
has, for instance, and rests of functions behind wrong guesses.  Where rules have been declared, nothing is.

Entries are code that will be run.  So the directory must belong to the user, and nobody else may be able
to write to it.
"""

from __future__ import annotations

import collections
import contextlib
import hashlib
import itertools
import marshal
import os
import pathlib
import stat
import sys
import types
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from adbc.errors import ArgumentError, VerificationError
from adbc.functions import is_function
from adbc.ir.values import Const
from adbc.runtime.build.facts import AnswerFact, CellFact, DefaultsFact, NameFact, at_home
from adbc.runtime.build.naming import Names, digest_of_code, functions_of
from adbc.runtime.build.places import Nameless
from adbc.runtime.build.sources import sources
from adbc.runtime.build.speculation import Continuation, Site
from adbc.types import AbstractType
from adbc.types.lattice import ClosureType, ConstType, Exact, TupleType

if TYPE_CHECKING:  # it is the cache of an engine
    from adbc.runtime.build.engine import Engine

__all__ = ["DiskCache", "Stored", "Unwritten"]

_MAGIC = b"adbc rule 1\n"
_numbers = itertools.count()


class Stored:
    """An entry that has been compared with the world, and is waiting to become the code of a rule."""

    def __init__(self, function: Any, result: AbstractType, content: dict[str, Any]) -> None:
        self.function = function
        self.result = result
        self.content = content


_OF_OBJECTS = frozenset({CellFact, DefaultsFact})
"""Facts about objects that the next process does not have."""


_WRITTEN = frozenset({"special", "certain", "entered", "kept", "default", "beside", "bare"})
"""The questions whose answers `facts.class_fact` finds again."""


def _is_unwritten(fact: Any) -> bool:
    """Whether `fact` is an answer that an entry has no form for."""
    return type(fact) is AnswerFact and fact.question not in _WRITTEN


class DiskCache:
    """The cache of one engine in one directory.  `counts` says how often an entry was "loaded", "stored",
    "outdated" (it did not compare) or "damaged"; `refused` says why rules were not kept."""

    def __init__(self, directory: str, engine: Engine) -> None:
        self.directory = pathlib.Path(directory)
        self.engine = engine
        self.names = Names(engine)
        self.counts: collections.Counter[str] = collections.Counter()
        self.refused: collections.Counter[str] = collections.Counter()
        _make_private(self.directory)

    # -- finding -------------------------------------------------------------------------------------------

    def _is_usable(self, function: Any) -> bool:
        engine = self.engine
        return (
            type(function) is types.FunctionType
            and not engine.table.declared
            and engine.guesses.mode == "learn"
            and isinstance(function.__globals__.get("__name__"), str)
        )

    def _path(self, code: types.CodeType, space: dict[str, Any], key: tuple[Any, ...]) -> pathlib.Path:
        parameters, active, mode = key
        types_ = tuple(map(self.names.of_type, parameters))
        whole = (
            fingerprint(), self.engine.table.pending(), self.engine.table.origins(), space["__name__"],
            digest_of_code(code), repr((types_, active, mode)),
        )  # fmt: skip
        return self.directory / f"{hashlib.sha256(repr(whole).encode()).hexdigest()}.rule"

    def load(
        self, function: Any, parameters: tuple[AbstractType, ...], active: tuple[int, ...], mode: str
    ) -> Stored | None:
        """The entry for a rule, if there is one and everything is as it was."""
        if not self._is_usable(function):
            return None
        try:
            path = self._path(function.__code__, function.__globals__, (parameters, active, mode))
        except Nameless:
            return None  # nor was it kept
        content = self._read(path)
        if content is None:
            return None
        try:
            self._compare(content, function.__globals__)
            self._compare_guesses(content, function, parameters)
            # The function may be given other code before the entry is used.
            cells = tuple(types.CellType() for _ in function.__code__.co_freevars)
            function = types.FunctionType(
                function.__code__, function.__globals__, function.__name__, None, cells or None
            )
            return Stored(function, self.names.find_type(content["result"]), content)
        except Nameless:
            self.counts["outdated"] += 1
            return None

    def _read(self, path: pathlib.Path) -> dict[str, Any] | None:
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            warnings.warn(f"adbc cannot read its cache: {error}", RuntimeWarning, stacklevel=2)
            return None
        size = len(_MAGIC)
        payload = data[size + 32 :]
        if data[:size] != _MAGIC or data[size : size + 32] != hashlib.sha256(payload).digest():
            self.counts["damaged"] += 1
            warnings.warn(
                f"{path} is damaged; the rule is built and written anew", RuntimeWarning, stacklevel=2
            )
            return None
        content: dict[str, Any] = marshal.loads(payload)
        return content

    def _compare(self, content: dict[str, Any], space: dict[str, Any]) -> None:
        """Raise `Nameless` if something that the builders looked at has changed."""
        for module, path, name in content["facts"]:
            globals_ = space if module is None else vars(self.names.find(("module", module)))
            self._same(globals_, path, name)
        for name in content["functions"]:
            self.names.find(name)

    def _same(self, space: dict[str, Any], path: tuple[str, ...], name: tuple[Any, ...]) -> Any:
        """The value that the names of `path` lead to from `space`; raises `Nameless` if it is not the one of
        `name`."""
        value, expected = _looked_up(space, path), self.names.find(name)
        if name[0] == "plain":  # a number, which is another object in every process
            is_same = type(value) is type(expected) and repr(value) == repr(expected)
        else:
            is_same = value is expected
        if not is_same:
            raise Nameless(".".join(path))
        return value

    def _compare_guesses(
        self, content: dict[str, Any], function: types.FunctionType, parameters: tuple[AbstractType, ...]
    ) -> None:
        """Raise `Nameless` if something else has been learnt at a site than what the entry was built on."""
        for number, guess, gave_up in content["sites"]:
            known = self.engine.guesses.sites.get(
                (function.__code__, id(function.__globals__), parameters, number)
            )
            expected = None if guess is None else self.names.find_type(guess)
            if known is not None and (known.guess, known.gave_up) != (expected, gave_up):
                raise Nameless("a guess of a type")

    def _site(self, rule: Any, number: int, guess: Any, gave_up: bool) -> Site:
        """The site of this number in the function of `rule`; a new one is given the guess of the entry."""
        guesses, key = self.engine.guesses, (rule.code, id(rule.globals), rule.parameters, number)
        found = guesses.sites.get(key)
        if found is None:
            found = guesses.site(key)
            found.guess = None if guess is None else self.names.find_type(guess)  # type: ignore[assignment]
            found.gave_up = gave_up
        return found

    def _rest(self, rule: Any, function: types.FunctionType, number: int, count: int) -> Continuation:
        """The rest of a function behind its call of this number, lifted only when it is needed."""
        engine, key = self.engine, (rule.code, id(rule.globals))

        def make() -> Continuation:
            with engine.lock:
                base = engine.guesses.base(rule_code, rule_globals, lambda: engine.primal(function))
            call = next(itertools.islice(base.graph.instructions(), number, None))
            rest = Continuation.behind(base, call, rule_globals, (*key, rule.parameters))
            if len(rest.live) != count:
                raise VerificationError(f"the cache of rules does not fit {function.__qualname__}: delete it")
            return rest

        rule_code, rule_globals = rule.code, rule.globals
        return Continuation.known_later(rule.code, count, rule_globals, make)

    # -- becoming code -------------------------------------------------------------------------------------

    def install(self, rule: Any, stored: Stored) -> dict[str, types.CodeType] | None:
        """Write what `rule` depends on into it, and give its code by the names of its functions; None if a
        rule that it calls is not what it was."""
        engine, names, content = self.engine, self.names, stored.content
        needs: list[Any] = []
        try:
            for function, parameters, active, mode, result in content["needs"]:
                callee = engine.entry(
                    names.find(function), tuple(map(names.find_type, parameters)), active, mode
                )
                if callee.result != names.find_type(result):
                    raise Nameless(f"the result of {callee}")
                needs.append(callee)

            sites = [self._site(rule, *site) for site in content["sites"]]
            late: dict[int, types.FunctionType] = {}

            def find(name: tuple[Any, ...]) -> Any:
                if name[0] == "rule":
                    return getattr(rule if name[1] is None else needs[name[1]], name[2])
                if name[0] == "site":
                    return sites[name[1]]
                if name[0] == "rest":
                    return self._rest(rule, stored.function, name[1], name[2])
                if name[0] == "late":
                    return late[name[1]]
                if name[0] == "nested":
                    return rule.code.co_consts[name[1]]
                return names.find(name)

            for k, code in enumerate(content["late"]):
                made = names.find_code(code, find)
                late[k] = types.FunctionType(made, rule.globals, made.co_name)
            codes = {which: names.find_code(code, find) for which, code in content["codes"].items()}
            named = [(path, self._same(rule.globals, path, name)) for path, name in content["guards"]]
            classes = [
                (names.find(cls), attribute, None if function is None else names.find(function))
                for cls, attribute, function in content["classes"]
            ]
            callees = [
                (need, names.find(name[0])) for need, name in zip(needs, content["needs"], strict=True)
            ]
        except Nameless:
            self.counts["outdated"] += 1
            return None
        if not engine.adopt_facts(rule, named, classes, callees):
            self.counts["outdated"] += 1
            return None
        rule.sites = sites
        self.counts["loaded"] += 1
        return codes

    # -- keeping -------------------------------------------------------------------------------------------

    def store(self, rule: Any) -> None:
        """Keep a rule that has just been built, if everything in it has a name."""
        if rule.function is not None or self.engine.table.declared or self.engine.guesses.mode != "learn":
            return
        try:
            content = self.content(rule)
            path = self._path(rule.code, rule.globals, (rule.parameters, rule.active, rule.mode))
        except Nameless as reason:
            self.refused[str(reason)] += 1
            return
        if self._write(path, content):
            self.counts["stored"] += 1

    def _write(self, path: pathlib.Path, content: dict[str, Any]) -> bool:
        payload = marshal.dumps(content)
        temporary = path.with_name(f"{path.stem}.{os.getpid()}.{next(_numbers)}.new")
        try:
            with open(temporary, "xb") as file:
                file.write(_MAGIC + hashlib.sha256(payload).digest() + payload)
            os.replace(temporary, path)  # at once: who reads meanwhile has the old entry or the new one
        except OSError as error:
            warnings.warn(f"adbc cannot write to its cache: {error}", RuntimeWarning, stacklevel=2)
            with contextlib.suppress(OSError):
                temporary.unlink()
            return False
        return True

    # -- which parameters are only read ------------------------------------------------------------------

    def load_reads(
        self, function: types.FunctionType, parameters: tuple[AbstractType, ...]
    ) -> tuple[bool, ...] | None:
        """What `store_reads` has kept of `function`, if everything is as it was."""
        if not self._is_usable(function):
            return None
        try:
            path = self._path(function.__code__, function.__globals__, (parameters, (), "reads"))
            content = self._read(path)
            if content is None:
                return None
            self._compare(content, function.__globals__)
        except Nameless:
            return None
        reads: tuple[bool, ...] = content["reads"]
        return reads

    def store_reads(
        self, function: types.FunctionType, parameters: tuple[AbstractType, ...], reads: tuple[bool, ...]
    ) -> None:
        """Keep what `Knowledge.only_reads` and `Knowledge.is_closed` say of `function` for parameters of
        these types."""
        if not self._is_usable(function):
            return
        functions: list[tuple[Any, ...]] = []
        try:
            seen = self._seen(function.__code__, function.__globals__, parameters, {}, functions)
            facts = tuple((module, names, self.names.of(value)) for module, names, value in seen)
            path = self._path(function.__code__, function.__globals__, (parameters, (), "reads"))
        except Nameless:
            return
        self._write(path, {"reads": reads, "facts": facts, "functions": tuple(functions)})

    def why_not(self, rule: Any) -> str:
        """Why a rule is not kept; empty if it is."""
        if rule.function is not None:
            return "it is a part of a function"
        if self.engine.table.declared:
            return "rules have been declared"
        try:
            self.content(rule)
        except Nameless as reason:
            return str(reason)
        return ""

    def content(self, rule: Any) -> dict[str, Any]:
        """What is written for a rule."""
        names, space = self.names, rule.globals
        if not isinstance(space.get("__name__"), str):
            raise Nameless("globals without a name")
        if rule.is_special:
            raise Nameless("methods that only types tell are written in")
        if any(type(fact) in _OF_OBJECTS or _is_unwritten(fact) for fact in rule.class_facts.values()):
            raise Nameless("a fact about a class")
        sites = self._numbers_of(rule)
        needs = list(rule.needs)
        stubs: dict[int, tuple[Any, ...]] = {
            id(getattr(needed, which)): ("rule", k, which)
            for k, needed in [(None, rule), *enumerate(needs)]
            for which in ("forwards", "pullback")
        }

        stubs.update((id(stub), ("late", k)) for k, (stub, _) in enumerate(rule.late))
        stubs.update((id(site), ("site", k)) for k, site in enumerate(rule.sites))

        def name(value: Any) -> tuple[Any, ...]:
            if type(value) is Continuation:
                return self._name_of_rest(rule, value)
            return stubs.get(id(value)) or names.of(value)

        nested = {id(c): k for k, c in enumerate(rule.code.co_consts) if isinstance(c, types.CodeType)}
        stubs.update((code, ("nested", k)) for code, k in nested.items())
        for _, make in rule.late:
            make()
        late = tuple(names.of_code(stub.__code__, name) for stub, _ in rule.late)
        codes = {"forwards": names.of_code(rule.forwards.__code__, name)}
        if rule.mode != "forward":
            codes["pullback"] = names.of_code(rule.pullback.__code__, name)
        functions: list[tuple[Any, ...]] = []
        facts = []
        seen = self._seen(rule.code, space, rule.parameters, rule.class_facts, functions)
        for module, path, value in seen:
            facts.append((module, path, names.of(value)))
        return {
            "result": names.of_type(rule.result),
            "computes_with_numpy": rule.computes_with_numpy,
            "codes": codes,
            "late": late,
            "sites": tuple(
                (number, None if site.guess is None else names.of_type(site.guess), site.gave_up)
                for number, site in zip(sites, rule.sites, strict=True)
            ),
            "needs": tuple(
                (
                    names.of(rule.entered[needed]),
                    tuple(map(names.of_type, needed.parameters)),
                    needed.active,
                    needed.mode,
                    names.of_type(needed.result),
                )
                for needed in needs
            ),
            "guards": tuple(
                (fact.asked[1], names.of(fact.value))
                for fact in rule.guards
                if type(fact) is NameFact and fact.asked[0] is rule.globals
            ),
            "classes": tuple(
                (names.of(cls), attribute, None if fact.function is None else names.of(fact.function))
                for (cls, attribute), fact in rule.class_facts.items()
            ),
            "facts": tuple(facts),
            "functions": tuple(functions),
        }

    def _numbers_of(self, rule: Any) -> list[int]:
        """The numbers that the sites of a rule have in its function."""
        if not rule.sites:
            return []
        whole = (rule.code, id(rule.globals), rule.parameters)
        numbers = {id(site): key[3] for key, site in self.engine.guesses.sites.items() if key[:3] == whole}
        if not all(id(site) in numbers for site in rule.sites):
            raise Nameless("guesses in a part of a function")
        return [numbers[id(site)] for site in rule.sites]

    def _name_of_rest(self, rule: Any, rest: Continuation) -> tuple[Any, ...]:
        base = self.engine.guesses.bases.get((rule.code, id(rule.globals)))
        if base is None or rest.whole is not base:
            raise Nameless("the rest of a part of a function")
        number = next(k for k, call in enumerate(base.graph.instructions()) if call is rest.call)
        return ("rest", number, len(rest.live))

    def _seen(
        self,
        code: types.CodeType,
        space: dict[str, Any],
        parameters: tuple[AbstractType, ...],
        class_facts: dict[tuple[type, str], Any],
        functions: list[tuple[Any, ...]],
    ) -> Iterator[tuple[str | None, Any, Any]]:
        """What names led to in all functions that the builders may have looked at, as (module or None for
        that of the rule, path, value); the names of those functions are added to `functions`."""
        graphs = self.engine.graphs
        seen: set[Any] = set()
        classes: dict[int, type] = {}
        covered: set[int] = set()
        waiting: list[Any] = [(code, space, None)]
        given = [value for type_ in parameters for value in self._constants_in(type_)]
        given += [fact.function for fact in class_facts.values() if fact.function is not None]
        given += [cls for cls, _ in class_facts]
        while waiting or given:
            while given:
                value = given.pop()
                if isinstance(value, type) and id(value) not in classes:
                    classes[id(value)] = value
                    name = self.names.of(value)
                    if name[0] == "class":  # any of its methods may have been looked into
                        functions.append(name)
                        methods = functions_of(value)
                        covered.update(map(id, methods))  # the name of the class says what they are
                        given += methods
                if is_function(value):
                    space = value.__globals__
                    module = space.get("__name__")
                    if (value.__code__, id(space)) in seen:
                        continue
                    given += [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
                    if id(value) not in covered:
                        name = self.names.of(value)
                        if name[0] in ("function", "representative"):
                            functions.append(name)
                    if not isinstance(module, str) or vars(sys.modules.get(module, types)) is not space:
                        raise Nameless(f"{value.__qualname__}, whose globals are not those of a module")
                    waiting.append((value.__code__, space, module))
            if not waiting:
                break
            code, space, module = waiting.pop()
            if (code, id(space)) in seen:
                continue
            seen.add((code, id(space)))
            graph = graphs.known(code, space)
            if graph is None:
                continue  # it was not looked into
            for guard in graph.guards:
                yield module, guard.path, guard.value
            for call in graph.instructions():
                given += [operand.value for operand in call.operands if isinstance(operand, Const)]
                made = [(value, id(space)) for value in given if isinstance(value, types.CodeType)]
                known = self.engine.bindings.representatives
                given += [known[key] for key in made if key in known]

    def _constants_in(self, type_: AbstractType) -> Iterator[Any]:
        """The objects that a type says its values are, and the classes that it says they are of."""
        if isinstance(type_, ConstType):
            yield type_.value
        elif isinstance(type_, ClosureType):
            yield self.engine.bindings.representative(type_)
        elif isinstance(type_, Exact):
            yield type_.cls
        elif isinstance(type_, TupleType):
            for element in type_.elements:
                yield from self._constants_in(element)


class Unwritten(DiskCache):
    """A cache that finds nothing and keeps nothing, but says what would not be kept: `reasons`, by rule."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.names = Names(engine)
        self.reasons: dict[Any, str] = {}

    def load(self, *key: Any) -> None:
        return None

    def load_reads(self, *key: Any) -> None:
        return None

    def store_reads(self, *key: Any) -> None:
        pass

    def store(self, rule: Any) -> None:
        self.reasons[rule] = self.why_not(rule)


def _looked_up(space: dict[str, Any], path: tuple[str, ...]) -> Any:
    space, path = at_home(space, path)
    name, *rest = path
    if name in space:
        value = space[name]
    else:
        scope = space.get("__builtins__")
        value = scope.get(name) if isinstance(scope, dict) else getattr(scope, name, None)
    for attribute in rest:
        value = getattr(value, attribute, None)
    return value


def fingerprint() -> str:
    """What all entries depend on: interpreter, NumPy, sources of adbc."""
    numpy = sys.modules.get("numpy")
    version = getattr(numpy, "__version__", None)
    return repr((sys.version, sys.implementation.cache_tag, version, sources()[0]))


def _make_private(directory: pathlib.Path) -> None:
    """Make the directory, or refuse one that others may write to."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = directory.stat()
    if hasattr(os, "getuid") and (
        found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    ):
        raise ArgumentError(
            f"adbc does not use {directory} as its cache: others may write to it, and what is in it is code"
            " that will be run. Use a directory of your own with the permissions 700."
        )
