"""What pytest does in this folder beside what it does anywhere.

Files of graphs (``*.ir``) are files of tests, wherever they stand: `tests.filetests.harness` runs them.
Tests that take long are marked ``slow``: `tests.selection` says which.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import adbc
from adbc.runtime import default_engine
from tests import selection
from tests.filetests.harness import IrFile


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-durations", action="store_true", help=f"write {selection.PATH.name} anew")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out of `python -m pytest`; see tests/selection.py")
    # With several processes, the one that starts the others is told of all results.
    if config.getoption("--record-durations") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recording(), "recording")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return IrFile.from_parent(parent, path=file_path) if file_path.suffix == ".ir" else None


@pytest.hookimpl(tryfirst=True)  # what is marked here is selected by
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    durations = selection.read()
    for item in selection.slow_among([(item.nodeid, item) for item in items], durations):
        item.add_marker("slow")
    if order := os.environ.get("ADBC_TESTS_ORDER"):
        items.sort(key=lambda item: selection.place_of(item.nodeid, order))


@pytest.hookimpl(tryfirst=True)  # before what is set up for a whole module
def pytest_runtest_setup() -> None:
    if selection.time_is_up():
        pytest.skip("the time is up")


class Recording:
    """Writes down how long tests took, when all have run."""

    def __init__(self) -> None:
        self.recorder = selection.Recorder()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when in ("setup", "call") and not report.skipped:
            self.recorder.add(report.nodeid, report.duration)

    def pytest_sessionfinish(self) -> None:
        self.recorder.write()


@pytest.fixture(scope="module", autouse=True)
def forgetful() -> Iterator[None]:
    """Rules that were derived for the tests of one module are forgotten behind it: tests that look at all
    objects of the process would take minutes otherwise."""
    yield
    default_engine().clear()


@pytest.fixture
def at_once() -> Iterator[None]:
    """Code is written for rules when they are first called: for tests that look at it."""
    with adbc.use(adbc.Config(warm_after=0)):
        default_engine().clear()
        yield
        default_engine().clear()


@pytest.fixture(params=["learn", "always", "never", "dynamic"])
def speculation(request: pytest.FixtureRequest) -> Iterator[str]:
    """Code is written at once, with each of the ways to guess in turn."""
    with adbc.use(adbc.Config(speculation=request.param, warm_after=0)):
        yield request.param
