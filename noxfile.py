"""The sessions of the project: `nox` runs tests, lint and types; `nox -l` lists all.

Interpreters are looked for on the PATH and in the roots of pyenv, where they are usable without being
selected.
"""

from __future__ import annotations

import os
import pathlib

import nox

nox.needs_version = ">=2024.4"
nox.options.sessions = ["tests", "lint", "types"]
# A machine need not have all interpreters; nox names those that it skipped.
nox.options.error_on_missing_interpreters = False
nox.options.default_venv_backend = "virtualenv"

VERSIONS = ["3.11", "3.12", "3.13", "3.14", "3.15"]
ROOT = pathlib.Path(__file__).parent


def pyenv_folders() -> list[str]:
    """The `bin` folders of pyenv's interpreters, newest patch release of each version first."""
    default = pathlib.Path.home() / ".pyenv"
    roots = {pathlib.Path(os.environ.get("PYENV_ROOT", default)), default}
    found = [
        folder
        for root in sorted(roots)
        for version in VERSIONS
        for folder in sorted(root.glob(f"versions/{version}.*/bin"), reverse=True)
    ]
    return [str(folder) for folder in found]


# In front of the PATH: pyenv's shims there answer for versions that they then refuse to run.
os.environ["PATH"] = os.pathsep.join([*pyenv_folders(), os.environ.get("PATH", "")])


def has_opcodes(version: str) -> bool:
    """Whether adbc has the opcode table of this version of CPython."""
    return any((ROOT / "adbc" / "cpython").glob(f"*{version.replace('.', '')}.py")) or any(
        (ROOT / "adbc" / "cpython").glob(f"*{version.replace('.', '_')}.py")
    )


def install(session: nox.Session) -> None:
    """Install the project and what its tests need; skip an interpreter whose opcodes adbc does not know."""
    version = str(session.python)
    if not has_opcodes(version):
        session.skip(f"adbc has no table of the opcodes of CPython {version}")
    session.install("-e", ".[test]")


@nox.session(python=VERSIONS)
def tests(session: nox.Session) -> None:
    """All tests, on every interpreter from 3.11 to 3.15 that is found and whose opcodes adbc knows."""
    install(session)
    session.run("python", "-m", "pytest", "-m", "", *session.posargs)


@nox.session(python="3.11")
def rules(session: nox.Session) -> None:
    """Tests of rules, of each rule some: against finite differences, in both modes."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "pytest", "tests/rules", *session.posargs, env={"ADBC_TESTS_BUDGET": "2"})


@nox.session(python="3.11")
def rules_all(session: nox.Session) -> None:
    """All tests of rules and of whole programs, which take hours."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "pytest", "-m", "", "tests/rules", "tests/programs", *session.posargs)


MUTATED = (
    "special", "linalg", "fft", "signal", "ndimage", "integrate", "interpolate", "optimize", "spatial",
    "spatial.distance", "spatial.transform", "sparse", "sparse.linalg", "stats", "cluster.vq",
)  # fmt: skip


@nox.session(python="3.11")
def mutations(session: nox.Session) -> None:
    """Rules made wrong on purpose: the generated calls find all but those that are listed with the reason."""
    session.install("-e", ".[test]", "scipy")
    scipy = [f"scipy.{name}" for name in MUTATED]
    modules = ["math", "cmath", "numpy", *scipy]
    session.run("python", "-m", "adbc.testing.coverage", "--mutate", *(session.posargs or modules))


COUNTS = {
    "functions": 100_000, "classes": 10_000, "numpy": 10_000, "constants": 10_000, "mixtures": 10_000,
    "recursion": 10_000, "generators": 10_000, "arrays": 10_000, "formulas": 10_000, "closures": 10_000,
    "shifting": 10_000, "apart": 2_000, "warming": 10_000, "second": 1_000,
}  # fmt: skip
"""How many random programs of each kind are run."""


@nox.session(python="3.11")
def properties(session: nox.Session) -> None:
    """Many random programs of each kind, unless arguments say otherwise; goes on where it was interrupted."""
    session.install("-e", ".[test]")
    log = pathlib.Path(session.create_tmp()) / "properties.log"
    jobs = str(os.cpu_count() or 1)
    if session.posargs:
        session.run("python", "-m", "tests.properties.run", *session.posargs)
        return
    for kind, count in COUNTS.items():
        of_kind = ["--kind", kind, "--count", str(count), "--jobs", jobs, "--log", str(log)]
        session.run("python", "-m", "tests.properties.run", *of_kind)


@nox.session(python="3.11")
def numba(session: nox.Session) -> None:
    """The tests of functions that Numba has compiled, which are skipped where it is not installed."""
    session.install("-e", ".[test,numba]")
    session.run("python", "-m", "pytest", "-m", "", "tests/rules/test_numba.py", *session.posargs)


