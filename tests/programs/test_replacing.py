"""The replacer of whole modules finds every function, wherever it is held."""

from __future__ import annotations

from typing import Any

from tests.programs.replacing import Replacer

SOURCE = """
from __future__ import annotations
import contextlib, functools

def plain(x, *, k=2.0): return x * k
scaled = lambda *a, k=2.0: (a, k)
partial = functools.partial(plain, k=3.0)

@contextlib.contextmanager
def manager(log):
    log.append("in")
    yield log
    log.append("out")

@functools.lru_cache
def cached(n): return n + 1

@functools.singledispatch
def kind(x): return "object"
@kind.register
def kind_of_int(x: int): return "int"
kind.register(str, lambda x: "str")

def decorated(f):
    @functools.wraps(f)
    def wrapper(*a): return ("wrapped", f(*a))
    return wrapper

class Outer:
    def method(self): return 1
    class Inner:
        @staticmethod
        def static(x): return x, __class__.__name__
        @classmethod
        def made(cls, x): return cls.__name__, x
        @property
        def value(self): return 5
        @value.setter
        def value(self, x): self.x = x
        @functools.cached_property
        def slow(self): return [k * k for k in range(3)]
        def base(self, a, b): return a - b
        less = functools.partialmethod(base, 10)
        @decorated
        def deep(self): return "deep"
        if True:
            def generator(self): yield from (k for k in (1, 2))

def local():
    class Local:
        def method(self): return super().__repr__()[:1], (lambda: 4)()
    return Local().method()

def flags(): return eval_flags()
def eval_flags():
    return compile("x: 1", "m", "exec").co_flags & annotations.compiler_flag

def refused(): return locals()

def run():
    inner = Outer.Inner()
    inner.value = 7
    log = []
    with manager(log):
        pass
    return [
        plain(1), scaled(1), partial(2), log, cached(1), kind(1), kind(""), kind(()), Outer().method(),
        inner.static(1), inner.made(2), inner.value, inner.x, inner.slow, inner.less(3), inner.deep(),
        list(inner.generator()), local(), flags(), refused(),
    ]
"""


def test_everything_is_found() -> None:
    original: dict[str, Any] = {"__name__": "original"}
    space: dict[str, Any] = {"__name__": "replaced"}
    exec(compile(SOURCE, "replaced.py", "exec", dont_inherit=True), original)
    exec(compile(SOURCE, "replaced.py", "exec", dont_inherit=True), space)
    held = space["cached"].__wrapped__, space["Outer"].Inner.__dict__["deep"]
    replacer = Replacer()
    replacer.namespaces([space])
    assert held == (space["cached"].__wrapped__, space["Outer"].Inner.__dict__["deep"])
    assert space["run"]() == original["run"]()
    assert space["flags"]() != 0  # `compile` inherits what the module imported from the future
    assert replacer.refused == {"a call of locals(), which looks at its own frame": ["refused"]}
    # Since annotations are functions (3.14) there may be more.
    assert set(replacer.replaced) >= {
        "plain",
        "<lambda>",
        "manager",
        "cached",
        "kind",
        "kind_of_int",
        "decorated",
        "decorated.<locals>.wrapper",
        "Outer.method",
        "Outer.Inner.static",
        "Outer.Inner.made",
        "Outer.Inner.value",
        "Outer.Inner.slow",
        "Outer.Inner.base",
        "Outer.Inner.deep",
        "Outer.Inner.generator",
        "Outer.Inner.generator.<locals>.<genexpr>",
        "local",
        "local.<locals>.Local.method",
        "local.<locals>.Local.method.<locals>.<lambda>",
        "eval_flags",
        "flags",
        "run",
    }
