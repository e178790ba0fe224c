"""parsimonious: grammars and visitors."""

from parsimonious.grammar import Grammar
from parsimonious.nodes import NodeVisitor

from libraries.package import Package

package = Package("parsimonious")

grammar = Grammar(
    r"""
    sum = term (plus term)*
    term = factor (times factor)*
    factor = number / name
    plus = ~r"\s*\+\s*"
    times = ~r"\s*\*\s*"
    number = ~r"[0-9]+(\.[0-9]*)?"
    name = ~r"[a-z]+"
    """
)


class Evaluate(NodeVisitor):
    def __init__(self, names):
        self.names = names

    def visit_sum(self, node, children):
        first, rest = children
        return first + sum(part for _, part in rest) if isinstance(rest, list) else first

    def visit_term(self, node, children):
        first, rest = children
        if isinstance(rest, list):
            for _, part in rest:
                first = first * part
        return first

    def visit_factor(self, node, children):
        return children[0]

    def visit_number(self, node, children):
        return float(node.text)

    def visit_name(self, node, children):
        return self.names[node.text]

    def generic_visit(self, node, children):
        return children or node


@package.call(1.3)
def evaluated(x):
    return Evaluate({"x": x}).visit(grammar.parse("x * x + 2.5 * x + 1"))


@package.call(1.3, 0.4)
def two_names(x, rate):
    return Evaluate({"x": x, "rate": rate}).visit(grammar.parse("rate * x * x + 3 * rate"))


@package.call(0.8)
def sizes_of_a_tree(x):
    tree = grammar.parse("a + 2 * b + 3.5")
    return x ** len(tree.children) * tree.end


@package.call(0.8)
def own_grammar(x):
    small = Grammar('pair = digits "," digits\ndigits = ~r"[0-9]+"')
    tree = small.parse("12,30")
    return float(tree.children[0].text) * x + float(tree.children[2].text) * x**2
