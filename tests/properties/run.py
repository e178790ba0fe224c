"""Many random functions: ``python -m tests.properties.run --first 0 --count 100000 --jobs 2 --log done.txt``.

Shows progress and the seed, error and source of every function that fails.  Chunks are noted in the log when
they are finished, and the same command goes on behind them.  One seed alone: ``--first SEED --count 1``; with
those of its chunk before it: ``--first SEED --with-chunk --count 1``.

``--kind mixtures`` checks mixtures of libraries instead (`tests.properties.mixed_programs`), and says how
many were refused, and why.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import pathlib
import platform
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from types import FrameType

os.environ.setdefault("ADBC_VERIFY", "1")

from adbc.runtime import default_engine
from tests.properties.checks import CHUNK, check, fresh_engine, speculation
from tests.properties.functions import Prelude, Program
from tests.properties.mixed_programs import MixedProgram
from tests.properties.mixed_programs import check as check_mixed

LIMIT = 120
"""Seconds that one function may take."""


class _TooLong(BaseException):
    """Not an `Exception`: random functions catch those."""


def _stop(signal: int, frame: FrameType | None) -> None:
    raise _TooLong(f"more than {LIMIT} seconds")


def run_chunk(seeds: range) -> list[tuple[int, str]]:
    """The seeds that fail, and what is to be said of each."""
    signal.signal(signal.SIGALRM, _stop)
    failures: list[tuple[int, str]] = []
    with fresh_engine():
        prelude = Prelude()
        for seed in seeds:
            default_engine().guesses.mode = speculation(seed)
            program = Program(seed, prelude)
            signal.alarm(LIMIT)
            try:
                check(program)
            except Exception:
                failures.append((seed, traceback.format_exc()))
            except _TooLong as error:
                failures.append((seed, f"{error}\n{program.source}"))
            finally:
                signal.alarm(0)
    return failures


def run_mixtures(seeds: range) -> list[tuple[int, str]]:
    """The same for mixtures of libraries; says what was refused, and how often."""
    signal.signal(signal.SIGALRM, _stop)
    failures: list[tuple[int, str]] = []
    refused: Counter[str] = Counter()
    with fresh_engine(), warnings.catch_warnings():
        for seed in seeds:
            default_engine().guesses.mode = speculation(seed)
            program = MixedProgram(seed)
            signal.alarm(LIMIT)
            try:
                why = check_mixed(program)
                refused.update([] if why is None else [why])
            except Exception:
                failures.append((seed, f"{traceback.format_exc()}\n{program.source}"))
            except _TooLong as error:
                failures.append((seed, f"{error}\n{program.source}"))
            finally:
                signal.alarm(0)
    for why, count in refused.items():
        print(f"refused {count} of {len(seeds)}: {why}", flush=True)
    return failures


RUNS = {"functions": run_chunk, "mixtures": run_mixtures}
"""By the kind of programs, what checks those of some seeds."""


def chunks(first: int, count: int) -> Iterator[range]:
    """The seeds, cut where chunks begin."""
    at = first
    while at < first + count:
        end = min((at // CHUNK + 1) * CHUNK, first + count)
        yield range(at, end)
        at = end


def results(
    todo: Iterable[range], jobs: int, run: Callable[[range], list[tuple[int, str]]]
) -> Iterator[tuple[range, list[tuple[int, str]]]]:
    if jobs == 1:
        for seeds in todo:
            yield seeds, run(seeds)
        return
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        futures = {pool.submit(run, seeds): seeds for seeds in todo}
        for future in concurrent.futures.as_completed(futures):
            yield futures[future], future.result()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=sorted(RUNS), default="functions")
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
    todo = [seeds for seeds in chunks(first, count) if f"{seeds.start}:{seeds.stop}" not in finished]
    total = sum(map(len, todo))
    print(f"{total} functions of {count}, CPython {platform.python_version()}", flush=True)
    done, failed, start = 0, 0, time.monotonic()
    for seeds, failures in results(todo, options.jobs, RUNS[options.kind]):
        done += len(seeds)
        failed += len(failures)
        for seed, text in failures:
            print(f"---- seed {seed} failed ----\n{text}", flush=True)
        if options.log is not None:
            with options.log.open("a") as log:
                bad = " ".join(str(seed) for seed, _ in failures)
                log.write(f"{seeds.start}:{seeds.stop} {bad}\n")
        if done % (20 * CHUNK) < len(seeds) or done == total:
            pace = 1000 * (time.monotonic() - start) / done
            print(f"{done} of {total}, {failed} failed, {pace:.0f} ms each", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
