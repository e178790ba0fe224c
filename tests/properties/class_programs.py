"""Random classes, and functions of a number that make instances of them and use these in many ways.

The parts of a class are chosen one by one: its base, in Python or in C; how it is made (``__new__``,
``__init__``, the metaclass), by functions or by descriptors; and special methods, each of which notes in a
list of numbers, or by a counter, that it was run.  What a function returns depends on all of these notes.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

__all__ = ["ClassProgram"]

PRELUDE = """\
import collections, contextlib, copy, dataclasses, functools, typing

class Tally:
    count = 0

tally = Tally()

class Gives:
    def __init__(self, function):
        self.function = function
    def __get__(self, obj, cls):
        tally.count += 1
        return functools.partial(self.function, obj)

class Named:
    def __set_name__(self, owner, name):
        self.name = "_" + name
    def __get__(self, obj, cls):
        return self if obj is None else vars(obj)[self.name] * 1.5
    def __set__(self, obj, value):
        tally.count += 1
        vars(obj)[self.name] = value * 0.5

class Calls(type):
    def __call__(cls, *args):
        tally.count += 1
        made = super().__call__(*args)
        return made

class Bound(type):
    def _make(cls, times, *args):
        tally.count += times
        return type.__call__(cls, *args)
    __call__ = functools.partialmethod(_make, 2)

class ByHand(type):
    def __call__(cls, *args):
        tally.count += 1
        made = cls.__new__(cls, *args)
        if isinstance(made, cls):
            made.__init__(*args)
        return made

class InC(type):
    __call__ = type.__call__

class Once(type):
    def __init__(cls, name, bases, namespace, **options):
        super().__init__(name, bases, namespace, **options)
        cls.made = []
        tally.count += 1
    def __call__(cls, *args):
        if not cls.made:
            cls.made.append(super().__call__(*args))
        return cls.made[0]

class Asked(type):
    def __instancecheck__(cls, obj):
        tally.count += 1
        return type.__instancecheck__(cls, obj)
    def __len__(cls):
        return 2
    def __getitem__(cls, key):
        tally.count += 1
        return cls
    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return 0.75

class Prepared(type):
    @classmethod
    def __prepare__(mcs, name, bases, **options):
        tally.count += 1
        return {"prepared": 1.5}

class Deletes:
    def __set_name__(self, owner, name):
        self.name = "_" + name
    def __get__(self, obj, cls=None):
        return 0.5 if obj is None else obj.__dict__.get(self.name, 0.25)
    def __set__(self, obj, value):
        obj.__dict__[self.name] = value * 2.0
    def __delete__(self, obj):
        tally.count += 1
        del obj.__dict__[self.name]

class Plain:
    def __get__(self, obj, cls=None):
        tally.count += 1
        return 0.5 if obj is None else 1.5

class Mixin:
    def __init__(self, *args):
        tally.count += 1
        super().__init__(*args)
    @property
    def mixed(self):
        return 0.125

class Base:
    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.scale = 1.25
    def __class_getitem__(cls, item):
        return cls
    scale = 1.0
