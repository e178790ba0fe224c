"""The public names are the ones we mean, and each of them exists and says what it is."""

from __future__ import annotations

import doctest
import pathlib
import re
import types

import pytest

import adbc
from adbc.runtime.calls.steps import Call
from adbc.runtime.report import messages

ROOT = pathlib.Path(__file__).parent.parent

PUBLIC = {
    "ArrayTangent",
    "CoDual",
    "Config",
    "Const",
    "Dual",
    "FData",
    "forget",
    "set_tangent_field",
    "tangent_field",
    "zero_codual",
    "zero_dual",
    "Layer",
    "MutableTangent",
    "NoFData",
    "NoRData",
    "NoTangent",
    "RData",
    "Record",
    "Signature",
    "__version__",
    "errors",
    "implicit",
    "inspect",
    "testing",
    "Tangent",
    "build_frule",
    "build_rrule",
    "chainrules",
    "AdbcError",
    "MissingRuleError",
    "dot",
    "fdata",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linear",
    "norm",
    "overlay",
    "prepare",
    "primitive",
    "ravel",
    "rdata",
    "register_tangent",
    "rule",
    "checkpoint",
    "checkpoint_loop",
    "scalar_rule",
    "sparse_hessian",
    "sparse_jacobian",
    "sparsity",
    "stop_gradient",
    "tangent",
    "tangent_type",
    "tree_leaves",
    "tree_map",
    "use",
    "value_and_grad",
    "value_and_jacobian",
    "vhp",
    "vjp",
    "zero_derivative",
    "zero_tangent",
}


def test_public_names() -> None:
    assert set(adbc.__all__) == PUBLIC


def test_public_names_exist() -> None:
    for name in adbc.__all__:
        assert getattr(adbc, name) is not None


def test_public_names_are_documented() -> None:
    undocumented = [
        name
        for name in adbc.__all__
        if not isinstance(getattr(adbc, name), types.ModuleType) and not getattr(adbc, name).__doc__
    ]
    assert not undocumented


DATA = {"chainrules", "errors", "inspect", "testing", "__version__"}
"""Public names that are no classes or functions."""


@pytest.mark.parametrize("name", sorted(PUBLIC - DATA))
def test_the_example_of_a_public_name_gives_what_it_shows(name: str) -> None:
    """`register_tangent` has the example of `Record`."""
    thing = getattr(adbc, name)
    found = doctest.DocTestFinder(recurse=False).find(thing, name, module=False, globs={})
    runner = doctest.DocTestRunner()
    results = [runner.run(test) for test in found]
    assert sum(result.attempted for result in results) > 0 or name == "Record"
    assert not sum(result.failed for result in results)


def test_the_reference_has_every_public_name() -> None:
    text = (ROOT / "docs" / "reference.rst").read_text(encoding="utf-8")
    shown = set(re.findall(r"^\.\. auto(?:function|class|exception):: adbc\.(\w+)$", text, re.MULTILINE))
    assert shown == PUBLIC - DATA
    assert set(re.findall(r"^\.\. autoexception:: adbc\.errors\.(\w+)$", text, re.MULTILINE)) == {
        *adbc.errors.__all__
    } - {"AdbcError", "MissingRuleError"}


@pytest.mark.parametrize("module", [adbc.inspect, adbc.testing], ids=lambda module: module.__name__)
def test_the_documents_have_every_name_of_a_public_module(module: types.ModuleType) -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.rst"))
    shown = set(re.findall(rf"^\.\. auto(?:function|class):: {module.__name__}\.(\w+)$", pages, re.MULTILINE))
    assert shown == set(module.__all__)


@pytest.mark.parametrize("name", [*adbc.inspect.__all__, *adbc.testing.__all__])
def test_the_example_of_a_name_of_a_public_module_gives_what_it_shows(name: str) -> None:
    thing = getattr(adbc.inspect, name, None) or getattr(adbc.testing, name)
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder(recurse=False).find(thing, name, module=False, globs={}):
        assert not runner.run(test).failed


def test_remedies_that_an_error_names_exist() -> None:
    calls = [Call(len, None, (x,), (None,), (None,)) for x in ([1.0], 1.0)]
    text = " ".join(str(messages.missing_rule(call)) for call in calls)
    named = set(re.findall(r"adbc\.(\w+)", text))
    assert {"rule", "scalar_rule", "zero_derivative", "stop_gradient"} <= named
    assert named <= set(adbc.__all__)
