"""The version of adbc that is installed."""

from __future__ import annotations

import importlib.metadata

__all__ = ["__version__"]

__version__ = importlib.metadata.version("adbc-autodiff")
