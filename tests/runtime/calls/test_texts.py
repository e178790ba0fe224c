"""Text made from numbers with a derivative is printed and kept, and no number is read from it."""

from __future__ import annotations

import ast
import contextlib
import csv
import decimal
import fractions
import io
import json
import os
import pathlib
import re
import string
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError, UnsupportedError
from adbc.runtime.state.texts import Texts

X = 0.7390625
SPECULATIONS = ["learn", "never", "dynamic", "always", "interpret"]

Function = Callable[[Any], Any]


class Box:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __repr__(self) -> str:
        return f"Box({self.v!r})"


def through_a_stream(x: float) -> Any:
    stream = io.StringIO()
    stream.write(repr(x))
    return float(stream.getvalue())


def printed(x: float) -> Any:
    stream = io.StringIO()
    print(x, 2 * x, file=stream)
    return float(stream.getvalue().split()[1])


def redirected(x: float) -> Any:
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        print(f"{x}")
    return float(stream.getvalue())


def written_as_table(x: float) -> Any:
    stream = io.StringIO()
    csv.writer(stream).writerow([f"{x}", "2"])
    stream.seek(0)
    return float(next(csv.reader(stream))[0])


def saved_by_numpy(x: float) -> Any:
    stream = io.StringIO()
    np.savetxt(stream, np.array([x, 2 * x]))
    stream.seek(0)
    return np.loadtxt(stream).sum()


def executed(x: float) -> Any:
    names: dict[str, Any] = {}
    exec(f"y = {x} * 2", names)
    return names["y"]


def in_an_attribute(x: float) -> Any:
    box = Box("%.17g" % x)  # noqa: UP031  # that is the point
    return float(box.v)


def in_a_closure(x: float) -> Any:
    text = format(x, ".17g")

    def read() -> float:
        return float(text)

    return read()


def in_an_exception(x: float) -> Any:
    try:
        raise ValueError(f"{x}")
    except ValueError as error:
        return float(str(error))


def attempted(x: float) -> Any:
    text = f"{x}"
    try:
        y = float(text)
    except Exception:
        y = 1.0
    return y * x


def needed_for_text_alone(x: float) -> Any:
    y = 2 * x
    text = f"{y}"
    return float(text) + x


def letter_by_letter(x: float) -> Any:
    text = ""
    for letter in repr(x):
        text = text + letter
    return float(text)


def digit_by_digit(x: float) -> Any:
    return sum(int(digit) * 10.0 ** -(k + 1) for k, digit in enumerate(repr(x)[2:]))


def code_by_code(x: float) -> Any:
    text, total = repr(x)[2:], 0.0
    for k in range(len(text)):
        total += (ord(text[k]) - 48) * 10.0 ** -(k + 1)
    return total


def byte_by_byte(x: float) -> Any:
    data, total, weight = repr(x)[2:].encode(), 0.0, 0.1
    for byte in data:
        total += (byte - 48) * weight
        weight *= 0.1
    return total


def extended(x: float) -> Any:
    letters: list[str] = []
    letters.extend(repr(x))
    return float("".join(letters))


def unpacked(x: float) -> Any:
    a, b, *rest = repr(x)
    return float("".join([a, b, *rest]))


def set_in_an_array(x: float) -> Any:
    a = np.zeros(2)
    a[0] = repr(x)
    return a.sum()


