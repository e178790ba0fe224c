"""How much of the derived graphs is typed: a backend that does not run on Python objects starts from that.

``python -m benchmarks --typed`` prints it for each workload, by kind of graph.  All rules count that a
gradient and a JVP have needed, those of the functions that the workload calls included.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Sequence

from adbc.config import Config
from adbc.rules import default_table
from adbc.runtime import make_engine, using
from adbc.types.derived import count_typed
from benchmarks.run import calls_of
from benchmarks.settle import settle
from benchmarks.workload import Workload

__all__ = ["KINDS", "Typed", "report", "typed"]

KINDS = ("forwards", "pullback", "dual")


@dataclasses.dataclass(frozen=True)
class Typed:
    """Of one workload: whether all of the primal is typed, and by kind of graph how many values are typed, of
    how many."""

    is_primal_typed: bool
    counts: dict[str, tuple[int, int]]


def typed(workload: Workload) -> Typed:
    """Count the values in the graphs of what the gradient and the JVP of `workload` need."""
    engine = make_engine(default_table(), Config(warm_after=0))
    with using(engine):
        calls = calls_of(workload)
        settle(calls["gradient"])
        settle(calls["jvp"])
    rules = [rule for rule in engine.rules.values() if rule.is_built]
    known: collections.Counter[str] = collections.Counter()
    total: collections.Counter[str] = collections.Counter()
    for rule in rules:
        for kind, graph in zip(KINDS if rule.mode != "forward" else KINDS[2:], rule.graphs, strict=False):
            of_graph, all_of_graph = count_typed(graph)
            known[kind] += of_graph
            total[kind] += all_of_graph
    return Typed(all(rule.is_typed for rule in rules), {kind: (known[kind], total[kind]) for kind in KINDS})


def share(results: Iterable[Typed], kinds: Sequence[str] = KINDS) -> float:
    """The share of typed values in the graphs of these kinds, 1.0 of none."""
    counts = [result.counts[kind] for result in results for kind in kinds]
    total = sum(count for _, count in counts)
    return sum(known for known, _ in counts) / total if total else 1.0


def report(workloads: Sequence[Workload]) -> None:
    """Print a table."""
    found = {workload.name: typed(workload) for workload in workloads}
    width = max(map(len, found)) + 2
    print(f"{'':{width}}{'primal':10}{''.join(f'{kind:>10}' for kind in KINDS)}{'all':>10}")

    def line(name: str, primal: str, results: Sequence[Typed]) -> None:
        shares = [share(results, [kind]) for kind in KINDS] + [share(results)]
        print(f"{name:{width}}{primal:10}{''.join(f'{100 * part:>9.1f}%' for part in shares)}")

    for name, result in found.items():
        line(name, "typed" if result.is_primal_typed else "partly", [result])
    line("of typed primals", "", [result for result in found.values() if result.is_primal_typed])
    line("all", "", list(found.values()))
