"""Graphs of functions of adbc's own, kept beside the bytecode of their modules for the next process.

The first derivative of a derivative, or of what a rule calls, goes through hundreds of small functions of
adbc: to lift each anew in every process would be a third of the time to the first result.  What they are
lifted to follows from the sources of adbc, the interpreter and what their global names lead to.  So the
graphs lie in one file in ``__pycache__``, where CPython keeps what it makes of the same sources: written
when the process ends, unless ``sys.dont_write_bytecode`` says that nothing is; and trusted as bytecode is.

A graph is data here: values by number, what constants hold by name.  An entry is used only if

- the file was written for these sources, this interpreter and these plug-ins with rules;
- the function has the code that it had then, which is the key of the entry;
- all guards of the graph lead to what they led to, of the class and, if functions, with the code of then;
- packages that something in it comes from have the versions that they had.

Otherwise the function is lifted.  Not kept is what was specialised on facts about classes, what holds an
object without a name, and everything as long as the program has declared rules of functions that code of
adbc's own may call, or wants to see or verify the stages.  Sources that are younger than the process are not
those that run: then nothing is kept either.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import marshal
import os
import sys
import types
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from adbc.config import FOLDER, LOADED
from adbc.ir.graph import Block, Graph, Guard
from adbc.ir.terminators import Branch, Jump, Raise, Return, Switch, Terminator, Unreachable
from adbc.ir.values import UNDEF, Argument, Const, Inlined, Instruction, Phi, Position, Value
from adbc.rules import default_table
from adbc.rules.lookup import RuleTable
from adbc.runtime.build.facts import NameFact
from adbc.runtime.build.places import Nameless, codes_in, module_of, place_of, walk
from adbc.runtime.build.sources import sources

__all__ = ["KeptGraphs", "Store"]

_MAGIC = b"adbc graphs 1\n"
_MOST = 5000
"""The most entries of a file: with more, those that this process has not used are given up."""
_PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), type(Ellipsis)})


class Store:
    """The entries of one file."""

    def __init__(self, path: str, fingerprint: bytes) -> None:
        self.path = path
        self.fingerprint = fingerprint
        self.entries: dict[bytes, bytes] = self._read()
        self.new: dict[bytes, bytes] = {}
        self.used: set[bytes] = set()

    def _head(self) -> bytes:
        return _MAGIC + len(self.fingerprint).to_bytes(4, "little") + self.fingerprint

    def _read(self) -> dict[bytes, bytes]:
        """What is in the file; nothing if it is not there, not whole, or written for something else."""
        try:
            with open(self.path, "rb") as file:
                data = file.read()
        except OSError:
            return {}
        head = self._head()
        payload = data[len(head) + 4 :]
        if data[: len(head)] != head or data[len(head) : len(head) + 4] != _checked(payload):
            return {}
        found: dict[bytes, bytes] = marshal.loads(payload)
        return found

    def find(self, key: bytes) -> Any:
        """The data of an entry, None if there is none."""
        data = self.entries.get(key)
        if data is None:
            return None
        self.used.add(key)
        return marshal.loads(data)

    def put(self, key: bytes, content: Any) -> None:
        """Keep `content`, which is plain data, for the next process."""
        self.new[key] = marshal.dumps(content)

    def write(self) -> None:
        """Write what is new to the file, beside what other processes have written meanwhile."""
        if not self.new or sys.dont_write_bytecode:
            return
        found = self._read()
        if len(found) + len(self.new) > _MOST:
            found = {key: data for key, data in found.items() if key in self.used}
        payload = marshal.dumps({**found, **self.new})
        temporary = f"{self.path}.{os.getpid()}"
        # As for bytecode: where nothing can be written, nothing is kept.
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            with open(temporary, "xb") as file:
                file.write(self._head() + _checked(payload) + payload)
            os.replace(temporary, self.path)  # at once: who reads meanwhile has the old file or the new one
        self.new.clear()


def _checked(payload: bytes) -> bytes:
    return zlib.crc32(payload).to_bytes(4, "little")


@functools.cache
def _opened(origins: str) -> Store | None:
    """The entries for the rules of these plug-ins; None if nothing is kept in this process."""
    listed, youngest = sources()
    if youngest >= LOADED or sys.implementation.cache_tag is None:
        return None
    whole = repr((sys.version, sys.flags.optimize, listed, origins))
    path = importlib.util.cache_from_source(f"{FOLDER}graphs.py", optimization="")
    store = Store(f"{path[: -len('.pyc')]}.graphs", whole.encode())
    atexit.register(store.write)
    return store


class KeptGraphs:
    """What the graphs of one engine are looked up in before functions are lifted, and added to.

    inlines: whether small functions are written into those that call them.  store: by default what lies
    beside the bytecode of adbc.
    """

    def __init__(self, table: RuleTable, inlines: bool, store: Store | None = None) -> None:
        self.table = table
        self.inlines = inlines
        self._store = store

    def find(self, function: types.FunctionType) -> Graph | None:
        """The graph of `function`, if it is kept and everything is as it was."""
        store = self._of(function)
        key = None if store is None else self._key(function)
        if store is None or key is None:
            return None
        content = store.find(key)
        if content is None:
            return None
        try:
            return _Reader(function).graph(content)
        except Nameless:
            return None

    def add(self, function: types.FunctionType, graph: Graph) -> None:
        """Keep `graph`, which `function` has just been lifted to, if everything in it has a name."""
        store = self._of(function)
        key = None if store is None else self._key(function)
        if store is not None and key is not None:
            with contextlib.suppress(Nameless):
                store.put(key, _Writer(function).content(graph))

    def _of(self, function: types.FunctionType) -> Store | None:
        """Where the graph of `function` is kept; None if it is not one of adbc's own, or nothing is kept."""
        name = function.__globals__.get("__name__")
        if type(name) is not str or not name.startswith("adbc."):
            return None
        if vars(sys.modules.get(name, types)) is not function.__globals__:
            return None  # code that was written for one call, with globals of its own
        if self._store is None and self.table is not default_table():
            return None
        if self.table.declared_here:
            return None
        return self._store or _opened(repr(self.table.origins()))

    def _key(self, function: types.FunctionType) -> bytes | None:
        """What the entry of `function` is found by; None for emitted code, in which objects stand."""
        try:
            # The second format says the same of equal code: it does not go by who else holds its parts.
            code = marshal.dumps(function.__code__, 2)
        except ValueError:
            return None
        named = f"{function.__globals__['__name__']} {self.inlines} ".encode()
        return named + code