READERS: dict[str, Function] = {
    "repr": lambda x: float(repr(x)),
    "ascii": lambda x: float(ascii(x)),
    "str": lambda x: float(str(x)),
    "f-string": lambda x: float(f"{x}"),
    "part of an f-string": lambda x: float(f"a{x:.3f}b"[1:-1]),
    "percent": lambda x: float("%.17g" % x),  # noqa: UP031  # that is the point
    "percent of a tuple": lambda x: float(("%s %s" % (x, 1)).split()[0]),  # noqa: UP031
    "format": lambda x: float(format(x, ".9f")),
    "str.format": lambda x: float(f"{x:.5f}"),
    "str.format by name": lambda x: float(f"{x}"),
    "__format__": lambda x: float(x.__format__(".3f")),
    "__repr__": lambda x: float(x.__repr__()),
    "text of a list": lambda x: float(str([x])[1:-1]),
    "text of a dict": lambda x: float(str({"a": x})[6:-1]),
    "text of an object": lambda x: float(repr(Box(x))[4:-1]),
    "text of an object in a list": lambda x: float(str([Box(x)])[5:-2]),
    "joined": lambda x: float(".".join(repr(x).split("."))),
    "replaced": lambda x: float(repr(x).replace("7", "8")),
    "encoded": lambda x: float(repr(x).encode()),
    "decoded": lambda x: float(repr(x).encode().decode()),
    "added": lambda x: float("1" + repr(x)),
    "repeated": lambda x: float(repr(x) * 1),
    "searched": lambda x: float(re.search(r"\d+\.\d+", f"v={x}").group()),  # type: ignore[union-attr]  # found
    "found": lambda x: float(re.findall(r"\d+\.\d+", f"v={x}")[0]),
    "substituted": lambda x: float(re.sub("v=", "", f"v={x}")),
    "template": lambda x: float(string.Template("$a").substitute(a=f"{x}")),
    "int of parts": lambda x: int(repr(x)[2:]) / 1e7,
    "complex": lambda x: complex(repr(x)).real,
    "fromhex": lambda x: float.fromhex(repr(x)),
    "Decimal": lambda x: float(decimal.Decimal(repr(x))),
    "Fraction": lambda x: float(fractions.Fraction(str(x))),
    "literal": lambda x: ast.literal_eval(repr(x)),
    "json": lambda x: json.loads(f'{{"a": {x}}}')["a"],
    "json both ways": lambda x: json.loads(json.dumps([x]))[0],
    "in a list": lambda x: float([f"{x}", "3"][0]) * x,
    "in a dict": lambda x: float({"a": [(str(x),)]}["a"][0][0]),
    "map": lambda x: sum(map(float, f"{x} {x}".split())),
    "evaluated": lambda x: eval(repr(x)),
    "compiled": lambda x: eval(compile(repr(x), "a", "eval")),
    "in a lambda": lambda x: eval(f"lambda: {x!r}")(),
    "with a namespace": lambda x: eval(f"y + {x}", {"y": 1.0}),
    "generator": lambda x: sum(float(part) for part in f"{x},{2 * x}".split(",")),
    "letters in a list": lambda x: float("".join(list(repr(x)))),
    "letters starred": lambda x: float("".join([*repr(x)])),
    "letters zipped": lambda x: float("".join(c for _, c in zip(range(30), repr(x)))),  # noqa: B905
    "float64": lambda x: np.float64(repr(x)),
    "array of text": lambda x: np.array([repr(x)]).astype(float)[0],
    "array from text": lambda x: np.asarray([repr(x)], dtype=float)[0],
    "full": lambda x: np.full(2, repr(x), dtype=float).sum(),
    "array2string": lambda x: float(np.array2string(np.array(x))),
    "format_float": lambda x: float(np.format_float_positional(x)),
    "fromstring": lambda x: np.fromstring(f"{x}", sep=" ")[0],
    "genfromtxt": lambda x: np.genfromtxt(io.StringIO(f"{x} 1"))[0],
    "loadtxt": lambda x: np.loadtxt(io.StringIO(f"{x} 1"))[0],
    **{
        f.__name__.replace("_", " "): f
        for f in (
            executed, through_a_stream, printed, redirected, written_as_table, saved_by_numpy,
            in_an_attribute, in_a_closure, in_an_exception, attempted, needed_for_text_alone,
            letter_by_letter, digit_by_digit, code_by_code, byte_by_byte, extended, unpacked,
            set_in_an_array,
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("speculation", SPECULATIONS)
@pytest.mark.parametrize("way", READERS)
def test_no_number_is_read_from_text_of_a_number(way: str, speculation: Any) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            with pytest.raises(AdbcError):
                adbc.grad(READERS[way])(X)
            with pytest.raises(AdbcError):
                adbc.jvp(READERS[way], (X,), (1.0,))


def test_no_number_is_read_from_text_of_an_array() -> None:
    for f in (
        lambda v: float(str(v)[1:-1].split()[0]),
        lambda v: float(f"{v[0]}"),
        lambda v: float(f"{v.sum()}"),
        lambda v: float(np.array2string(v[0])),
    ):
        with pytest.raises(UnsupportedError, match="reads a number from"):
            adbc.grad(f)(np.array([X, 0.3]))
        with pytest.raises(UnsupportedError, match="reads a number from"):
            adbc.jvp(f, (np.array([X, 0.3]),), (np.ones(2),))


def test_the_message_says_where_and_what_to_do() -> None:
    with pytest.raises(UnsupportedError, match=r"float reads .* a str .*test_texts.py.*round\(x, digits\)"):
        adbc.grad(lambda x: float(repr(x)))(X)


def reads_back(path: pathlib.Path) -> Function:
    def f(x: float) -> Any:
        with open(path, "w") as file:
            file.write(f"{x}\n")
        file = open(path)  # noqa: SIM115  # a with statement would not see the refusal
        text = file.read()
        file.close()
        return float(text)

    return f


def test_a_file_is_recognised_when_it_is_opened_again(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UnsupportedError, match="reads a number from"):
        adbc.grad(reads_back(tmp_path / "x.txt"))(X)
    with pytest.raises(UnsupportedError, match="reads a number from"):
        adbc.jvp(reads_back(tmp_path / "x.txt"), (X,), (1.0,))


def same_digits(x: float) -> Any:
    print(f"{x}", file=io.StringIO())
    settings = {"a": "0.7390625"}
    return float(settings["a"]) * x


def configured(x: float) -> Any:
    name = f"run_{x:.1f}"
    settings = json.loads('{"a": 0.7390625, "b": "0.7390625", "c": 3}')
    return (settings["a"] + float(settings["b"]) + settings["c"]) * x * len(name)


def silent(x: float) -> Any:
    with open(os.devnull, "w") as file:
        print(x, f"{x:.3f}", file=file)
    return x * x


FREE: dict[str, tuple[Function, float]] = {
    "the same digits from elsewhere": (same_digits, X),
    "a configuration": (configured, 7 * (2 * X + 3)),
    "printing": (silent, 2 * X),
    "a rounding": (lambda x: int(f"{10 * x:.0f}") * x + int("%d" % (100 * x)) * x, 7.0 + 73.0),  # noqa: UP031
    "text of an int": (lambda x: float(f"{int(3 * x)}") * x, 2.0),
    "a length": (lambda x: len(f"{x:.3f}") * x, 5.0),
    "a key": (lambda x: {f"{x:.1f}": x}["0.7"], 1.0),
    "a test": (lambda x: x * 3 if f"{x:.1f}".startswith("0.7") else x, 3.0),
    "without derivative": (lambda x: float(f"{adbc.stop_gradient(x)}") * x, X),
}


@pytest.mark.parametrize("speculation", SPECULATIONS)
@pytest.mark.parametrize("way", FREE)
def test_what_is_only_written_is_free(way: str, speculation: Any) -> None:
    f, wanted = FREE[way]
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            assert adbc.value_and_grad(f)(X) == (pytest.approx(f(X)), pytest.approx(wanted))
            assert adbc.jvp(f, (X,), (1.0,)) == (pytest.approx(f(X)), pytest.approx(wanted))


def test_text_of_another_call_is_a_constant() -> None:
    kept: list[str] = []

    def keeps(x: float) -> Any:
        kept.append(f"{x}")
        return x * 1.0

    adbc.jvp(keeps, (X,), (1.0,))
    assert adbc.grad(lambda x: float(kept[0]) * x)(2.0) == X


def test_text_that_nobody_holds_is_forgotten() -> None:
    texts = Texts()
    held = [f"{k}.5" for k in range(100)]
    for text in held:
        texts.made(text)
    for k in range(10_000):
        texts.made(f"{k}.25")
    assert len(texts._known) < 1000
    assert all(map(texts.holds, held))


def _of_constants_in_a_list(x: Any) -> Any:
    found = [x, 0.25, 0.5]
    found[0] = 1.0
    return x * sum([float(f"{v * 2.0:.18f}") for v in found])


@pytest.mark.parametrize("warm_after", [0, 3])
@pytest.mark.parametrize("speculation", SPECULATIONS)
def test_text_of_what_has_no_derivative_in_that_direction_may_be_read(
    speculation: Any, warm_after: int
) -> None:
    with adbc.use(adbc.Config(speculation=speculation, warm_after=warm_after)):
        for _ in range(5):
            f = _of_constants_in_a_list
            assert adbc.jvp(f, (1.3,), (1.0,)) == pytest.approx((f(1.3), f(1.3) / 1.3))
            with pytest.raises(UnsupportedError):
                adbc.jvp(lambda x: float(f"{x * 2.0:.18f}"), (1.3,), (1.0,))


@pytest.mark.parametrize("warm_after", [0, 3])
@pytest.mark.parametrize("speculation", SPECULATIONS)
def test_what_an_error_of_library_code_says_is_not_read(speculation: Any, warm_after: int) -> None:
    with adbc.use(adbc.Config(speculation=speculation, warm_after=warm_after)):
        for _ in range(5):
            with pytest.raises(UnsupportedError):
                adbc.grad(_of_its_error)(1.3)
            with pytest.raises(UnsupportedError):
                adbc.jvp(_of_its_error, (1.3,), (1.0,))


def _of_its_error(x: Any) -> Any:
    try:
        fractions.Fraction(f"{x * 9.0:.4f};7")
    except ValueError as error:
        return float(str(error).split("'")[1].split(";")[0])
    return x


def _of_an_error_in_json(x: Any) -> Any:
    try:
        json.loads(f"{x * 9.0:.4f} q")
    except json.JSONDecodeError as error:
        return float(error.doc.split()[0])


def _of_an_error_of_patterns(x: Any) -> Any:
    try:
        re.compile(f"{x * 9.0:.4f}(")
    except re.error as error:
        return float(str(error.pattern)[:-1])


def _made_before_and_read_behind(x: Any) -> Any:
    try:
        found = f"{x * 9.0:.4f}"
        text = found + " "
    except ValueError:
        return x
    return json.loads(text)


@pytest.mark.parametrize("warm_after", [0, 3])
@pytest.mark.parametrize("speculation", SPECULATIONS)
@pytest.mark.parametrize(
    "f", [_of_an_error_in_json, _of_an_error_of_patterns, _made_before_and_read_behind]
)  # the blocks of a try statement stand in another order than they run in
def test_text_is_followed_through_try_statements(f: Function, speculation: Any, warm_after: int) -> None:
    with adbc.use(adbc.Config(speculation=speculation, warm_after=warm_after)):
        for _ in range(5):
            with pytest.raises(UnsupportedError):
                adbc.jvp(f, (1.3,), (1.0,))
            with pytest.raises(UnsupportedError):
                adbc.grad(f)(1.3)


@pytest.mark.parametrize("method", ["writerow", "writerows"])
@pytest.mark.parametrize("row", [None, 3])
def test_what_no_table_is_written_of_is_said_by_the_writer(method: str, row: Any) -> None:
    def f(x: float, row: Any) -> float:
        stream = io.StringIO()
        getattr(csv.writer(stream), method)(row)
        return x * len(stream.getvalue())

    with pytest.raises((csv.Error, TypeError)) as plain:
        f(X, row)
    for call in (lambda: adbc.grad(f)(X, row), lambda: adbc.jvp(f, (X, row), (1.0, None))):
        with pytest.raises(type(plain.value), match=str(plain.value)):
            call()


class Name(str):
    """A text of a class of its own, as parsers have them."""


@pytest.mark.parametrize("kind", [str, Name])
def test_a_name_with_digits_that_an_error_says_is_not_read(kind: Any) -> None:
    def f(x: float) -> Any:
        try:
            return getattr(Box(x), kind(f"a{x}"))
        except AttributeError as error:
            return float(error.name[1:]) * x

    for _ in range(4):
        for derivative in (adbc.grad(f), lambda x: adbc.jvp(f, (x,), (1.0,))):
            with pytest.raises(AdbcError):
                derivative(X)
