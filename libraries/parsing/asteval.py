"""asteval: small programs in texts."""

import numpy as np
from asteval import Interpreter

from libraries.package import Package

package = Package("asteval")

PROGRAM = """
def damped(t, rate):
    return exp(-rate * t) * cos(3 * t)

total = 0
for k in range(4):
    total = total + damped(x + k / 10, 0.5)
total
"""


@package.call(1.7)
def an_expression(x):
    interpreter = Interpreter(minimal=True)
    interpreter.symtable["x"] = x
    return interpreter("sqrt(x) + x**2 / 3")


@package.call(0.4)
def a_program(x):
    interpreter = Interpreter()
    interpreter.symtable["x"] = x
    return interpreter(PROGRAM)


@package.call(np.array([0.1, 0.5, 0.9]))
def of_arrays(values):
    interpreter = Interpreter(usersyms={"v": values})
    return interpreter("sum(sin(v) * v)")


@package.call(0.7)
def a_tree(x):
    interpreter = Interpreter(usersyms={"x": x})
    return interpreter.run(interpreter.parse("x if x < 1 else 2 * x")) * 3.0
