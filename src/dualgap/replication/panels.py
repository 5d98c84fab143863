"""Panels: what a figure of the page is made of, and how panels are made of runs: curves with bands, sweeps, tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dualgap.replication.frames import OPTIMUM, Missing
from dualgap.replication.gathering import Gathered
from dualgap.replication.heights import AT_REST
from dualgap.workbench import figures, summary
from dualgap.workbench.store import FinishedRun

POINTS = 90
Y_WORDS = {
    "primal": "primal value P",
    "dual": "dual value D",
    "own_dual": "own dual value D(α)",
    "gap": "duality gap",
    "test_score": "test accuracy",
    "train_score": "training accuracy",
    "test_error": "test error",
    "support": "support vectors",
}
X_WORDS = dict(figures.AXES.values())
# A curve that overshoots at first is cut off above P(0), so that the rest can be seen; where another never comes down
# to P(0), above its lowest point.
HEADROOM = 1.15


@dataclass(frozen=True)
class Line:
    """One line of a panel, with its band where it stands for several runs."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    marked: bool = False  # whether every point is a measurement of its own


@dataclass(frozen=True)
class Panel:
    """A chart: lines over axes, and heights to compare them with."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    levels: Mapping[str, float] = field(default_factory=dict)
    log_x: bool = False
    log_y: bool = False
    top: float | None = None


@dataclass(frozen=True)
class Table:
    """A table: column heads, rows of texts, the first column being names."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Pictures:
    """Pictures side by side, each the text of a PNG under its name."""

    title: str
    images: Mapping[str, str]


@dataclass(frozen=True)
class Figure:
    """A figure or table of a report: what it shows, which experiments it needs, and how it is made."""

    id: str
    name: str  # as it is asked for on the command line
    says: str
    experiments: tuple[str, ...]
    make: Callable[[Gathered], Sequence[Panel | Table | Pictures]]

    @property
    def report(self) -> str:
        """The report it belongs to."""
        return self.id.partition(" ")[0]


def curves(
    gathered: Gathered,
    experiment: str,
    y: str = "primal",
    x: str = "updates",
    *,
    title: str = "",
    solvers: Collection[str] | None = None,
    data: str | None = None,
    strength: float | None = None,
    log_x: bool = False,
    log_y: bool | None = None,
) -> Panel:
    """A line per solver: medians over the runs of an experiment with their 5–95 % band."""
    runs = _chosen(gathered.of(experiment), solvers, data, strength)
    lines = []
    for curve in summary.curves(runs, y, x, POINTS, AT_REST):
        banded = curve.runs > 1
        lines.append(
            Line(curve.solver, curve.x, curve.median, curve.low if banded else None, curve.high if banded else None)
        )
    if not lines:
        raise Missing(f"no run of {experiment} is finished")
    levels, top = {}, None
    if y == "primal":
        start = middle_of(runs, "primal", first=True)
        top = HEADROOM * max(start, _lowest(lines))
    if y in ("primal", "dual", "own_dual"):
        levels = {"P* (proven)": _optimum(gathered, experiment, runs)}
    log = y in ("primal", "gap") if log_y is None else log_y
    return Panel(title, X_WORDS[x], Y_WORDS[y], tuple(lines), levels, log_x, log, top)


def by_strength(gathered: Gathered, experiment: str, solver: str, x: str = "updates") -> Panel:
    """One solver's P, a line per strength."""
    runs = _chosen(gathered.of(experiment), {solver}, None, None)
    lines = []
    for strength in sorted({run.strength for run in runs}):
        some = [run for run in runs if run.strength == strength]
        words = f"λ = {strength * float(some[0].data['rows']):.2g}/n"
        for curve in summary.curves(some, "primal", x, POINTS, AT_REST):
            lines.append(Line(words, curve.x, curve.median, curve.low, curve.high))
    if not lines:
        raise Missing(f"no run of {experiment} is finished")
    top = HEADROOM * max(middle_of(runs, "primal", first=True), _lowest(lines))
    return Panel(solver, X_WORDS[x], Y_WORDS["primal"], tuple(lines), {}, False, True, top)


def sweep(
    gathered: Gathered, experiment: str, title: str, x_label: str, place: Callable[[FinishedRun], float | None]
) -> Panel:
    """Training and test accuracy at the end against a setting; runs without a place are left out."""
    ends: dict[float, list[FinishedRun]] = {}
    for run in gathered.of(experiment):
        where = place(run)
        if where is not None:
            ends.setdefault(where, []).append(run)
    if not ends:
        raise Missing(f"no run of {experiment} is finished")
    places = sorted(ends)
    lines = []
    for field_name, words in (("train_score", "training"), ("test_score", "test")):
        values = [[final for run in ends[at] if (final := summary.final(run, field_name)) is not None] for at in places]
        known = [(at, found) for at, found in zip(places, values, strict=True) if found]
        middle, low, high = ([float(np.percentile(found, level)) for _, found in known] for level in (50, 5, 95))
        lines.append(Line(words, [at for at, _ in known], middle, low, high, marked=True))
    return Panel(title, x_label, "accuracy", tuple(lines), {}, True, False)


def _chosen(
    runs: Sequence[FinishedRun], solvers: Collection[str] | None, data: str | None, strength: float | None
) -> list[FinishedRun]:
    return [
        run
        for run in runs
        if (solvers is None or run.settings["solver"] in solvers)
        and data in (None, run.settings["data"])
        and (strength is None or math.isclose(run.strength, strength, rel_tol=1e-9))
    ]


def _lowest(lines: Sequence[Line]) -> float:
    """The highest of the lines' lowest points in their later halves: an axis up to there shows something of each."""
    return max(min(line.y[len(line.y) // 2 :]) for line in lines)


def middle_of(runs: Sequence[FinishedRun], name: str, first: bool = False) -> float:
    """The median over runs of a field's first or last value."""
    values = [summary.column(run, name)[0 if first else -1] for run in runs if summary.column(run, name).size]
    return float(np.median(values)) if values else math.nan


def _optimum(gathered: Gathered, experiment: str, runs: Sequence[FinishedRun]) -> float:
    """The median over the problems of the runs shown of what was proven to be their optimum."""
    problems = {(run.settings["data"], run.strength) for run in runs}
    found = [
        float(run.certificate["primal"] or math.nan)
        for run in gathered.runs
        if run.settings["experiment"] == experiment
        and run.settings["solver"] == OPTIMUM
        and (run.settings["data"], run.strength) in problems
    ]
    return float(np.median(found)) if found else math.nan


def plain(value: Any) -> str:
    """A number or a text of a table."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}" if isinstance(value, float) else str(value)
