"""Global names that mean functions, classes and modules become constants, under a guard.

before::

    %1 = call _global_('np')
    %2 = call _getattr_(%1, 'linalg')
    %3 = call _getattr_(%2, 'solve')
    %4 = call %3(%a, %b)

after, with guards on ``np``, ``np.linalg`` and ``np.linalg.solve``::

    %4 = call <function solve>(%a, %b)

So do modules that the function imports, if they are loaded, and what it reads from them: the import is still
made, which may have effects.  A path begins with ``import math`` there.

So do distributions of ``scipy.stats`` and their methods (``stats.norm.logpdf``), and the methods of dicts
that are read from the class, which are what rules of other mappings are made of.

Data is never written into a graph: a number, list or array that a global names may be another one
at the next call.  Only the numbers of a few modules are no data (``math.pi``).  Names that the graph
itself stores to, or that a function made in it does, are left alone.  What a guard protects is not
rebound *during* a call: guards are checked at its start.
Needs calls instead of raw operations; leaves fewer `_global_` and `_getattr_`.
"""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

from adbc.cpython.names import globals_written
from adbc.flags import HEAP_TYPE
from adbc.functions import is_builtin_function, stands_for_another
from adbc.ir.graph import IMPORT, Graph, Guard
from adbc.ir.intrinsics import (
    _delete_global_,
    _getattr_,
    _global_,
    _import_,
    _import_from_,
    _store_global_,
)
from adbc.ir.traverse import remove_unreachable
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import NOTHING, constant, drop, target
from adbc.types.lattice import is_service

__all__ = ["is_stable", "resolve_globals"]

_KINDS = (
    types.ModuleType,
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)

_CALLABLE_HEAP_TYPES = {"_lru_cache_wrapper", "cython_function_or_method", "fused_cython_function"}


def is_stable(value: object) -> bool:
    """Whether `value` is of a kind that programs define once: modules, classes, functions of any make.

    A callable of a static C type (a ufunc, an array-function dispatcher) counts; instances of
    Python classes do not, callable or not.
    """
    if is_builtin_function(value):
        # ``append = results.append`` is data: the method of a particular list.  ``random.random`` is none.
        owner = value.__self__
        return owner is None or _is_without_data(owner)
    if isinstance(value, types.MethodType | types.MethodWrapperType):
        return _is_without_data(value.__self__)
    kind = type(value)
    if issubclass(kind, _KINDS) or is_service(kind):  # not `isinstance`, which asks a proxy
        return True
    if stands_for_another(kind):
        return False
    return callable(value) and (not kind.__flags__ & HEAP_TYPE or kind.__name__ in _CALLABLE_HEAP_TYPES)


def _is_without_data(owner: object) -> bool:
    """Whether a method that is bound to `owner` is none of an object that may hold numbers of the user's."""
    if isinstance(owner, types.ModuleType | type):
        return True
    if owner is getattr(sys.modules.get("random"), "_inst", owner.__class__):
        return True
    return str(type(owner).__module__).partition(".")[0] == "adbc"  # a rule, the calls of a mode