# -- names of what graphs refer to ---------------------------------------------------------------------------


def _sign(value: object) -> tuple[Any, ...]:
    """What says that an object, found under its name, is what it was."""
    if type(value) is types.FunctionType:
        return _sign_of_code(value.__code__)
    return (type(value).__qualname__,)


def _sign_of_code(code: types.CodeType) -> tuple[Any, ...]:
    return code.co_qualname, code.co_firstlineno, zlib.crc32(code.co_code), len(code.co_consts)


def _name(value: Any) -> tuple[Any, ...]:
    """The name of an object that code of adbc's refers to; raises `Nameless`."""
    kind = type(value)
    if kind in _PLAIN:
        return ("plain", value)
    if kind is tuple:
        return ("tuple", tuple(map(_name, value)))
    if isinstance(value, types.ModuleType):
        if sys.modules.get(value.__name__) is value:
            return ("module", value.__name__)
        raise Nameless(f"the module {value.__name__}, which is not imported under its name")
    if isinstance(value, types.CodeType):
        module = _module_of_code(value)
        path = value.co_qualname.partition(".<locals>")[0]
        for places, code in codes_in(getattr(walk(module_of(module), path), "__code__", None)):
            if code is value:
                return ("code", module, path, places, _sign_of_code(value))
        raise Nameless(f"{value.co_qualname}, which no function of a module makes")
    return ("object", *place_of(value), _sign(value))


def _module_of_code(code: types.CodeType) -> str:
    """The module of adbc that code comes from."""
    if not code.co_filename.startswith(FOLDER):
        raise Nameless(f"{code.co_qualname}, which is not of adbc")
    path = os.path.splitext(code.co_filename[len(FOLDER) :])[0].split(os.sep)
    return ".".join(("adbc", *path[: -1 if path[-1] == "__init__" else None]))


def _find(name: tuple[Any, ...]) -> Any:
    """The object of a name; raises `Nameless` if there is none or it is not what it was."""
    kind, *rest = name
    if kind == "plain":
        return rest[0]
    if kind == "tuple":
        return tuple(map(_find, rest[0]))
    if kind == "module":
        return module_of(rest[0])
    found = walk(module_of(rest[0]), rest[1])
    if kind == "code":
        found = getattr(found, "__code__", None)
        for at in rest[2]:
            found = (
                found.co_consts[at] if type(found) is types.CodeType and at < len(found.co_consts) else None
            )
        if type(found) is not types.CodeType or _sign_of_code(found) != rest[3]:
            raise Nameless(f"what {rest[0]}.{rest[1]} makes, which has changed")
    elif _sign(found) != rest[2]:
        raise Nameless(f"{rest[0]}.{rest[1]}, which has changed")
    return found


