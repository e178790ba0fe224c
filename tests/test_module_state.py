"""Below `runtime`, nothing remembers anything from one call to the next, but for what is listed here.

What counts: a name of a module that a function binds (``global``), or whose object a function changes by an
element, an attribute or a method like ``append``; and a function that remembers its results.
"""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Iterator

from .test_layout import ROOT, modules

MEMO = "remembers what a function without effects gives"
AT_IMPORT = "is complete when its module has been imported"
KINDS = "grows by a class when that is first met, or registered by the user; the same for all engines"
ARRAYS = "gets what is to be done with arrays when the first one is met"

STATE = {
    "chainrules.registry.registry": "what packages declare; an engine reads it by its version",
    "checkpoints.advances": MEMO,
    "cpython.arity._known": MEMO,
    "cpython.decode._parsed": MEMO,
    "cpython.libraries.is_library_file": MEMO,
    "cpython.names._parameters_read": MEMO,
    "cpython.names.calls_by_name": MEMO,
    "cpython.names.names_in": MEMO,
    "cpython.names.rebinds_beyond_its_frame": MEMO,
    "cpython.names.names_on_lines": MEMO,
    "cpython.names.questions": MEMO,
    "emit.encoding._spelt": MEMO,
    "emit.templates.BINARY": AT_IMPORT,
    "emit.templates._TABLE": AT_IMPORT,
    "ir.native._with_number": MEMO,
    "rows._row_by_row": "code of functions that batches of cotangents could not be carried through",
    "rows._counted": "by code of functions that are alive, how many numbers their values had",
    "jacobians._one_by_one": "code of functions that batches of tangents could not be carried through",
    "lazy._made": "a name of the package is made when it is first asked for",
    "lazy._makers": AT_IMPORT,
    "native.machine._addresses": MEMO,
    "native.machine._compiler": "made when machine code is first asked for; one for the process",
    "native.machine._libm": MEMO,
    "native.machine.same_functions": MEMO,
    "records._template": MEMO,
    "rules._default": "the table that users add rules to; made when it is first asked for",
    "rules.builtins.getters._made": MEMO,
    "rules.classes._numpy_kind": MEMO,
    "rules.classes._overrides_for_good": MEMO,
    "rules.numpy.einsum._plan": MEMO,
    "rules.numpy.einsum.labels": MEMO,
    "rules.numpy.stand_ins._STAND_INS": MEMO,
    "rules.numpy.ufuncs.FIRST": AT_IMPORT,
    "rules.scipy.explicit_steps.method_of": MEMO,
    "rules.quick.ONCE_PER_CALL": AT_IMPORT,
    "rules.quick.QUICK": AT_IMPORT,
    "tangents.activity_marks.INACTIVE": "says of memory that lives what has been written there",
    "tangents.duals.OPERATORS": "gets the arithmetic of tangents when it is first needed",
    "tangents.duals._zero_of_atoms": MEMO,
    "tangents.fields.FORMS": KINDS,
    "tangents.internal.ARRAY_ACCUMULATE": ARRAYS,
    "tangents.internal.ARRAY_FINITE": ARRAYS,
    "tangents.internal.ARRAY_FRESH": ARRAYS,
    "tangents.internal.ARRAY_DIVIDE": ARRAYS,
    "tangents.internal.ARRAY_MULTIPLY": ARRAYS,
    "tangents.internal.ARRAY_OF_SEQUENCE": ARRAYS,
    "tangents.internal.ARRAY_REDUCE": ARRAYS,
    "tangents.internal._OF_FLAT": MEMO,
    "tangents.internal.REALS": ARRAYS,
    "tangents.iterators._ITERATORS": ARRAYS,
    "tangents.protocol.KINDS": KINDS,
    "tangents.protocol.RESOLVERS": KINDS,
    "tangents.protocol._loaded": KINDS,
    "tangents.scalars.NUMBERS": KINDS,
    "tangents.walk.VISITS_OF_NUMBERS": ARRAYS,
    "tangents.walk._VISITORS": ARRAYS,
    "types.attributes.by_cache": MEMO,
    "types.attributes.by_hook": MEMO,
    "types.attributes.own_or_default": MEMO,
    "types.promises._read": MEMO,
    "types.promises._type": MEMO,
    "types.typeof._apart": "functions that have a rule of their own",
    "types.typeof._of_arrays": MEMO,
    "types.typeof._local": "classes that code being differentiated has made",
}
"""Names of modules below `runtime`, and why they may change."""

ABOVE = ("runtime", "api", "inspect", "testing", "__main__")
CHANGES = {
    *("add", "append", "clear", "discard", "extend", "insert", "pop", "popitem"),
    *("remove", "setdefault", "update"),
}


def test_only_listed_names_of_modules_change() -> None:
    trees = {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in modules()}
    names = {module: set(assigned(tree)) for module, tree in trees.items()}
    found = set()
    for module, tree in trees.items():
        found |= {f"{module}.{name}" for name in memos(tree)}
        known = visible(module, tree, names)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                found |= set(changed(node, module, known))
    assert {name for name in found if not name.startswith(ABOVE)} == set(STATE)


def test_what_is_seen_as_a_change() -> None:
    tree = ast.parse(
        "a, b = {}, []\n"
        "c: list[int] = []\n"
        "d = e = g = {}\n"
        "def f(d, x):\n"
        "    global e\n"
        "    a[x] = d[x] = 1\n"
        "    c.append(x)\n"
        "    g = {}\n"
        "    g[x] = e\n"
        "    return b[x]\n"
        "@functools.cache\n"
        "def h(x):\n"
        "    return x\n"
    )
    known = {name: f"m.{name}" for name in assigned(tree)}
    (f, _) = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert set(changed(f, "m", known)) == {"m.a", "m.c", "m.e"}
    assert list(memos(tree)) == ["h"]


def name_of(path: pathlib.Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def assigned(tree: ast.Module) -> Iterator[str]:
    """The names that are assigned in a module, outside of functions and classes."""
    for statement in tree.body:
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        for target in targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def memos(tree: ast.Module) -> Iterator[str]:
    """The functions of a module that remember their results."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and any(
            ast.unparse(decorator).startswith(("functools.cache", "functools.lru_cache"))
            for decorator in statement.decorator_list
        ):
            yield statement.name


def visible(module: str, tree: ast.Module, names: dict[str, set[str]]) -> dict[str, str]:
    """What expressions in `module` mean names of modules: ``name``, or ``module.name``."""
    known = {name: f"{module}.{name}" for name in names[module]}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not f"{node.module}.".startswith("adbc."):
            continue
        home = str(node.module).removeprefix("adbc").removeprefix(".")
        for alias in node.names:
            shown, full = alias.asname or alias.name, f"{home}.{alias.name}".removeprefix(".")
            if full in names:
                known |= {f"{shown}.{name}": f"{full}.{name}" for name in names[full]}
            elif alias.name in names.get(home, ()):
                known[shown] = full
    return known


def changed(function: ast.FunctionDef | ast.Lambda, module: str, known: dict[str, str]) -> Iterator[str]:
    """The names of modules that `function` binds, or the objects of which it changes."""
    nodes = list(ast.walk(function))
    bound = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    yield from (f"{module}.{name}" for name in bound)
    local = {node.arg for node in nodes if isinstance(node, ast.arg)} | {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in nodes:
        target: ast.expr | None = None
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            target = node.value
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            target = node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            target = node.func.value if node.func.attr in CHANGES else None
        if target is not None:
            text = ast.unparse(target)
            if text in known and text.partition(".")[0] not in local - bound:
                yield known[text]
