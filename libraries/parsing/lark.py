"""lark: grammars and trees."""

import math

from lark import Lark, Transformer, v_args
from lark.visitors import Interpreter

from libraries.package import Package

package = Package("lark")

GRAMMAR = """
?start: sum
?sum: product | sum "+" product -> add | sum "-" product -> sub
?product: atom | product "*" atom -> mul | product "/" atom -> div
?atom: NUMBER -> number | NAME "(" sum ")" -> function | NAME -> variable | "(" sum ")"
%import common.NUMBER
%import common.CNAME -> NAME
%import common.WS
%ignore WS
"""
parser = Lark(GRAMMAR, parser="lalr")


@v_args(inline=True)
class Calculate(Transformer):
    from operator import add, mul, sub
    from operator import truediv as div

    def __init__(self, **names):
        super().__init__()
        self.names = names

    def number(self, token):
        return float(token)

    def variable(self, name):
        return self.names[name]

    def function(self, name, value):
        return getattr(math, name)(value)


class Walk(Interpreter):
    def __init__(self, x):
        self.x = x

    def add(self, tree):
        left, right = self.visit_children(tree)
        return left + right

    def mul(self, tree):
        left, right = self.visit_children(tree)
        return left * right

    def number(self, tree):
        return float(tree.children[0])

    def variable(self, tree):
        return self.x


@package.call(0.7)
def transformed(x):
    return Calculate(x=x).transform(parser.parse("x * (x + 2) - sin(x) / 3"))


@package.call(0.7, 1.9)
def of_two_names(x, y):
    return Calculate(x=x, y=y).transform(parser.parse("exp(x * y) + y / (1 + x)"))


@package.call(1.3)
def while_parsing(x):
    inline = Lark(GRAMMAR, parser="lalr", transformer=Calculate(x=x))
    return inline.parse("2 * x * x - 3 * x")


@package.call(1.3)
def interpreted(x):
    return Walk(x).visit(parser.parse("x * x + 3 * x"))


@package.call(2.0)
def counted_tokens(x):
    tree = Lark(GRAMMAR, parser="earley").parse("1 + 2 * y")
    return x ** len(list(tree.iter_subtrees()))
