"""Figures of a heat: what a kind of figure shows against an axis, and the same as a plotly figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dualgap.workbench import looks, summary
from dualgap.workbench.store import FinishedRun

if TYPE_CHECKING:
    import plotly.graph_objects as go  # type: ignore[import-untyped]

# A kind of figure: the field of the records and the words at its axis.
KINDS = {
    "gap": ("relative_gap", "relative gap (proven)"),
    "suboptimality": ("suboptimality", "P − P* at most (best certified dual)"),
    "primal": ("primal", "primal value"),
    "accuracy": ("test_score", "test accuracy"),
    "support": ("support", "support vectors"),
}
AXES = {
    "epochs": ("epoch", "epochs"),
    "updates": ("updates", "updates"),
    "seconds": ("call_seconds", "seconds of the whole call"),
    "update_seconds": ("seconds", "seconds of updates"),
    "cpu_seconds": ("cpu_seconds", "CPU seconds of updates"),
}
# A gap of exactly 0 has no place on a log axis; it is drawn below every gap that float64 can tell from 0.
FLOOR = 1e-16
BAND_OPACITY = 0.15
# A single line has its words above it; of two, which may be one, the lower has them below.
SIDES = {0: (), 1: ("bottom",), 2: ("top", "bottom")}
# Okabe and Ito's yellow vanishes on white; the page's swatches.js has the same stand-in.
ON_WHITE = {"#F0E442": "#A89B00"}
GRID, INK = "#e3e3e3", "#222222"


@dataclass(frozen=True)
class Picture:
    """Everything a figure shows, before any drawing library sees it."""

    title: str
    x_label: str
    y_label: str
    curves: tuple[summary.Curve, ...]
    styles: dict[str, tuple[str, str, str]]  # color, dash, symbol
    rivals: frozenset[str]  # whose points are fits of their own, so that each one is marked
    levels: dict[str, float]  # horizontal lines: the tolerance, or the proven bounds of the optimum
    log_x: bool
    log_y: bool


def choose(
    runs: Sequence[FinishedRun], data: str | None = None, strength: str | float | None = None, loss: str | None = None
) -> list[FinishedRun]:
    """The runs of one heat: the first whose data set, strength and loss are the ones asked for."""
    heats = summary.groups(runs)
    for heat in heats.values():
        first = heat[0]
        if (
            data in (None, first.settings.get("data"), first.data.get("name"))
            and (strength is None or _same_strength(first, strength))
            and loss in (None, first.settings.get("loss"))
        ):
            return heat
    asked = ", ".join(str(value) for value in (data, loss, strength) if value is not None)
    there = "; ".join(f"{name}, {loss}, {value:.6g}" for name, loss, value in heats)
    raise ValueError(f"no run is of {asked or 'any data set'}; there are: {there or 'none'}")


def _same_strength(finished: FinishedRun, strength: str | float) -> bool:
    text = str(strength).replace(" ", "")
    if text == finished.settings.get("strength"):
        return True
    try:
        return abs(float(text) - finished.strength) <= 1e-12 * finished.strength
    except ValueError:
        return False


def name_of(heat: Sequence[FinishedRun]) -> str:
    """The data set of a heat as people call it."""
    data, _, _ = next(iter(summary.groups(heat)))
    facts = heat[0].data
    # Files and arrays are called by their short names; of generated data the options tell more.
    return str(facts.get("name", data) if facts.get("source") == data else data)


def title(heat: Sequence[FinishedRun]) -> str:
    """The data set, loss and strength of a heat in a few words."""
    _, loss, _ = next(iter(summary.groups(heat)))
    return f"{name_of(heat)}: {loss}, strength {summary.strength_words(heat[0])}"


def picture(
    runs: Sequence[FinishedRun],
    kind: str = "gap",
    x: str = "epochs",
    *,
    points: int = 200,
    log_x: bool = False,
    log_y: bool | None = None,
) -> Picture:
    """What the figure `kind` of the runs of one heat shows against `x`; gaps stand on a log axis if not told otherwise."""
    for word, table, what in ((kind, KINDS, "kind of figure"), (x, AXES, "axis")):
        if word not in table:
            raise ValueError(f"there is no {what} {word!r}; there are: {', '.join(table)}")
    field, y_label = KINDS[kind]
    if kind == "accuracy":
        field, y_label = score_of(runs)
    bounds = summary.best_bounds(runs)
    curves = summary.curves(summary.with_suboptimality(runs, bounds), y=field, x=AXES[x][0], points=points)
    if not curves:
        raise ValueError(f"no run has recorded {y_label} against {AXES[x][1]}")
    if log_x:
        curves = [_positive(curve) for curve in curves]
    levels: dict[str, float] = {}
    if kind == "gap" and (tol := float(runs[0].settings.get("tol") or 0.0)) > 0:
        levels = {f"tolerance {tol:g}": tol}
    elif kind == "primal" and bounds is not None:
        levels = {"best dual": bounds[0], "best primal": bounds[1]}
    if kind == "suboptimality" and bounds is not None and bounds[1] > bounds[0]:
        levels = {"best primal − best dual": bounds[1] - bounds[0]}
    log = field in summary.GEOMETRIC if log_y is None else log_y
    return Picture(
        title=title(runs),
        x_label=AXES[x][1],
        y_label=y_label,
        curves=tuple(curves),
        styles=_on_white(looks.styles(map(summary.solver_of, runs))),
        rivals=frozenset(summary.solver_of(finished) for finished in runs if summary.is_rival(finished)),
        levels={words: level for words, level in levels.items() if level > 0 or not log},
        log_x=log_x,
        log_y=log,
    )


def _on_white(styles: dict[str, tuple[str, str, str]]) -> dict[str, tuple[str, str, str]]:
    return {solver: (ON_WHITE.get(color, color), dash, symbol) for solver, (color, dash, symbol) in styles.items()}


def _positive(curve: summary.Curve) -> summary.Curve:
    """The curve without its start at 0, which is nowhere on a log axis."""
    start = next((place for place, x in enumerate(curve.x) if x > 0), len(curve.x))
    median, low, high = (values[start:] for values in (curve.median, curve.low, curve.high))
    return replace(curve, x=curve.x[start:], median=median, low=low, high=high)


def score_of(runs: Sequence[FinishedRun]) -> tuple[str, str]:
    """The field and the words of the score: of the test part where there is one, accuracy or R²."""
    measure = "R²" if runs[0].data.get("task") == "regression" else "accuracy"
    tested = any(summary.final(finished, "test_score") is not None for finished in runs)
    return ("test_score", f"test {measure}") if tested else ("train_score", f"training {measure}")


def visible(values: Sequence[float], log: bool) -> list[float]:
    """The values as an axis can show them."""
    return [max(value, FLOOR) for value in values] if log else list(values)


def figure(shown: Picture) -> go.Figure:
    """A picture as a plotly figure: a line and a 5–95 % band per solver; a click in the legend hides both."""
    import plotly.graph_objects as go

    drawn = go.Figure()
    for curve in shown.curves:
        color, dash, symbol = shown.styles[curve.solver]
        median, low, high = (visible(values, shown.log_y) for values in (curve.median, curve.low, curve.high))
        if curve.runs > 1:
            drawn.add_scatter(
                x=curve.x + curve.x[::-1],
                y=high + low[::-1],
                fill="toself",
                fillcolor=_transparent(color),
                line={"width": 0},
                mode="lines",
                hoverinfo="skip",
                legendgroup=curve.solver,
                showlegend=False,
            )
        drawn.add_scatter(
            x=curve.x,
            y=median,
            name=curve.solver,
            legendgroup=curve.solver,
            mode="lines+markers",
            line={"color": color, "dash": dash, "width": 2},
            marker={"symbol": symbol, "size": 7, "maxdisplayed": 0 if curve.solver in shown.rivals else 5},
            hovertemplate="%{y:.4g} at %{x:.4g}",
        )
    for (words, level), beside in zip(shown.levels.items(), SIDES[len(shown.levels)], strict=True):
        drawn.add_hline(y=level, line={"color": INK, "width": 1, "dash": "dot"})
        # On a log axis plotly wants a line's height itself, and a text's height as a power of ten.
        height = math.log10(level) if shown.log_y else level
        drawn.add_annotation(
            x=1, xref="x domain", xanchor="right", y=height, yanchor=beside, text=words, showarrow=False
        )
    drawn.update_layout(
        template="none",
        title={"text": shown.title, "x": 0.02, "font": {"size": 15}},
        font={"color": INK},
        hovermode="closest",
        height=440,
        margin={"l": 80, "r": 20, "t": 50, "b": 60},
        xaxis=_axis(shown.x_label, shown.log_x),
        yaxis=_axis(shown.y_label, shown.log_y),
    )
    return drawn


def _axis(label: str, log: bool) -> dict[str, Any]:
    powers = {"type": "log", "exponentformat": "power"} if log else {"type": "linear"}
    return powers | {
        "title": {"text": label},
        "gridcolor": GRID,
        "linecolor": INK,
        "ticks": "outside",
        "zeroline": False,
    }


def _transparent(color: str) -> str:
    red, green, blue = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{BAND_OPACITY})"


def small_bundle(shown: Picture, digits: int = 4) -> dict[str, Any]:
    """The plotly figure as the plain values of its mime type, rounded to what a screen can show."""
    plain = figure(shown).to_plotly_json()
    data = [_rounded(trace, digits) for trace in plain["data"]]
    return {"data": data, "layout": _rounded(plain["layout"], digits), "config": {"responsive": True}}


def _rounded(value: Any, digits: int) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(item, digits) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item, digits) for item in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value
