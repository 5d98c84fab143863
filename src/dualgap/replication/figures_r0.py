"""The figures and tables of R0."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from dualgap.replication.frames import Missing
from dualgap.replication.gathering import Gathered
from dualgap.replication.heights import HEIGHTS, Reach, descent
from dualgap.replication.measures import band, finals, middle
from dualgap.replication.panels import Figure, Line, Panel, Table, by_strength, curves, plain
from dualgap.replication.rules_r0 import (
    ASDCA,
    CYCLIC,
    MINI,
    MINI_PROJECTED,
    PEGASOS,
    PERMUTATION,
    PROJECTED,
    SDCA,
    SETS,
)
from dualgap.replication.rules_r0_outputs import AVERAGED, TABLE_2
from dualgap.replication.verdicts import number

SAMPLINGS = (SDCA, PERMUTATION, CYCLIC)
THETAS = tuple(f"{ASDCA} {factor}x" for factor in (1, 4, 16))
EXPERIMENTS = ("R0.simulated", "R0.genomic, standardized", "R0.genomic", "R0.skin")
SETTINGS = {
    "R0.genomic, standardized": "standardized columns, λ = 0.1/n",
    "R0.genomic": "λ = 1/n",
    "R0.strengths, standardized": "standardized columns",
    "R0.strengths": "columns as they are",
}


def _of(data: str) -> tuple[str, ...]:
    """The experiments on a data set: genomic data has two settings."""
    return tuple(name for name in EXPERIMENTS if name.startswith(f"R0.{data}"))


def _measured(gathered: Gathered, names: Sequence[str]) -> list[str]:
    found = [name for name in names if gathered.of(name)]
    if not found:
        raise Missing(f"no run of {names[0]} is finished")
    return found


def _titled(name: str, words: str) -> str:
    return ": ".join(filter(None, (SETTINGS.get(name, ""), words)))


def _comparison(data: str) -> Callable[[Gathered], Sequence[Panel]]:
    shown = (SDCA, PEGASOS, MINI, *THETAS)
    return lambda gathered: [
        curves(gathered, name, x=x, title=_titled(name, words), solvers=shown, log_x=True)
        for name in _measured(gathered, _of(data))
        for x, words in (("updates", "against updates"), ("epoch", "against rows touched, in epochs"))
    ]


def _among(data: str, solvers: Sequence[str]) -> Callable[[Gathered], Sequence[Panel]]:
    return lambda gathered: [
        curves(gathered, name, title=_titled(name, ""), solvers=solvers, log_x=True)
        for name in _measured(gathered, _of(data))
    ]


def _strengths(solver: str) -> Callable[[Gathered], Sequence[Panel]]:
    names = ("R0.strengths, standardized", "R0.strengths")
    return lambda gathered: [
        replace(by_strength(gathered, name, solver), title=SETTINGS[name]) for name in _measured(gathered, names)
    ]


def speeds(gathered: Gathered) -> Sequence[Table]:
    """Updates and rows touched until each fraction of the way is left, for every solver and data set."""
    tables = []
    for name in _measured(gathered, EXPERIMENTS):
        rows = []
        for solver in gathered.frame.solvers(name):
            trials = gathered.frame.of(name, solver)
            updates, touched = (descent(gathered.frame, trials, x) for x in ("updates", "rows"))
            cells = [
                f"{number(updates.places[place])} / {number(touched.places[place])}"
                if updates.reach[place] is Reach.REACHED
                else updates.reach[place].value
                for place in range(len(HEIGHTS))
            ]
            rows.append((solver, *cells))
        head = ("updates / rows touched until at most", *(f"{100 * height:g} % is left" for height in HEIGHTS))
        title = ", ".join(filter(None, (name.removeprefix("R0.").partition(",")[0], SETTINGS.get(name, ""))))
        tables.append(Table(title, head, tuple(rows)))
    return tables


def data_sets(gathered: Gathered) -> Sequence[Table]:
    """Table 1: the data sets, the report's sizes beside ours."""
    printed = {"simulated": "1,000 × 10", "genomic": "184 × 4,654", "skin": "245,057 × 3"}
    rows = []
    for data in SETS:
        runs = gathered.of(f"R0.{data}") or gathered.of(f"R0.{data}, standardized")
        if runs:
            facts = runs[0].data
            rows.append(
                (data, printed[data], f"{facts['rows']:,} × {facts['columns']:,}", str(facts.get("source", "")))
            )
    if not rows:
        raise Missing("no run of R0 is finished")
    return [Table("Data sets", ("data", "report", "here", "from"), tuple(rows))]


