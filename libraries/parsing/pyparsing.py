"""pyparsing: grammars whose actions compute."""

import operator

import pyparsing as pp
from pyparsing import common

from libraries.package import Package

package = Package("pyparsing")

number = common.fnumber()
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def fold(tokens):
    value, *rest = tokens[0]
    for sign, other in zip(rest[::2], rest[1::2], strict=True):
        value = OPERATORS[sign](value, other)
    return value


arithmetic = pp.infix_notation(
    number, [(pp.one_of("* /"), 2, pp.OpAssoc.LEFT, fold), (pp.one_of("+ -"), 2, pp.OpAssoc.LEFT, fold)]
)
setting = pp.Group(common.identifier("name") + pp.Suppress("=") + number("value"))
settings = pp.Dict(pp.OneOrMore(setting))


@package.call(1.5)
def scaled_result(x):
    return x * arithmetic.parse_string("2 * 3 + 4 / (1 - 3)", parse_all=True)[0]


@package.call(1.5)
def names_bound_to_numbers(x):
    variable = pp.Literal("x").set_parse_action(lambda: x)
    grammar = pp.infix_notation(
        variable | common.fnumber(),
        [(pp.one_of("* /"), 2, pp.OpAssoc.LEFT, fold), (pp.one_of("+ -"), 2, pp.OpAssoc.LEFT, fold)],
    )
    return grammar.parse_string("x * x + 3 * x - 1", parse_all=True)[0]


@package.call(2.0, 0.5)
def settings_of_a_run(length, time):
    found = settings.parse_string("mass = 1.5 speed = 3e1")
    return 0.5 * found.mass * (found.speed * length / time) ** 2


@package.call(0.25)
def weights_of_a_list(x):
    weights = pp.DelimitedList(common.real).parse_string("1.5, 2.5, -0.5")
    return sum(w * x**k for k, w in enumerate(weights))
