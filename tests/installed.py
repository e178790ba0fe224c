"""Modules that are found as those of installed packages are: code of libraries, for tests."""

from __future__ import annotations

import contextlib
import importlib
import sys
import textwrap
from collections.abc import Iterator
from types import ModuleType

import pytest


@contextlib.contextmanager
def installed(factory: pytest.TempPathFactory, name: str, source: str) -> Iterator[ModuleType]:
    """The module `name` with this source, as long as the context lasts."""
    folder = factory.mktemp("installed") / "site-packages"
    folder.mkdir()
    (folder / f"{name}.py").write_text(textwrap.dedent(source))
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(name, None)
