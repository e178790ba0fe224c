"""Functions of libraries that are handed to C code: what they import are modules of libraries."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

import adbc
from adbc.errors import MissingRuleError
from tests.installed import installed

X = 0.75
OUT = io.StringIO()
TABLE: dict[str, Any] = {}
SOURCE = """
    import json

    def fallback(obj):
        from collections import OrderedDict
        if isinstance(obj, OrderedDict):
            return dict(obj)
        return repr(obj)

    def finds(obj):
        import sys
        return sys.modules["__main__"]

    def render(event):
        return json.dumps(event, default=fallback)

    def render_by(handler, event):
        return json.dumps(event, default=handler)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with installed(tmp_path_factory, "renderslib", SOURCE) as module:
        yield module


def test_a_handler_that_imports_is_handed_on(library: Any) -> None:
    def f(x: float) -> Any:
        state = [x * x]
        OUT.write(library.render({"event": "a", "value": state[0]}))
        return state[0] * x

    f(X)
    line = OUT.getvalue()
    for _ in range(3):
        assert adbc.grad(f)(X) == pytest.approx(3.0 * X**2)
        assert adbc.jvp(f, (X,), (1.0,))[1] == pytest.approx(3.0 * X**2)
    assert OUT.getvalue() == line * 7


def test_a_number_is_not_read_from_what_it_makes(library: Any) -> None:
    def f(x: float) -> Any:
        return json.loads(library.render({"value": x}))["value"] * x

    for derivative in (lambda: adbc.grad(f)(X), lambda: adbc.jvp(f, (X,), (1.0,))):
        with pytest.raises(adbc.AdbcError):
            derivative()


def user_handler(obj: Any) -> Any:
    from collections import OrderedDict

    return dict(obj) if isinstance(obj, OrderedDict) else repr(obj)


def test_one_that_may_find_what_has_a_derivative_is_refused(library: Any) -> None:
    for handler in (library.finds, user_handler):

        def f(x: float, handler: Any = handler) -> Any:
            TABLE["x"] = x * x
            return x * len(library.render_by(handler, {"set": {1}, "value": x}))

        for derivative in (lambda f=f: adbc.grad(f)(X), lambda f=f: adbc.jvp(f, (X,), (1.0,))):
            with pytest.raises(MissingRuleError, match="by other names"):
                derivative()
