"""The tables of ``docs/round-trip.rst`` are those of what was measured, and it measured no difference."""

from __future__ import annotations

from tests.programs.round_trip_table import PAGE, VERSIONS, is_clean, known, write


def test_tables_are_written_from_what_was_measured() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert write(text, known()) == text


def test_nothing_differs() -> None:
    data = known()
    assert set(data) == set(VERSIONS)
    assert is_clean(data)
    some = data["3.11"]["modules"]["copy"]
    some["differences"] = ["a test"]
    assert not is_clean(data)
    some["differences"], some["refused"] = [], {"something that nobody has thought of": ["f"]}
    assert not is_clean(data)
