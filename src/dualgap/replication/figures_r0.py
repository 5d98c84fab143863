"""The figures and tables of R0."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dualgap.replication.frames import Missing
from dualgap.replication.gathering import Gathered
from dualgap.replication.measures import band, finals, middle, quickest
from dualgap.replication.panels import Figure, Line, Panel, Table, by_strength, curves, plain
from dualgap.replication.rules_r0 import (
    ASDCA,
    AVERAGED,
    CYCLIC,
    MINI,
    PEGASOS,
    PERMUTATION,
    PROJECTED,
    SDCA,
    SETS,
    TABLE_2,
)

SAMPLINGS = (SDCA, PERMUTATION, CYCLIC)


def _comparison(data: str) -> Callable[[Gathered], Sequence[Panel]]:
    def make(gathered: Gathered) -> Sequence[Panel]:
        experiment = f"R0.{data}"
        best, _ = quickest(gathered.frame, experiment, ASDCA)
        shown = (SDCA, PEGASOS, MINI, best)
        return [
            curves(gathered, experiment, title="against updates", solvers=shown),
            curves(gathered, experiment, x="epoch", title="against rows read", solvers=shown),
        ]

    return make


def _among(data: str, solvers: Sequence[str]) -> Callable[[Gathered], Sequence[Panel]]:
    return lambda gathered: [curves(gathered, f"R0.{data}", solvers=solvers)]


def _strengths(solver: str) -> Callable[[Gathered], Sequence[Panel]]:
    return lambda gathered: [by_strength(gathered, "R0.strengths", solver)]


def data_sets(gathered: Gathered) -> Sequence[Table]:
    """Table 1: the data sets, the report's sizes beside ours."""
    printed = {"simulated": "1,000 × 10", "genomic": "184 × 4,654", "skin": "245,057 × 3"}
    rows = []
    for data in SETS:
        runs = gathered.of(f"R0.{data}")
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


def coefficients(gathered: Gathered) -> Sequence[Panel]:
    """Figure 7: the weights of the first draw, each scaled to length 1, beside β."""
    panels = []
    first = gathered.frame.data("R0.table 2")[0]
    for name in (SDCA, PEGASOS, ASDCA, MINI):
        lines: list[Line] = []
        for suffix in ("", AVERAGED):
            trial = gathered.frame.of("R0.table 2", name + suffix, data=first)[0]
            if trial.weights is None or trial.beta is None:
                raise Missing("the weights of table 2 were not kept")
            places = list(range(1, len(trial.beta) + 1))
            if not lines:
                lines.append(Line("β", places, _unit(trial.beta), marked=True))
            lines.append(Line(name + suffix, places, _unit(trial.weights), marked=True))
        panels.append(Panel(name, "coefficient", "value, length 1", tuple(lines)))
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
    Figure("R0 table 1", "data-sets", "The data sets.", tuple(f"R0.{data}" for data in SETS), data_sets),
    *(
        Figure(
            f"R0 figure {number}",
            f"convergence-{data}",
            f"Convergence of P on {data} data; ASDCA with the multiple of the paper's θ that suits it best.",
            (f"R0.{data}",),
            _comparison(data),
        )
        for number, data in enumerate(SETS, start=1)
    ),
    Figure(
        "R0 figure 4", "sampling-genomic", "SDCA's samplings, genomic.", ("R0.genomic",), _among("genomic", SAMPLINGS)
    ),
    Figure("R0 figure 5", "sampling-skin", "SDCA's samplings, skin.", ("R0.skin",), _among("skin", SAMPLINGS)),
    Figure(
        "R0 figure 6",
        "projection",
        "Pegasos with and without projection, genomic.",
        ("R0.genomic",),
        _among("genomic", (PEGASOS, PROJECTED)),
    ),
    Figure("R0 figure 7", "coefficients", "Coefficients against the true β.", ("R0.table 2",), coefficients),
    *(
        Figure(
            f"R0 figure {number}",
            f"strengths-{solver.lower().replace(' ', '-')}",
            f"The influence of λ on {solver}, genomic.",
            ("R0.strengths",),
            _strengths(solver),
        )
        for number, solver in enumerate((SDCA, PEGASOS, ASDCA, MINI), start=8)
    ),
    Figure("R0 table 2", "accuracies", "Test accuracy on simulated data.", ("R0.table 2",), accuracies),
    Figure("R0 random stop", "random-stop", "Pegasos at a random iteration.", ("R0.random stop",), random_stop),
)
