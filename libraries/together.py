"""All calls of a package in one process, in both modes by turns: ``python -m libraries --together``.

A trial by itself (`libraries.trial`) shows neither what one function leaves behind for the next, nor what
becomes of code that was written for other values than it meets: floats where there were numbers of NumPy's,
arrays of other lengths, branches the other way.  Here each call is differentiated in one mode and the other
by turns, then with each of some changes of its arguments for which a plain call works and its differences
settle, then as at first; and at the end all calls once more, the last one first.

What is told: derivatives that are wrong, what raises, and what is refused that was not when it was first
tried.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from libraries.package import Call, Place
from libraries.run import ROOT, Result, environment
from libraries.trial import LEAST, MODES, Plain, derivative, fault_of, plain, refusal
from libraries.vectors import vector

__all__ = ["Sequel", "changed", "run_package"]

PATIENCE = 20.0
"""Seconds of CPU time that the derivatives of one call may take at other values than its own."""


def changed(arguments: tuple[Any, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Other arguments, each with a word for what is different about them."""
    random = np.random.default_rng(3)

    def scaled(by: float) -> Callable[[Any], Any]:
        return lambda x: x * (1.0 + by * random.uniform(0.3, 1.0, np.shape(x)))

    yield "near", mapped(arguments, scaled(0.05), scaled(0.05))
    yield "smaller", mapped(arguments, scaled(-0.3), scaled(-0.3))
    yield "larger", mapped(arguments, scaled(0.8), scaled(0.8))
    yield "negative", mapped(arguments, lambda x: -x, lambda x: -x)
    for i, x in enumerate(arguments):
        if type(x) is float:
            for word, other in (
                ("an int", round(x) or 1),
                ("an array without dimensions", np.array(x)),
                ("a number of NumPy's", np.float64(x)),
            ):
                yield f"argument {i} is {word}", (*arguments[:i], other, *arguments[i + 1 :])
    yield "arrays for numbers", mapped(arguments, lambda x: np.array([x, 1.1 * x]), same)
    yield "longer arrays", mapped(arguments, same, lambda x: np.concatenate([x, 1.03 * x[-1:]]))
    yield "shorter arrays", mapped(arguments, same, lambda x: x[:-1].copy())
    yield "arrays with gaps", mapped(arguments, same, lambda x: np.repeat(x, 2, axis=-1)[..., ::2])


def same(x: Any) -> Any:
    return x


def mapped(value: Any, number: Callable[[Any], Any], array: Callable[[Any], Any]) -> Any:
    """`value` with other numbers and arrays in place of its floats and its arrays of floats."""
    if isinstance(value, list | tuple):
        parts = [mapped(part, number, array) for part in value]
        return value._make(parts) if hasattr(value, "_make") else type(value)(parts)
    if isinstance(value, float):
        changed_number = number(value)
        return changed_number if isinstance(changed_number, np.ndarray) else type(value)(changed_number)
    if type(value) is np.ndarray and value.dtype.kind == "f" and value.ndim and value.size:
        return array(value)
    return value


@dataclasses.dataclass
class Sequel:
    """The derivatives of one call, in this process.

    refused: the modes in which it was refused when it was first tried, or has failed since.
    """

    name: str
    call: Call
    tell: Callable[..., None]
    refused: set[str] = dataclasses.field(default_factory=set)

    def form(self, call: Call, mode: str, of: Plain, when: str) -> None:
        """Form one derivative, and tell what is wrong with it."""
        if mode in self.refused or of.fault(mode):
            return
        try:
            value, found = derivative(call, mode, of)()
        except Exception as error:  # whatever it is, it is what the user would see
            told = refusal(error, 0)
            is_first = when == "call 1"
            if told["outcome"] != "refused" or not is_first:
                self.tell(call=self.name, mode=mode, when=when, **told)
            if is_first:
                self.refused.add(mode)
        else:
            if fault := fault_of(value, found, of, mode):
                self.tell(call=self.name, mode=mode, when=when, outcome="wrong", detail=fault)

    def begin(self) -> None:
        """Form derivatives at the arguments of the call, then at others, then again."""
        if (of := looked_at(self.call)) is None:
            self.refused.update(MODES)
            return
        for count in range(1, LEAST + 1):
            for mode in MODES:
                self.form(self.call, mode, of, f"call {count}")
        begin = time.process_time()
        for word, arguments in changed(self.call.arguments):
            if time.process_time() - begin > PATIENCE or self.refused.issuperset(MODES):
                break
            other = Call(self.call.function, arguments)
            if (of_other := looked_at(other)) is not None:
                for _ in range(2):
                    for mode in MODES:
                        self.form(other, mode, of_other, word)
        self.again("again")

    def again(self, when: str) -> None:
        if not self.refused.issuperset(MODES) and (of := looked_at(self.call)) is not None:
            for mode in MODES:
                self.form(self.call, mode, of, when)


def looked_at(call: Call) -> Plain | None:
    """What the plain call shows; None if it fails, changes or has nothing to be differentiated by."""
    if not vector(call.arguments).size:
        return None
    try:
        with np.errstate(all="ignore"):
            first, of = plain(call), plain(call)
    except Exception:  # of a package, at values that it was not made for: any
        return None
    return of if vector(first.value).tolist() == vector(of.value).tolist() else None


def run_package(places: Sequence[Place], limit: float, root: pathlib.Path = ROOT) -> Iterator[Result]:
    """What is told of the calls at `places`, those of one module, in a process of their own; a line with the
    outcome "too long" or "crashed" if that does not come to its end in `limit` seconds by the clock."""
    module = places[0].module
    with tempfile.TemporaryDirectory() as folder:
        told = pathlib.Path(folder) / "told"
        told.touch()
        command = [sys.executable, "-m", "libraries.together", module, str(told), *(p.name for p in places)]
        ended = ""
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment(root), timeout=limit, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, errors="replace", check=False,
            )  # fmt: skip
            if done.returncode:
                ended, detail = "crashed", f"status {done.returncode}: {done.stderr.strip()[-500:]}"
        except subprocess.TimeoutExpired:
            ended, detail = "too long", f"more than {limit:g} s by the clock"
        at = places[0].name
        for line in told.read_text(encoding="utf-8").splitlines():
            result = json.loads(line)
            at = result["call"]
            if "outcome" in result:
                yield {**result, "call": f"{module}.{at}"}
        if ended:
            yield {"call": f"{module}.{at}", "mode": "", "when": "", "outcome": ended, "detail": detail}


def main(module: str, path: str, *names: str) -> None:
    report = pathlib.Path(path)

    def tell(**found: Any) -> None:
        with report.open("a", encoding="utf-8") as file:
            print(json.dumps(found), file=file)

    warnings.simplefilter("ignore")
    calls = importlib.import_module(module).package.calls
    sequels = [Sequel(name, calls[name], tell) for name in names]
    for sequel in sequels:
        tell(call=sequel.name)
        sequel.begin()
    for sequel in reversed(sequels):
        sequel.again("after the others")


if __name__ == "__main__":
    main(*sys.argv[1:])
