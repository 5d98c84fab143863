"""The problem whose rows are blocks: the same P and D as `Problem`, known through sums over the blocks.

P(w, b) = (1/S) Σ s_i φ_i(z_i) + (λ/2) ‖w‖² ,      z_i = ⟨x_i, w⟩ + b
"""

from __future__ import annotations

from math import frexp, fsum
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from dualgap.data.blocks import Blocks, Coding
from dualgap.data.blocks.blocks import Scanned
from dualgap.data.labels import checked_strength
from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows
from dualgap.linalg.partial_sums import tree_depth
from dualgap.losses import LOSSES, Loss
from dualgap.problem.base import LARGEST_DUAL_CURVATURE
from dualgap.problem.one_score import Problem
from dualgap.spec import build

Vector = NDArray[np.float64]


class BlockProblem:
    """Row blocks with a loss and a strength λ, and optionally a free intercept b; `Problem(blocks, …)` makes one.

    Parameters
    ----------
    blocks : Blocks
        The rows with labels and sample weights.
    loss : str or Loss
        A name of `dg.LOSSES`, a spec such as "huber(delta=2)", or a loss.
    strength : float
        λ > 0.
    intercept : bool
        Whether an intercept b, which is not penalized, is fitted.
    positive : label, optional
        The label that is +1 against all others; the larger of two by default.
    class_factors : (float, float), optional
        Factors of the sample weights of rows of label −1 and of label +1.
    l1_ratio : float
        0, the L2 penalty; others are refused.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> blocks = dg.Blocks(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), ["no", "yes", "yes"])
    >>> dg.Problem(blocks, loss="logistic", strength=0.1, intercept=True)
    BlockProblem(3 × 2 dense in 1 block, Logistic(), strength=0.1, free intercept)
    """

    def __init__(
        self,
        blocks: Blocks,
        loss: str | Loss = "hinge",
        strength: float = 1e-4,
        intercept: bool = False,
        *,
        positive: Any = None,
        class_factors: tuple[float, float] | None = None,
        l1_ratio: float = 0.0,
    ) -> None:
        if l1_ratio != 0.0:
            raise ValueError(
                f"row blocks need the L2 penalty, got l1_ratio={l1_ratio!r}; pass X in memory, or leave it out"
            )
        self.loss: Loss = loss if isinstance(loss, Loss) else build(loss, LOSSES, "loss")
        self.strength = checked_strength(strength)
        self.intercept = bool(intercept)
        self.blocks = blocks
        found = blocks.scanned(self.loss.task == "classification")
        facts = found.facts
        self.count = sum(fact.count for fact in facts)
        """How many rows there are."""
        self.dimension = facts[0].dimension
        self.is_sparse = any(fact.is_sparse for fact in facts)
        self.has_weights = any(fact.has_weights for fact in facts) or class_factors is not None
        self.largest_norms = np.array([fact.squared_size for fact in facts])
        """Σ ‖x‖² of each block."""
        self.longest = max(fact.longest for fact in facts)
        self.stored = sum(fact.stored for fact in facts)
        self.operations = max(fact.operations for fact in facts) + tree_depth(len(facts))
        """Additions that a row's term passes through in a sum over all blocks."""
        self.weight_operations = max(fact.count for fact in facts) + len(facts)
        """Additions that a weight passes through in S, and a square in the sum of all."""
        self.label_square, self.label_mean = 1.0, 0.0
        """The means of s_i y_i² and of s_i y_i of real targets."""
        self.classes: NDArray[Any] | None = None
        coded_positive = None
        factors = class_factors or (1.0, 1.0)
        weight = fsum(fact.weight for fact in facts)
        largest = max(fact.largest_weight for fact in facts)
        size = fsum(fact.weighted_size for fact in facts)
        if self.loss.task == "classification":
            classes = found.classes
            coded_positive = classes[-1] if positive is None else positive
            self.classes = _two(classes, found, positive)
            of_label = np.where(classes == coded_positive, factors[1], factors[0])
            weights = found.of_classes(lambda fact: fact.class_weights) * of_label
            if not (weights[classes == coded_positive].sum() > 0.0 and weights[classes != coded_positive].sum() > 0.0):
                raise ValueError(
                    "a classification loss needs two labels among rows of positive weight, "
                    f"got only {classes[weights > 0.0].tolist()}; add rows of the other class"
                )
            if class_factors is not None:
                weight = float(weights.sum())
                largest = float((found.of_classes(lambda fact: fact.class_largest, np.maximum) * of_label).max())
                size = float((found.of_classes(lambda fact: fact.class_squares) * of_label).sum())
        else:
            smallest = min(fact.smallest_label for fact in facts)
            self.loss.check_labels(np.array([smallest, abs(smallest) + 1.0]), None, self.intercept)
        if not 0.0 < weight < np.inf:
            raise ValueError(
                "sample_weight needs a positive finite sum, got all zeros or an overflow; leave it out for equal weights"
            )
        # The largest weight is brought into [1, 2), by a power of two that costs no digit.
        exponent = 1 - frexp(largest)[1] if self.has_weights else 0
        unit = float(np.ldexp(1.0, exponent))
        self.total_weight = weight * unit
        """S, in the units of the coded weights."""
        self.mean_squared_norm = size / weight
        """(1/S) Σ s ‖x‖²."""
        if self.classes is None:
            self.label_square = fsum(fact.label_square for fact in facts) / weight
            self.label_mean = fsum(fact.label_sum for fact in facts) / weight
        self.coding = Coding(coded_positive, class_factors, exponent)
        self.home = blocks.home.coded(self.coding)
        self.sample_problem = self._sample(found)
        """The problem of a sample of the rows, in memory."""
        curvature = size / max(self.strength * weight, np.finfo(np.float64).tiny)
        if not curvature * max(largest / weight, 1.0) < LARGEST_DUAL_CURVATURE:
            raise ValueError(
                f"X and strength need ‖x‖²/(strength·n) below {LARGEST_DUAL_CURVATURE:g}, got {curvature:g}; "
                "divide X by its largest absolute value, or raise strength"
            )

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """(d,)."""
        return (self.dimension,)

    @property
    def lambda_n(self) -> float:
        """λS, the divisor in w(α)."""
        return self.strength * self.total_weight

    @property
    def is_all_sampled(self) -> bool:
        """Whether the sample has every row."""
        return self.sample_problem.rows.count == self.count

    def penalty(self, weights: Vector) -> float:
        """(λ/2) ‖w‖²."""
        return 0.5 * self.strength * float(np.vdot(weights, weights))

    def _sample(self, found: Scanned) -> Problem:
        # A tiny weight stands for none: a row of weight zero is not in a sample.
        rows = [sample.rows for sample in found.samples]
        labels = np.concatenate([sample.labels for sample in found.samples])
        weights = np.concatenate([sample.weights for sample in found.samples if sample.weights is not None])
        if self.coding.positive is not None:
            labels = np.where(labels == self.coding.positive, 1.0, -1.0)
            factors = self.coding.factors or (1.0, 1.0)
            weights = weights * np.where(labels > 0.0, factors[1], factors[0])
        joined = _joined(rows)
        if self.coding.positive is not None and np.unique(labels[weights > 0.0]).size < 2:
            # A label too rare to be sampled: one empty row of each stands in, with as much weight as a sampled row has.
            joined, labels, weights = _with_both_labels(joined, labels, weights)
        has_weights = bool((weights != weights[0]).any())
        return Problem(joined, labels, self.loss, self.strength, weights if has_weights else None, self.intercept)

    def __repr__(self) -> str:
        form = "sparse" if self.is_sparse else "dense"
        free = ", free intercept" if self.intercept else ""
        number = f"{self.home.count} block" + "s" * (self.home.count > 1)
        return (
            f"BlockProblem({self.count} × {self.dimension} {form} in {number}, {self.loss}, "
            f"strength={self.strength:g}{free})"
        )


