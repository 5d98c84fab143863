"""Figures of pictures: the steps that crop one blood cell, and sheets of cells in rows, as plotly figures."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dualgap.datasets.blood_cells import SIDE, Steps
from dualgap.datasets.images import opencv
from dualgap.workbench.figures import GRID

if TYPE_CHECKING:
    import plotly.graph_objects as go  # type: ignore[import-untyped]

# The fields of Steps that are pictures, and the words above them.
PANELS = {
    "original": "original",
    "blurred": "1. blurred",
    "grey": "2. grey",
    "neutral": "3. black frame neutralized",
    "nucleus": "4. threshold",
    "opened": "5. opening",
    "crop": "6. cropped around the center",
    "negative": "negative",
}
ACROSS = 4
PANEL, TILE = 220, 110  # pixels on the page
MARK = "#D55E00"


def cropping_figure(made: Steps) -> go.Figure:
    """Each step from one picture to the negative of its crop; a cross marks the center that was found."""
    pictures = [getattr(made, field) for field in PANELS]
    figure = _grid(
        [pictures[start : start + ACROSS] for start in range(0, len(pictures), ACROSS)], PANEL, [*PANELS.values()]
    )
    row, column = made.center
    cross = {"symbol": "cross", "size": 12, "color": MARK}
    place = 1 + list(PANELS).index("opened")
    figure.add_scatter(
        x=[column],
        y=[row],
        mode="markers",
        marker=cross,
        hovertemplate="center: column %{x:.1f}, row %{y:.1f}<extra></extra>",
        row=1 + (place - 1) // ACROSS,
        col=1 + (place - 1) % ACROSS,
    )
    return figure


def sheet_figure(rows: Mapping[str, Sequence[NDArray[Any]]]) -> go.Figure:
    """Pictures side by side, a row for each label; rows of 14,400 numbers, as a data set has them, become pictures again."""
    pictures = [
        [picture.reshape(SIDE, SIDE) if picture.ndim == 1 else picture for picture in some] for some in rows.values()
    ]
    across = max(len(some) for some in pictures)
    titles = [label if place == 0 else "" for label in rows for place in range(across)]
    return _grid(pictures, TILE, titles)


def _grid(pictures: Sequence[Sequence[NDArray[Any]]], size: int, titles: Sequence[str]) -> go.Figure:
    """Pictures in rows and columns, each in its own proportions."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots  # type: ignore[import-untyped]

    down, across = len(pictures), max(len(some) for some in pictures)
    figure = make_subplots(down, across, subplot_titles=titles, horizontal_spacing=0.01, vertical_spacing=0.16 / down)
    for row, some in enumerate(pictures, 1):
        for column, picture in enumerate(some, 1):
            figure.add_trace(go.Image(source=as_png(picture), hoverinfo="skip"), row, column)
    # A mask is mostly white, so a thin line tells where it ends.
    edge = {
        "showline": True,
        "mirror": True,
        "linecolor": GRID,
        "showticklabels": False,
        "showgrid": False,
        "ticks": "",
    }
    figure.update_xaxes(**edge)
    figure.update_yaxes(**edge)
    figure.update_annotations(font_size=12)
    margin = {"l": 10, "r": 10, "t": 30, "b": 10}
    figure.update_layout(width=across * size, height=down * (size + 20) + 20, margin=margin, showlegend=False)
    return figure


def as_png(picture: NDArray[Any]) -> str:
    """A picture as the text that a page shows; what a mask holds is black, and other numbers are stretched over the greys."""
    if picture.dtype == np.bool_:
        picture = np.where(picture, 0, 255)
    elif picture.dtype != np.uint8:
        low, high = float(picture.min()), float(picture.max())
        picture = (picture - low) * (255.0 / (high - low or 1.0))
    _, data = opencv().imencode(".png", np.ascontiguousarray(picture, dtype=np.uint8))
    return "data:image/png;base64," + base64.b64encode(data.tobytes()).decode("ascii")
