"""The charts of R2, which have no numbers there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dualgap.replication.gathering import Gathered
from dualgap.replication.panels import Figure, Panel, curves
from dualgap.replication.rules_r2 import (
    AVERAGE,
    BREAST,
    EARLY,
    PEGASOS,
    PEGASOS_PERMUTATION,
    PEGASOS_STORED,
    PERMUTATION,
    RANDOM,
    SDCA,
    SIGNS,
    SIMULATED,
    STORED,
    ZEROS,
)


def _variants(experiment: str) -> Callable[[Gathered], Sequence[Panel]]:
    return lambda gathered: [
        curves(gathered, experiment, title="SDCA", solvers=(SDCA, PERMUTATION, STORED), log_x=True),
        curves(
            gathered, experiment, title="Pegasos", solvers=(PEGASOS, PEGASOS_PERMUTATION, PEGASOS_STORED), log_x=True
        ),
    ]


def _learning(experiment: str) -> Callable[[Gathered], Sequence[Panel]]:
    names = (PERMUTATION, PEGASOS)
    return lambda gathered: [
        curves(gathered, experiment, title="convergence", solvers=names),
        curves(gathered, experiment, "train_score", title="training accuracy", solvers=names),
        curves(gathered, experiment, "test_score", title="test accuracy", solvers=names),
    ]


def labels(gathered: Gathered) -> Sequence[Panel]:
    """Test accuracy with labels −1/+1 and with labels left at 0/1."""
    names = (PERMUTATION, PEGASOS)
    return [
        curves(gathered, SIGNS, "test_score", title="labels −1/+1", solvers=names),
        curves(gathered, ZEROS, "test_score", title="labels left at 0/1", solvers=names),
    ]


def _outputs(suffix: str) -> Callable[[Gathered], Sequence[Panel]]:
    names = (AVERAGE + suffix, RANDOM + suffix)
    return lambda gathered: [
        curves(gathered, experiment, "test_score", title=TITLES[experiment], solvers=names)
        for experiment in (SIGNS, SIMULATED)
    ]


BOTH = (SIGNS, SIMULATED)
TITLES = {SIGNS: "breast cancer", SIMULATED: "simulated"}
FIGURES = (
    Figure(
        "R2 convergence, breast cancer",
        "convergence-breast-cancer",
        "P by way of drawing rows; in the stored order every repeat is the same run.",
        (BREAST,),
        _variants(BREAST),
    ),
    Figure(
        "R2 convergence, simulated",
        "convergence-simulated",
        "P by way of drawing rows.",
        (SIMULATED,),
        _variants(SIMULATED),
    ),
    Figure(
        "R2 accuracy, breast cancer",
        "accuracy-breast-cancer",
        "P, training and test accuracy while learning.",
        (SIGNS,),
        _learning(SIGNS),
    ),
    Figure(
        "R2 labels", "labels", "The labels as the algorithms need them, and left as they are.", (SIGNS, ZEROS), labels
    ),
    Figure(
        "R2 accuracy, simulated",
        "accuracy-simulated",
        "P, training and test accuracy while learning.",
        (SIMULATED,),
        _learning(SIMULATED),
    ),
    Figure("R2 outputs", "outputs", "Average and random output, T₀ = T/2.", BOTH, _outputs("")),
    Figure("R2 outputs, early T₀", "outputs-early", "The same with T₀ = T/20.", BOTH, _outputs(EARLY)),
)
