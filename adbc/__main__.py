"""The command line: ``python -m adbc COMMAND module:function ARGS``, where COMMAND is ``grad``, ``ir``,
``explain``, ``profile`` or ``check``; ``python -m adbc rules MODULES`` lists rules.

Arguments are Python literals.  Nobody types ``[1.0, 2.0]`` where ``[1, 2]`` says the same, so a list of
numbers is read as a list of floats; a bare ``3`` stays an int, for counts.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

import adbc
import adbc.inspect
from adbc.chainrules.plugins import plugins
from adbc.errors import AdbcError
from adbc.inspect.show import STAGES
from adbc.rules import default_table

__all__ = ["main"]


class UsageError(Exception):
    """The command line does not name a function or holds something that is not a literal."""


def find_function(target: str) -> Callable[..., Any]:
    """The function that ``module:function`` or ``module:Class.method`` names."""
    module_name, colon, path = target.partition(":")
    if not (module_name and colon and path):
        raise UsageError(f"{target!r} does not name a function; write module:function")
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise UsageError(f"cannot import {module_name!r}: {error}") from error
    for name in path.split("."):
        try:
            found = getattr(found, name)
        except AttributeError as error:
            raise UsageError(f"{target!r} does not name a function: {error}") from error
    if not callable(found):
        raise UsageError(f"{target!r} is not callable, it is {type(found).__name__}")
    return found  # type: ignore[no-any-return]  # `callable` narrows Any to nothing more precise


def parse_argument(text: str) -> Any:
    """The value of a Python literal, lists of numbers as lists of floats."""
    try:
        return _with_floats(ast.literal_eval(text))
    except (ValueError, SyntaxError) as error:
        raise UsageError(f"{text!r} is not a Python literal") from error


def _with_floats(value: Any) -> Any:
    if isinstance(value, list):
        if all(type(item) in (int, float) for item in value):
            return [float(item) for item in value]
        return [_with_floats(item) for item in value]
    if isinstance(value, tuple):
        return tuple(_with_floats(item) for item in value)
    if isinstance(value, dict):
        return {key: _with_floats(item) for key, item in value.items()}
    return value


def parse_argnums(text: str) -> int | tuple[int, ...]:
    """The positions that the text names: ``0`` as an int, ``0,2`` as a tuple."""
    try:
        numbers = tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of positions such as 0 or 0,2") from error
    return numbers if "," in text else numbers[0]


def check_derivatives(name: str, function: Callable[..., Any], arguments: Sequence[Any]) -> int:
    """Test the rules of `function` at `arguments` and print what was found; returns 1 if they are wrong, else
    0."""
    from adbc.testing import test_rule  # it needs NumPy, which the other commands do without

    try:
        test_rule(function, *arguments)
    except AssertionError as error:
        print(f"{name}: wrong\n{error}")
        return 1
    print(
        f"{name}: right"
        "\n  value and arguments as after a plain call"
        "\n  forward mode agrees with finite differences"
        "\n  reverse mode agrees with forward mode, and restores the arguments"
    )
    return 0


def list_rules(modules: Sequence[str], only: Sequence[str]) -> str:
    """The rows of the table of rules, one a line, when `modules` have been imported: function, kind, modes,
    origin; of these origins only, if some are given, and else of all."""
    for name in modules:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise UsageError(f"cannot import {name!r}: {error}") from error
    table = default_table()
    lines = []
    for row in table:
        rank = row.origin.rank.name.lower().replace("_", "-")
        if only and rank not in only and row.origin.name not in only:
            continue
        function = row.function
        owner = getattr(getattr(function, "__objclass__", None), "__qualname__", None)
        module = getattr(function, "__module__", None) or type(function).__module__
        name = str(getattr(function, "__qualname__", None) or getattr(function, "__name__", function))
        shown = f"{module}.{name}" if owner is None or owner in name else f"{module}.{owner}.{name}"
        modes = "" if len(row.modes) == 2 else f" {min(row.modes)} only"
        speed = " for speed" if row.for_speed else ""
        lines.append(f"{shown:<48} {row.kind + modes + speed:<22} {row.origin}")
    lines.sort()
    for name, why in plugins.failed.items():
        lines.append(f"{name}: cannot be loaded: {why}")
    waiting = sorted({package for package, _ in table.pending()} | set(plugins.waiting()))
    if waiting:
        lines.append(f"when they are imported: {', '.join(waiting)}")
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m adbc", description="Differentiate a Python function.")
    commands = parser.add_subparsers(dest="command", required=True)

    grad = commands.add_parser("grad", help="print value and gradient")
    grad.add_argument(
        "--argnums", type=parse_argnums, default=0, help="positions to differentiate by (0; or 0,2)"
    )
    ir = commands.add_parser("ir", help="print the intermediate representation")
    ir.add_argument("--stage", choices=STAGES, default="primal", help="which graph to print")
    explain = commands.add_parser("explain", help="print what becomes of each call, and why")
    explain.add_argument("--mode", choices=("reverse", "forward"), default="reverse")
    profile = commands.add_parser("profile", help="print time and saved bytes per line")
    profile.add_argument("--repeat", type=int, default=10, help="how many calls to add up (10)")
    check = commands.add_parser("check", help="compare with finite differences, and reverse with forward")
    for command in (grad, ir, explain, profile, check):
        command.add_argument("target", metavar="module:function")
        command.add_argument("arguments", metavar="ARG", nargs="*", help="a Python literal")
    rules = commands.add_parser("rules", help="list the rules, and who has declared them")
    rules.add_argument("modules", metavar="MODULE", nargs="*", help="a module to import first")
    rules.add_argument(
        "--origin", action="append", default=[], help="user, plugin, built-in, or the name of a plug-in"
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 0 if it went well, 1 if adbc refuses, 2 if the command line makes no
    sense."""
    options = _parser().parse_args(argv)
    try:
        if options.command == "rules":
            print(list_rules(options.modules, options.origin))
            return 0
        function = find_function(options.target)
        arguments = [parse_argument(text) for text in options.arguments]
        if options.command == "grad":
            value, gradient = adbc.value_and_grad(function, options.argnums)(*arguments)
            print(f"value     {value!r}")
            print(f"gradient  {gradient!r}")
        elif options.command == "explain":
            found = adbc.inspect.explain(function, *arguments, mode=options.mode)
            print(found)
            if options.mode == "reverse":
                print(f"\n{found.advice}")
        elif options.command == "profile":
            print(adbc.inspect.profile(function, *arguments, repeat=options.repeat))
        elif options.command == "check":
            return check_derivatives(options.target, function, arguments)
        else:
            print(adbc.inspect.show(function, *arguments, stage=options.stage))
    except UsageError as error:
        print(f"adbc: {error}", file=sys.stderr)
        return 2
    except AdbcError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
