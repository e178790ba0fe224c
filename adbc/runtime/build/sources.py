"""What the sources of adbc are: what is kept for other processes holds for these."""

from __future__ import annotations

import functools
import os

from adbc.config import FOLDER

__all__ = ["sources"]


@functools.cache
def sources(folder: str = FOLDER) -> tuple[str, float]:
    """The names, sizes and times of the sources in `folder`, as a text, and the time of the youngest."""
    found, youngest, waiting = [], 0.0, [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    about = entry.stat()
                    youngest = max(youngest, about.st_mtime)
                    found.append((entry.path[len(folder) :], about.st_size, about.st_mtime_ns))
                elif entry.name != "__pycache__" and entry.is_dir():
                    waiting.append(entry.path)
    return repr(sorted(found)), youngest