"""

BASES = {
    "": "x", "Base": "x", "list": "[x, 2.0 * x]", "dict": "{'a': x, 'b': 2.0}", "set": "[1, 2]",
    "collections.deque": "[x, 2.0]", "tuple": "(x, 3.0)", "float": "2.0", "int": "3", "str": "'word'",
    "Exception": "x", "collections.OrderedDict": "{'a': x}", "Base, list": "[x, x]",
}  # fmt: skip
"""By bases of a class, what it is made of."""

NEW = [
    "", "", "",
    "    def __new__(cls, arg):\n        tally.count += 1\n        return {make}\n",
    "    @classmethod\n    def __new__(cls, same, arg):\n        return {make}\n",
    "    def _new(times, cls, arg):\n        tally.count += times\n        return {make}\n"
    "    __new__ = functools.partial(_new, 3)\n",
    "    @staticmethod\n    def __new__(cls, *args, **named):\n        tally.count += 1\n        return {make}\n",
    "    def __new__(cls, arg):\n        made = {make}\n        made.early = {number} * 2.0\n        return made\n",
    "    def __new__(cls, arg):\n        return [{number}, 2.0] if tally.count % 2 else {make}\n",
    "    __new__ = {in_c}.__new__\n",
]  # fmt: skip
INIT = [
    "", "",
    "    def __init__(self, arg):\n        {base}\n"
    "        self.v = u[0] * {number}\n        u.append({number})\n",
    "    def _init(self, times, arg):\n        {base}\n        self.v = {number} * times\n"
    "    __init__ = functools.partialmethod(_init, 2)\n",
    "    def _init(self, arg):\n        {base}\n        self.v = {number}\n    __init__ = Gives(_init)\n",
    "    @functools.singledispatchmethod\n"
    "    def __init__(self, arg):\n        {base}\n        self.v = {number}\n"
    "    @__init__.register\n    def _(self, arg: float):\n        {base}\n        self.v = 2.0 * {number}\n",
]  # fmt: skip
EFFECTS = ["u.append({number})", "tally.count += 1", "u[0] = u[0] * 1.1 + 0.1 * {number}", "pass"]
METHODS = [
    ("__call__", "self, y", "y * {number}", "o(x)"),
    ("__add__", "self, y", "{number} + 1.0", "(o + 1.0)"),
    ("__radd__", "self, y", "y + {number}", "(x + o)"),
    ("__iadd__", "self, y", "{number} * y", "in_place(o, x)"),
    ("__mul__", "self, y", "NotImplemented", "caught(lambda: o * x)"),
    ("__neg__", "self", "-{number}", "-(-o)"),
    ("__float__", "self", "2.5", "float(o)"),
    ("__bool__", "self", "False", "(2.0 if o else 3.0)"),
    ("__len__", "self", "3", "(len(o) + len(list(itself(o))))"),
    ("__getitem__", "self, key", "{number} * key", "o[2]"),
    ("__contains__", "self, key", "key == 2", "((2 in o) + 1)"),
    ("__iter__", "self", "iter([{number}, 2.0])", "total(o)"),
    (
        "__eq__",
        "self, other",
        "other == 4 or self is other",
        "((o == 4) + ([1, o].index(o) + ([4].count(o))))",
    ),
    ("__lt__", "self, other", "self is other", "(sorted([o, o])[0] is o)"),
    ("__hash__", "self", "11", "looked_up(o, x)"),
    ("__getattr__", "self, name", "known(name) * {number}", "o.missing"),
    ("__enter__", "self", "{number}", "entered(o)"),
    ("__length_hint__", "self", "2", "len(list(itself(o)))"),
    ("__index__", "self", "1", "[x, 2.0 * x][o]"),
    ("__setitem__", "self, key, y", "None", "set_item(o, x)"),
    ("__delitem__", "self, key", "None", "delete_item(o)"),
    ("__missing__", "self, key", "{number} * 2.0", "o['absent']"),
    ("__reversed__", "self", "iter([2.0, {number}])", "sum(list(reversed(o)))"),
    ("__next__", "self", "{number}", "(next(o) + next(o, 1.0))"),
    ("__sub__", "self, y", "{number} - y", "(o - x)"),
    ("__rsub__", "self, y", "y - {number}", "(x - o)"),
    ("__truediv__", "self, y", "{number} / y", "(o / 2.0)"),
    ("__rtruediv__", "self, y", "y / {number}", "(2.0 / o)"),
    ("__pow__", "self, y, mod=None", "{number} ** y", "(o ** 2.0)"),
    ("__rpow__", "self, y", "y ** {number}", "(x ** o)"),
    ("__matmul__", "self, y", "{number} * y", "(o @ x)"),
    ("__floordiv__", "self, y", "{number}", "(o // 2)"),
    ("__mod__", "self, y", "{number} * 0.25", "(o % 2)"),
    ("__divmod__", "self, y", "({number}, 2.0)", "sum(divmod(o, 2))"),
    ("__lshift__", "self, y", "{number} + y", "(o << x)"),
    ("__or__", "self, y", "{number}", "(o | o)"),
    ("__imul__", "self, y", "self", "multiplied(o, x)"),
    ("__abs__", "self", "{number}", "abs(o)"),
    ("__round__", "self, digits=None", "{number}", "round(o)"),
    ("__invert__", "self", "{number}", "(~o)"),
    ("__pos__", "self", "{number}", "(+o)"),
    ("__int__", "self", "2", "(x * int(o))"),
    ("__complex__", "self", "1.5 + 2.0j", "complex(o).real"),
    ("__ne__", "self, other", "False", "(x if o != 3 else 2.0 * x)"),
    ("__le__", "self, other", "True", "(x if o <= 3 else 2.0 * x)"),
    ("__gt__", "self, other", "self is not other", "(max([o, o]) is o)"),
    ("__str__", "self", "'three'", "(x * (len(str(o)) == 5))"),
    ("__repr__", "self", "'four'", "(x * (len(repr(o)) == 4))"),
    ("__copy__", "self", "[{number}]", "copy.copy(o)[0]"),
    ("__deepcopy__", "self, memo", "[{number}]", "copy.deepcopy([o])[0][0]"),
    ("__setattr__", "self, name, y", "object.__setattr__(self, name, y)", "set_attribute(o, x)"),
    ("__delattr__", "self, name", "object.__delattr__(self, name)", "delete_attribute(o, x)"),
    ("__getattribute__", "self, name", "object.__getattribute__(self, name)", "set_attribute(o, x)"),
    ("__exit__", "self, *error", "True", "suppressed(o, x)"),
    ("__format__", "self, spec", "'ab'", "len(f'{{o}}')"),
]
FIELDS = [
    ("    named = Named()\n", "use_named(o, x)"),
    ("    @property\n    def computed(self):\n        {effect}\n        return {number} * 2.0\n",
     "o.computed"),
    ("    @functools.cached_property\n    def kept(self):\n        {effect}\n        return {number} * 3.0\n",
     "(o.kept + o.kept)"),
    ("    def _method(self, times, y):\n        {effect}\n        return y * times\n"
     "    method = functools.partialmethod(_method, 4)\n", "o.method(x)"),
    ("    @staticmethod\n    def helper(y):\n        return y * 2.0\n", "o.helper(x)"),
    ("    @classmethod\n    def other(cls, y):\n        tally.count += 1\n        return y + 0.5\n",
     "o.other(x)"),
    ("    @property\n    def whole(self):\n        return self.v * 0.5\n"
     "    @whole.setter\n    def whole(self, y):\n        {effect}\n        self.v = y * 2.0\n"
     "    @whole.deleter\n    def whole(self):\n        {effect}\n        self.v = 0.75\n", "changed_whole(o, x)"),
    ("    deleted = Deletes()\n", "use_deleted(o, x)"),
    ("    seen = Plain()\n", "(o.seen + type(o).seen)"),
    ("    made_by = lambda self, y: self.v * y\n", "(o.made_by(x) + type(o).made_by(o, 2.0))"),
    ("    @functools.lru_cache(maxsize=None)\n    def cached(self):\n        {effect}\n"
     "        return 2.0\n", "(o.cached() + o.cached())"),
    ("    @contextlib.contextmanager\n    def managed(self, y):\n        {effect}\n        yield y * {number}\n"
     "        {effect}\n", "managed(o, x)"),
    ("    def walked(self):\n        for k in range(3):\n            {effect}\n            yield k * {number}\n",
     "sum(o.walked())"),
    ("    kept_here = [1.0]\n    def grown(self, y):\n        self.kept_here.append(y)\n"
     "        return sum(self.kept_here)\n", "(o.grown(x) + o.grown(2.0))"),
]  # fmt: skip

METACLASSES = ["Calls", "Bound", "ByHand", "InC", "Once", "Asked", "Prepared"]
MAY_HAVE_SLOTS = ("", "list", "dict", "set", "collections.deque")
SUBCLASSES = [
    "    pass\n",
    "    def __init__(self, arg):\n        {effect}\n        super().__init__(arg)\n        self.v = self.v * 2.0\n",
    "    def __new__(cls, arg):\n        {effect}\n        return super().__new__(cls, arg)\n",
    "    def __new__(cls, arg):\n        return super().__new__(cls)\n",
    "    def __init__(self, *args):\n        self.v = {number}\n",
    "    def __init_subclass__(cls):\n        {effect}\n    __slots__ = ()\n",
    "    def __getattr__(self, name):\n        {effect}\n        return known(name)\n",
    "    @property\n    def v(self):\n        {effect}\n        return {number} * 1.5\n"
    "    @v.setter\n    def v(self, y):\n        {effect}\n",
]  # fmt: skip
SUBCLASS_USES = [[], ["super(type(o), o).__init__(x)"], ["type(o).__mro__.index(object)"], ["o.mixed"]]

HELPERS = """\
    def caught(attempt):
        try:
            return attempt()
        except Exception as error:
            return 0.25 * len(type(error).__name__)
    def in_place(o, y):
        o += y
        return o if isinstance(o, float) else 1.0
    def total(o):
        result = 0.0
        for y in o:
            result += y if isinstance(y, float) else 1.0
        return result + sum([y for y in (*o,) if isinstance(y, float)])
    def itself(o):
        return o if hasattr(o, "__iter__") else [1]
    def looked_up(o, y):
        d = {o: y}
        d[o] = d[o] * 2.0
        return d[o] + (o in {o})
    def entered(o):
        with o as y:
            return y
    def set_item(o, y):
        o[0] = y
        return y
    def delete_item(o):
        del o[0]
        return 1.5
    def multiplied(o, y):
        before = o
        o *= y
        return 2.0 if o is before else 1.0
    def set_attribute(o, y):
        o.set_here = y * 0.5
        o.set_here = o.set_here + y
        return o.set_here
    def delete_attribute(o, y):
        o.set_here = y
        del o.set_here
        return getattr(o, "set_here", y * 3.0)
    def suppressed(o, y):
        with o:
            y = y * 2.0
            raise KeyError(1)
        return y
    def changed_whole(o, y):
        o.whole = y
        y = o.whole + o.v
        del o.whole
        return y + o.v
    def use_deleted(o, y):
        before = o.deleted
        o.deleted = y
        y = o.deleted
        del o.deleted
        return y + o.deleted + before
    def managed(o, y):
        with o.managed(y) as z, o.managed(z):
            y = y + z
        return y
    def known(name):
        if name.startswith("_"):
            raise AttributeError(name)
        return 0.5
    def use_named(o, y):
        o.named = y
        return o.named
