"""The calls that are tried are many, of many packages, and can be told apart."""

from __future__ import annotations

import collections
import pathlib
import re
import sys

from libraries.package import ROOT, packages, places

PINNED = re.compile(r"([\w.-]+)==[\w.]+")


def test_there_are_enough_of_them() -> None:
    found = list(places())
    assert len({place.distribution for place in found}) >= 40
    assert len(found) >= 400


def test_names_are_unique() -> None:
    counts = collections.Counter(map(str, places()))
    assert [name for name, count in counts.items() if count > 1] == []


def test_every_package_has_calls() -> None:
    with_calls = {place.module for place in places()}
    assert {f"libraries.{path.parent.name}.{path.stem}" for path in packages()} == with_calls


def test_every_package_is_pinned() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pinned = {match[1] for line in lines if (match := PINNED.fullmatch(line))}
    assert {place.distribution for place in places()} <= pinned


def test_finding_them_imports_nothing_of_them() -> None:
    list(places())
    assert not [name for name in sys.modules if name.startswith("libraries.") and name.count(".") > 1]


def test_calls_are_found_where_they_stand(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "made" / "physics"
    folder.mkdir(parents=True)
    (folder / "springs.py").write_text(
        "import springs\n\nfrom libraries.package import Package\n\n"
        'package = Package("py-springs")\n\n'
        "def helper(x):\n    return x\n\n"
        "@package.call(1.0, 2.0)\ndef energy(x, k):\n    return springs.energy(x, k)\n",
        encoding="utf-8",
    )
    (place,) = places(tmp_path / "made")
    assert str(place) == "physics.springs.energy"
    assert (place.module, place.distribution) == ("made.physics.springs", "py-springs")
