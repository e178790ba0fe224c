"""Programs as people write them, by field: each is one computation in two styles.

They were written before they were measured and are not changed by what is measured.
"""

from __future__ import annotations

import importlib
import pkgutil

from benchmarks.program import Program

__all__ = ["FIELDS"]

FIELDS: dict[str, list[Program]] = {
    module.name: importlib.import_module(f"benchmarks.ordinary.{module.name}").PROGRAMS
    for module in pkgutil.iter_modules(__path__)
}
"""The programs of each field, which is a module of this folder."""
