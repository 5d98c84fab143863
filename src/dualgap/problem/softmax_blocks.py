"""The softmax problem whose rows are blocks: the same P and D as `MultinomialProblem`, known through sums over the blocks.

P(W, b) = (1/S) Σ s_i [log Σ_j e^(z_ij) − z_i,c_i] + (λ/2) ‖W‖² ,      z_i = Wᵀx_i + b
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dualgap.data.blocks import Blocks
from dualgap.problem.base import DEFAULT_STRENGTH
from dualgap.problem.block_base import BaseBlockProblem
from dualgap.problem.softmax import MultinomialProblem

Vector = NDArray[np.float64]


class MultinomialBlockProblem(BaseBlockProblem):
    """Row blocks with k classes and a strength λ, and optionally free intercepts; `MultinomialProblem(blocks, …)` makes one.

    Parameters
    ----------
    blocks : Blocks
        The rows with labels and sample weights.
    strength : float
        λ > 0.
    intercept : bool
        Whether an intercept for each class, which is not penalized, is fitted.
    class_factors : list of k floats, optional
        Factors of the sample weights of the rows of each class.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> blocks = dg.Blocks(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), ["ash", "elm", "oak"])
    >>> dg.MultinomialProblem(blocks, strength=0.1)
    MultinomialBlockProblem(3 × 2 dense in 1 block, 3 classes, strength=0.1)
    """

    is_softmax: ClassVar[bool] = True
    classes: NDArray[Any]
    sample_problem: MultinomialProblem

    def __init__(
        self,
        blocks: Blocks,
        strength: float = DEFAULT_STRENGTH,
        intercept: bool = False,
        *,
        class_factors: Sequence[float] | None = None,
    ) -> None:
        found = blocks.scanned(True)
        self.classes = found.classes
        factors = None if class_factors is None else np.asarray(class_factors, dtype=np.float64)
        totals = found.of_classes(lambda fact: fact.class_weights)
        weights = totals if factors is None else totals * factors
        if (weights > 0.0).sum() < 2:
            raise ValueError(
                "the softmax model needs two or more labels among rows of positive weight, "
                f"got only {self.classes[weights > 0.0].tolist()}; add rows of another class"
            )
        if intercept and not (weights > 0.0).all():
            raise ValueError(
                "a free intercept needs every label on a row of positive weight, got none for "
                f"{self.classes[~(weights > 0.0)].tolist()}; drop the rows of weight zero"
            )
        super().__init__(blocks, found, strength, intercept, factors)
        self.class_weights: Vector = weights / weights.sum()
        """(1/S) Σ s_i e_c_i: the weighted part of the rows in each class."""
        self._hold(found, None, class_factors, self.classes)
        rows, labels, s = self._sampled(found, self.coding, range(self.class_count))
        self.sample_problem = MultinomialProblem(rows, labels, self.strength, s, self.intercept)

    @property
    def class_count(self) -> int:
        """k."""
        return int(self.classes.size)

    @property
    def weights_shape(self) -> tuple[int, ...]:
        return (self.dimension, self.class_count)

    @property
    def baseline(self) -> float:
        """P(0, b) at the best b: the cost of predicting a constant."""
        if not self.intercept:
            return float(np.log(self.class_count))
        return float(-self.class_weights @ np.log(self.class_weights))

    def __repr__(self) -> str:
        return self._described(f"{self.class_count} classes", "s")


MultinomialProblem.of_blocks = MultinomialBlockProblem
