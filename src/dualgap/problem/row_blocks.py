"""The problem with one score a row whose rows are blocks: the same P and D as `Problem`, known through sums over the blocks.

P(w, b) = (1/S) Σ s_i φ_i(z_i) + (λ/2) ‖w‖² ,      z_i = ⟨x_i, w⟩ + b
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.data.blocks import Blocks
from dualgap.data.blocks.blocks import Scanned
from dualgap.losses import LOSSES, Loss
from dualgap.problem.base import DEFAULT_STRENGTH
from dualgap.problem.block_base import BaseBlockProblem
from dualgap.problem.one_score import Problem
from dualgap.spec import build

Vector = NDArray[np.float64]


class BlockProblem(BaseBlockProblem):
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

    sample_problem: Problem

    def __init__(
        self,
        blocks: Blocks,
        loss: str | Loss = "hinge",
        strength: float = DEFAULT_STRENGTH,
        intercept: bool = False,
        *,
        positive: Any = None,
        class_factors: tuple[float, float] | None = None,
        l1_ratio: float = 0.0,
    ) -> None:
        if l1_ratio != 0.0:
            raise ValueError(
                f"row blocks need the L2 penalty, got l1_ratio={l1_ratio!r}; pass X in memory, or l1_ratio=0"
            )
        self.loss: Loss = loss if isinstance(loss, Loss) else build(loss, LOSSES, "loss")
        found = blocks.scanned(self.loss.task == "classification")
        facts = found.facts
        self.classes: NDArray[Any] | None = None
        coded_positive, of_label = None, None
        if self.loss.task == "classification":
            classes = found.classes
            coded_positive = classes[-1] if positive is None else positive
            self.classes = _two(classes, found, positive)
            given = class_factors or (1.0, 1.0)
            factors = np.where(classes == coded_positive, given[1], given[0])
            weights = found.of_classes(lambda fact: fact.class_weights) * factors
            if not (weights[classes == coded_positive].sum() > 0.0 and weights[classes != coded_positive].sum() > 0.0):
                raise ValueError(
                    "a classification loss needs two labels among rows of positive weight, "
                    f"got only {classes[weights > 0.0].tolist()}; add rows of the other class"
                )
            of_label = None if class_factors is None else factors
        else:
            smallest = min(fact.smallest_label for fact in facts)
            self.loss.check_labels(np.array([smallest, abs(smallest) + 1.0]), None, bool(intercept))
        super().__init__(blocks, found, strength, intercept, of_label)
        self.label_square, self.label_mean = 1.0, 0.0
        """The means of s_i y_i² and of s_i y_i of real targets."""
        if self.classes is None:
            self.label_square = sum(fact.label_square for fact in facts) / self.scanned_weight
            self.label_mean = sum(fact.label_sum for fact in facts) / self.scanned_weight
        self._hold(found, coded_positive, class_factors)
        rows, labels, s = self._sampled(found, self.coding, [] if self.classes is None else [-1.0, 1.0])
        self.sample_problem = Problem(rows, labels, self.loss, self.strength, s, self.intercept)

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """(d,)."""
        return (self.dimension,)

    def __repr__(self) -> str:
        return self._described(str(self.loss))


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


Problem.of_blocks = BlockProblem
