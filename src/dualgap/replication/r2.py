"""R2's experiments: permutations, outputs and labels, on breast cancer data and on two overlapping clouds."""

from __future__ import annotations

from dualgap.replication.experiments import Contenders, Experiment, openings, seeded
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

TEST_SHARE = 0.2
VARIANTS = {
    SDCA: "sdca(sampling=random)",
    PERMUTATION: "sdca",
    PEGASOS: "pegasos",
    PEGASOS_PERMUTATION: "pegasos(sampling=permutation)",
    # R2's printed code draws a permutation and then takes the rows in their stored order.
    STORED: "sdca(sampling=stored)",
    PEGASOS_STORED: "pegasos(sampling=stored)",
}
OUTPUTS = {
    AVERAGE: "sdca(output=average)",
    RANDOM: "sdca(output=random)",
    AVERAGE + EARLY: "sdca(output=average, average_from=0.05)",
    RANDOM + EARLY: "sdca(output=random, average_from=0.05)",
}


def experiments(quick: bool) -> tuple[Experiment, ...]:
    """All of them."""
    repeats = 5 if quick else 20
    # The variants differ little, and accuracies by a fraction of a point: intervals of 20 repeats decide neither.
    draws = tuple(f"unit_rows(data={data})" for data in seeded("gaussians", 5 if quick else 60))
    compared = {PERMUTATION: VARIANTS[PERMUTATION], PEGASOS: VARIANTS[PEGASOS]}
    return (
        Experiment(
            BREAST,
            "All 569 rows in their units, divided by the length of the longest, no intercept, λ = 1/n.",
            (
                Contenders(
                    ("unit_rows(data=breast_cancer)",),
                    VARIANTS,
                    epochs=40,
                    every=1.6,
                    repeats=5 if quick else 100,
                    openings=openings(40, 569),
                ),
            ),
        ),
        Experiment(
            SIGNS,
            "Raw columns, no intercept, labels −1/+1, λ = 1/n, a fifth of the rows held out.",
            (
                Contenders(
                    ("breast_cancer",), compared | OUTPUTS, epochs=20, every=0.5, repeats=repeats, test_size=TEST_SHARE
                ),
            ),
        ),
        Experiment(
            ZEROS,
            "The same rows and split with labels left at 0/1, which makes the loss of every row labelled 0 constant.",
            (Contenders(("zero_one(data=breast_cancer)",), compared, epochs=20, every=0.5, repeats=repeats),),
        ),
        Experiment(
            SIMULATED,
            "Two Gaussian clouds, 1,000 × 50, drawn anew for each seed, rows of length at most 1, λ = 1/n, a fifth held out.",
            (
                Contenders(draws, VARIANTS, epochs=20, every=0.8, test_size=TEST_SHARE, openings=openings(20, 800)),
                Contenders(draws, OUTPUTS, epochs=20, every=0.8, test_size=TEST_SHARE),
            ),
        ),
    )
