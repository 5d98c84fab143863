"""The claims of the five reports: what each says in our words, under which settings, where, and the rule that judges it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dualgap.replication import rules_r0, rules_r0_outputs, rules_r1, rules_r2, rules_r3, rules_r4
from dualgap.replication.frames import Frame
from dualgap.replication.reports import REPORTS
from dualgap.replication.verdicts import Verdict


@dataclass(frozen=True)
class Claim:
    """One claim: its id, what the report says, the settings it gives, its figures and experiments, and its rule."""

    id: str
    says: str
    settings: str
    figures: tuple[str, ...]
    experiments: tuple[str, ...]
    rule: Callable[[Frame], Verdict]

    @property
    def report(self) -> str:
        """The report it belongs to."""
        return self.id.partition(".")[0]


_GENOMIC = ("R0.genomic, standardized", "R0.genomic")
_R0_SETS = ("R0.simulated", *_GENOMIC, "R0.skin")
_SPEEDS = ("R0 figure 1", "R0 figure 2", "R0 figure 3", "R0 speeds")
_LAMBDA = (
    "neither λ nor the scale of rows is stated; rows of length at most 1 and λ = 1/n, a default it names, are used, and on "
    "genomic data also standardized columns with λ = 0.1/n"
)
_BATCHES = f"batches of 8 (simulated, genomic) and 2 (skin); {_LAMBDA}"

_TABLE = (
    Claim(
        "R0.1",
        "Plain Pegasos is the slowest of the four algorithms on all three data sets.",
        _BATCHES,
        _SPEEDS,
        _R0_SETS,
        rules_r0.slowest,
    ),
    Claim(
        "R0.2",
        "Mini-batch Pegasos converges fastest on genomic data; on the other two SDCA and ASDCA beat it; on simulated data "
        "ASDCA is the fastest, SDCA close behind.",
        _BATCHES,
        _SPEEDS,
        _R0_SETS,
        rules_r0.fastest,
    ),
    Claim(
        "R0.3",
        "Three ways of drawing rows for SDCA: on genomic data all alike, permutation slowest; on skin data cyclic slower, "
        "permutation as fast as random but more variable.",
        _LAMBDA,
        ("R0 figure 4", "R0 figure 5"),
        (*_GENOMIC, "R0.skin"),
        rules_r0.samplings,
    ),
    Claim(
        "R0.4",
        "Test accuracies on simulated data between 0.860 and 0.881, β itself 0.878; averaging makes no important "
        "difference.",
        "330 of 1,000 rows held out (fits the printed decimals)",
        ("R0 table 2",),
        ("R0.table 2",),
        rules_r0_outputs.table_2,
    ),
    Claim(
        "R0.5",
        "Projection in Pegasos: the same limit, the same speed, a smoother curve.",
        f"genomic data; {_LAMBDA}",
        ("R0 figure 6",),
        _GENOMIC,
        rules_r0.projection_curves,
    ),
    Claim(
        "R0.5b",
        "Projection improves the averaged test accuracy (and, by table 2, lowers the un-averaged one).",
        "simulated data",
        ("R0 table 2",),
        ("R0.table 2",),
        rules_r0_outputs.projection_accuracy,
    ),
    Claim(
        "R0.6",
        "A larger λ converges faster, to a larger final P.",
        "genomic data, all four algorithms",
        ("R0 figure 8", "R0 figure 9", "R0 figure 10", "R0 figure 11"),
        ("R0.strengths, standardized", "R0.strengths"),
        rules_r0.strengths,
    ),
    Claim(
        "R0.7",
        "SDCA always converges faster than Pegasos.",
        _BATCHES,
        _SPEEDS,
        _R0_SETS,
        rules_r0.always_faster,
    ),
    Claim(
        "R0.8",
        "ASDCA does best when there are more rows than columns, mini-batch Pegasos otherwise.",
        _BATCHES,
        _SPEEDS,
        _R0_SETS,
        rules_r0.shapes,
    ),
    Claim(
        "R0.9",
        "On skin data SDCA and ASDCA converge at the same rate.",
        "batches of 2; the report records P every 50,000 updates",
        ("R0 figure 3", "R0 speeds"),
        ("R0.skin",),
        rules_r0.skin_rates,
    ),
    Claim(
        "R0.10",
        "Averaging does not bring the coefficients nearer to the true β.",
        "simulated data",
        ("R0 figure 7",),
        ("R0.table 2",),
        rules_r0_outputs.coefficients,
    ),
    Claim(
        "R0.11",
        "Pegasos stopped at a random iteration is accurate with probability at least one half.",
        "section 3.3 of the report, simulated data",
        ("R0 random stop",),
        ("R0.random stop",),
        rules_r0_outputs.random_stop,
    ),
    Claim(
        "R0.12",
        "The weights of Pegasos are very similar with and without projection (section 4.5).",
        "simulated data, figure 7",
        ("R0 figure 7",),
        ("R0.table 2",),
        rules_r0_outputs.projected_vectors,
    ),
    Claim(
        "R1.1",
        "Raw images: SDCA is about 3 times faster in CPU time; best test error about 26 % after 2 epochs; Pegasos settles "
        "at the 4th.",
        "λ = 1.6, batches of 100, 100 runs; pixel range not given",
        ("R1 figure 2",),
        ("R1.raw",),
        rules_r1.raw_images,
    ),
    Claim(
        "R1.2",
        "A first epoch of modified SGD lowers the loss faster in that epoch and changes nothing on the test set.",
        "λ = 1.6, 100 runs",
        ("R1 figure 2", "R1 figure 6"),
        ("R1.raw",),
        rules_r1.first_epoch,
    ),
    Claim(
        "R1.3",
        "After PCA to 40 columns all three are alike on the test set, and Pegasos' epochs are far cheaper.",
        "λ = 1.6, 100 runs; centering not given",
        ("R1 figure 3",),
        ("R1.reduced",),
        rules_r1.reduced_images,
    ),
    Claim(
        "R1.4",
        "SDCA is better with far more columns than rows, Pegasos with far more rows than columns.",
        "conclusion of the report",
        ("R1 figure 2", "R1 figure 3"),
        ("R1.raw", "R1.reduced"),
        rules_r1.shapes,
    ),
    Claim(
        "R2.1",
        "Permutation helps SDCA on both data sets; for Pegasos on breast cancer data that is debatable.",
        "λ and scale not stated; rows of length at most 1, λ = 1/n",
        ("R2 convergence, breast cancer", "R2 convergence, simulated"),
        ("R2.breast cancer", "R2.simulated"),
        rules_r2.permutations,
    ),
    Claim(
        "R2.2",
        "Breast cancer: both near 60 % accuracy; Pegasos falls faster and settles at about 3,000 updates against 500.",
        "raw columns, no intercept",
        ("R2 accuracy, breast cancer", "R2 labels", "R2 convergence, breast cancer"),
        ("R2.breast cancer", "R2.labels −1/+1", "R2.labels 0/1"),
        rules_r2.breast_cancer,
    ),
    Claim(
        "R2.3",
        "Average against random output: equal on breast cancer data, a slight difference on simulated data; with T₀ ten "
        "times smaller the average is worse.",
        "T₀ = T/2, then T/20",
        ("R2 outputs", "R2 outputs, early T₀"),
        ("R2.labels −1/+1", "R2.simulated"),
        rules_r2.outputs,
    ),
    Claim(
        "R2.4",
        "Simulated data: equal speed and stability, SDCA slightly more accurate.",
        "1,000 × 50",
        ("R2 accuracy, simulated",),
        ("R2.simulated",),
        rules_r2.simulated_data,
    ),
    Claim(
        "R3.1",
        "Accuracy 0.98 by sub-gradient descent in 700 epochs, 0.995 by both dual methods in fewer than 10.",
        "data generated with scikit-learn, size not given; 0.995 fits 200 rows",
        tuple(f"R3 figure {number}" for number in range(1, 9)),
        ("R3.methods",),
        rules_r3.accuracies,
    ),
    Claim(
        "R3.2",
        "Box-constrained coordinate ascent is the best of the three: as good, and without a step size.",
        "as above",
        ("R3 figure 6", "R3 steps"),
        ("R3.methods", "R3.steps"),
        rules_r3.best_method,
    ),
    Claim(
        "R3.3",
        "Projected ascent and box-constrained ascent converge very fast.",
        "as above; fewer than 10 epochs are named for the accuracy",
        ("R3 figure 3", "R3 figure 6"),
        ("R3.methods",),
        rules_r3.very_fast,
    ),
    Claim(
        "R4.1",
        "SGD ends with a better accuracy and keeps varying; SDCA settles, trapped in a local minimum.",
        "logistic loss; SGD(c) has λ = 1/c and a step of c·eps, SDCA(c) has λ = c; table 1",
        ("R4 figure 1", "R4 figure 4"),
        ("R4.arrhythmia", "R4.adult, complete", "R4.adult"),
        rules_r4.better_and_trapped,
    ),
    Claim(
        "R4.2",
        "For a gap of 1e-3 the theorem asks 401,549 updates on Arrhythmia and 629,840 on Adult, far more than practice.",
        "n = 452, λ = 0.05; n = 48,842, λ = 0.1",
        ("R4 table 2",),
        ("R4.stopping", "R4.stopping, arrhythmia", "R4.stopping, adult"),
        rules_r4.stopping_times,
    ),
    Claim(
        "R4.3",
        "The closed-form logistic step has numerical trouble; Newton's step is stable but takes incredibly long.",
        "logistic loss, SDCA",
        ("R4 steps",),
        ("R4.steps",),
        rules_r4.logistic_steps,
    ),
    Claim(
        "R4.4",
        "Stopping at a random step, or averaging the last iterates, gives good results.",
        "logistic loss, T₀ = T/2",
        ("R4 outputs",),
        ("R4.arrhythmia", "R4.adult, complete", "R4.adult"),
        rules_r4.endings,
    ),
    Claim(
        "R4.5",
        "Validation selects c = 1e3, eps = 1e-5 for SGD and c = 0.1 for SDCA on Arrhythmia, 1e4, 5e-6 and 0.05 on Adult.",
        "table 1; accuracy on held-out rows after 15 epochs",
        ("R4 table 1", "R4 figure 2", "R4 figure 3"),
        tuple(
            f"R4.{setting}, {data}"
            for data in (*rules_r4.SETS, "adult, complete")
            for setting in ("c of SGD", "eps of SGD", "c of SDCA")
        ),
        rules_r4.selected,
    ),
)
CLAIMS = {claim.id: claim for claim in _TABLE}


def chosen(names: Sequence[str]) -> list[Claim]:
    """The claims of reports (R0) and of single ids (R0.4), in the table's order; all where none is named."""
    asked = [name.strip().upper().replace("B", "b") for name in names]
    for name, typed in zip(asked, names, strict=True):
        if name not in REPORTS and name not in CLAIMS:
            raise ValueError(f"there is no report or claim {typed!r}; there are R0 to R4, and {', '.join(CLAIMS)}")
    return [claim for claim in CLAIMS.values() if not asked or claim.report in asked or claim.id in asked]
