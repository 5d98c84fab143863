"""Figures for papers: the pictures of a race drawn by matplotlib, one column wide, saved as vector PDF."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dualgap.data.files import unused, written_whole
from dualgap.workbench.figures import BAND_OPACITY, GRID, INK, Picture, visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The width of a column of a two-column page, in inches, and a height that leaves room for the legend.
WIDTH, HEIGHT = 3.4, 2.9
SCREEN_DPI = 160
DATELESS: dict[str, Any] = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}
DASHES: dict[str, Any] = {
    "solid": "solid",
    "dash": (0, (4, 1.5)),
    "dot": (0, (1, 1.2)),
    "dashdot": (0, (4, 1.2, 1, 1.2)),
    "longdash": (0, (7, 1.5)),
    "longdashdot": (0, (7, 1.2, 1, 1.2)),
}
MARKERS = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle-up": "^",
    "cross": "P",
    "x": "X",
    "star": "*",
    "triangle-down": "v",
    "hexagon": "h",
}
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same picture on every machine
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.edgecolor": INK,
    "legend.fontsize": 6.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "pdf.fonttype": 42,  # fonts as text that journals accept and readers can search
    "figure.dpi": SCREEN_DPI,
}


def plot(shown: Picture, path: str | Path | None = None, width: float = WIDTH, height: float = HEIGHT) -> Figure:
    """The picture as a matplotlib figure, saved where a path is given; the suffix decides the format."""
    try:
        import matplotlib
    except ImportError:
        raise ImportError("plot needs matplotlib, which is not installed; pip install 'dualgap[plot]'") from None
    file = None if path is None else Path(path)
    if file is not None and not file.suffix:
        file = file.with_suffix(".pdf")
    if file is not None:
        unused(file)
    with matplotlib.rc_context(STYLE):
        drawn = _drawn(shown, width, height)
        if file is not None:
            # Without a date in it, the same race gives the same file.
            kind = file.suffix.lower()
            with written_whole(file) as out:
                drawn.savefig(out, format=kind.removeprefix("."), metadata=DATELESS.get(kind))
    return drawn


def _drawn(shown: Picture, width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    class Paper(Figure):
        """A figure that notebooks show by itself; pyplot, which keeps every figure alive, takes no part."""

        def _repr_png_(self) -> bytes:
            buffer = io.BytesIO()
            self.savefig(buffer, format="png", dpi=SCREEN_DPI)
            return buffer.getvalue()

    drawn = Paper(figsize=(width, height), layout="constrained")
    axes = drawn.add_subplot()
    for curve in shown.curves:
        color, dash, symbol = shown.styles[curve.solver]
        median, low, high = (visible(values, shown.log_y) for values in (curve.median, curve.low, curve.high))
        if curve.runs > 1:
            axes.fill_between(curve.x, low, high, color=color, alpha=BAND_OPACITY, linewidth=0)
        every = 1 if curve.solver in shown.rivals else max(1, len(curve.x) // 5)
        marker: dict[str, Any] = {"marker": MARKERS[symbol], "markersize": 3.5, "markevery": every}
        axes.plot(curve.x, median, color=color, linestyle=DASHES[dash], label=curve.solver, **marker)
    for level in shown.levels.values():
        axes.axhline(level, color=INK, linewidth=0.6, linestyle=":")
    if shown.log_y:
        axes.set_yscale("log")
    if shown.log_x:
        axes.set_xscale("log")
    axes.set_xlabel(shown.x_label)
    axes.set_ylabel(shown.y_label)
    axes.grid(True)
    axes.spines[["top", "right"]].set_visible(False)
    drawn.legend(loc="outside upper center", ncols=2, frameon=False, handlelength=2.6, columnspacing=1.2)
    return drawn
