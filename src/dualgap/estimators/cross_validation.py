"""CrossValidatedC, the base class of LinearSVCCV, LogisticRegressionCV and LinearSVRCV: C chosen by cross-validation.

Each fold solves a path of problems, one for each C, on its training rows, and scores every C on its test rows. The C with
the best mean score is then fitted to all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed  # type: ignore[import-untyped]
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from dualgap.estimators.base import CertifiedModel, TrainingData, Vector
from dualgap.estimators.classifiers import LinearClassifier
from dualgap.estimators.convergence import report_convergence
from dualgap.estimators.deduplication import Deduplicated
from dualgap.estimators.parameters import positive, seed_of, solver_of
from dualgap.estimators.synonyms import has_no_penalty
from dualgap.linalg.parallel import use_threads
from dualgap.losses import Loss
from dualgap.paths import Path, solve_path

# Number of folds for cv=None, as in scikit-learn; a class with fewer rows makes it that number of rows.
DEFAULT_FOLDS = 5


class Fold(NamedTuple):
    """Scores and results of one fold, with one entry for each C."""

    scores: Vector
    results: list[Sequence[Any]]
    """For each C the results of its problems."""


class CrossValidatedC(CertifiedModel):
    """An estimator that sets C_ by cross-validation, and then fits all rows as the one with a single C, its other base, does."""

    Cs: Any
    cv: Any
    scoring: Any
    penalty: Any
    classes_: NDArray[Any]
    fits_blocks: ClassVar[bool] = False
    C = 1.0
    strength: float | None = None
    warm_start = False
    # Attributes, whose shapes LogisticRegressionCV changes to scikit-learn's.
    C_: Any
    scores_: Any
    gaps_: Any

    def _fit_classes(self, loss: Loss, data: Deduplicated, training_data: TrainingData) -> Self:
        self._choose(loss, training_data, np.searchsorted(self.classes_, training_data[1]))
        fitted: Self = super()._fit_classes(loss, data, training_data)
        return fitted

    def _fit_targets(self, loss: Loss, data: Deduplicated, training_data: TrainingData) -> Self:
        self._choose(loss, training_data, training_data[1])
        fitted: Self = super()._fit_targets(loss, data, training_data)
        return fitted

    def _choose(self, loss: Loss, training_data: TrainingData, targets: NDArray[Any]) -> None:
        """Set C_, Cs_, scores_ and gaps_; `targets` are the numbers of the classes, or y itself."""
        X, y, weights = training_data
        if has_no_penalty(getattr(self, "penalty", "l2")):
            raise ValueError(
                f"{type(self).__name__} needs penalty to be 'l2', got {self.penalty!r}; use LogisticRegression(penalty=None), "
                "which has no C to choose"
            )
        self.Cs_ = _grid(type(self).__name__, self.Cs)
        splits = self._splits(X, y, targets, weights)
        seed, scorer = seed_of(self.random_state), check_scoring(self, scoring=self.scoring)
        # Each fold runs on one thread, so that n_jobs does not change the results.
        with use_threads(1):
            folds = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(self._run_fold)(loss, X, y, targets, weights, train, test, seed, scorer)
                for train, test in splits
            )
        self.scores_ = np.stack([fold.scores for fold in folds])
        self.gaps_ = np.array(
            [[max(r.certificate.relative_gap for r in results) for results in fold.results] for fold in folds]
        )
        ascending = np.argsort(self.Cs_, kind="stable")
        # Among equal scores the smallest C, the strongest penalty, is chosen.
        self.C_ = float(self.Cs_[ascending[self.scores_.mean(axis=0)[ascending].argmax()]])
        self._keep_paths(folds)
        report_convergence(
            type(self).__name__, [r for fold in folds for results in fold.results for r in results], self.tol
        )

    def _keep_paths(self, folds: Sequence[Fold]) -> None:
        """Set further attributes from the results of all folds."""

    def _splits(
        self, X: Any, y: Any, targets: NDArray[Any], weights: Vector | None
    ) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Training and test rows of each fold; folds of a number `cv`, or of cv=None, leave out rows of weight zero."""
        has_classes = is_classifier(self)
        if self.cv is not None and not isinstance(self.cv, int | np.integer):
            return list(check_cv(self.cv, y, classifier=has_classes).split(X, y))
        kept = np.arange(targets.size) if weights is None else np.flatnonzero(weights)
        least = int(np.bincount(targets[kept]).min()) if has_classes else kept.size
        count = min(DEFAULT_FOLDS, least) if self.cv is None else int(self.cv)
        if not 2 <= count <= least:
            every, what = (" of every class", "a class of ") if has_classes else ("", "")
            raise ValueError(
                f"{type(self).__name__} needs 2 or more folds, and at least one row{every} for each fold, got {count} "
                f"folds and {what}{least} {'samples' if not has_classes else 'rows'}; add rows, or pass another cv"
            )
        folds = StratifiedKFold(count) if has_classes else KFold(count)
        return [(kept[train], kept[test]) for train, test in folds.split(np.zeros(kept.size), targets[kept])]

    def _run_fold(
        self,
        loss: Loss,
        X: Any,
        y: Any,
        targets: NDArray[Any],
        weights: Vector | None,
        train: NDArray[Any],
        test: NDArray[Any],
        seed: int,
        scorer: Any,
    ) -> Fold:
        """Fit all C on the training rows and score them on the test rows."""
        train_weights = None if weights is None else weights[train]
        if is_classifier(self):
            counts = np.bincount(targets[train], train_weights, self.classes_.size)
            if not counts.all():
                raise ValueError(
                    f"{type(self).__name__} needs every class in the training rows of each fold, got a fold without "
                    f"{self.classes_[counts.argmin()]!r}; use fewer folds, or stratified folds"
                )
        paths = self._paths(loss, self._deduplicate(X[train], targets[train], train_weights), seed)
        options = {} if weights is None else {"sample_weight": weights[test]}
        scores = np.empty(self.Cs_.size)
        results: list[Sequence[Any]] = [[path.results[j] for path in paths] for j in range(self.Cs_.size)]
        for j in range(self.Cs_.size):
            model = copy(self)
            model.__dict__.pop("feature_names_in_", None)  # validated rows are arrays without column names
            model._set_coefficients(results[j])
            scores[j] = scorer(model, X[test], y[test], **options)
        return Fold(scores, results)

    def _paths(self, loss: Loss, data: Deduplicated, seed: int) -> list[Path]:
        """A path over all C for each problem: one for a target or two classes, one for each of several classes."""
        problems = [(data.targets, data.weights)]
        if isinstance(self, LinearClassifier):
            problems = self._binary_targets(data.targets, data.weights)
        return [self._path(data, labels, loss, weights, seed) for labels, weights in problems]

    def _path(self, data: Deduplicated, targets: Any, loss: Any, weights: Vector | None, seed: int) -> Path:
        total = float(targets.size if weights is None else weights.sum())
        return solve_path(
            data.rows,
            targets,
            loss,
            1.0 / (self.Cs_ * total),
            solver=solver_of(self.solver),
            tol=self.tol,
            sample_weight=weights,
            intercept=self.fit_intercept,
            max_epochs=self.max_iter,
            max_seconds=self.max_seconds,
            seed=seed,
        )

    def _set_coefficients(self, results: Sequence[Any]) -> None:
        """Set coef_ and intercept_ to the results of one C, for scoring."""
        self.coef_ = np.stack([result.weights for result in results])
        self.intercept_ = np.array([result.intercept for result in results])
        if not is_classifier(self):
            self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])

    def _strength(self, total_weight: float, k: int) -> float:
        return 1.0 / (float(np.ravel(self.C_)[0]) * total_weight)

    @property
    def partial_fit(self) -> Any:
        """Not available: cross-validation needs all rows at once."""
        raise AttributeError(
            f"{type(self).__name__} has no partial_fit, because cross-validation needs all rows at once"
        )


def _grid(estimator_name: str, Cs: Any) -> Vector:
    """The values of C: those given, or a number of them between 1e-4 and 1e4, evenly spaced on a logarithmic scale."""
    if isinstance(Cs, int | np.integer) and not isinstance(Cs, bool):
        if Cs < 1:
            raise ValueError(
                f"{estimator_name} needs Cs to be a number ≥ 1 or a list of values, got {Cs}; the default is 10"
            )
        return np.logspace(-4, 4, int(Cs))
    values = np.ravel(np.asarray(Cs))
    if values.size == 0:
        raise ValueError(f"{estimator_name} needs at least one C, got an empty list; the default is Cs=10")
    return np.array([positive(estimator_name, "C", value) for value in values.tolist()])
