"""The rules need nothing but the standard library, and none of the engine."""

from __future__ import annotations

import subprocess
import sys

ALLOWED = ("adbc", "adbc.collector", "adbc.lazy", "adbc.errors", "adbc.config", "adbc.records")

PROGRAM = """
import sys
known = set(sys.modules)
import adbc.chainrules as cr
new = {name for name in sys.modules if name not in known}
ours = sorted(n for n in new if n.partition('.')[0] == 'adbc')
others = {n.partition('.')[0] for n in new} - {'adbc'} - set(sys.stdlib_module_names)
print(*[n for n in ours if not n.startswith('adbc.chainrules') and n not in %r], *sorted(others))
%s
print(*[n for n in sys.modules if n.startswith('adbc.') and not n.startswith('adbc.chainrules')
        and n not in %r], *['numpy'] * ('numpy' in sys.modules))
"""

BY_HAND = """
import math, operator
from adbc.chainrules import testing
cr.scalar_rule(math.sin, lambda out, x: math.cos(x))
cr.scalar_rule(operator.add, (1.0, 1.0))
testing.test_scalar(math.sin, 0.7)
testing.test_rrule(operator.add, 1.0, 2.0)
testing.test_ruleset(cr.registry)
"""


def run(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_importing_the_rules_imports_the_standard_library_alone() -> None:
    assert run(PROGRAM % (ALLOWED, BY_HAND, ALLOWED)) == ["", ""]


def test_importing_adbc_loads_the_engine_when_it_is_used() -> None:
    program = """
import sys, adbc
print('adbc.runtime' in sys.modules)
print(adbc.grad(lambda x: adbc.stop_gradient(x) * x)(3.0))
print('adbc.runtime' in sys.modules)
"""
    assert run(program) == ["False", "3.0", "True"]


def test_functions_may_use_names_of_adbc_that_nobody_has_read_before() -> None:
    program = """
import adbc
from adbc.api import grad, jvp
def f(x):
    return adbc.stop_gradient(x) * x
print(grad(f)(3.0), jvp(f, (3.0,), (1.0,)))
"""
    assert run(program) == ["3.0 (9.0, 3.0)"]
