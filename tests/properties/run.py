"""Many random programs: ``python -m tests.properties.run --first 0 --count 100000 --jobs 2 --log done.txt``.

``--kind`` says of which kind: random functions, unless told otherwise, classes, calls of NumPy, such calls
on constants for the most part, mixtures of libraries, what recurses, generators, functions that share
variables, functions of arrays that write to them or only read, what changes its types from call to call,
loops that get code in the middle, or random functions to be differentiated twice (`KINDS`); of these it is
said how many were refused.
Shows progress and the seed, error and source of every program that fails.  Chunks are noted in the log when
they are finished, and the same command goes on behind them.  One seed alone: ``--first SEED --count 1``; with
those of its chunk before it: ``--first SEED --with-chunk --count 1``.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import dataclasses
import functools
import pathlib
import platform
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any, NamedTuple

from adbc.runtime import default_engine
from tests.properties.array_programs import Program as ArrayProgram
from tests.properties.array_programs import check as check_arrays
from tests.properties.checks import CHUNK, check, fresh_engine, speculation, warmth
from tests.properties.class_checks import check_classes, usual_way_of
from tests.properties.class_checks import warmth as class_warmth
from tests.properties.class_programs import ClassProgram
from tests.properties.closure_programs import ClosureProgram
from tests.properties.closure_programs import check as check_closures
from tests.properties.formula_programs import FormulaProgram
from tests.properties.formula_programs import check as check_formulas
from tests.properties.functions import Prelude, Program
from tests.properties.generator_programs import GeneratorProgram
from tests.properties.generator_programs import check as check_generators
from tests.properties.mixed_programs import MixedProgram
from tests.properties.mixed_programs import check as check_mixed
from tests.properties.nested_checks import check_second
from tests.properties.numpy_calls import NumpyCall
from tests.properties.numpy_checks import check as check_numpy_call
from tests.properties.numpy_checks import check_among_constants
from tests.properties.recursive_programs import RecursiveProgram
from tests.properties.recursive_programs import check as check_recursion
from tests.properties.shifting_checks import check_shifting
from tests.properties.shifting_programs import ShiftingProgram
from tests.properties.warming_checks import check_warming
from tests.properties.warming_programs import WarmingProgram

LIMIT = 120
"""Seconds that one program may take."""

VERIFIED = 5
"""Of so many chunks, one has its graphs and bytecode verified behind every stage: half of the work."""


class Kind(NamedTuple):
    """A kind of programs.

    programs: gives, for a chunk, the function that makes the program of a seed.  check: checks one; what it
    returns is counted: how it was refused, or nothing if it was right.  warmth: how often code is interpreted
    before it is written, for the program of a seed.
    """

    programs: Callable[[], Callable[[int], Any]]
    check: Callable[[Any], object]
    warmth: Callable[[int], int] = warmth


def _with_prelude() -> Callable[[int], Any]:
    return functools.partial(Program, prelude=Prelude())


KINDS: dict[str, Kind] = {
    "functions": Kind(_with_prelude, check),
    "classes": Kind(
        lambda: ClassProgram, lambda program: check_classes(program, usual_way_of(program.seed)), class_warmth
    ),
    "numpy": Kind(lambda: NumpyCall, lambda program: (program.name, check_numpy_call(program))),
    "constants": Kind(lambda: NumpyCall, lambda program: (program.name, check_among_constants(program))),
    "mixtures": Kind(lambda: MixedProgram, check_mixed),
    "recursion": Kind(lambda: RecursiveProgram, check_recursion),
    "generators": Kind(lambda: GeneratorProgram, check_generators),
    "second": Kind(_with_prelude, check_second),
    "arrays": Kind(lambda: ArrayProgram, check_arrays),
    "formulas": Kind(lambda: FormulaProgram, check_formulas),
    "closures": Kind(lambda: ClosureProgram, check_closures),
    "shifting": Kind(
        lambda: ShiftingProgram,
        lambda program: check_shifting(program, *_calls_of(program.seed)),
        lambda seed: seed % 4,
    ),
    "apart": Kind(
        lambda: functools.partial(ShiftingProgram, is_apart=True),
        lambda program: check_shifting(program, *_calls_of(program.seed)),
        lambda seed: seed % 4,
    ),
    "warming": Kind(
        lambda: WarmingProgram, lambda program: check_warming(program, 8), lambda seed: (3, 1, 8, 0)[seed % 4]
    ),
}


def _calls_of(seed: int) -> tuple[int, int]:
    """How often a program whose types change is called, and from which call on it is given other types."""
    warmth = seed % 4
    return warmth + 5, warmth + 2


Found = tuple[list[tuple[int, str]], "collections.Counter[object]"]
"""The seeds that fail, and what is to be said of each; and how often each answer was given."""


class _TooLong(BaseException):
    """Not an `Exception`: random functions catch those."""


def _stop(signal: int, frame: FrameType | None) -> None:
    raise _TooLong(f"more than {LIMIT} seconds")


def run_chunk(name: str, seeds: range) -> Found:
    """Check the programs of the kind `name` with these seeds."""
    signal.signal(signal.SIGALRM, _stop)
    failures: list[tuple[int, str]] = []
    answers: collections.Counter[object] = collections.Counter()
    kind = KINDS[name]
    with fresh_engine(), warnings.catch_warnings():
        observer = default_engine().observer
        is_verified = seeds.start // CHUNK % VERIFIED == 0
        observer.config = dataclasses.replace(observer.config, verify=is_verified)
        make = kind.programs()
        for seed in seeds:
            default_engine().guesses.mode = speculation(seed)
            default_engine().tiers.warm_after = kind.warmth(seed)
            program = make(seed)
            signal.alarm(LIMIT)
            try:
                answers[kind.check(program) or "right"] += 1
            except Exception:
                failures.append((seed, f"{traceback.format_exc()}\n{program.source}"))
            except _TooLong as error:
                failures.append((seed, f"{error}\n{program.source}"))
            finally:
                signal.alarm(0)
    return failures, answers


def chunks(first: int, count: int) -> Iterator[range]:
    """The seeds, cut where chunks begin."""
    at = first
    while at < first + count:
        end = min((at // CHUNK + 1) * CHUNK, first + count)
        yield range(at, end)
        at = end


def results(name: str, todo: Iterable[range], jobs: int) -> Iterator[tuple[range, Found]]:
    if jobs == 1:
        for seeds in todo:
            yield seeds, run_chunk(name, seeds)
        return
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        futures = {pool.submit(run_chunk, name, seeds): seeds for seeds in todo}
        for future in concurrent.futures.as_completed(futures):
            yield futures[future], future.result()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=KINDS, default="functions")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--with-chunk", action="store_true", help="begin where the chunk of FIRST begins")
    parser.add_argument("--log", type=pathlib.Path, help="finished chunks, to go on behind them")
    options = parser.parse_args()
    first, count = options.first, options.count
    if options.with_chunk:
        first, count = first // CHUNK * CHUNK, count + first % CHUNK
    finished = set()
    if options.log is not None and options.log.exists():
        finished = {line.split()[0] for line in options.log.read_text().splitlines()}
    prefix = "" if options.kind == "functions" else f"{options.kind}:"
    todo = [seeds for seeds in chunks(first, count) if f"{prefix}{seeds.start}:{seeds.stop}" not in finished]
    total = sum(map(len, todo))
    print(f"{total} programs ({options.kind}) of {count}, CPython {platform.python_version()}", flush=True)
    done, failed, start = 0, 0, time.monotonic()
    answers: collections.Counter[object] = collections.Counter()
    for seeds, (failures, given) in results(options.kind, todo, options.jobs):
        done += len(seeds)
        answers.update(given)
        failed += len(failures)
        for seed, text in failures:
            print(f"---- seed {seed} failed ----\n{text}", flush=True)
        if options.log is not None:
            with options.log.open("a") as log:
                bad = " ".join(str(seed) for seed, _ in failures)
                log.write(f"{prefix}{seeds.start}:{seeds.stop} {bad}\n")
        if done % (20 * CHUNK) < len(seeds) or done == total:
            pace = 1000 * (time.monotonic() - start) / done
            print(f"{done} of {total}, {failed} failed, {pace:.0f} ms each", flush=True)
    for answer, times in sorted(answers.items(), key=lambda item: (-item[1], str(item[0]))):
        print(f"{times:7} {answer}")
    print(f"{failed:7} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
