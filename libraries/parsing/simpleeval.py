"""simpleeval: expressions in texts."""

import math

from simpleeval import EvalWithCompoundTypes, SimpleEval, simple_eval

from libraries.package import Package

package = Package("simpleeval")


@package.call(1.7)
def a_polynomial(x):
    return simple_eval("3 * x ** 2 - 2 * x + 1", names={"x": x})


@package.call(0.6, 2.0)
def with_functions(angle, scale):
    return simple_eval(
        "scale * sin(angle) + cos(angle) ** 2", names=locals(), functions={"sin": math.sin, "cos": math.cos}
    )


@package.call(1.2)
def parsed_once(x):
    evaluator = SimpleEval(functions={"exp": math.exp})
    tree = evaluator.parse("exp(-x) * x / 2")
    total = 0.0
    for k in range(3):
        evaluator.names = {"x": x + k}
        total += evaluator.eval("", previously_parsed=tree)
    return total


@package.call(2.5)
def conditional(x):
    return simple_eval("x * 2 if x > 1 else x / 2", names={"x": x})


@package.call(0.3, 0.7)
def compound(a, b):
    evaluator = EvalWithCompoundTypes(names={"data": {"a": a, "b": [b, 2 * b]}})
    return evaluator.eval("data['a'] * data['b'][1] + [1, 2, 3][2] * data['a']")