def _two(classes: NDArray[Any], found: Scanned, positive: Any) -> NDArray[Any]:
    """The two labels of a problem: those of the data, or the others' and `positive`."""
    if positive is not None:
        return np.array([False, True])
    if classes.size < 2:
        raise ValueError(
            f"a classification loss needs two labels among rows of positive weight, got only {classes.tolist()}; "
            "add rows of the other class"
        )
    if classes.size > 2:
        known: list[Any] = []
        for number, facts in enumerate(found.facts):
            assert facts.classes is not None
            for label in facts.classes.tolist():
                if label not in known:
                    known.append(label)
                if len(known) == 3:
                    raise ValueError(
                        f"block {number}: a classification loss needs two labels, got {label!r} beside {known[0]!r} and "
                        f"{known[1]!r}; choose which are positive, or use a regression loss"
                    )
    return classes


def _joined(parts: list[Rows]) -> Rows:
    """The rows of several blocks in one."""
    if any(rows.is_sparse for rows in parts):
        return as_rows(sp.vstack([sp.csr_matrix(rows.block(slice(0, rows.count))) for rows in parts], format="csr"))
    return as_rows(np.concatenate([rows.arrays[0] for rows in parts]))


def _with_both_labels(rows: Rows, labels: Vector, weights: Vector) -> tuple[Rows, Vector, Vector]:
    empty: Any = np.zeros((2, rows.dimension))
    both = _joined([rows, as_rows(sp.csr_matrix(empty) if rows.is_sparse else empty)])
    return both, np.append(labels, [-1.0, 1.0]), np.append(weights, [weights.mean()] * 2)


Problem.of_blocks = BlockProblem
