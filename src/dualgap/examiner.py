"""Records of a run: the judge's certificate of an answer, its support, and its scores on training and test rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualgap.certificate import Judgement, certify
from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows
from dualgap.problem import BaseProblem
from dualgap.problem.base import scores_of
from dualgap.solvers import Answer
from dualgap.trace import Clock, Iterate, Record


class Examiner:
    """Makes records: the judge's certificate, the support, and the scores on training and test rows."""

    def __init__(
        self,
        problem: BaseProblem,
        test: tuple[Any, ArrayLike] | None,
        *,
        keeps_iterates: bool = False,
        evaluates_own_duals: bool = False,
    ) -> None:
        self.problem, self.keeps_iterates, self.evaluates_own_duals = problem, keeps_iterates, evaluates_own_duals
        self.test: tuple[Rows, NDArray[Any]] | None = None
        if test is not None:
            rows = as_rows(test[0], "test X").of_width(problem.rows.dimension)
            self.test = (rows, problem.labels_of(test[1]))
            if self.test[1].size != rows.count:
                raise ValueError(
                    f"the test part needs one label a row ({rows.count}), got {self.test[1].size}; check that they belong together"
                )

    def judge(
        self, answer: Answer, carried_target: float, tol: float, gap_tol: float = 0.0, thorough: bool = False
    ) -> Judgement:
        """The judgement of an answer; `certify` says what the options mean."""
        return certify(
            self.problem, *answer, carried_target=carried_target, tol=tol, gap_tol=gap_tol, thorough=thorough
        )

    def zero_answer(self) -> Answer:
        """Zero weights: an answer that can always be judged."""
        return Answer(np.zeros(self.problem.weights_shape), 0.0, None)

    def record(
        self, judged: Judgement, epoch: float, updates: int, clock: Clock, answer: Answer | None = None
    ) -> Record:
        """The record of a judgement; `answer` is what was judged, as the algorithm carries it."""
        c, duals = judged.certificate, judged.duals
        test_score = None
        if self.test is not None:
            rows, labels = self.test
            test_score = self.problem.score(scores_of(rows, judged.weights, judged.intercept), labels)
        return Record(
            epoch,
            updates,
            clock.seconds,
            clock.cpu_seconds,
            c.primal,
            c.dual,
            c.gap,
            c.relative_gap,
            int(np.count_nonzero(duals if duals.ndim == 1 else duals.any(axis=1))),
            self.problem.score(judged.scores),
            test_score,
            self._own_dual(answer) if self.evaluates_own_duals and answer is not None else None,
            self._copied(answer) if self.keeps_iterates and answer is not None else None,
        )

    def _own_dual(self, answer: Answer) -> float | None:
        """D at the duals of an answer; None where it has none, or infeasible ones."""
        if answer.duals is None:
            return None
        found = self.problem.dual_of(answer.duals)
        return found if np.isfinite(found) else None

    @staticmethod
    def _copied(answer: Answer) -> Iterate:
        """An answer that later updates in place do not reach."""
        intercept = np.copy(answer.intercept) if np.ndim(answer.intercept) else float(answer.intercept)
        return Iterate(answer.weights.copy(), intercept, None if answer.duals is None else answer.duals.copy())
