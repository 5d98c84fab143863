"""R4's experiments: SGD and SDCA for logistic regression on Arrhythmia and Adult, under the report's own settings.

SGD(c) minimizes with λ = 1/c and takes steps of c·eps; SDCA(c) has λ = c. Both are also run at each other's λ.
"""

from __future__ import annotations

from typing import Any

from dualgap.replication.experiments import Contenders, Experiment, Fact
from dualgap.replication.rules_r4 import (
    AVERAGE,
    CLOSED,
    NEEDED_GAP,
    NEWTON,
    RANDOM,
    SDCA,
    SDCA_CLOSED,
    SELECTED,
    SGD,
    STRENGTHS,
)
from dualgap.solvers.theory import sufficient_updates

TEST_SHARE = 0.15
ADULT = "first_rows(data=adult_codes, joined=true)"
# The report names all 48,842 rows of Adult; its public code takes the first 500.
DATA = {
    "arrhythmia": "arrhythmia",
    "adult": "first_rows(data=adult_codes, rows=500)",
    "adult, complete": ADULT,
}
# Table 2: rows and λ with which the theorem gives the printed numbers.
THEOREM = {"arrhythmia": (452, 0.05), "adult": (48_842, 0.1)}
WIDTHS = tuple(10.0**power for power in range(-2, 8))
# Figure 3 has no claim: its features, a fifth as many as the rows, are computed anew for each split and width.
WIDTH_SPLITS = 5
DECADES_C = tuple(10.0**power for power in range(0, 7))
DECADES_EPS = (*(10.0**power for power in range(-9, -1)), 5e-6)
DECADES_SDCA = (*(10.0**power for power in range(-5, 3)), 0.05)
VALIDATION_EPOCHS = 15
LEARNING_EPOCHS, COMPLETE_EPOCHS = 40, 15


def sgd(c: float, eps: float) -> str:
    """The report's SGD as a spec: rows drawn with replacement, steps of eps times c times the gradient of the mean."""
    return f"sgd(sampling=random, step={float(f'{c * eps:.12g}')!r}, schedule=constant)"


def experiments(quick: bool) -> tuple[Experiment, ...]:
    """All of them."""
    splits = 5 if quick else 20
    common: dict[str, Any] = {"loss": "logistic", "test_size": TEST_SHARE, "standardize": True}
    return (
        *(_learning(data, splits, quick, common) for data in DATA),
        *(one for data in DATA for one in _validation(data, splits, common)),
        Experiment(
            "R4.stopping",
            "n = 452 with λ = 0.05, n = 48,842 with λ = 0.1, a gap of 1e-3, a loss of Lipschitz constant 1.",
            facts=tuple(
                Fact(f"R4.stopping/{data}", sufficient_updates, {"n": n, "strength": strength, "gap": NEEDED_GAP})
                for data, (n, strength) in THEOREM.items()
            ),
        ),
        _needed("arrhythmia", "arrhythmia", splits, 20, 0.25, common),
        _needed("adult", ADULT, splits, 15, 0.25, common),
        Experiment(
            "R4.steps",
            "Both logistic steps on Arrhythmia, standardized and raw, λ = 0.1.",
            (
                Contenders(
                    ("arrhythmia", "first_rows(data=arrhythmia, standardize=false)"),
                    {NEWTON: "sdca(sampling=random)", CLOSED: "sdca(sampling=random, logistic_step=closed_form)"},
                    strengths=("0.1",),
                    epochs=40,
                    every=2,
                    splits=splits,
                    **common | {"standardize": None},
                ),
            ),
        ),
        _others(quick, common),
    )


def _own(data: str) -> tuple[float, float, tuple[float, float]]:
    """c and eps of SGD and the λ of both algorithms by table 1."""
    name = data.partition(",")[0]
    return SELECTED[name, "c of SGD"], SELECTED[name, "eps of SGD"], STRENGTHS[name]


def _learning(data: str, splits: int, quick: bool, common: dict[str, Any]) -> Experiment:
    c, eps, strengths = _own(data)
    epochs = COMPLETE_EPOCHS if data == "adult, complete" else LEARNING_EPOCHS
    return Experiment(
        f"R4.{data}",
        f"85 % for training, columns standardized, {LEARNING_EPOCHS} epochs ({COMPLETE_EPOCHS} of all rows of Adult), each algorithm at its own λ of table 1 and "
        "at the other's; each repeat has a split of its own.",
        (
            Contenders(
                (DATA[data],),
                {
                    SGD: sgd(c, eps),
                    SDCA: "sdca(sampling=random)",
                    SDCA_CLOSED: "sdca(sampling=random, logistic_step=closed_form)",
                    AVERAGE: "sdca(sampling=random, output=average)",
                    RANDOM: "sdca(sampling=random, output=random)",
                },
                strengths=tuple(f"{strength:g}" for strength in strengths),
                epochs=epochs,
                every=1.0 if quick else 0.5,
                splits=splits,
                **common,
            ),
        ),
    )


