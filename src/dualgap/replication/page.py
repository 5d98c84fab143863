"""The page of a replication: one HTML file that opens offline, a function of what was gathered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dualgap.data.files import write_text
from dualgap.workbench.report.rendering import STYLES, render

SCRIPTS = (
    "words.js",
    "theme.js",
    "swatches.js",
    "traces.js",
    "axes.js",
    "chart.js",
    "pointing.js",
    "charts.js",
    "replication.js",
)


def page(shown: dict[str, Any]) -> str:
    """The whole page as text, made of the race report's styles and scripts and a few of its own."""
    return render(
        shown, "replication.html", styles=(*STYLES, "replication.css"), scripts=("packed.js", *SCRIPTS), own=__package__
    )


def write_page(shown: dict[str, Any], output: Path) -> Path:
    """The page under a temporary name, then moved to `output`, which it replaces."""
    write_text(output, page(shown))
    return output