@nox.session(python=["3.11", "3.12", "3.13"])
def native(session: nox.Session) -> None:
    """The tests of machine code, which are skipped where llvmlite is not there: it is a large download."""
    session.install("-e", ".[test,native]")
    session.run("python", "-m", "pytest", "-m", "", "tests/low", "tests/native", *session.posargs)


@nox.session(python="3.11")
def foreign(session: nox.Session) -> None:
    """The tests of rules of other systems, which are skipped elsewhere: these are a large download."""
    session.install("-e", ".[test]", "autograd", "jax", "torch")
    session.run("python", "-m", "pytest", "-n", "0", "-m", "", "tests/chainrules/foreign", *session.posargs)


@nox.session(python="3.11")
def libraries(session: nox.Session) -> None:
    """Functions of packages that never heard of adbc, against differences; goes on where it was left."""
    session.install("-e", ".", "-r", "libraries/requirements.txt")
    log = pathlib.Path(session.create_tmp()) / "libraries.log"
    options = session.posargs or ["--jobs", str(os.cpu_count() or 1), "--log", str(log)]
    session.run("python", "-m", "libraries", *options)


LANGUAGE = (
    "augassign", "binop", "bisect", "bool", "builtin", "class", "collections", "compare", "contextlib",
    "decorators", "deque", "descr", "dict", "dictcomps", "enum", "enumerate", "exception_group",
    "exception_variations", "exceptions", "except_star", "float", "fractions", "functools", "generators",
    "grammar", "heapq", "int", "iter", "itertools", "keywordonlyarg", "list", "named_expressions", "operator",
    "ordered_dict", "patma", "property", "raise", "range", "scope", "statistics", "string", "super", "tuple",
    "unicode", "with",
)  # fmt: skip


@nox.session(python=VERSIONS)
def language(session: nox.Session) -> None:
    """The interpreter's own tests of the language inside of a derivative: what is refused, what fails."""
    install(session)
    for name in session.posargs or LANGUAGE:
        session.run("python", "-m", "tests.programs.inside_a_derivative", f"test_{name}")


PACKAGES = {
    "numpy._core.tests": (
        "einsum", "function_base", "indexing", "item_selection", "multiarray", "nditer", "numeric", "records",
        "regression", "scalar_methods", "scalarmath", "shape_base", "ufunc", "umath", "umath_complex",
    ),
    "numpy.fft.tests": ("pocketfft",),
    "numpy.lib.tests": (
        "arraypad", "arraysetops", "function_base", "histograms", "index_tricks", "nanfunctions",
        "polynomial", "recfunctions", "shape_base", "stride_tricks", "twodim_base", "type_check", "ufunclike",
    ),
    "numpy.linalg.tests": ("linalg", "regression"),
    "numpy.ma.tests": ("core", "extras", "subclassing"),
    "numpy.matrixlib.tests": ("defmatrix", "interaction", "masked_matrix"),
    "numpy.polynomial.tests": ("classes", "polynomial"),
}  # fmt: skip
"""Modules of tests that come with packages, without ``test_`` in front."""


@nox.session(python="3.11")
def packages(session: nox.Session) -> None:
    """The tests that come with NumPy as programs to be differentiated: what is refused, wrong, fails."""
    session.install("-e", ".[test]")
    options = ["--cases", "3", "--seconds", "300"]
    modules = [f"{package}.test_{name}" for package, names in PACKAGES.items() for name in names]
    for module in session.posargs or modules:
        session.run("python", "-m", "tests.programs.library_tests", module, *options)


@nox.session(python=VERSIONS)
def roundtrip(session: nox.Session) -> None:
    """Whole modules pass their own tests after a round trip, on every interpreter found."""
    install(session)
    session.run("python", "-m", "tests.programs.round_trip_table", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style, imports and likely mistakes."""
    session.install("ruff>=0.5")
    session.run("ruff", "check", ".")


@nox.session(python="3.11")
def types(session: nox.Session) -> None:
    """Annotations, in mypy's strict mode."""
    session.install("-e", ".[test,bench]", "mypy>=1.10", "nox>=2024.4")
    session.run("mypy")


@nox.session(python="3.11")
def docs(session: nox.Session) -> None:
    """The documentation as HTML, warnings being errors."""
    session.install("-e", ".[docs]")
    session.run("sphinx-build", "-W", "-b", "html", "docs", "docs/_build/html")


@nox.session(python="3.11")
def benchmarks(session: nox.Session) -> None:
    """Gradient over plain function, beside an adjoint by hand and HIPS autograd."""
    session.install("-e", ".[bench]")
    session.run("python", "-m", "benchmarks", *session.posargs)
