"""All cases of many public names, in a process of their own: one that dies, or hangs, costs one case."""

from __future__ import annotations

import dataclasses
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence

from adbc.testing.coverage.cases import Case, Verdict
from adbc.testing.coverage.entries import entries_of
from adbc.testing.coverage.generated import OF_METHODS, cases_of
from adbc.testing.coverage.judge import LIMIT, judge

__all__ = ["judged", "survey"]


def judged(
    module: str, pattern: str = "", *, skip: int = 0, limit: int = LIMIT, primary: bool = False
) -> Iterator[tuple[int, Case, Verdict | None]]:
    """The cases of `module` whose entries contain `pattern`, with their verdicts, without the first `skip`;
    of `primary` only those that a function is judged by.

    In front of each verdict comes its case with None, so that whoever reads along knows what is being done.
    """
    number = 0
    for entries in entries_of(module).values():
        for entry, function in entries.items():
            if pattern not in entry:
                continue
            enough = False
            last = ""
            for case in cases_of(entry, function):
                number += 1
                if number <= skip or (primary and not case.primary):
                    continue
                if (
                    enough
                    and case.text != last
                    and "(" in case.text
                    and case.primary
                    and _is_guess(entry, case)
                ):
                    continue
                yield number, case, None
                verdict = judge(case, limit)
                if verdict is not None:
                    enough, last = True, case.text
                    yield number, case, verdict


def _is_guess(entry: str, case: Case) -> bool:
    """Whether the text was made from a signature, of which one that is a call is enough."""
    from adbc.testing.coverage.tables import CALLS

    return entry not in CALLS and entry.rpartition(".")[2] not in OF_METHODS


def survey(module: str, pattern: str = "", limit: int = LIMIT, *, primary: bool = False) -> list[Verdict]:
    """The verdicts on all cases of `module` whose entries contain `pattern`, from another process;
    an interrupt ends it with those that are known by then."""
    found: list[Verdict] = []
    done = 0
    while True:
        process = subprocess.Popen(
            [
                sys.executable,
                "-W",
                "ignore",
                "-m",
                "adbc.testing.coverage",
                "--worker",
                module,
                "--only",
                pattern,
                "--skip",
                str(done),
                "--limit",
                str(limit),
                *(["--primary"] if primary else []),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )
        current, ended = None, False
        assert process.stdout is not None
        try:
            for line in _lines(process, 3 * limit):
                record = json.loads(line)
                if "end" in record:
                    ended = True
                    break
                done = record["number"]
                case = Case(**record["case"])
                if "status" in record:
                    found.append(Verdict(case, record["status"], record["message"]))
                    current = None
                else:
                    current = case
        except KeyboardInterrupt:  # what is known by then is the answer
            return found
        finally:
            process.kill()
            process.wait()
        if ended:
            return found
        if current is None:
            raise RuntimeError(f"the process that judges {module} ended without a case")
        found.append(Verdict(current, "error", "the process died, or hung"))


def _lines(process: subprocess.Popen[str], patience: int) -> Iterator[str]:
    """The lines that `process` writes, until it ends, or writes nothing for `patience` seconds."""
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    rest = b""
    while select.select([descriptor], [], [], patience)[0]:
        block = os.read(descriptor, 65536)
        if not block:
            return
        *whole, rest = (rest + block).split(b"\n")
        for line in whole:
            if line.startswith((b'{"number"', b'{"end"')):
                yield line.decode()


def work(module: str, pattern: str, skip: int, limit: int, *, primary: bool = False) -> None:
    """Judge, and write a line for each case that begins and each verdict."""
    for number, case, verdict in judged(module, pattern, skip=skip, limit=limit, primary=primary):
        record: dict[str, object] = {"number": number, "case": dataclasses.asdict(case)}
        if verdict is not None:
            record |= {"status": verdict.status, "message": verdict.message}
        print("\n" + json.dumps(record), flush=True)
    print("\n" + json.dumps({"end": True}), flush=True)


def all_of(
    modules: Sequence[str], pattern: str = "", limit: int = LIMIT
) -> Iterator[tuple[str, list[Verdict]]]:
    """The groups of several modules, and the verdicts of each."""
    for module in modules:
        verdicts = survey(module, pattern, limit)
        for group, entries in entries_of(module).items():
            yield group, [v for v in verdicts if v.case.entry in entries]
