"""py-expression-eval: expressions with variables."""

from py_expression_eval import Parser

from libraries.package import Package

package = Package("py-expression-eval")

parser = Parser()
parsed = parser.parse("x^2 * sin(y) + 3 * x")


@package.call(1.3, 0.4)
def evaluated(x, y):
    return parsed.evaluate({"x": x, "y": y})


@package.call(1.3)
def parsed_and_evaluated(x):
    return parser.parse("2 * x + sqrt(x) - log(x)").evaluate({"x": x})


@package.call(0.4)
def simplified(y):
    return parsed.simplify({"x": 2}).evaluate({"y": y})


@package.call(0.9)
def substituted(z):
    return parsed.substitute("x", parser.parse("z + 1")).evaluate({"z": z, "y": 0.3})


@package.call(2.2)
def with_own_function(x):
    own = Parser()
    own.functions["square"] = lambda value: value * value
    return own.parse("square(x) + (x > 1)").evaluate({"x": x})
