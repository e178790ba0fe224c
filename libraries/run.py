"""Trials in processes of their own, several at a time, each within a limit; a log keeps what is finished."""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from libraries.package import Place

__all__ = ["LIMIT", "ROOT", "Result", "Trial", "environment", "finished", "run", "run_one"]

LIMIT = 90
"""Seconds of CPU time that a trial may take."""

PATIENCE = 8
"""How many times as long a trial may take by the clock."""

ROOT = pathlib.Path(__file__).parents[1]

Result = dict[str, Any]


class Trial(NamedTuple):
    """A call, in a mode."""

    place: Place
    mode: str

    @property
    def key(self) -> str:
        return f"{self.place} {self.mode}"


def environment(root: pathlib.Path) -> dict[str, str]:
    """The environment of a process that finds the modules of calls below `root`."""
    path = os.pathsep.join(map(str, {root: None, ROOT: None}))
    return {**os.environ, "PYTHONPATH": path, "MPLBACKEND": "Agg"}


def run_one(trial: Trial, limit: float = LIMIT, root: pathlib.Path = ROOT) -> Result:
    """What became of a trial: all that its process told, the trial itself, and what ended the process.

    A process that uses up its CPU time, or that needs many times that by the clock, is "too long", one that
    dies without an answer "crashed", or "broken" if that was before the derivative.
    """
    place = trial.place
    result: Result = {"call": str(place), "mode": trial.mode, "package": place.distribution}
    with tempfile.TemporaryDirectory() as folder:
        told = pathlib.Path(folder) / "told"
        told.touch()
        command = [sys.executable, "-m", "libraries.trial", place.module, place.name, trial.mode]
        command += [str(told), str(limit)]
        # In a folder of its own, with nothing to read: packages may write files, and print what they like.
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment(root), timeout=PATIENCE * limit,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            ended: Result = {
                "outcome": "too long",
                "detail": f"more than {PATIENCE * limit:g} s by the clock",
            }
        else:
            status = f"status {done.returncode}: {done.stderr.strip()[-500:]}"
            ended = {"outcome": "crashed", "detail": status}
        for line in told.read_text(encoding="utf-8").splitlines():
            result |= json.loads(line)
    if "outcome" not in result:
        result |= ended
        if ended["outcome"] == "crashed" and "plain" not in result:
            result["outcome"] = "broken"
    return result


def finished(log: pathlib.Path | None) -> dict[str, Result]:
    """The results that a log has, by the key of the trial; the last one of each counts."""
    if log is None or not log.exists():
        return {}
    results = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    return {f"{result['call']} {result['mode']}": result for result in results}


def run(
    trials: Iterable[Trial], jobs: int, log: pathlib.Path | None, limit: float = LIMIT
) -> Iterator[Result]:
    """Results as they come, each written into the log first."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(run_one, trial, limit) for trial in trials]
        try:
            for future in concurrent.futures.as_completed(futures):
                result = future.result()
                if log is not None:
                    with log.open("a", encoding="utf-8") as file:
                        print(json.dumps(result), file=file)
                yield result
        finally:
            for future in futures:
                future.cancel()
