"""Plug-ins: packages that ship rules, and do not import adbc when they are used.

A package says in its own pyproject which module declares its rules:

    [project.entry-points."adbc.rules"]
    mylib = "mylib._adbc_rules"

The module is imported when `mylib` is, and a rule is first looked up: nothing is paid at start, nor by those
who never differentiate.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from typing import TYPE_CHECKING

from adbc.chainrules.registry import Origin, Rank, declaring

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["GROUP", "Plugins", "load_plugins", "plugins"]

GROUP = "adbc.rules"


class Plugins:
    """The plug-ins that are installed: those that wait for their package, those that are loaded.

    path: where to look for installed packages, by default ``sys.path``.
    """

    def __init__(self, path: list[str] | None = None) -> None:
        self._path = path
        self._searched: tuple[str, ...] | None = None
        self._waiting: dict[str, list[EntryPoint]] = {}
        self._seen: set[tuple[str, str]] = set()
        self._lock = threading.RLock()
        self._is_loading = False
        self.loaded: list[Origin] = []
        """The origins of the rules that were loaded."""
        self.failed: dict[str, str] = {}
        """By name of a plug-in that could not be loaded, why."""

    def load(self) -> None:
        """Load the rules of the packages that have been imported."""
        path = tuple(sys.path if self._path is None else self._path)
        if path == self._searched and sys.modules.keys().isdisjoint(self._waiting):
            return
        with self._lock:
            if self._is_loading:  # a plug-in looks up a rule itself
                return
            self._is_loading = True
            try:
                if path != self._searched:
                    self._search(path)
                for package in [name for name in self._waiting if name in sys.modules]:
                    if getattr(getattr(sys.modules[package], "__spec__", None), "_initializing", False):
                        continue  # it is being imported, and looks up a rule meanwhile
                    for entry in self._waiting.pop(package):
                        self._load(entry)
            finally:
                self._is_loading = False

    def _search(self, path: tuple[str, ...]) -> None:
        """Look for plug-ins that have not been seen."""
        folders = [p for p in path if _has_plugins(p)]
        if folders:
            from importlib import metadata  # it is slow to import, and mostly there are no plug-ins

            for distribution in metadata.distributions(path=folders):
                for entry in distribution.entry_points:
                    key = (entry.name, entry.value)
                    if entry.group == GROUP and key not in self._seen:
                        self._seen.add(key)
                        self._waiting.setdefault(entry.name, []).append(entry)
        self._searched = path

    def _load(self, entry: EntryPoint) -> None:
        origin = Origin(Rank.PLUGIN, entry.name, _version(entry))
        try:
            with declaring(origin):
                found = entry.load()
                if callable(found):
                    found()
        except Exception as error:  # whatever it raises: the program can do without these rules
            self.failed[entry.name] = f"{type(error).__name__}: {error}"
            warnings.warn(
                f"the rules that {entry.name} brings for adbc ({entry.value}) cannot be loaded:"
                f" {self.failed[entry.name]}",
                RuntimeWarning,
                stacklevel=2,
            )
        else:
            self.loaded.append(origin)

    def waiting(self) -> tuple[str, ...]:
        """The packages whose rules are loaded once they have been imported."""
        self.load()
        return tuple(self._waiting)


def _has_plugins(folder: str) -> bool:
    """Whether a package that is installed in `folder` has entry points of our group."""
    try:
        with os.scandir(folder or ".") as entries:
            names = [e.name for e in entries if e.name.endswith((".dist-info", ".egg-info"))]
    except OSError:
        return False
    for name in names:
        try:
            with open(os.path.join(folder, name, "entry_points.txt"), encoding="utf-8") as file:
                if f"[{GROUP}]" in file.read():
                    return True
        except OSError:
            continue
    return False


def _version(entry: EntryPoint) -> str:
    """What changes when the plug-in does: the version of its package, and a digest of its module."""
    import hashlib  # with what follows slow to import, and mostly there are no plug-ins
    import importlib.util

    version = entry.dist.version if entry.dist is not None else ""
    try:
        spec = importlib.util.find_spec(entry.module)
        if spec is None or not spec.origin:
            return version
        with open(spec.origin, "rb") as file:
            return f"{version} {hashlib.sha256(file.read()).hexdigest()[:16]}"
    except (ImportError, OSError, ValueError):
        return version


plugins = Plugins()
"""The plug-ins of this process."""


def load_plugins() -> None:
    """Load the rules of the packages that have been imported and ship some."""
    plugins.load()