def _packages(names: Iterator[tuple[Any, ...]]) -> tuple[tuple[str, Any], ...]:
    """The packages that something with one of `names` comes from, other than adbc and the standard library,
    with their versions."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        kind, *rest = waiting.pop()
        if kind == "tuple":
            waiting += rest[0]
        elif kind in ("module", "object", "code"):
            found.add(rest[0].partition(".")[0])
    found -= {"adbc", *sys.stdlib_module_names}
    return tuple((name, _version(name)) for name in sorted(found))


def _version(package: str) -> Any:
    version = getattr(sys.modules.get(package), "__version__", None)
    if type(version) is not str:
        raise Nameless(f"the version of {package}")
    return version


# -- graphs as data ------------------------------------------------------------------------------------------

_FIELDS = (
    "name", "qualname", "filename", "first_line", "posonly_count", "kwonly_count", "has_varargs",
    "has_varkw", "is_generator", "free",
)  # fmt: skip
_UNDEF = -1


class _Writer:
    """Writes one graph down."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function
        self.nested = {id(code): ("nested", places) for places, code in codes_in(function.__code__)}
        self.numbers: dict[Value, int] = {}
        self.constants: list[tuple[Any, ...]] = []
        self.positions: dict[Position | Inlined, int] = {}
        self.places: list[tuple[Any, ...]] = []
        self.guarded: dict[int, int] = {}

    def content(self, graph: Graph) -> tuple[Any, ...]:
        """The graph as plain data; raises `Nameless`."""
        if graph.facts or graph.namespace is not self.function.__globals__:
            raise Nameless("facts about classes")
        guards = []
        for number, guard in enumerate(graph.guards):
            guards.append((guard.path, _name(guard.value)))
            if type(guard.value) not in _PLAIN:
                self.guarded[id(guard.value)] = number
        for value in (*graph.arguments, *_defined(graph)):
            if value.type is not None:
                raise Nameless("types")
            self.numbers[value] = len(self.numbers)
        at = {block: k for k, block in enumerate(graph.blocks)}
        arguments = tuple((a.name, self._place(a.position)) for a in graph.arguments)
        blocks = tuple([self._block(block, at) for block in graph.blocks])
        packages = _packages(name for name in (*(name for _, name in guards), *self.constants))
        fields = tuple(getattr(graph, field) for field in _FIELDS)
        return (
            packages, tuple(guards), fields, graph._labels, arguments, tuple(self.constants),
            tuple(self.places), blocks,
        )  # fmt: skip

    def _block(self, block: Block, at: dict[Block, int]) -> tuple[Any, ...]:
        phis = tuple(
            (
                phi.name,
                self._place(phi.position),
                tuple((at[b], self._value(v)) for b, v in phi.operands.items()),
            )
            for phi in block.phis
        )
        instructions = tuple([self._instruction(call) for call in block.instructions])
        handler = None if block.handler is None else at[block.handler]
        return block.label, phis, instructions, handler, self._terminator(block.terminator, at)

    def _instruction(self, call: Instruction) -> tuple[Any, ...]:
        if type(call.attribute) not in _PLAIN:
            raise Nameless("an attribute")
        operands = tuple(map(self._value, call.operands))
        return call.op, operands, call.keywords, call.attribute, call.name, self._place(call.position)

    def _terminator(self, end: Terminator, at: dict[Block, int]) -> tuple[Any, ...]:
        place = self._place(end.position)
        match end:
            case Jump():
                return "jump", place, at[end.target]
            case Branch():
                return "branch", place, self._value(end.condition), at[end.true], at[end.false]
            case Switch():
                cases = tuple((number, at[block]) for number, block in end.cases.items())
                return "switch", place, self._value(end.value), cases, at[end.default]
            case Return():
                return "return", place, self._value(end.value)
            case Raise():
                given = [None if v is None else self._value(v) for v in (end.exception, end.cause)]
                return "raise", place, *given
            case Unreachable():
                return "unreachable", place
        raise Nameless(f"a {type(end).__name__}")

    def _value(self, value: Value) -> int:
        """The number of `value`: constants have those below -1."""
        known = self.numbers.get(value)
        if known is None:
            if value is UNDEF:
                return _UNDEF
            if not isinstance(value, Const) or value.type is not None or value.position is not None:
                raise Nameless(f"a {type(value).__name__}")
            held = value.value
            if id(held) in self.guarded:
                name: tuple[Any, ...] = ("guard", self.guarded[id(held)])
            else:
                name = self.nested.get(id(held)) or _name(held)
            self.constants.append(name)
            known = self.numbers[value] = _UNDEF - len(self.constants)
        return known

    def _place(self, position: Position | Inlined | None) -> int | None:
        """The number of a position, or of a function that was written in."""
        if position is None:
            return None
        known = self.positions.get(position)
        if known is None:
            if isinstance(position, Position):
                where = position.line, position.end_line, position.column, position.end_column
                made: tuple[Any, ...] = (*where, self._place(position.inlined))
            else:
                what = position.name, position.qualname, position.filename, position.first_line
                made = (*what, self._place(position.call), None)
            known = self.positions[position] = len(self.places)
            self.places.append(made)
        return known


