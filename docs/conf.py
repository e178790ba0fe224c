"""Configuration of the documentation: built with ``nox -s docs``."""

from __future__ import annotations

import importlib.metadata

project = "adbc"
author = "The adbc developers"
copyright = "2026, the adbc developers"
release = importlib.metadata.version("adbc-autodiff")
extensions = ["sphinx.ext.autodoc", "sphinx.ext.mathjax"]
exclude_patterns = ["_build"]
html_theme = "alabaster"
nitpicky = False
