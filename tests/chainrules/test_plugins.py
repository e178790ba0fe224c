"""Packages that ship rules: installed, tested without the engine, used by it, listed, refused."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
PACKAGE = ROOT / "examples" / "package"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder in which the example is installed, as its users do it."""
    folder = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source") / "package"
    shutil.copytree(PACKAGE, source)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    # With the setuptools that is there, if it is new enough; else pip fetches one.
    for options in (["--no-build-isolation", "--no-index"], ["--retries", "0", "--timeout", "10"]):
        done = subprocess.run([*install, *options, str(source)], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return folder
    if "No matching distribution" not in done.stderr and "No module named pip" not in done.stderr:
        raise AssertionError(done.stderr)  # it is the example that cannot be installed
    # Without a network: what would have been written.
    shutil.copytree(PACKAGE / "clib", folder / "clib")
    info = folder / "clib-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: clib\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[adbc.rules]\nclib = clib._adbc_rules\n")
    return folder


def run(
    folder: pathlib.Path, program: str, *, arguments: Sequence[str] = (), succeeds: bool = True, **env: str
) -> subprocess.CompletedProcess[str]:
    command = [*arguments] if arguments else ["-c", textwrap.dedent(program)]
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}", **env},
        cwd=folder,
    )
    assert (done.returncode == 0) == succeeds, done.stderr
    return done


def test_the_package_works_without_adbc(site: pathlib.Path) -> None:
    program = """
    import sys, clib
    print(clib.bessel_j0(0.0), clib.weighted_sum([1.0, 2.0], [3.0, 4.0]), 'adbc' in sys.modules)
    """
    assert run(site, program).stdout.split() == ["1.0", "11.0", "False"]


def test_its_rules_are_tested_without_the_engine(site: pathlib.Path) -> None:
    program = """
    import sys
    import clib
    from adbc.chainrules import testing, rrule, Thunk
    import clib._adbc_rules as rules
    for x in (0.0, 0.7, 5.0):
        testing.test_scalar(clib.bessel_j0, x)
        testing.test_scalar(clib.bessel_j1, x)
    for x in (0.3, 2.5, 40.0):
        testing.test_scalar(clib.log_gamma, x, rtol=1e-8)
    testing.test_scalar(clib.exponent, 3.0)
    testing.test_frule(clib.weighted_sum, [1.0, 2.0], [3.0, 4.0])
    testing.test_rrule(clib.weighted_sum, [1.0, 2.0], [3.0, 4.0])
    print(testing.test_ruleset(rules), 'adbc.runtime' in sys.modules, 'numpy' in sys.modules)
    """
    assert run(site, program).stdout.split() == ["5", "False", "False"]


USES = """
import sys, warnings, clib, adbc
print('clib._adbc_rules' in sys.modules)
print(adbc.grad(lambda x: clib.bessel_j0(2.0 * x) + clib.exponent(x))(0.5))
print(adbc.jvp(lambda x: clib.weighted_sum([x, 2.0], [x, x]), (3.0,), (1.0,)))
print(adbc.grad(lambda x: clib.weighted_sum([x, 2.0], [x, x]))(3.0))
print(adbc.grad(lambda x: clib.log_gamma(x)[0])(1.0))
"""


def test_the_engine_uses_its_rules_once_it_is_installed(site: pathlib.Path) -> None:
    early, bessel, jvp, grad, gamma = run(site, USES).stdout.splitlines()
    assert early == "False"  # nothing is paid before a rule is looked up
    assert abs(float(bessel) + 2 * 0.4400505857449335) < 1e-14
    assert jvp == "(15.0, 8.0)"
    assert grad == "8.0"
    assert abs(float(gamma) + 0.5772156649015329) < 1e-13