"""


class ClassProgram:
    """A function of a number and a list of numbers, `source`, that makes classes and uses their instances."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        classes, uses = [], []
        for k in range(self.random.randint(1, 3)):
            text, expressions = self._class(f"C{k}")
            classes.append(text)
            uses += expressions
        lines = [f"    results.append(caught(lambda: number({use})))" for use in uses]
        body = "\n".join(lines)
        self.source = (
            f"{PRELUDE}\ndef f(x, u):\n    tally.count = 0\n{HELPERS}"
            "    def number(y):\n        return y if isinstance(y, float) else 1.0 + bool(y)\n"
            f"    results = []\n{''.join(classes)}{body}\n"
            "    return sum(results) + 0.3 * sum(u) + 0.01 * x * tally.count\n"
        )
        filename = f"<classes {seed}>"
        linecache.cache[filename] = len(self.source), None, self.source.splitlines(keepends=True), filename
        self.space: dict[str, Any] = {"__name__": f"classes_{seed}"}
        exec(compile(self.source, filename, "exec"), self.space)
        self.function: Callable[..., Any] = self.space["f"]

    def _class(self, name: str) -> tuple[str, list[str]]:
        """The text of a class, and expressions that use an instance of it."""
        rng = self.random
        base = rng.choice(list(BASES))
        in_c = base.removeprefix("Base, ") if base not in ("", "Base") else ""
        number = rng.choice(["x", "x * 0.5", "(x + 0.5)"])
        takes = in_c in ("tuple", "float", "int", "str", "Exception")
        make = f"{in_c}.__new__(cls{', arg' if takes else ''})" if in_c else "object.__new__(cls)"
        fill = f"{in_c}.__init__(self, arg)" if in_c and not takes else "pass"
        meta = rng.choice(["", "", "", *[f"metaclass={name}" for name in METACLASSES]])
        init = rng.choice(INIT if in_c else INIT[2:])
        parts = [rng.choice(NEW), init]
        if base in MAY_HAVE_SLOTS and rng.random() < 0.2:
            names = [name for name in ("v", "early", "_named", "set_here") if f"    {name} = " not in init]
            parts.append(f"    __slots__ = {rng.choice([names, [*names, '__dict__']])}\n")
        uses = ["o.v"] if init else ["1.0"]
        for method, parameters, result, use in rng.sample(METHODS, rng.randint(1, 4)):
            effect = rng.choice(EFFECTS)
            parts.append(f"    def {method}({parameters}):\n        {effect}\n        return {result}\n")
            if method == "__enter__" and not any("def __exit__" in part for part in parts):
                parts.append("    def __exit__(self, *error):\n        pass\n")
            if method == "__exit__" and not any("def __enter__" in part for part in parts):
                parts.append("    def __enter__(self):\n        return self\n")
            uses.append(use.replace("{{o}}", "{o}"))
        for field, use in rng.sample(FIELDS, rng.randint(0, 2)):
            parts.append(field.replace("{effect}", rng.choice(EFFECTS)))
            uses.append(use)
        if rng.random() < 0.5:
            parts.append(f"    scale = {number}\n" if not in_c else "    plain = 1.0\n")
        body = "".join(parts).format(
            number=number, make=make, base=fill, in_c=in_c or "object", taken=1 if in_c and not takes else 0
        )
        body = body or "    pass\n"
        inherits = ", ".join(filter(None, [base, meta]))
        made = f"caught(lambda: {name}({BASES[base]}))"
        text = f"class {name}({inherits}):\n{body}"
        if rng.random() < 0.4:
            text += self._derived(name, number)
            uses += ["o.v", *rng.choice(SUBCLASS_USES)]
            made = made.replace(f"{name}(", f"{name}S(") if rng.random() < 0.7 else made
        text = "".join(f"    {line}\n" for line in text.splitlines())
        return text, [f"(lambda o: {use})({made})" for use in uses]

    def _derived(self, name: str, number: str) -> str:
        """The text of a class derived from that named `name`, which inherits how it is made, or calls it."""
        rng = self.random
        bases = rng.choice([name, name, f"Mixin, {name}"])
        effect = rng.choice(EFFECTS)
        body = rng.choice(SUBCLASSES).format(number=number, effect=effect.format(number=number))
        return f"class {name}S({bases}):\n{body}"
