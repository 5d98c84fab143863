"""The figure of each report that carries its message, as a picture for docs/replication.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dualgap.replication.figures import FIGURES
from dualgap.replication.gathering import Gathered
from dualgap.replication.panels import Panel
from dualgap.replication.reports import REPORTS

FOLDER = Path(__file__).parent / "replication"
# The panels of a message figure beyond these repeat it on other data or under other readings.
MOST_PANELS = 2
# Legible on white and on black: the picture itself has a white ground.
COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf")
DASHES = ("-", "--", "-.", ":", "-", "--")


def picture_of(report: str) -> str:
    """The file of a report's picture, as seen from the page."""
    return f"{FOLDER.name}/{report.lower()}.svg"


def draw(gathered: Gathered) -> None:
    """All pictures; the same results give the same bytes under the same version of matplotlib."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    for report, about in REPORTS.items():
        panels = [one for one in FIGURES[about.figure].make(gathered) if isinstance(one, Panel)][:MOST_PANELS]
        matplotlib.rcParams["svg.hashsalt"] = report
        figure, axes = pyplot.subplots(1, len(panels), figsize=(5.2 * len(panels), 4.2), squeeze=False)
        for panel, ax in zip(panels, axes[0], strict=True):
            _draw(panel, ax)
        figure.tight_layout()
        figure.savefig(FOLDER.parent / picture_of(report), metadata={"Date": None})
        pyplot.close(figure)


def _draw(panel: Panel, ax: Any) -> None:
    for line, color, dash in zip(panel.lines, COLORS, DASHES, strict=False):
        ax.plot(line.x, line.y, dash, color=color, label=line.name, linewidth=1.4)
        if line.low is not None and line.high is not None:
            ax.fill_between(line.x, line.low, line.high, color=color, alpha=0.15, linewidth=0)
    ax.set_xscale("log" if panel.log_x else "linear")
    ax.set_yscale("log" if panel.log_y else "linear")
    if panel.log_y:
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter("{x:g}")
    for words, level in panel.levels.items():
        ax.axhline(level, color="black", linewidth=0.8, linestyle=":")
        # P ends on P* from above, D from below: the words stand on the free side.
        side = "top" if panel.log_y else "bottom"
        ax.annotate(words, (1.0, level), xycoords=("axes fraction", "data"), ha="right", va=side, fontsize=8)
    if panel.top is not None:
        ax.set_ylim(top=panel.top)
    ax.set_title(panel.title, fontsize=10)
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)
    if len(panel.lines) > 1:
        ax.legend(fontsize=8, framealpha=0.6)