def accuracies(gathered: Gathered) -> Sequence[Table]:
    """Table 2: printed accuracies beside medians and 5–95 % intervals over seeds."""
    rows = []
    for name, printed in TABLE_2.items():
        cells = [name]
        for suffix, accuracy in zip(("", AVERAGED), printed, strict=True):
            ours = finals(gathered.frame.of("R0.table 2", name + suffix), "test_score")
            low, high = band(ours)
            cells += [plain(accuracy), plain(middle(ours)), f"{low:.3f}–{high:.3f}"]
        rows.append(tuple(cells))
    ours = np.array(gathered.frame.fact("R0.table 2/accuracy of beta"))
    low, high = band(ours)
    rows.append(("β itself", "0.878", plain(middle(ours)), f"{low:.3f}–{high:.3f}", "", "", ""))
    head = ("algorithm", "last: report", "here", "5–95 %", "averaged: report", "here", "5–95 %")
    return [Table("Accuracy on the test part", head, tuple(rows))]


LINES = (SDCA, PERMUTATION, CYCLIC, PEGASOS, PROJECTED, ASDCA, MINI, MINI_PROJECTED)


def coefficients(gathered: Gathered) -> Sequence[Panel]:
    """Figure 7: the weights of the first draw, each scaled to length 1, beside β, for every option of every algorithm."""
    first = gathered.frame.data("R0.table 2")[0]
    panels = []
    for title, names in (
        ("SDCA", LINES[:3]),
        ("Pegasos", LINES[3:5]),
        ("ASDCA", LINES[5:6]),
        ("mini-batch Pegasos", LINES[6:]),
    ):
        lines: list[Line] = []
        for name in (one + suffix for one in names for suffix in ("", AVERAGED)):
            trial = gathered.frame.of("R0.table 2", name, data=first)[0]
            if trial.weights is None or trial.beta is None:
                raise Missing("the weights of table 2 were not kept")
            places = list(range(1, len(trial.beta) + 1))
            if not lines:
                lines.append(Line("β", places, _unit(trial.beta), marked=True))
            lines.append(Line(name, places, _unit(trial.weights), marked=True))
        panels.append(Panel(title, "coefficient", "value", tuple(lines)))
    return panels


def _unit(vector: Sequence[float]) -> list[float]:
    array = np.asarray(vector, dtype=float)
    scaled: list[float] = (array / np.linalg.norm(array)).tolist()
    return scaled


def random_stop(gathered: Gathered) -> Sequence[Panel]:
    """How far above the optimum a random iterate of Pegasos is, run by run, in order."""
    frame = gathered.frame
    trials = frame.of("R0.random stop", PEGASOS)
    excess = np.sort([trial.last("primal") / frame.optimum(trial) - 1.0 for trial in trials])
    fractions = (np.arange(1, excess.size + 1) / excess.size).tolist()
    line = Line("runs", np.maximum(excess, 1e-9).tolist(), fractions, marked=True)
    return [
        Panel("", "P/P* − 1 at a random iteration", "fraction of runs below", (line,), {"one half": 0.5}, log_x=True)
    ]


FIGURES = (
    Figure("R0 table 1", "data-sets", "The data sets.", EXPERIMENTS, data_sets),
    *(
        Figure(
            f"R0 figure {place}",
            f"convergence-{data}",
            f"Convergence of P on {data} data; ASDCA with 1, 4 and 16 times the paper's θ.",
            _of(data),
            _comparison(data),
        )
        for place, data in enumerate(SETS, start=1)
    ),
    Figure(
        "R0 figure 4",
        "sampling-genomic",
        "Three ways of drawing rows for SDCA, genomic data.",
        _of("genomic"),
        _among("genomic", SAMPLINGS),
    ),
    Figure(
        "R0 figure 5",
        "sampling-skin",
        "Three ways of drawing rows for SDCA, skin data; in their first epoch permutation and cyclic are the same run.",
        ("R0.skin",),
        _among("skin", SAMPLINGS),
    ),
    Figure(
        "R0 figure 6",
        "projection",
        "Pegasos with and without projection, genomic data.",
        _of("genomic"),
        _among("genomic", (PEGASOS, PROJECTED)),
    ),
    Figure(
        "R0 figure 7",
        "coefficients",
        "Coefficients of the first draw against the true β, each vector scaled to length 1.",
        ("R0.table 2",),
        coefficients,
    ),
    *(
        Figure(
            f"R0 figure {place}",
            f"strengths-{solver.lower().replace(' ', '-')}",
            f"The influence of λ on {solver}, genomic data.",
            ("R0.strengths, standardized", "R0.strengths"),
            _strengths(solver),
        )
        for place, solver in enumerate((SDCA, PEGASOS, THETAS[0], MINI), start=8)
    ),
    Figure("R0 table 2", "accuracies", "Test accuracy on simulated data.", ("R0.table 2",), accuracies),
    Figure(
        "R0 speeds",
        "speeds",
        "Updates, and rows touched, after which P stays below a fraction of the way from P* to P(0).",
        EXPERIMENTS,
        speeds,
    ),
    Figure(
        "R0 random stop",
        "random-stop",
        "How many runs of Pegasos are how near to P* at a random iteration.",
        ("R0.random stop",),
        random_stop,
    ),
)
