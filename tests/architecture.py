"""What ARCHITECTURE.md and the pages behind it show, from the system itself: ``python -m tests.architecture``
writes it anew.

A comment above a block of a page says what the block shows: a stage and a function of the first Python block
of `FUNCTIONS`, as in ``<!-- fwd_ir fixed_point -->``.  One above a table says which table it is, as in
``<!-- table kinds -->``.
"""

from __future__ import annotations

import dis
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import adbc.inspect
from adbc.lift import lift
from adbc.runtime import default_engine
from adbc.types.callsites import activity
from adbc.types.kinds import Kind
from adbc.types.quiet_memory import Families

ROOT = pathlib.Path(__file__).parent.parent
INTERNALS = ROOT / "docs" / "internals"
PAGES = [ROOT / "ARCHITECTURE.md", *sorted(INTERNALS.glob("*.md"))]
FUNCTIONS = INTERNALS / "a-function.md"
"""The page that has the source of the functions that are shown."""

BLOCK = re.compile(r"<!-- (?P<stage>\w+) (?P<name>\w+) -->\n```text\n(?P<text>(?:.*?\n)?)```", re.DOTALL)
TABLE = re.compile(r"<!-- table (?P<name>\w+) -->\n(?P<text>(?:\|.*\n)*)")

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "fixed_point": (0.5, 20),
    "damp": (np.ones(5), 0.5),
    "sites": (0.5, np.ones(3), abs),
}
"""What the functions of the document are called with: this gives the types."""


def functions() -> dict[str, Any]:
    """The functions that the pages differentiate."""
    found = re.search(r"```python\n(.*?)```", FUNCTIONS.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    names: dict[str, Any] = {}
    exec(compile(found[1], FUNCTIONS.name, "exec"), names)
    return names


def rule(function: Any, arguments: tuple[Any, ...]) -> Any:
    """The derived reverse rule, built."""
    signature = adbc.Signature.of(function, *arguments)
    adbc.inspect.fwd_ir(signature)
    active = [a.__class__ in (float, np.ndarray) for a in arguments]
    return default_engine().entry(function, signature.types, active, "reverse")


def call_sites(function: Any, arguments: tuple[Any, ...]) -> str:
    """Each call of the function, and what becomes of it."""
    graph = adbc.inspect.primal_ir(adbc.Signature.of(function, *arguments))
    flags, knowledge = [True] * len(graph.arguments), default_engine().knowledge
    _, sites = activity(graph, flags, knowledge, Families(graph, flags, knowledge))
    lines = [line.strip() for line in str(graph).splitlines() if " = call " in line]
    calls = [call for block in graph.blocks for call in block.instructions]
    return "\n".join(f"{sites[call].kind:<9} {line}" for call, line in zip(calls, lines, strict=True))


def inspected(stage: str) -> Callable[[Any, tuple[Any, ...]], str]:
    view = getattr(adbc.inspect, stage)
    return lambda function, arguments: str(view(adbc.Signature.of(function, *arguments)))


STAGES: dict[str, Callable[[Any, tuple[Any, ...]], str]] = {
    "lifted": lambda function, arguments: str(lift(function, inline=True)),
    "normal": lambda function, arguments: str(default_engine().primal(function)),
    **{stage: inspected(stage) for stage in ("primal_ir", "dual_ir", "fwd_ir", "rvs_ir", "records")},
    "forwards_bytecode": lambda function, arguments: disassembly(rule(function, arguments).forwards),
    "pullback_bytecode": lambda function, arguments: disassembly(rule(function, arguments).pullback),
    "call_sites": call_sites,
}


def disassembly(function: Any) -> str:
    return re.sub(r" at 0x\w+", "", dis.Bytecode(function).dis().rstrip())


def kinds() -> str:
    """The kinds of calls, a row each."""
    rows = [("kind", "when", "code"), ("---", "---", "---")]
    for kind in Kind:
        only = "" if len(kind.modes) > 1 else f" ({kind.modes[0]} mode)"
        rows.append((f"`{kind}`", kind.when + only, kind.code))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


TABLES: dict[str, Callable[[], str]] = {"kinds": kinds}


def text() -> str:
    """All pages, one behind the other."""
    return "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def tables() -> Iterator[tuple[str, str]]:
    """Name and text of each table."""
    for found in TABLE.finditer(text()):
        yield found["name"], found["text"]


def shown() -> Iterator[tuple[str, str, str]]:
    """Stage, function and text of each block."""
    for found in BLOCK.finditer(text()):
        yield found["stage"], found["name"], found["text"].removesuffix("\n")


def made(stage: str, function: Any, name: str) -> str:
    """What the block should say."""
    return STAGES[stage](function, ARGUMENTS[name])


def main() -> None:
    """Write all blocks and tables anew."""
    names = functions()

    def block(found: re.Match[str]) -> str:
        stage, name = found["stage"], found["name"]
        return f"<!-- {stage} {name} -->\n```text\n{made(stage, names[name], name)}\n```"

    def table(found: re.Match[str]) -> str:
        return f"<!-- table {found['name']} -->\n{TABLES[found['name']]()}"

    for page in PAGES:
        written = BLOCK.sub(block, page.read_text(encoding="utf-8"))
        page.write_text(TABLE.sub(table, written), encoding="utf-8")


if __name__ == "__main__":
    main()
