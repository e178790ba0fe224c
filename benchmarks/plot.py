"""The ratios as a picture: one line per workload, one mark per way to a gradient."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

__all__ = ["plot"]

MARKS = {
    "gradient": ("adbc, gradient", "o", "tab:blue"),
    "jvp": ("adbc, JVP", "x", "tab:cyan"),
    "hand": ("adjoint by hand", "|", "black"),
    "autograd": ("HIPS autograd", "s", "tab:red"),
    "torch": ("PyTorch, eager", "^", "tab:orange"),
    "jax": ("JAX, jit", "D", "tab:green"),
}


def plot(results: Mapping[str, Any], path: pathlib.Path) -> None:
    """Write the picture as SVG.  Needs matplotlib."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "adbc", "font.size": 8.0})
    from matplotlib import pyplot

    groups = results["groups"]
    heights = [len(rows) for rows in groups.values()]
    figure, axes = pyplot.subplots(
        len(groups),
        1,
        sharex=True,
        squeeze=False,
        figsize=(9.0, 1.2 + 0.21 * sum(heights) + 0.25 * len(groups)),
        height_ratios=heights,
        layout="constrained",
    )
    for axis, (group, rows) in zip(axes[:, 0], groups.items(), strict=True):
        for name, (label, mark, colour) in MARKS.items():
            points = [(r["ratio"][name], i) for i, r in enumerate(rows) if name in r["ratio"]]
            if points:
                size = 26 if mark != "|" else 60
                axis.scatter(*zip(*points, strict=True), s=size, marker=mark, color=colour, label=label)
        axis.set_xscale("log")
        axis.set_yticks(range(len(rows)), [r["name"] for r in rows])
        axis.set_ylim(len(rows) - 0.5, -0.5)
        axis.set_ylabel(group)
        axis.grid(axis="both", linewidth=0.3)
        axis.axvline(1.0, color="black", linewidth=0.6)
    axes[-1, 0].set_xlabel("time over that of the plain function")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(handles), frameon=False)
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": "adbc benchmarks"})
    pyplot.close(figure)
