"""What problems on row blocks share: sizes and norms that the first pass found, S, and blocks with a problem's labels and weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import frexp, fsum
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from dualgap.data.blocks import Blocks, Coding
from dualgap.data.blocks.blocks import Scanned
from dualgap.data.labels import check_total_weight, checked_strength
from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows
from dualgap.linalg.partial_sums import tree_depth
from dualgap.problem.base import LARGEST_DUAL_CURVATURE
from dualgap.problem.one_score import Problem
from dualgap.problem.softmax import MultinomialProblem

Vector = NDArray[np.float64]


class BaseBlockProblem(ABC):
    """Row blocks with a strength λ, and optionally free intercepts; known through sums over the blocks."""

    is_softmax: ClassVar[bool] = False
    """Whether a row has a score for each class, and not one score."""
    classes: NDArray[Any] | None
    """The labels in order; None for real targets."""
    sample_problem: Problem | MultinomialProblem
    """The problem of a sample of the rows, in memory."""

    def __init__(
        self, blocks: Blocks, found: Scanned, strength: float, intercept: bool, factors: Vector | None
    ) -> None:
        """`factors` multiply the weights of the rows of each label."""
        self.strength = checked_strength(strength)
        self.intercept = bool(intercept)
        self.blocks = blocks
        facts = found.facts
        self.count = sum(fact.count for fact in facts)
        """How many rows there are."""
        self.dimension = facts[0].dimension
        self.is_sparse = any(fact.is_sparse for fact in facts)
        self.has_weights = any(fact.has_weights for fact in facts) or factors is not None
        self.largest_norms = np.array([fact.squared_size for fact in facts])
        """Σ ‖x‖² of each block."""
        self.longest = max(fact.longest for fact in facts)
        self.stored = sum(fact.stored for fact in facts)
        self.operations = max(fact.operations for fact in facts) + tree_depth(len(facts))
        """Additions that a row's term passes through in a sum over all blocks."""
        self.weight_operations = max(fact.count for fact in facts) + len(facts)
        """Additions that a weight passes through in S, and a square in the sum of all."""
        weight = fsum(fact.weight for fact in facts)
        largest = max(fact.largest_weight for fact in facts)
        size = sum(fact.weighted_size for fact in facts)
        if factors is not None:
            weight = float((found.of_classes(lambda fact: fact.class_weights) * factors).sum())
            largest = float((found.of_classes(lambda fact: fact.class_largest, np.maximum) * factors).max())
            size = float((found.of_classes(lambda fact: fact.class_squares) * factors).sum())
        check_total_weight(found.as_given(weight))
        # The largest weight is brought into [1, 2), by powers of two that cost no digit: here with the factors.
        self._factor_exponent = 1 - frexp(largest)[1] if factors is not None else 0
        self.scanned_weight = weight
        """S in the units of the facts."""
        self.total_weight = float(np.ldexp(weight, self._factor_exponent))
        """S, in the units of the coded weights."""
        self.mean_squared_norm = size / weight
        """(1/S) Σ s ‖x‖²."""
        dual_curvature = size / max(self.strength * weight, np.finfo(np.float64).tiny)
        if not dual_curvature * max(largest / weight, 1.0) < LARGEST_DUAL_CURVATURE:
            raise ValueError(
                f"X and strength need ‖x‖²/(strength·n) below {LARGEST_DUAL_CURVATURE:g}, got {dual_curvature:g}; "
                "divide X by its largest absolute value, or raise strength"
            )

    @property
    @abstractmethod
    def weights_shape(self) -> tuple[int, ...]:
        """(d,), or (d, k) with k classes."""

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

    def _hold(
        self,
        found: Scanned,
        positive: Any | None,
        factors: Sequence[float] | None,
        classes: NDArray[Any] | None = None,
    ) -> None:
        """Keep the blocks with a problem's labels and weights."""
        scaled = None if factors is None else tuple(np.ldexp(factors, self._factor_exponent).tolist())
        coding = self.coding = Coding(positive, scaled, -found.exponent, classes)
        self.home = self.blocks.fitted_home.coded(coding)

    @staticmethod
    def _sampled(found: Scanned, coding: Coding, values: Sequence[Any]) -> tuple[Rows, NDArray[Any], Vector | None]:
        """Rows, labels and weights of the sample; where one of the labels `values` is too rare to be in it, an empty row of each."""
        rows = _joined([sample.rows for sample in found.samples])
        labels = coding.labels(np.concatenate([sample.labels for sample in found.samples]))
        weights: Any = np.concatenate([sample.weights for sample in found.samples if sample.weights is not None])
        weights = coding.weighted(labels, weights)
        if len(values) > np.unique(labels[weights > 0.0]).size:
            # Each of these rows has as much weight as a sampled one.
            empty: Any = np.zeros((len(values), rows.dimension))
            rows = _joined([rows, as_rows(sp.csr_matrix(empty) if rows.is_sparse else empty)])
            labels = np.append(labels, np.asarray(values, labels.dtype))
            weights = np.append(weights, [weights.mean()] * len(values))
        return rows, labels, weights if (weights != weights[0]).any() else None

    def _described(self, what: str, ends: str = "") -> str:
        form = "sparse" if self.is_sparse else "dense"
        free = f", free intercept{ends}" if self.intercept else ""
        number = f"{self.home.count} block" + "s" * (self.home.count > 1)
        return (
            f"{type(self).__name__}({self.count} × {self.dimension} {form} in {number}, {what}, "
            f"strength={self.strength:g}{free})"
        )


def _joined(parts: list[Rows]) -> Rows:
    """The rows of several blocks in one."""
    if any(rows.is_sparse for rows in parts):
        return as_rows(sp.vstack([sp.csr_matrix(rows.block(slice(0, rows.count))) for rows in parts], format="csr"))
    return as_rows(np.concatenate([rows.arrays[0] for rows in parts]))