def _defined(graph: Graph) -> Iterator[Value]:
    for block in graph.blocks:
        yield from block.phis
        yield from block.instructions


class _Reader:
    """Makes one graph of what was written down."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function

    def graph(self, content: tuple[Any, ...]) -> Graph:
        """The graph; raises `Nameless` if something is not what it was."""
        packages, guards, fields, labels, arguments, constants, places, blocks = content
        for package, version in packages:
            if _version(package) != version:
                raise Nameless(f"{package}, of which this is another version")
        graph = Graph("")
        for field, value in zip(_FIELDS, fields, strict=True):
            setattr(graph, field, value)
        graph.namespace, graph._labels = self.function.__globals__, labels
        graph.guards = [self._guard(path, name) for path, name in guards]
        at = _positions(places)
        values: list[Value] = []
        for name, place in arguments:
            argument = Argument(name, len(values))
            argument.position = None if place is None else at[place]
            graph.arguments.append(argument)
            values.append(argument)
        held: list[Value] = [UNDEF, *[Const(self._constant(name, graph.guards)) for name in constants]]
        graph.blocks = [Block(graph, label) for label, *_ in blocks]
        for block, (_, phis, calls, handler, _) in zip(graph.blocks, blocks, strict=True):
            block.handler = None if handler is None else graph.blocks[handler]
            for name, place, _ in phis:
                phi = Phi(block, None, name)
                phi.position = None if place is None else at[place]
                block.phis.append(phi)
            for op, _, keywords, attribute, name, place in calls:
                position = None if place is None else at[place]
                call = Instruction(
                    op, (), keywords=keywords, attribute=attribute, position=position, name=name
                )
                call.block = block
                block.instructions.append(call)
            values += block.phis
            values += block.instructions
        graph._counted = -1

        def value_of(number: int) -> Value:
            return values[number] if number >= 0 else held[_UNDEF - number]

        for block, (_, phis, calls, _, end) in zip(graph.blocks, blocks, strict=True):
            for phi, (_, _, operands) in zip(block.phis, phis, strict=True):
                phi.operands = {graph.blocks[b]: value_of(v) for b, v in operands}
            for call, (_, operands, *_) in zip(block.instructions, calls, strict=True):
                call.operands = [values[n] if n >= 0 else held[_UNDEF - n] for n in operands]
            block.terminator = _terminator(end, graph.blocks, value_of, at)
        return graph

    def _guard(self, path: tuple[str, ...], name: tuple[Any, ...]) -> Guard:
        space = self.function.__globals__
        value, expected = NameFact.found(space, path), _find(name)
        if name[0] in ("plain", "tuple"):  # other objects in every process
            is_same = type(value) is type(expected) and repr(value) == repr(expected)
        else:
            is_same = value is expected
        if not is_same:
            raise Nameless(".".join(path))
        return Guard(path, value)

    def _constant(self, name: tuple[Any, ...], guards: list[Guard]) -> Any:
        if name[0] == "guard":
            return guards[name[1]].value
        if name[0] == "nested":
            found: Any = self.function.__code__
            for at in name[1]:
                found = found.co_consts[at]
            return found
        return _find(name)


def _positions(places: tuple[tuple[Any, ...], ...]) -> list[Any]:
    made: list[Any] = []
    for a, b, c, d, inside, *is_inlined in places:
        around = None if inside is None else made[inside]
        made.append(Inlined(a, b, c, d, around) if is_inlined else Position(a, b, c, d, around))
    return made


def _terminator(
    end: tuple[Any, ...], blocks: list[Block], value_of: Callable[[int], Value], at: list[Any]
) -> Terminator:
    kind, place, *rest = end
    position = None if place is None else at[place]
    if kind == "jump":
        return Jump(blocks[rest[0]], position)
    if kind == "branch":
        return Branch(value_of(rest[0]), blocks[rest[1]], blocks[rest[2]], position)
    if kind == "return":
        return Return(value_of(rest[0]), position)
    if kind == "raise":
        exception, cause = [None if number is None else value_of(number) for number in rest]
        return Raise(exception, cause, position)
    if kind == "switch":
        cases = {number: blocks[b] for number, b in rest[1]}
        return Switch(value_of(rest[0]), cases, blocks[rest[2]], position)
    return Unreachable(position)
