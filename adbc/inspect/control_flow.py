"""The control flow of a graph: as text for Graphviz, and as SVG by a small layout of its own.

The layout puts each block below those that lead to it, in the order of the code, and draws what leads
upwards along the right side.  It does not try to avoid crossings: large graphs are for Graphviz.
"""

from __future__ import annotations

import html
from typing import Final

from adbc.ir.graph import Block, Graph
from adbc.ir.printer import print_graph
from adbc.ir.traverse import reverse_postorder

__all__ = ["ControlFlow"]

CHARACTER: Final = 6.6
LINE: Final = 14
MARGIN: Final = 24


class ControlFlow:
    """The control flow of a graph: `dot` is text for Graphviz, `svg` a drawing, which a notebook shows."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.blocks = reverse_postorder(graph)
        self.texts = _texts(graph)

    @property
    def edges(self) -> list[tuple[Block, Block, str]]:
        """The edges: source, target, and the label: "true", "false", the case of a switch, "raises" or
        nothing."""
        result = []
        for block in self.blocks:
            normal = block.terminator.successors
            names = ("true", "false") if len(normal) == 2 else ("",) * len(normal)
            result += [(block, target, name) for target, name in zip(normal, names, strict=True)]
            if block.handler is not None and block.handler not in normal:
                result.append((block, block.handler, "raises"))
        return result

    @property
    def dot(self) -> str:
        """The graph in the language of Graphviz."""
        lines = [f'digraph "{_quoted(self.graph.name)}" {{', '  node [shape=box, fontname="monospace"];']
        number = {block: f"b{k}" for k, block in enumerate(self.blocks)}
        for block in self.blocks:
            text = "".join(f"{_quoted(line)}\\l" for line in self.texts[block])
            lines.append(f'  {number[block]} [label="{text}"];')
        for source, target, name in self.edges:
            style = ", style=dashed" if name == "raises" else ""
            lines.append(f'  {number[source]} -> {number[target]} [label="{name}"{style}];')
        return "\n".join([*lines, "}"])

    @property
    def svg(self) -> str:
        """The graph as an SVG image."""
        places, width, height = self._layout()
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
            ' font-family="monospace" font-size="11">',
            '<defs><marker id="end" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
            '<path d="M0,0 L8,4 L0,8 z"/></marker></defs>',
        ]
        for block, (x, y, w, h) in places.items():
            parts.append(
                f'<rect x="{x:.0f}" y="{y:.0f}" width="{w:.0f}" height="{h:.0f}" fill="none" stroke="black"/>'
            )
            for k, line in enumerate(self.texts[block]):
                parts.append(
                    f'<text x="{x + 6:.0f}" y="{y + LINE * (k + 1):.0f}" xml:space="preserve">'
                    f"{html.escape(line)}</text>"
                )
        for source, target, name in self.edges:
            parts.append(_edge(places[source], places[target], name, width))
        return "\n".join([*parts, "</svg>"])

    def _repr_svg_(self) -> str:
        return self.svg

    def _layout(self) -> tuple[dict[Block, tuple[float, float, float, float]], float, float]:
        """Left, top, width and height of each block, and the size of the whole."""
        order = {block: k for k, block in enumerate(self.blocks)}
        row = dict.fromkeys(self.blocks, 0)
        for block in self.blocks:
            for target in block.successors:
                if order[target] > order[block]:
                    row[target] = max(row[target], row[block] + 1)
        places: dict[Block, tuple[float, float, float, float]] = {}
        width, y = 0.0, float(MARGIN)
        for number in range(max(row.values()) + 1):
            x, tallest = float(MARGIN), 0.0
            for block in self.blocks:
                if row[block] == number:
                    w = CHARACTER * max(map(len, self.texts[block])) + 12
                    h = LINE * len(self.texts[block]) + 8
                    places[block] = x, y, w, h
                    x += w + MARGIN
                    tallest = max(tallest, h)
            width = max(width, x)
            y += tallest + 2 * MARGIN
        return places, width + 2 * MARGIN, y


def _edge(
    source: tuple[float, float, float, float],
    target: tuple[float, float, float, float],
    name: str,
    width: float,
) -> str:
    x0, y0 = source[0] + source[2] / 2, source[1] + source[3]
    x1, y1 = target[0] + target[2] / 2, target[1]
    if y1 > y0:
        path = f"M{x0:.0f},{y0:.0f} C{x0:.0f},{y0 + MARGIN} {x1:.0f},{y1 - MARGIN} {x1:.0f},{y1:.0f}"
    else:  # upwards, along the right side
        side = width - MARGIN
        path = (
            f"M{x0:.0f},{y0:.0f} C{x0:.0f},{y0 + MARGIN} {side:.0f},{y0 + MARGIN} {side:.0f},{y0:.0f}"
            f" L{side:.0f},{y1:.0f} C{side:.0f},{y1 - MARGIN} {x1:.0f},{y1 - MARGIN} {x1:.0f},{y1:.0f}"
        )
    dashes = ' stroke-dasharray="4"' if name == "raises" else ""
    label = f'<text x="{x0 + 4:.0f}" y="{y0 + 12:.0f}">{name}</text>' if name else ""
    return f'<path d="{path}" fill="none" stroke="black"{dashes} marker-end="url(#end)"/>{label}'


def _texts(graph: Graph) -> dict[Block, list[str]]:
    """The lines of each block, as the graph is printed."""
    labels = {block.label: block for block in graph.blocks}
    found: dict[Block, list[str]] = {}
    lines: list[str] = []
    for line in print_graph(graph).splitlines():
        block = None if line.startswith((" ", "graph ")) else labels.get(line.partition(":")[0])
        if block is not None:
            lines = found[block] = []
        lines.append(line.strip() if block is None else line)
    return found


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