def test_without_plug_ins_there_are_no_such_rules(site: pathlib.Path) -> None:
    for program in (
        USES,
        "import adbc\nwith adbc.use(adbc.Config(plugins=False)):\n" + textwrap.indent(USES, " "),
    ):
        env = {"ADBC_PLUGINS": "0"} if program is USES else {}
        assert "MissingRuleError" in run(site, program, succeeds=False, **env).stderr


def test_the_command_line_lists_them(site: pathlib.Path) -> None:
    def listed(*options: str) -> str:
        return run(site, "", arguments=["-m", "adbc", "rules", *options]).stdout

    found = listed("clib", "--origin", "clib")
    lines = [line for line in found.splitlines() if "plug-in clib" in line]
    assert len(lines) == 6
    assert any(line.startswith("clib.bessel_j0") and " scalar " in line for line in lines)
    assert sum("forward only" in line or "reverse only" in line for line in lines) == 2
    assert "built-in" in listed("math") and "math.sin" in listed("math")
    assert "clib" in listed("--origin", "user").splitlines()[-1]  # it waits to be imported


def test_users_come_before_plug_ins(site: pathlib.Path) -> None:
    program = """
    import clib, adbc
    from adbc import chainrules as cr
    f = lambda x: clib.bessel_j0(x)
    print(adbc.grad(f)(0.0) == 0.0)
    cr.scalar_rule(clib.bessel_j0, 5.0)
    print(adbc.grad(f)(0.0), cr.rrule(clib.bessel_j0, 0.0)[1](1.0)[1])
    cr.forget(clib.bessel_j0)
    print(adbc.grad(f)(0.0) == 0.0)
    adbc.scalar_rule(clib.bessel_j0)(lambda out, x: 7.0)
    print(adbc.grad(f)(0.0))
    """
    assert run(site, program).stdout.split() == ["True", "5.0", "5.0", "True", "7.0"]


@pytest.fixture
def broken(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with a package whose rules cannot be imported."""
    (tmp_path / "shaky.py").write_text(
        "import struct\ndef f(x): return struct.unpack('d', struct.pack('d', x))[0]\n"
    )
    (tmp_path / "shaky_rules.py").write_text("import no_such_module\n")
    info = tmp_path / "shaky-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shaky\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[adbc.rules]\nshaky = shaky_rules\n")
    return tmp_path


def test_rules_that_cannot_be_imported_are_one_warning(broken: pathlib.Path) -> None:
    program = """
    import shaky, adbc
    for _ in range(2):
        try:
            adbc.grad(shaky.f)(1.0)
        except adbc.MissingRuleError as error:
            print(error)
    """
    done = run(broken, program)
    assert done.stderr.count("the rules that shaky brings for adbc (shaky_rules) cannot be loaded") == 1
    assert done.stdout.count("the rules that shaky brings could not be loaded") == 2
    assert "no_such_module" in done.stdout


def test_a_cache_on_disk_knows_which_rules_were_there(site: pathlib.Path, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "site"
    shutil.copytree(site, folder)
    (folder / "user.py").write_text("import clib\ndef f(x):\n    return clib.bessel_j0(x) * 2.0\n")
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    program = "import user, adbc\nfor _ in range(3): print(adbc.grad(user.f)(0.0))"
    env: dict[str, Any] = {
        "ADBC_CACHE": str(cache),
        "ADBC_VERIFY": "0",
        "ADBC_WARM_AFTER": "0",
        "ADBC_HIDE_FRAMES": "0",
    }

    assert set(run(folder, program, **env).stdout.split()) <= {"0.0", "-0.0"}
    first = set(cache.iterdir())
    assert first
    assert set(run(folder, program, **env).stdout.split()) <= {"0.0", "-0.0"}
    assert set(cache.iterdir()) == first
    rules = folder / "clib" / "_adbc_rules.py"
    text = rules.read_text()
    changed = text.replace("lambda out, x: -clib.bessel_j1(x)", "lambda out, x: 21.0 + 0.0 * x")
    assert changed != text
    rules.write_text(changed)
    assert set(run(folder, program, **env).stdout.split()) == {"42.0"}
