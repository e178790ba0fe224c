"""What the report says of results."""

from __future__ import annotations

import pathlib

import pytest

from libraries import report

TIMES = {"plain": 1e-3, "compile": 0.01, "first": 0.5, "second": 0.02, "steady": 0.01}


def result(call: str, mode: str, outcome: str, **more: object) -> report.Result:
    return {"call": call, "mode": mode, "package": call.split(".")[1], "outcome": outcome, **more}


REFUSED = {
    "error": "MissingRuleError",
    "detail": "struct.pack(str, float) cannot be differentiated, in f.g: it is implemented in C. Declare it",
    "met": "struct.pack(str, float) cannot be differentiated",
    "why": "it is implemented in C",
    "after": 0.25,
}
RESULTS = [
    *(
        result(f"physics.springs.f{k}", "reverse", "right", **{**TIMES, "first": k / 10})
        for k in range(1, 21)
    ),
    result("physics.springs.f1", "forward", "right", **TIMES),
    result("parsing.words.g", "reverse", "refused", **REFUSED),
    result("parsing.words.g", "forward", "refused", **REFUSED),
    result("parsing.words.h", "reverse", "refused", **{**REFUSED, "met": "zlib.crc32(bytes) cannot be"}),
    result("parsing.words.w", "reverse", "wrong", detail="in call 2: 1 of 2 numbers differ"),
    result("parsing.words.u", "reverse", "unsettled", detail="the derivative is zero"),
]


def test_counts() -> None:
    lines = report.counts(RESULTS).splitlines()
    assert any("24 calls of 2 packages, 26 trials" in line for line in lines)
    row = next(line.split() for line in lines if line.startswith("parsing"))
    # Two refused in one call, one in another; what is unsettled does not count.
    assert row == ["parsing", "5", "0", "3", "1", "1", "0.0", "%"]
    row = next(line.split() for line in lines if line.startswith("all"))
    assert row == ["all", "26", "21", "3", "1", "1", "84.0", "%"]


def test_distributions() -> None:
    lines = report.distributions(RESULTS).splitlines()
    row = next(line.split()[-4:] for line in lines if line.startswith("reverse: first, s"))
    assert row == ["1.05", "1.9", "2", "2"]
    row = next(line.split()[-4:] for line in lines if line.startswith("forward: steady / plain"))
    assert row == ["10", "10", "10", "10"]
    row = next(line.split()[-4:] for line in lines if line.startswith("reverse: refusal, s"))
    assert row == ["0.25", "0.25", "0.25", "0.25"]


def test_it_says_how_often_derivatives_were_formed() -> None:
    times = [{**TIMES, "formed": formed} for formed in (60, 6, 31)]
    results = [result(f"physics.springs.f{k}", "reverse", "right", **more) for k, more in enumerate(times)]
    (words,) = report.formed(results)
    assert words == "Each trial that is right formed its derivative 6 times or more."
    assert words in report.distributions(results)
    ended = result("physics.springs.slow", "forward", "too long", formed=3, detail="more than 90 s")
    (words,) = report.formed([*results, ended])
    assert words.endswith("what was too long had formed it by then: physics.springs.slow (forward) 3.")
    # A line of a log that does not say so is of a trial that has timed a second derivative.
    assert "2 times or more" in report.formed(RESULTS)[0] and report.formed(RESULTS[21:]) == []


def test_refusals_are_grouped_by_reason() -> None:
    (refused, wrong, unsettled) = report.complaints(RESULTS)
    assert "3 trials." in refused
    first, second = [line for line in refused.splitlines() if line.startswith("- ")]
    assert first.startswith("- 2: ``no rule: struct.pack``, for instance ``struct.pack(str, float) cannot")
    assert first.endswith(": parsing.words.g")
    assert second.startswith("- 1: ``no rule: zlib.crc32``") and second.endswith("parsing.words.h (reverse)")
    assert "``in call 2: 1 of 2 numbers differ``" in wrong and "words.u" in unsettled


def test_names_and_numbers_do_not_make_reasons_differ() -> None:
    def of(detail: str) -> str:
        return report.reason({"detail": detail})

    assert of("x.view(Point) of an active array") == of("y.view(Matrix44) of an active array")
    assert of("'a' is met 3 times") == of("'b' is met 12 times") != of("'b' is met")


def test_a_line_of_progress() -> None:
    assert (
        report.line(RESULTS[0])
        == "right       physics.springs.f1 (reverse)  first 0.10 s  steady 10 times plain"
    )
    assert "MissingRuleError struct.pack" in report.line(RESULTS[21])


def test_the_page_is_written_between_its_marks(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "libraries.rst"
    start, end = report.PLACE
    page.write_text(f"Title\n\n{start}\n\nold\n\n{end}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(report, "PAGE", page)
    report.publish(RESULTS)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("Title\n") and text.endswith("\nafter\n")
    assert "old" not in text and "24 calls of 2 packages" in text and "springs (not installed)" in text


def test_the_page_has_its_marks() -> None:
    text = report.PAGE.read_text(encoding="utf-8")
    assert all(text.count(mark) == 1 for mark in report.PLACE)
