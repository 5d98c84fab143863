"""The figures and tables of R4."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dualgap import spec
from dualgap.replication.gathering import Gathered
from dualgap.replication.measures import finals, middle, over
from dualgap.replication.panels import Figure, Panel, Table, curves, sweep
from dualgap.replication.r4 import DATA, THEOREM
from dualgap.replication.rules_r4 import (
    AVERAGE,
    CLOSED,
    NEWTON,
    PRINTED_TIMES,
    RANDOM,
    SDCA,
    SDCA_CLOSED,
    SELECTED,
    SETS,
    SGD,
    STEP_SETS,
    STRENGTHS,
    selection,
    updates_needed,
)
from dualgap.replication.verdicts import number
from dualgap.workbench.store import FinishedRun

LEARNING = tuple(f"R4.{data}" for data in DATA)
SETTINGS = tuple(f"R4.{setting}, {data}" for data in DATA for setting in ("c of SGD", "eps of SGD", "c of SDCA"))
WIDTHS = tuple(f"R4.widths, {data}" for data in SETS)
WIDTH_ROWS = {"arrhythmia": "arrhythmia", "adult": "adult, first 1,200 rows"}
STOPPING = ("R4.stopping", *(f"R4.stopping, {data}" for data in SETS))


def _strengths(data: str) -> tuple[float, float]:
    return STRENGTHS[data.partition(",")[0]]


def _during(y: str) -> Callable[[Gathered], Sequence[Panel]]:
    """Both algorithms at the λ of each."""

    def make(gathered: Gathered) -> Sequence[Panel]:
        return [
            curves(
                gathered,
                f"R4.{data}",
                y,
                title=f"{_words(data)}, λ = {strength:g} ({owner}'s own)",
                solvers=(SGD, SDCA, SDCA_CLOSED),
                strength=strength,
            )
            for data in DATA
            if gathered.of(f"R4.{data}")
            for strength, owner in zip(_strengths(data), (SGD, SDCA), strict=True)
        ]

    return make


def _named(run: FinishedRun) -> float | None:
    """The number in a solver's name, such as `SGD 1000`."""
    return float(str(run.settings["solver"]).rpartition(" ")[2])


def _strength(run: FinishedRun) -> float | None:
    return run.strength


def _width(solver: str) -> Callable[[FinishedRun], float | None]:
    def place(run: FinishedRun) -> float | None:
        if run.settings["solver"] != solver:
            return None
        return float(spec.parse(str(run.settings["data"]))[1].get("width", 10.0))

    return place


def hyperparameters(gathered: Gathered) -> Sequence[Panel]:
    """Figure 2: accuracy after 15 epochs over c of SGD, eps of SGD, and c of SDCA."""
    panels = []
    for data in DATA:
        panels += [
            sweep(gathered, f"R4.c of SGD, {data}", f"c of SGD, {_words(data)}", "c (λ = 1/c)", _named),
            sweep(gathered, f"R4.eps of SGD, {data}", f"eps of SGD, {_words(data)}", "eps", _named),
            sweep(gathered, f"R4.c of SDCA, {data}", f"c of SDCA, {_words(data)}", "c (λ = c)", _strength),
        ]
    return panels


def widths(gathered: Gathered) -> Sequence[Panel]:
    """Figure 3: accuracy over the width of the Gaussian features."""
    return [
        sweep(gathered, f"R4.widths, {data}", f"h, {solver}, {WIDTH_ROWS[data]}", "h", _width(solver))
        for solver in (SGD, SDCA)
        for data in SETS
    ]


def chosen_settings(gathered: Gathered) -> Sequence[Table]:
    """Table 1: the printed values beside those that validation selects here."""
    rows = []
    for data in DATA:
        for setting in ("c of SGD", "eps of SGD", "c of SDCA"):
            printed = SELECTED[data.partition(",")[0], setting]
            best, found = selection(gathered.frame, data, setting)
            scores = {value: float(np.mean(finals(trials, "test_score"))) for value, trials in found.items()}
            at = [f"{scores[value]:.3f}" if value in scores else "–" for value in (printed, best)]
            rows.append((_words(data), setting, f"{printed:g}", at[0], f"{best:g}", at[1]))
    head = ("data", "setting", "report", "mean accuracy there", "selected here", "mean accuracy there")
    return [Table("What validation selects", head, tuple(rows))]


def _words(data: str) -> str:
    return {"adult": "adult, first 500 rows", "adult, complete": "adult, all rows"}.get(data, data)


def stopping(gathered: Gathered) -> Sequence[Table]:
    """Table 2: sufficient updates, printed and computed, and those that were needed."""
    rows = []
    for data in SETS:
        n, strength = THEOREM[data]
        computed = int(gathered.frame.fact(f"R4.stopping/{data}"))
        needed = middle(over(gathered.frame.of(f"R4.stopping, {data}", SDCA), updates_needed))
        rows.append((data, f"{n:,}", f"{strength:g}", f"{PRINTED_TIMES[data]:,}", f"{computed:,}", number(needed)))
    head = ("data", "n", "λ", "report", "theorem", "needed here")
    return [Table("Updates for a gap of 1e-3", head, tuple(rows))]


def steps(gathered: Gathered) -> Sequence[Panel]:
    """The gap of both logistic steps, on standardized and on raw columns."""
    names = (NEWTON, CLOSED)
    return [
        curves(
            gathered, "R4.steps", "gap", "cpu_seconds", title=f"arrhythmia, {words} columns", solvers=names, data=data
        )
        for words, data in STEP_SETS.items()
    ]


def outputs(gathered: Gathered) -> Sequence[Panel]:
    """Last, average and random output of SDCA at its own λ."""
    names = (SDCA, AVERAGE, RANDOM)
    return [
        curves(gathered, f"R4.{data}", y, title=_words(data), solvers=names, strength=_strengths(data)[1])
        for data in DATA
        if gathered.of(f"R4.{data}")
        for y in ("test_score", "primal")
    ]


FIGURES = (
    Figure("R4 figure 1", "accuracy", "Accuracy during learning.", LEARNING, _during("test_score")),
    Figure("R4 figure 2", "hyperparameters", "Selection of c and eps.", SETTINGS, hyperparameters),
    Figure("R4 figure 3", "widths", "Selection of the width h of Gaussian features.", WIDTHS, widths),
    Figure("R4 figure 4", "loss", "The loss during learning.", LEARNING, _during("primal")),
    Figure(
        "R4 table 1", "settings", "What validation selects, and what the report selected.", SETTINGS, chosen_settings
    ),
    Figure("R4 table 2", "stopping", "Sufficient stopping times.", STOPPING, stopping),
    Figure("R4 steps", "steps", "The gap of SDCA with two ways to make a logistic step.", ("R4.steps",), steps),
    Figure(
        "R4 outputs",
        "outputs",
        "Three outputs of SDCA at its own λ: the last iterate, the average from T₀ = T/2 on, and one drawn from there on. "
        "Where one line is seen the three are alike.",
        LEARNING,
        outputs,
    ),
)
