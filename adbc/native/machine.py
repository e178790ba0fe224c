"""LLVM's text becomes machine code of this process, by llvmlite, which is loaded when it is first needed.

One compiler serves the process.  Code lives as long as the `Machine` that stands for it.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import itertools
import math
import threading
from typing import Any

from adbc.errors import NativeError
from adbc.low.ops import LIBM, OPS
from adbc.native.llvm import CALLED, ENTRY, IMPORTED, PREFIX

__all__ = ["Machine", "compiled", "is_installed", "same_functions"]

INSTALL = 'pip install "adbc-autodiff[native]"'


def is_installed() -> bool:
    """Whether llvmlite can be imported, which this does."""
    try:
        import llvmlite.binding  # noqa: F401  # that it can be is the question
    except ImportError:
        return False
    return True


class Machine:
    """Machine code.  address: of the function; it is there as long as this object is."""

    def __init__(self, tracker: Any, size: int) -> None:
        self._tracker = tracker
        self.address: int = tracker[ENTRY]
        self.size = size
        """How long the code is, in bytes, with what describes it."""


_lock = threading.Lock()
_names = itertools.count()


@functools.cache
def _compiler() -> tuple[Any, Any, Any]:
    """llvmlite's binding, a description of this processor, and the compiler of the process."""
    try:
        import llvmlite.binding as binding
    except ImportError:
        raise NativeError(
            "native code was asked for", "it is made by llvmlite, which is not installed", f"run {INSTALL}"
        ) from None
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple()
    features = binding.get_host_cpu_features().flatten()
    processor = target.create_target_machine(
        cpu=binding.get_host_cpu_name(), features=features, opt=1, jit=True
    )
    of_jit = target.create_target_machine(cpu=binding.get_host_cpu_name(), features=features, opt=1, jit=True)
    return binding, processor, binding.create_lljit_compiler(of_jit)


def compiled(text: str) -> Machine:
    """The machine code of a module.  Raises `NativeError` if llvmlite is not there."""
    with _lock:
        binding, processor, jit = _compiler()
        module = binding.parse_assembly(text)
        module.verify()
        _optimise(binding, processor, module)
        image = processor.emit_object(module)
        library = binding.JITLibraryBuilder().add_object_img(image).add_current_process()
        for name, address in _addresses().items():
            library.import_symbol(name, address)
        library.export_symbol(ENTRY)
        return Machine(library.link(jit, f"adbc{next(_names)}"), len(image))


def _optimise(binding: Any, processor: Any, module: Any) -> None:
    """What makes the most of the difference, in a tenth of the time that all of LLVM's passes take."""
    passes = binding.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_new_gvn_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    builder = binding.create_pass_builder(processor, binding.create_pipeline_tuning_options())
    passes.run(module, builder)


@functools.cache
def _libm() -> Any:
    name = ctypes.util.find_library("m")
    return ctypes.CDLL(name) if name else ctypes.CDLL(None)


@functools.cache
def _addresses() -> dict[str, int]:
    """By name in LLVM's text, where the functions are that code calls."""
    found = {}
    for name in IMPORTED:
        function = getattr(_libm(), name)
        found[f"{PREFIX}{name}"] = ctypes.cast(function, ctypes.c_void_p).value or 0
    for name in CALLED:
        found[name] = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0
    return found


_POINTS = [
    s * x
    for s in (1.0, -1.0)
    for x in (0.0, 1e-300, 1e-9, 0.1, 0.3, 0.5, 0.7, 0.99, 1.0, 1.7, 3.1, 12.5, 700.0)
]


@functools.cache
def same_functions() -> frozenset[str]:
    """The functions of the C library that give what `math` gives, on points all over; others are not called.

    `math` may have been built with another library, or with functions of its own.
    """
    found = set()
    for name, count in LIBM.items():
        function = getattr(_libm(), name, None)
        if function is None:
            continue
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * count
        meaning: Any = OPS[name].meaning
        points = [(x,) for x in _POINTS] if count == 1 else list(itertools.product(_POINTS, _POINTS))
        pairs = [(function(*given), meaning(*given)) for given in points]
        # Where Python raises, what C gives is not finite, and is not used.
        if all(a == b or not (math.isfinite(a) or math.isfinite(b)) for a, b in pairs):
            found.add(name)
    return frozenset(found)
