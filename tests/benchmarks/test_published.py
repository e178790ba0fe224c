"""The documentation shows the numbers that were measured."""

from __future__ import annotations

import pytest

from benchmarks import publish, table
from benchmarks.aims import Finding, findings, geometric_mean
from benchmarks.workloads import GROUPS, UNPUBLISHED


def test_the_page_and_the_readme_show_what_is_kept() -> None:
    for page, (start, end), expected in (
        (publish.PAGE, publish.PLACE, publish.block()),
        (publish.README, publish.README_PLACE, publish.readme()),
    ):
        _, rest = page.read_text(encoding="utf-8").split(start)
        shown, _ = rest.split(end)
        assert shown.strip() == expected.strip()


@pytest.mark.parametrize("version", publish.published())
def test_all_workloads_are_there(version: str) -> None:
    groups = publish.load(version)["groups"]
    kept = {group: [row["name"] for row in rows] for group, rows in groups.items()}
    expected = {
        group: [w.name for w in workloads if w.name not in UNPUBLISHED] for group, workloads in GROUPS.items()
    }
    assert kept == {group: names for group, names in expected.items() if names}
    assert (publish.DOCS / "measured" / f"{version}.svg").exists()


def row(name: str, **ratio: float) -> dict[str, object]:
    return {
        "name": name, "plain": 2e-5, "ratio": ratio, "build": 0.02, "builds": 1.0,
        "memory": {"gradient": 2048}, "saved": {"bytes": 1024, "floats": 8},
    }  # fmt: skip


RESULTS = {
    "machine": {"python": "3.11.7", "versions": {}, "processor": "a", "cores": 1, "system": "b"},
    "systems": ["torch"],
    "rounds": 1,
    "import": 0.1,
    "groups": {
        "typed": [
            row("f", gradient=2.0, jvp=1.0, hand=2.0, torch=400.0),
            row("g", gradient=8.0, jvp=4.0, hand=2.0),
        ],
        "vectorised": [row("h", gradient=3.0, jvp=2.0, hand=1.0, torch=1.5)],
    },
}  # fmt: skip


def test_geometric_mean() -> None:
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1.0)


def test_aims() -> None:
    found = {finding.text: finding for finding in findings(RESULTS)}
    assert found["gradient, typed: geometric mean"].value == pytest.approx(4.0)
    assert found["gradient, typed: largest"] == Finding("gradient, typed: largest", 8.0, 5.5, True, "g")
    assert not found["gradient, typed: largest"].met
    assert found["gradient over adjoint by hand, vectorised: geometric mean"].value == pytest.approx(3.0)
    # Only the workload that PyTorch can do counts.
    assert found["torch over adbc, typed, guarded: geometric mean"].value == pytest.approx(200.0)
    assert found["torch over adbc, typed, guarded: geometric mean"].met
    assert found["torch over adbc, vectorised: smallest"].value == pytest.approx(0.5)
    assert not found["torch over adbc, vectorised: smallest"].met
    assert found["building, ms: median"].value == pytest.approx(20.0)
    assert found["bytes held per saved float, typed: largest"].value == pytest.approx(128.0)
    assert not any("elements" in text for text in found if "JVP" not in text)


def test_the_table() -> None:
    text = table.lines(RESULTS)
    (line,) = [line for line in text if line.startswith("f ")]
    assert line.split() == [
        "f",
        "20.0",
        "us",
        "2.00",
        "2.00",
        "1.00",
        "400",
        "20",
        "ms",
        "1",
        "2",
        "kB",
        "1",
        "kB",
    ]
    (line,) = [line for line in text if line.startswith("g ")]
    assert line.split()[6] == "-"
    assert len({len(line) for line in text if line.startswith(("f ", "g ", "typed  "))}) == 2
