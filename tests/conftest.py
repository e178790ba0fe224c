"""Files of graphs (``*.ir``) are files of tests, wherever they stand: `tests.filetests.harness` runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.filetests.harness import IrFile


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return IrFile.from_parent(parent, path=file_path) if file_path.suffix == ".ir" else None
