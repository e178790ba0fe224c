"""Formulas as text, as trees and as programs for small machines."""

from __future__ import annotations

import math
import operator
import re
import string
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache, singledispatchmethod

from benchmarks.program import Program

# -- an expression evaluator ------------------------------------------------------------

TOKEN = re.compile(r"\s*(?:(\d+\.?\d*)|([a-z]\w*)|(.))")


class Kind(Enum):
    NUMBER = auto()
    NAME = auto()
    OPERATOR = auto()
    END = auto()


def tokenize(text):
    for number, name, symbol in TOKEN.findall(text):
        if number:
            yield Kind.NUMBER, float(number)
        elif name:
            yield Kind.NAME, name
        else:
            yield Kind.OPERATOR, symbol
    yield Kind.END, None


class Node:
    def evaluate(self, env):
        raise NotImplementedError


@dataclass
class Number(Node):
    value: float

    def evaluate(self, env):
        return self.value


@dataclass
class Name(Node):
    name: str

    def evaluate(self, env):
        try:
            return env[self.name]
        except KeyError:
            raise NameError(self.name) from None


@dataclass
class Binary(Node):
    symbol: str
    left: Node
    right: Node

    OPERATORS = {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
        "^": operator.pow,
    }

    def evaluate(self, env):
        return self.OPERATORS[self.symbol](self.left.evaluate(env), self.right.evaluate(env))


@dataclass
class Negation(Node):
    operand: Node

    def evaluate(self, env):
        return -self.operand.evaluate(env)


@dataclass
class Call(Node):
    function: str
    arguments: list

    def evaluate(self, env):
        return getattr(math, self.function)(*[a.evaluate(env) for a in self.arguments])


class Parser:
    PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}

    def __init__(self, text):
        self.tokens = list(tokenize(text))
        self.position = 0

    @property
    def current(self):
        return self.tokens[self.position]

    def advance(self):
        token = self.current
        self.position += 1
        return token

    def expect(self, symbol):
        if self.advance() != (Kind.OPERATOR, symbol):
            raise SyntaxError(f"expected {symbol}")

    def expression(self, lowest=1):
        left = self.atom()
        while self.current[0] is Kind.OPERATOR and self.PRECEDENCE.get(self.current[1], 0) >= lowest:
            _, symbol = self.advance()
            level = self.PRECEDENCE[symbol]
            right = self.expression(level if symbol == "^" else level + 1)
            left = Binary(symbol, left, right)
        return left

    def atom(self):
        kind, value = self.advance()
        if kind is Kind.NUMBER:
            return Number(value)
        if kind is Kind.NAME:
            if self.current == (Kind.OPERATOR, "("):
                self.advance()
                arguments = [self.expression()]
                while self.current == (Kind.OPERATOR, ","):
                    self.advance()
                    arguments.append(self.expression())
                self.expect(")")
                return Call(value, arguments)
            return Name(value)
        if value == "-":
            return Negation(self.atom())
        if value == "(":
            inner = self.expression()
            self.expect(")")
            return inner
        raise SyntaxError(f"unexpected {value}")


def formula_sum(variables, text, grid):
    """The sum of a formula over values of t."""
    tree = Parser(text).expression()
    return sum(tree.evaluate({**variables, "t": t}) for t in grid)


@lru_cache(maxsize=None)
def compiled(text):
    """To nested closures, by recursive descent."""
    tokens = re.findall(r"\d+\.?\d*|\w+|[-+*/^(),]", text)

    def peek():
        return tokens[0] if tokens else ""

    def binary(parse, table):
        left = parse()
        while peek() in table and peek():
            f = table[tokens.pop(0)]
            left = (lambda f, a, b: lambda env: f(a(env), b(env)))(f, left, parse())
        return left

    def expression():
        return binary(term, {"+": operator.add, "-": operator.sub})

    def term():
        return binary(power, {"*": operator.mul, "/": operator.truediv})

    def power():
        base = atom()
        if peek() == "^":
            tokens.pop(0)
            exponent = power()
            return lambda env: base(env) ** exponent(env)
        return base

    def atom():
        token = tokens.pop(0)
        if token == "(":
            inner = expression()
            tokens.pop(0)
            return inner
        if token == "-":
            operand = atom()
            return lambda env: -operand(env)
        if token[0].isdigit():
            value = float(token)
            return lambda env: value
        if peek() == "(":
            tokens.pop(0)
            arguments = [expression()]
            while tokens.pop(0) == ",":
                arguments.append(expression())
            function = getattr(math, token)
            return lambda env: function(*(a(env) for a in arguments))
        return lambda env: env[token]

    return expression()