def _validation(data: str, splits: int, common: dict[str, Any]) -> tuple[Experiment, ...]:
    """Accuracy after 15 epochs over c and eps of SGD, c of SDCA, and the width of Gaussian features for both."""
    c, eps, strengths = _own(data)
    limits = common | {"epochs": VALIDATION_EPOCHS, "every": VALIDATION_EPOCHS, "splits": splits}
    weaker, stronger = ((f"{strength:g}",) for strength in strengths)
    name = data.partition(",")[0].capitalize()
    return (
        Experiment(
            f"R4.c of SGD, {data}",
            f"SGD(c) on {name}: λ = 1/c, steps of c·eps, eps = {eps:g}.",
            tuple(
                Contenders((DATA[data],), {f"SGD {value:g}": sgd(value, eps)}, strengths=(f"{1 / value:g}",), **limits)
                for value in DECADES_C
            ),
        ),
        Experiment(
            f"R4.eps of SGD, {data}",
            f"SGD over eps on {name}: c = {c:g}.",
            (
                Contenders(
                    (DATA[data],),
                    {f"SGD {value:g}": sgd(c, value) for value in DECADES_EPS},
                    strengths=weaker,
                    **limits,
                ),
            ),
        ),
        Experiment(
            f"R4.c of SDCA, {data}",
            f"SDCA(c): λ = c. All for {VALIDATION_EPOCHS} epochs.",
            (
                Contenders(
                    (DATA[data],), {SDCA: "sdca"}, strengths=tuple(f"{value:g}" for value in DECADES_SDCA), **limits
                ),
            ),
        ),
        *(() if data == "adult, complete" else (_widths(data, c, eps, weaker, stronger, limits),)),
    )


def _widths(
    data: str, c: float, eps: float, weaker: tuple[str], stronger: tuple[str], limits: dict[str, Any]
) -> Experiment:
    """Gaussian features, for each split with centers of its own; 1,200 rows of Adult, whose map has a fifth of them as columns."""
    base = "data=arrhythmia" if data == "arrhythmia" else "data=adult_codes, rows=1200"
    as_made = limits | {"standardize": False, "splits": 1}
    mapped = tuple(
        f"gaussian_map({base}, width={width:g}, seed={split})" for split in range(WIDTH_SPLITS) for width in WIDTHS
    )
    return Experiment(
        f"R4.widths, {data}",
        "Gaussian features of width h around a fifth of the training rows, then standardized; 15 epochs at the λ of table 1; of Adult "
        "the first 1,200 rows, since the features are as many as a fifth of the rows.",
        (
            Contenders(mapped, {SGD: sgd(c, eps)}, strengths=weaker, **as_made),
            Contenders(mapped, {SDCA: "sdca"}, strengths=stronger, **as_made),
        ),
    )


def _needed(data: str, source: str, repeats: int, epochs: float, every: float, common: dict[str, Any]) -> Experiment:
    return Experiment(
        f"R4.stopping, {data}",
        "All rows, the λ of the theorem's number, until a gap of 1e-3 is proven.",
        (
            Contenders(
                (source,),
                {SDCA: "sdca(sampling=random)"},
                strengths=(f"{THEOREM[data][1]:g}",),
                epochs=epochs,
                every=every,
                repeats=repeats,
                **common | {"test_size": 0.0},
            ),
        ),
    )


def _others(quick: bool, common: dict[str, Any]) -> Experiment:
    """The other two data sets the report names, without a claim about them: c = 0.1, eps = 1e-3 in its public code."""
    return Experiment(
        "R4.others",
        "Faces (the public subset of LFW) and forest cover, SGD with c = 0.1 and SDCA with c = 0.1, columns standardized.",
        (
            Contenders(
                ("lfw", "first_rows(data=covtype, rows=50000)" if quick else "covtype"),
                {SGD: sgd(0.1, 1e-3), SDCA: "sdca(sampling=random)"},
                strengths=("0.1", "10"),
                epochs=5,
                every=1,
                repeats=1 if quick else 5,
                **common,
            ),
        ),
    )
