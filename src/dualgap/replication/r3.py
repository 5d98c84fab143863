"""R3's experiments: three full-batch or cyclic algorithms on data generated with scikit-learn."""

from __future__ import annotations

from dualgap.replication.experiments import Contenders, Experiment, seeded
from dualgap.replication.rules_r3 import ACCURACY, BOX, PROJECTED, STEPS, SUBGRADIENT

# The report's c = 1 in the sum form is λ = 1/n; accuracies of 0.98 and 0.995 fit 200 rows.
DATA = "classification(n=200, separation=1.5)"
STEP_SIZES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


def experiments(quick: bool) -> tuple[Experiment, ...]:
    """All of them."""
    draws = seeded(DATA, 5 if quick else 20)
    # An accuracy of one draw has a standard error of about a point, and the printed ones are judged to within one.
    many = seeded(DATA, 5 if quick else 100)
    return (
        Experiment(
            ACCURACY,
            "make_classification, 200 × 20, λ = c/n with c = 1, accuracies on the rows that were fitted; each repeat has data of its own.",
            (
                Contenders(many, {SUBGRADIENT: "subgradient"}, epochs=1000, every=4, openings=((20.0, 1.0),)),
                Contenders(many, {PROJECTED: "projected_ascent"}, epochs=50, every=1),
                Contenders(many, {BOX: "box_ascent"}, epochs=50, every=1, openings=((2.0, 0.1),)),
            ),
        ),
        Experiment(
            STEPS,
            "The same data; projected ascent with its own step, 1/Lipschitz, and with fixed ones.",
            (
                Contenders(
                    draws,
                    {BOX: "box_ascent", f"{PROJECTED}, own step": "projected_ascent"}
                    | {f"{PROJECTED}, step {size:g}": f"projected_ascent(step={size:g})" for size in STEP_SIZES},
                    epochs=50,
                    every=5,
                ),
            ),
        ),
    )