def formula_sum_of_closures(variables, text, grid):
    f = compiled(text)
    total = 0.0
    for t in grid:
        total += f(dict(variables, t=t))
    return total


# -- a stack machine ------------------------------------------------------------


def run_machine(program, inputs, steps):
    """Instructions are tuples; the result is what is on top of the stack."""
    stack, memory, pc = [], dict(enumerate(inputs)), 0
    while pc < len(program) and steps > 0:
        steps -= 1
        match program[pc]:
            case ("push", value):
                stack.append(value)
            case ("load", cell):
                stack.append(memory[cell])
            case ("store", cell):
                memory[cell] = stack.pop()
            case ("add",):
                b, a = stack.pop(), stack.pop()
                stack.append(a + b)
            case ("sub",):
                b, a = stack.pop(), stack.pop()
                stack.append(a - b)
            case ("mul",):
                b, a = stack.pop(), stack.pop()
                stack.append(a * b)
            case ("div",):
                b, a = stack.pop(), stack.pop()
                stack.append(a / b)
            case ("jump if above", limit, target):
                if stack.pop() > limit:
                    pc = target
                    continue
            case other:
                raise ValueError(f"unknown instruction {other}")
        pc += 1
    return stack[-1]


def machine_root(x, program, steps):
    return run_machine(program, [x, 1.0], steps)


class Machine:
    def __init__(self, program, inputs):
        self.program = program
        self.stack = []
        self.memory = [*inputs, *[0.0] * 6]
        self.pc = 0

    def step(self):
        name, *arguments = self.program[self.pc]
        self.pc += 1
        getattr(self, "do_" + name.replace(" ", "_"))(*arguments)

    def do_push(self, value):
        self.stack.append(value)

    def do_load(self, cell):
        self.stack.append(self.memory[cell])

    def do_store(self, cell):
        self.memory[cell] = self.stack.pop()

    def _binary(self, f):
        b = self.stack.pop()
        self.stack[-1] = f(self.stack[-1], b)

    def do_add(self):
        self._binary(lambda a, b: a + b)

    def do_sub(self):
        self._binary(lambda a, b: a - b)

    def do_mul(self):
        self._binary(lambda a, b: a * b)

    def do_div(self):
        self._binary(lambda a, b: a / b)

    def do_jump_if_above(self, limit, target):
        if self.stack.pop() > limit:
            self.pc = target

    def run(self, steps):
        for _ in range(steps):
            if self.pc >= len(self.program):
                break
            self.step()
        return self.stack[-1]


def machine_root_by_dispatch(x, program, steps):
    return Machine(program, (x, 1.0)).run(steps)


# -- a small Forth ------------------------------------------------------------


def forth(source, stack):
    words = {}
    tokens = iter(source.split())

    def arithmetic(f):
        def word():
            b = stack.pop()
            a = stack.pop()
            stack.append(f(a, b))

        return word

    def swap():
        stack[-1], stack[-2] = stack[-2], stack[-1]

    words.update(
        {
            "+": arithmetic(operator.add),
            "-": arithmetic(operator.sub),
            "*": arithmetic(operator.mul),
            "/": arithmetic(operator.truediv),
            "dup": lambda: stack.append(stack[-1]),
            "over": lambda: stack.append(stack[-2]),
            "drop": stack.pop,
            "swap": swap,
            "exp": lambda: stack.append(math.exp(stack.pop())),
        }
    )

    def execute(token):
        word = words.get(token)
        if callable(word):
            word()
        elif word is not None:
            for inner in word:
                execute(inner)
        else:
            stack.append(float(token))

    for token in tokens:
        if token == ":":
            name = next(tokens)
            body = []
            while (t := next(tokens)) != ";":
                body.append(t)
            words[name] = body
        else:
            execute(token)
    return stack


