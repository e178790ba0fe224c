"""Imports point one way.  The table below is the architecture: a new edge in it is a design decision."""

from __future__ import annotations

import ast
import functools
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable, Container, Iterator

import pytest

ROOT = pathlib.Path(__file__).parent.parent / "adbc"

BOTTOM = {"functions", "collector", "errors", "config", "flags", "lazy", "records", "version"}
ENGINE = BOTTOM | {"chainrules", "ir", "tangents", "cpython", "types", "lift", "passes", "rules", "derive"}
ENGINE |= {"forward", "reverse", "emit", "low", "native", "runtime", "api"}

MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "version": set(),
    "flags": set(),
    "functions": set(),
    "collector": set(),
    "records": set(),
    "lazy": {"collector"},
    "config": {"records"},
    # Other systems read these rules too: they know nothing of the engine.
    "chainrules": {"errors", "config", "lazy", "records"},
    "ir": BOTTOM,
    # Whether a function has state is a question to its cells.  Rules and tangents share `NoTangent`.
    "tangents": BOTTOM | {"chainrules", "cpython.cells"},
    "cpython": BOTTOM,
    # What becomes of a call depends on the kind of row that its function has, on whose code it is, and on
    # whether the code of a rule reads the keywords that are left.
    "types": BOTTOM
    | {"ir", "tangents", "rules.kinds", "rules.effects", "rules.deciding"}
    | {"cpython.libraries", "cpython.names", "cpython.variables"},
    # Which globals a code object assigns is a question to its bytecode.
    "passes": BOTTOM | {"ir", "types", "cpython"},
    "lift": BOTTOM | {"ir", "cpython", "types", "passes"},
    # Intrinsics are functions with rules like any other; graphs are none of their business.
    "rules": BOTTOM | {"chainrules", "tangents", "ir.intrinsics"},
    "derive": BOTTOM | {"ir", "tangents", "types", "passes", "rules"},
    "forward": BOTTOM | {"ir", "tangents", "types", "passes", "rules", "derive"},
    "reverse": BOTTOM | {"ir", "tangents", "types", "passes", "rules", "derive"},
    "emit": BOTTOM | {"ir", "cpython", "types", "passes"},
    # The rows of functions that rules call are by these functions.
    "low": BOTTOM | {"ir", "types", "passes.query", "rules.kinks"},
    "native": BOTTOM | {"low"},
    "runtime": ENGINE - {"runtime", "api"},
    "api": ENGINE - {"api"},
    # In terms of the public functions.
    "components": {"errors", "tangents"},
    "rows": (ENGINE - {"inspect"}) | {"components"},
    "jacobians": (ENGINE - {"inspect"}) | {"components", "rows"},
    "states": {"errors"},
    "checkpoints": (ENGINE - {"inspect"}) | {"states"},
    "sparse": (ENGINE - {"inspect"}) | {"jacobians"},
    "scipy": (ENGINE - {"inspect"}) | {"jacobians"},
    "testing": ENGINE,
    "inspect": ENGINE,
    "__main__": ENGINE | {"", "inspect", "testing"},
    # These when they are first used.
    "": ENGINE | {"inspect", "jacobians", "checkpoints", "sparse", "testing"},
}
"""Package (the name directly under `adbc`; "" is `adbc` itself) -> what it may import: packages, or single
modules of them."""

ROOMS: dict[str, set[str]] = {
    "runtime.state": set(),
    "runtime.report": set(),
    "runtime.calls": {"runtime.state", "runtime.report"},
    "runtime.cold": {"runtime.state", "runtime.report", "runtime.calls"},
    "runtime.entry": {"runtime.state", "runtime.report", "runtime.calls"},
    "runtime.build": {"runtime.state", "runtime.report", "runtime.calls", "runtime.cold"},
    "runtime": {
        "runtime.state",
        "runtime.report",
        "runtime.calls",
        "runtime.cold",
        "runtime.entry",
        "runtime.build",
    },
    # Rules are declared, and run by hand, without their testers.
    "chainrules": set(),
    "chainrules.foreign": {"chainrules"},
    "chainrules.testing": {"chainrules"},
    "passes.normal": {"passes.query"},
    "passes.typed": {"passes.query", "passes.normal"},
    "passes.derived": {"passes.query", "passes.normal"},
    "passes": {"passes.normal", "passes.typed", "passes.derived"},
}
"""Folder within a package ("runtime" is the modules directly in it) -> what else of that it may import."""

