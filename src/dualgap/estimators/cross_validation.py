"""How a C is chosen: each fold is a path of strengths, scored on the rows left out, and the best C is fitted to all rows."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed  # type: ignore[import-untyped]
from numpy.typing import NDArray
from sklearn.metrics import check_scoring
from sklearn.model_selection import StratifiedKFold, check_cv

from dualgap.estimators.base import Vector
from dualgap.estimators.classifiers import LinearClassifier
from dualgap.estimators.convergence import report_convergence
from dualgap.estimators.deduplication import Deduplicated
from dualgap.estimators.parameters import positive, seed_of
from dualgap.linalg.parallel import use_threads
from dualgap.losses import Loss
from dualgap.paths import Path, solve_path

# Folds where none are asked for, as scikit-learn's; fewer where a class has fewer rows.
FOLDS = 5


class Fold(NamedTuple):
    """What one fold says of every C: the score on the rows left out, and the runs that led there."""

    scores: Vector
    results: list[Sequence[Any]]


class ChoosesC(LinearClassifier):
    """Finds C_ by cross-validation before the fit to all rows that it shares with the estimator of one C."""

    Cs: Any
    cv: Any
    scoring: Any
    C = 1.0
    strength = None
    warm_start = False

    def _fit_classes(self, loss: Loss, table: Deduplicated, given: tuple[Any, Any, Vector | None]) -> Self:
        X, y, weights = given
        self.Cs_ = _grid(type(self).__name__, self.Cs)
        codes = np.searchsorted(self.classes_, y)
        splits = self._splits(X, y, codes, weights)
        seed, scorer = seed_of(self.random_state), check_scoring(self, scoring=self.scoring)
        # Folds are the pieces of work: each is done by one thread, and so the same for any number of them.
        with use_threads(1):
            folds = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(self._fold)(loss, X, y, codes, weights, train, test, seed, scorer) for train, test in splits
            )
        self.scores_ = np.stack([fold.scores for fold in folds])
        self.gaps_ = np.array(
            [[max(r.certificate.relative_gap for r in results) for results in fold.results] for fold in folds]
        )
        ascending = np.argsort(self.Cs_, kind="stable")
        # Of equal scores the stronger penalty wins.
        self.C_ = float(self.Cs_[ascending[self.scores_.mean(axis=0)[ascending].argmax()]])
        report_convergence(
            type(self).__name__, [r for fold in folds for results in fold.results for r in results], self.tol
        )
        return super()._fit_classes(loss, table, given)

    def _splits(
        self, X: Any, y: Any, codes: NDArray[Any], weights: Vector | None
    ) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Row numbers to fit and to score; folds made here hold only rows of positive weight."""
        if self.cv is not None and not isinstance(self.cv, int | np.integer):
            return list(check_cv(self.cv, y, classifier=True).split(X, y))
        kept = np.arange(codes.size) if weights is None else np.flatnonzero(weights)
        least = int(np.bincount(codes[kept]).min())
        count = min(FOLDS, least) if self.cv is None else int(self.cv)
        if not 2 <= count <= least:
            raise ValueError(
                f"{type(self).__name__} needs 2 or more folds and in every class as many rows, got {count} folds and a class of "
                f"{least}; add rows, or pass other folds as cv"
            )
        return [
            (kept[train], kept[test]) for train, test in StratifiedKFold(count).split(np.zeros(kept.size), codes[kept])
        ]

    def _fold(
        self,
        loss: Loss,
        X: Any,
        y: Any,
        codes: NDArray[Any],
        weights: Vector | None,
        train: NDArray[Any],
        test: NDArray[Any],
        seed: int,
        scorer: Any,
    ) -> Fold:
        inside = None if weights is None else weights[train]
        counts = np.bincount(codes[train], inside, self.classes_.size)
        if not counts.all():
            raise ValueError(
                f"{type(self).__name__} needs every class in the rows each fold fits, got a fold without "
                f"{self.classes_[counts.argmin()]!r}; use fewer folds, or stratified ones"
            )
        paths = self._paths(loss, self._deduplicate(X[train], codes[train], inside), seed)
        options = {} if weights is None else {"sample_weight": weights[test]}
        scores = np.empty(self.Cs_.size)
        for place in range(self.Cs_.size):
            model = copy(self)
            model._take([path.results[place] for path in paths])
            scores[place] = scorer(model, X[test], y[test], **options)
        return Fold(scores, [[path.results[place] for path in paths] for place in range(self.Cs_.size)])

    def _paths(self, loss: Loss, table: Deduplicated, seed: int) -> list[Path]:
        """A path of strengths for each problem that the classes make."""
        return [
            self._path(table, labels, loss, weights, seed)
            for labels, weights in self._parts(table.targets, table.weights)
        ]

    def _path(self, table: Deduplicated, targets: Any, loss: Any, weights: Vector | None, seed: int) -> Path:
        total = float(targets.size if weights is None else weights.sum())
        return solve_path(
            table.rows,
            targets,
            loss,
            1.0 / (self.Cs_ * total),
            solver=self.solver,
            tol=self.tol,
            sample_weight=weights,
            intercept=self.fit_intercept,
            max_epochs=self.max_iter,
            max_seconds=self.max_seconds,
            seed=seed,
        )

    def _take(self, results: Sequence[Any]) -> None:
        """The coefficients of one C, to score them."""
        self.coef_ = np.stack([result.weights for result in results])
        self.intercept_ = np.array([result.intercept for result in results])

    def _strength(self, total_weight: float, k: int) -> float:
        return 1.0 / (self.C_ * total_weight)

    @property
    def partial_fit(self) -> Any:
        """Not there: folds need all rows at once."""
        raise AttributeError(f"{type(self).__name__} has no partial_fit, because folds need all rows at once")


def _grid(owner: str, Cs: Any) -> Vector:
    """The values of C to try."""
    if isinstance(Cs, int | np.integer) and not isinstance(Cs, bool):
        if Cs < 1:
            raise ValueError(f"{owner} needs Cs ≥ 1, or a list of values, got {Cs}; 10 is the default")
        return np.logspace(-4, 4, int(Cs))
    values = np.ravel(np.asarray(Cs))
    if values.size == 0:
        raise ValueError(f"{owner} needs at least one C, got an empty list; 10 is the default")
    return np.array([positive(owner, "C", value) for value in values.tolist()])