def forth_total(x, y, source, times):
    total = 0.0
    for k in range(times):
        total += forth(source, [x, y + k])[-1]
    return total


class Forth:
    def __init__(self):
        self.data = []
        self.definitions = {}
        self.defining = None

    def push(self, value):
        self.data.append(value)

    def pop(self):
        return self.data.pop()

    def word_dup(self):
        top = self.pop()
        self.push(top)
        self.push(top)

    def word_over(self):
        self.push(self.data[-2])

    def word_drop(self):
        self.pop()

    def word_swap(self):
        b, a = self.pop(), self.pop()
        self.data.extend((b, a))

    def word_exp(self):
        self.push(math.exp(self.pop()))

    def binary(self, token):
        b, a = self.pop(), self.pop()
        if token == "+":
            self.push(a + b)
        elif token == "-":
            self.push(a - b)
        elif token == "*":
            self.push(a * b)
        else:
            self.push(a / b)

    def interpret(self, token):
        if token in self.definitions:
            for inner in self.definitions[token]:
                self.interpret(inner)
        elif token in ("+", "-", "*", "/"):
            self.binary(token)
        elif hasattr(self, f"word_{token}"):
            getattr(self, f"word_{token}")()
        else:
            self.push(float(token))

    def feed(self, source):
        for token in source.split():
            if self.defining is None and token == ":":
                self.defining = []
            elif self.defining is not None and token == ";":
                name, *body = self.defining
                self.definitions[name] = body
                self.defining = None
            elif self.defining is not None:
                self.defining.append(token)
            else:
                self.interpret(token)
        return self


def forth_total_of_objects(x, y, source, times):
    results = []
    for k in range(times):
        machine = Forth()
        machine.push(x)
        machine.push(y + k)
        results.append(machine.feed(source).pop())
    return sum(results)


# -- a tree that is simplified, then evaluated ------------------------------------------------------------


def simplified(e):
    """Constant folding on nested tuples."""
    if not isinstance(e, tuple):
        return e
    op, *args = e
    args = [simplified(a) for a in args]
    match op, args:
        case "mul", [0.0, _] | [_, 0.0]:
            return 0.0
        case "mul", [1.0, other] | [other, 1.0]:
            return other
        case "add", [0.0, other] | [other, 0.0]:
            return other
    return (op, *args)


def value_of(e, env):
    if isinstance(e, str):
        return env[e]
    if isinstance(e, (int, float)):
        return e
    op, *args = e
    values = [value_of(a, env) for a in args]
    if op == "add":
        return sum(values)
    if op == "mul":
        return math.prod(values)
    if op == "let":
        raise SyntaxError("let")
    return getattr(math, op)(*values)


def evaluated_tuples(env, expression, times):
    tree = simplified(expression)
    return sum(value_of(tree, {**env, "k": float(k)}) for k in range(times))


class Evaluator:
    def __init__(self, env):
        self.env = env

    @singledispatchmethod
    def visit(self, node):
        raise TypeError(type(node).__name__)

    @visit.register
    def _(self, node: str):
        return self.env[node]

    @visit.register(int)
    @visit.register(float)
    def _(self, node):
        return node

    @visit.register
    def _(self, node: tuple):
        op, *args = node
        method = getattr(self, f"visit_{op}", None)
        if method is not None:
            return method(*args)
        return getattr(math, op)(*map(self.visit, args))

    def visit_add(self, *terms):
        result = 0.0
        for term in terms:
            result += self.visit(term)
        return result

    def visit_mul(self, *factors):
        result = 1.0
        for factor in factors:
            result *= self.visit(factor)
        return result