MAY_DISASSEMBLE = {
    "cpython/": "opcodes are its subject",
    "lift/": "positions in the source are dis.Positions",
    "emit/": "it writes bytecode, and verifies what it wrote",
    "inspect/": "it shows bytecode",
    "runtime/report/observer.py": "it dumps bytecode into files",
    "ir/native.py": "some intrinsics are one instruction that no Python source stands for",
}
"""Modules and folders that may import `dis`, `opcode` and the `bytecode` library, and why."""

# Rows about SciPy load once SciPy has been imported, which has imported NumPy.
MAY_IMPORT_NUMPY = (
    "tangents/array", "rules/numpy/", "rules/scipy", "rules/numba", "testing/", "components", "jacobians",
    "rows", "sparse",
    "scipy.py", "runtime/report/floating",
)  # fmt: skip


def modules() -> list[pathlib.Path]:
    return sorted(ROOT.rglob("*.py"))


def package_of(path: pathlib.Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return "" if parts == ("__init__",) else parts[0]


@functools.cache
def nodes(path: pathlib.Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imports(path: pathlib.Path) -> Iterator[tuple[str, int]]:
    """Absolute names of the modules that `path` imports anywhere in it, with lines."""
    package = ("adbc", *path.relative_to(ROOT).parent.parts)
    for node in nodes(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            name = ".".join([*base, *([node.module] if node.module else [])])
            if name == "adbc" or (ROOT.parent / name.replace(".", "/")).is_dir():
                # Names that a package hands out may be its modules.
                for alias in node.names:
                    yield f"{name}.{alias.name}", node.lineno
            else:
                yield name, node.lineno


def is_ours(name: str) -> bool:
    """Whether ``adbc.x`` is a module, not a public name."""
    first = name.split(".")[1]
    return (ROOT / f"{first}.py").exists() or (ROOT / first).is_dir()


def of_every_module(check: Callable[[pathlib.Path], None]) -> Callable[[str], None]:
    """A test of a package that makes `check` of each of its modules.

    A case for each module would cost more than what it does, and quick runs would leave most of them out.
    """

    @pytest.mark.parametrize("package", sorted({package_of(path) for path in modules()}))
    def test(package: str) -> None:
        for path in modules():
            if package_of(path) == package:
                check(path)

    test.__doc__ = check.__doc__
    return test


def test_every_package_has_a_place_in_the_table() -> None:
    assert {package_of(path) for path in modules()} <= set(MAY_IMPORT)


@of_every_module
def test_imports_point_one_way(path: pathlib.Path) -> None:
    package = package_of(path)
    wrong = []
    for name, line in imports(path):
        if name != "adbc" and not name.startswith("adbc."):
            continue
        if name != "adbc" and not is_ours(name):
            name = "adbc"  # a public name
        module = name.partition(".")[2]
        target = module.partition(".")[0]
        if target != package and not {target, module} & MAY_IMPORT[package]:
            wrong.append(f"{path}:{line} imports {name}")
    assert not wrong, "\n".join(wrong)


@of_every_module
def test_only_array_modules_import_numpy(path: pathlib.Path) -> None:
    if path.relative_to(ROOT).as_posix().startswith(MAY_IMPORT_NUMPY):
        return
    wrong = [f"{path}:{line}" for name, line in imports(path) if name.split(".")[0] in ("numpy", "scipy")]
    assert not wrong, "\n".join(wrong)


@of_every_module
def test_only_some_modules_know_opcodes(path: pathlib.Path) -> None:
    if path.relative_to(ROOT).as_posix().startswith(tuple(MAY_DISASSEMBLE)):
        return
    wrong = [
        f"{path}:{line}"
        for name, line in imports(path)
        if name.split(".")[0] in ("dis", "opcode", "bytecode")
    ]
    assert not wrong, "\n".join(wrong)


@of_every_module
def test_imports_between_rooms_point_one_way(path: pathlib.Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    room = ".".join(parts[:-1])
    package = parts[0]
    if room not in ROOMS or (room == package and parts[-1] == "__init__"):  # a package's face shows its rooms
        return
    wrong = []
    for name, line in imports(path):
        module = name.removeprefix("adbc.")
        if name.startswith(f"adbc.{package}."):
            # The rooms that the module is in, outermost first; the last is the one that counts.
            target = [r for r in sorted(ROOMS, key=len) if f"{module}.".startswith(f"{r}.")][-1]
            if target != room and not {target, module} & ROOMS[room]:
                wrong.append(f"{path}:{line} imports {name}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("table", [MAY_IMPORT, ROOMS], ids=["packages", "rooms"])
def test_the_table_has_no_cycles(table: dict[str, set[str]]) -> None:
    seen: list[str] = []
    remaining = dict(table)
    while remaining:
        free = [name for name, needs in remaining.items() if not needs & set(remaining)]
        assert free, f"a cycle among {sorted(remaining)}"
        seen += free
        for name in free:
            del remaining[name]


def module_of(path: pathlib.Path) -> str:
    parts = ("adbc", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_when_loaded(path: pathlib.Path, known: Container[str]) -> set[str]:
    """The modules among `known` that loading `path` imports: not those of functions and type checkers."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                found.add(name if name in known else node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name in known} - {module_of(path)}


def test_no_module_imports_itself_around_others() -> None:
    paths = {module_of(path): path for path in modules()}
    remaining = {name: imported_when_loaded(path, paths) for name, path in paths.items()}
    while remaining:
        free = [name for name, needs in remaining.items() if not needs & set(remaining)]
        assert free, f"a circle among {sorted(remaining)}"
        for name in free:
            del remaining[name]


def test_importing_adbc_does_not_import_numpy() -> None:
    code = "import sys, adbc; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_module_says_what_it_is_for() -> None:
    silent = []
    for path in modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if tree.body and ast.get_docstring(tree) is None:
            silent.append(str(path))
    assert not silent, "\n".join(silent)


# -- tests mirror what they test ---------------------------------------------------------------------

TESTS = ROOT.parent / "tests"
PASSES_OF_THE_BACKEND = {"gather", "early_records"}
"""Modules of `emit` that are passes: graph to graph, in place."""


def passes() -> list[pathlib.Path]:
    rooms = [ROOT / "passes" / room for room in ("normal", "typed", "derived")]
    found = [path for room in rooms for path in sorted(room.glob("*.py")) if path.stem != "__init__"]
    of_backend = [
        path for path in sorted((ROOT / "emit").rglob("*.py")) if path.stem in PASSES_OF_THE_BACKEND
    ]
    assert {path.stem for path in of_backend} == PASSES_OF_THE_BACKEND
    return [*found, *of_backend]


def folders() -> list[pathlib.Path]:
    return sorted({path.parent for path in modules()} - {ROOT})


@pytest.mark.parametrize("path", passes(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_pass_has_a_file_of_graphs_of_its_name(path: pathlib.Path) -> None:
    file = TESTS / path.relative_to(ROOT).with_suffix(".ir")
    assert file.exists() and file.read_text(encoding="utf-8").count("\n; case: ") >= 1


@pytest.mark.parametrize(
    "path", sorted((ROOT / "lift" / "handlers").glob("[a-z]*.py")), ids=lambda path: path.stem
)
def test_every_family_of_opcodes_has_a_file_of_sources_of_its_name(path: pathlib.Path) -> None:
    file = TESTS / path.relative_to(ROOT).with_suffix(".ir")
    assert file.exists() and file.read_text(encoding="utf-8").startswith("; lift")


@pytest.mark.parametrize("path", folders(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_folder_has_a_folder_of_tests(path: pathlib.Path) -> None:
    mirror = TESTS / path.relative_to(ROOT)
    assert any(mirror.rglob("test_*.py")) or any(mirror.rglob("*.ir")), f"there are no tests in {mirror}"


# -- sizes, and docstrings ---------------------------------------------------------------------------

LONG_FUNCTIONS = {("ir/ops.py", "_rows"): "the table of operations, a row each"}
"""Functions of more than 80 lines, and why they may be."""

MOST_LINES = 700
MOST_LINES_OF_A_FUNCTION = 80

ELLIPTIC = re.compile(
    r"(The same|That of|Those of|Of|As before|Like (that|those)|Likewise|The other|Also|And|But|Bring in"
    r"|See|They|It|Its|Their)\b"
)
"""Beginnings of docstrings that only say something to those who have just read the code around."""


def docstrings(path: pathlib.Path) -> Iterator[tuple[str, int]]:
    """Strings that are statements, with lines: docstrings, and those behind attributes and constants."""
    for node in nodes(path):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text.strip(), node.lineno


@of_every_module
def test_docstrings_begin_like_sentences_that_stand_alone(path: pathlib.Path) -> None:
    elliptic = [f"{path}:{line} {text}" for text, line in docstrings(path) if ELLIPTIC.match(text)]
    assert not elliptic, "\n".join(elliptic)


@of_every_module
def test_modules_and_functions_are_short(path: pathlib.Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES, path
    long = [
        node.name
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= MOST_LINES_OF_A_FUNCTION
    ]
    assert set(long) == {function for file, function in LONG_FUNCTIONS if file == name}, path


ASKED_BY_CLASS = ("cpython", "tangents", "runtime/calls", "runtime/cold", "runtime/state")
"""The folders in which `isinstance` would be asked of values of the program."""
OF_PROGRAMS = {
    "bool", "bytearray", "bytes", "classmethod", "collections", "complex", "deque", "dict", "float",
    "frozenset", "functools", "int", "list", "memoryview", "np", "numpy", "property", "range", "set", "slice",
    "staticmethod", "str", "tuple", "type", "types", "weakref",
}  # fmt: skip
"""Names of classes of such values, and of the modules that have more of them."""
OTHER_VALUES = {
    "tangents/array_memory.py": {"first.base"},  # the base of an array, which NumPy sets
    "tangents/contents.py": {"now", "old"},  # what `glance` has given
    "runtime/state/context.py": {"self.opened"},  # a field of the context
    "runtime/calls/plans.py": {"source"},  # a place or a name in a plan
}
"""What is asked by `isinstance` all the same, because it is none: the expressions, by file."""


@pytest.mark.parametrize("folder", ASKED_BY_CLASS)
def test_values_of_the_program_are_asked_by_their_class(folder: str) -> None:
    """``isinstance(x, C)`` asks `x` what it is, and a proxy says what it stands for;
    ``issubclass(type(x), C)`` does not ask it."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in nodes(path):
            match node:
                case ast.Call(func=ast.Name(id="isinstance"), args=[asked, classes]):
                    names = {n.id for n in ast.walk(classes) if isinstance(n, ast.Name)}
                    if names <= OF_PROGRAMS:  # with classes of adbc's own it is asked of a derivative
                        name = path.relative_to(ROOT).as_posix()
                        found.setdefault(name, set()).add(ast.unparse(asked))
    assert found == {name: values for name, values in OTHER_VALUES.items() if name.startswith(f"{folder}/")}
