"""The switches of adbc, as one frozen value.

It knows the names of environment variables and nothing else.  Nothing here is global state: whoever
wants a configuration asks for one and passes it on.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from adbc.records import record

__all__ = ["FOLDER", "LOADED", "Config"]

FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
"""Where the sources of adbc are: frames of files below it are not the user's."""

LOADED = time.time()
"""When adbc was imported, or shortly before: sources that are younger are not those that run."""

SPECULATION = ("learn", "never", "dynamic", "always", "interpret")

CONTEXTS = ("default", "minimal")

BACKENDS = ("bytecode", "auto", "native")

_FALSE = frozenset({"", "0", "false", "no", "off"})


@record(frozen=True)
class Config:
    """How rules are built; in force for a block with ``with adbc.use(adbc.Config(...))``.

    The variables of the environment `from_environment` names say the same for the whole process.  Raises
    `ValueError` for a value of `speculation`, `context` or `backend` that there is not.

    >>> import adbc
    >>> with adbc.use(adbc.Config(debug=True)):
    ...     adbc.grad(lambda x: x * x)(3.0)
    6.0

    verify: check every graph after every stage, and every emitted code object.  On in tests.

    dump: leave one numbered file per stage for functions of this name (or qualified name): the graph behind
    each stage that changes it, named after the stage, and the bytecode of its derived rules.

    dump_directory: where those files go.

    debug: check at every call of a rule that it keeps its contract: shadows, tangents and rdata of the
    right class, shape and dtype, one shadow per address, as many rdata as arguments, pullbacks that run
    once and restore what the call changed, no zero derivative for a result that is an argument.

    cache: a directory in which derived rules are kept for the next process; None: they are not.  It must
    belong to the user, and nobody else may be able to write to it: `ArgumentError`.

    trace_nan: raise `NotFiniteError`, with function, file and line, where the first infinite number or
    NaN comes into a tangent or cotangent.

    hide_frames: leave the frames of adbc out of the tracebacks of exceptions that leave it or that the
    function handles, so that they read as those of a plain call.

    speculation: what is known of types where derivatives are built.  "learn": what follows from those of
    the arguments, and beyond that guesses, which are corrected by what is seen.  "never": no guesses.
    "dynamic": nothing, so that operations are looked up as they run.  "always": wherever nothing is known,
    the guess is a float.  "interpret": nothing, and no code is made.  Derivatives are the same, up to
    rounding; only "learn" is fast.

    plugins: use the rules that other packages ship (`adbc.chainrules.plugins`).

    context: "default", or "minimal": rules that are there for speed alone are passed over, and what they are
    for is derived.

    warm_after: how often a function of a library, or one without loops, has been interpreted, on average over
    its steps, when code is written for it within one call from outside.  Functions that are no library's get
    code in the third such call that meets them, and others too that each of these runs several times.  0: at
    once.  It matters only where `speculation` is "learn".

    backend: what `value_and_grad`, `grad` and `jvp` run.  "bytecode"; "native": machine code, and a
    `NativeError` where there is none; "auto": machine code where there is some, once bytecode has taken a
    twentieth of a second.  The numbers are the same.  Machine code is made by llvmlite:
    ``pip install "adbc-autodiff[native]"``.  With `debug` and `trace_nan`, and in all other functions,
    bytecode runs.
    """

    verify: bool = False
    dump: str | None = None
    dump_directory: str = "adbc-dump"
    debug: bool = False
    trace_nan: bool = False
    cache: str | None = None
    speculation: str = "learn"
    warm_after: int = 40
    hide_frames: bool = True
    plugins: bool = True
    context: str = "default"
    backend: str = "bytecode"

    def __post_init__(self) -> None:
        if self.speculation not in SPECULATION:
            raise ValueError(
                f"there is no speculation {self.speculation!r}: choose from {', '.join(SPECULATION)}"
            )
        if self.context not in CONTEXTS:
            raise ValueError(f"there is no context {self.context!r}: choose from {', '.join(CONTEXTS)}")
        if self.backend not in BACKENDS:
            raise ValueError(f"there is no backend {self.backend!r}: choose from {', '.join(BACKENDS)}")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Config:
        """The configuration that ``ADBC_VERIFY``, ``ADBC_DUMP``, ``ADBC_DUMP_DIRECTORY``, ``ADBC_DEBUG``,
        ``ADBC_TRACE_NAN``, ``ADBC_HIDE_FRAMES``, ``ADBC_SPECULATION``, ``ADBC_WARM_AFTER``,
        ``ADBC_PLUGINS``, ``ADBC_CONTEXT``, ``ADBC_CACHE`` and ``ADBC_BACKEND`` ask for."""
        variables = os.environ if environment is None else environment

        def is_on(name: str, default: str = "") -> bool:
            return variables.get(name, default).strip().lower() not in _FALSE

        return cls(
            verify=is_on("ADBC_VERIFY"),
            debug=is_on("ADBC_DEBUG"),
            trace_nan=is_on("ADBC_TRACE_NAN"),
            hide_frames=is_on("ADBC_HIDE_FRAMES", "1"),
            cache=variables.get("ADBC_CACHE") or None,
            dump=variables.get("ADBC_DUMP") or None,
            dump_directory=variables.get("ADBC_DUMP_DIRECTORY") or cls.dump_directory,
            speculation=variables.get("ADBC_SPECULATION") or cls.speculation,
            plugins=is_on("ADBC_PLUGINS", "1"),
            context=variables.get("ADBC_CONTEXT") or cls.context,
            backend=variables.get("ADBC_BACKEND") or cls.backend,
            warm_after=int(variables.get("ADBC_WARM_AFTER") or cls.warm_after),
        )