def resolve_globals(
    graph: Graph, globals: Mapping[str, Any], stable: Callable[[object], bool] = is_stable
) -> Graph:
    """Write the values of global names into the graph, in place, under guards; `stable` says which values may
    be."""
    stored = _stored_names(graph)
    paths: dict[Value, tuple[str, ...]] = {}
    resolved: dict[Value, Value] = {}

    def resolve(
        instruction: Instruction,
        path: tuple[str, ...],
        value: object,
        is_constant: bool = False,
        meant: object = NOTHING,
    ) -> None:
        if value is NOTHING or not (is_constant or stable(value)):
            return
        replacement = Const(value if meant is NOTHING else meant)
        resolved[instruction] = replacement
        paths[replacement] = path
        guard = Guard(path, value)
        if not any(g.path == path for g in graph.guards):
            graph.guards.append(guard)

    for block in graph.blocks:
        for instruction in block.instructions:
            function = target(instruction)
            if function is _global_:
                name = constant(instruction.operands[1])
                if name not in stored:
                    resolve(instruction, (name,), _lookup(globals, name))
            elif function is _import_:
                path, module = _imported(instruction)
                resolve(instruction, path, module)
            elif function is _getattr_ or function is _import_from_:
                owner = resolved.get(instruction.operands[1])
                if isinstance(owner, Const) and isinstance(owner.value, types.ModuleType):
                    name = constant(instruction.operands[2])
                    value = vars(owner.value).get(name, NOTHING)
                    resolve(instruction, (*paths[owner], name), value, _is_constant_of(owner.value, value))
                elif isinstance(owner, Const) and id(owner.value) in _OF_CLASSES:
                    name = constant(instruction.operands[2])
                    if name in _OF_CLASSES[id(owner.value)]:  # the class is in C: this needs no guard
                        resolved[instruction] = Const(getattr(owner.value, name))
                elif isinstance(owner, Const) and _is_ufunc(owner.value):
                    method = getattr(owner.value, constant(instruction.operands[2]), None)
                    if is_builtin_function(method):
                        resolved[instruction] = Const(method)
                elif isinstance(owner, Const) and is_service(type(owner.value)):
                    method = getattr(owner.value, constant(instruction.operands[2]), None)
                    if type(method) is types.MethodType and method.__self__ is owner.value:
                        # The method is bound anew each time it is read, its function stays.
                        path = (*paths[owner], constant(instruction.operands[2]), "__func__")
                        resolve(instruction, path, method.__func__, meant=method)
    gone = {i for i in resolved if isinstance(i, Instruction) and target(i) is not _import_}
    left_handlers = drop(graph, gone)
    graph.replace_uses(resolved)
    if left_handlers:
        remove_unreachable(graph)
    return graph


def _imported(call: Instruction) -> tuple[tuple[str, ...], object]:
    """The path to the module that an import gives, and that module, if it is loaded."""
    name, level, names = map(constant, call.operands[1:])
    if level != 0 or type(name) is not str:
        return (), NOTHING
    package, *rest = name.split(".")
    path: tuple[str, ...] = (f"{IMPORT}{package}",)
    module = sys.modules.get(package, NOTHING)
    if not names:
        return path, module
    for part in rest:
        path, module = (*path, part), getattr(module, part, NOTHING)
    return path, module if module is sys.modules.get(name) else NOTHING


_BY_KEY = frozenset({"__contains__", "__getitem__", "__setitem__", "__delitem__", "get", "pop", "setdefault"})
"""Methods of dicts that look for a key, and ask nothing else: they have rules, for which the types decide."""
_OF_LISTS = frozenset({"__init__", "__getitem__", "__setitem__", "__iter__", "append", "clear", "extend"})
_OF_CLASSES: dict[int, frozenset[str]] = {
    id(dict): _BY_KEY | {"__init__", "items"},
    id(list): _OF_LISTS,
    id(tuple): frozenset({"__new__", "__getitem__", "__iter__"}),
    id(float): frozenset({"__new__"}),
}
"""By the address of a builtin class, the methods of it that derived classes call by name."""
_CONSTANTS_OF = frozenset({"math", "cmath", "numpy", "scipy.constants"})


def _is_constant_of(module: types.ModuleType, value: object) -> bool:
    """Whether `value` is a number like ``math.pi``, of a module whose numbers are constants of nature, or
    ``np.newaxis``, which is None."""
    return (value is None or type(value) in (int, float, complex)) and module.__name__ in _CONSTANTS_OF


def _is_ufunc(value: object) -> bool:
    """Whether `value` is a ufunc of NumPy's, whose methods, ``np.add.at``, are as fixed as itself."""
    return type(value).__name__ == "ufunc" and type(value).__module__ == "numpy"


def _lookup(globals: Mapping[str, Any], name: str) -> Any:
    if name in globals:
        return globals[name]
    scope = globals.get("__builtins__", builtins)
    return (scope if isinstance(scope, dict) else vars(scope)).get(name, NOTHING)


def _stored_names(graph: Graph) -> set[str]:
    """The globals that the graph, or the code of a function in it, binds or unbinds."""
    names = set()
    for instruction in graph.instructions():
        function = target(instruction)
        if function is _store_global_ or function is _delete_global_:
            names.add(constant(instruction.operands[1]))
        for operand in instruction.operands:
            code = constant(operand)
            if isinstance(code, types.CodeType):
                names |= globals_written(code)
    return names