def evaluated_by_visitor(env, expression, times):
    return sum(Evaluator({**env, "k": float(k)}).visit(expression) for k in range(times))


# -- a template with numbers ------------------------------------------------------------


def invoice(prices, orders, discount, template):
    """The total over orders; the text is made as well, as in the shop."""
    total = 0.0
    lines = []
    for item, count in orders:
        amount = prices[item] * count
        if count >= 10:
            amount *= 1.0 - discount
        lines.append(template.format(item=item, count=count, amount=amount))
        total += amount
    text = "\n".join(lines)
    return total + 0.0 * len(text)


class Invoice:
    TAX = {"bread": 0.07, "tools": 0.19}

    def __init__(self, prices, discount):
        self.prices, self.discount = prices, discount
        self.lines = []

    def order(self, item, count):
        line = {"item": item, "count": count}
        line["amount"] = self.prices[item] * count * (1.0 if count < 10 else 1.0 - self.discount)
        self.lines.append(line)
        return self

    @property
    def total(self):
        return sum(line["amount"] for line in self.lines)

    def render(self, template):
        t = string.Template(re.sub(r"\{(\w+)[^}]*\}", r"$\1", template))
        return "\n".join(t.substitute(line) for line in self.lines)


def invoice_of_objects(prices, orders, discount, template):
    bill = Invoice(prices, discount)
    for item, count in orders:
        bill.order(item, count)
    assert bill.render(template).count("\n") == len(orders) - 1
    return bill.total


_TEXT = "a * exp(-b * t) * sin(2 * c * t) + (a - b) ^ 2 / (1 + t ^ 2) - sqrt(c + t)"
_NEWTON = [
    ("push", 12),
    ("store", 2),
    ("load", 1),
    ("load", 0),
    ("load", 1),
    ("div",),
    ("add",),
    ("push", 0.5),
    ("mul",),
    ("store", 1),
    ("load", 2),
    ("push", 1),
    ("sub",),
    ("store", 2),
    ("load", 2),
    ("jump if above", 0, 2),
    ("load", 1),
]
_FORTH = ": square dup * ; : gauss square -0.5 * exp ; swap gauss over square + * 3 /"
_TREE = (
    "add",
    ("mul", 1.0, ("sin", ("mul", "a", "k"))),
    ("mul", "b", ("exp", ("mul", -0.1, "k")), ("cos", "a")),
    2,
)
_TREE = ("add", _TREE, ("mul", 0.5, _TREE, "b"), ("tanh", ("add", 0.0, "a")))
_PRICES = {"bread": 2.5, "salt": 0.8, "nails": 0.05, "wood": 12.0}
_ORDERS = [(list(_PRICES)[i % 4], 1 + (i * 7) % 15) for i in range(15)]

PROGRAMS = [
    Program(
        "expression evaluator",
        {"tree of classes": formula_sum, "closures": formula_sum_of_closures},
        ({"a": 1.3, "b": 0.4, "c": 2.1}, _TEXT, [0.1 * i for i in range(10)]),
    ),
    Program(
        "stack machine",
        {"match statement": machine_root, "methods by name": machine_root_by_dispatch},
        (2.7, _NEWTON, 400),
    ),
    Program(
        "Forth",
        {"closures over a stack": forth_total, "objects": forth_total_of_objects},
        (0.7, 1.2, _FORTH, 4),
        (0, 1),
    ),
    Program(
        "nested tuples",
        {"recursion": evaluated_tuples, "single dispatch": evaluated_by_visitor},
        ({"a": 0.6, "b": 1.7}, _TREE, 5),
    ),
    Program(
        "invoice",
        {"format": invoice, "class with a template": invoice_of_objects},
        (_PRICES, _ORDERS, 0.1, "{count:4d} x {item:10} {amount:10.2f}"),
        (0, 2),
    ),
]
