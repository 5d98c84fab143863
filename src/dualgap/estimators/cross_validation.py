"""CrossValidated, the base class of estimators that choose their penalty by folds, and CrossValidatedC for those with C.

Each fold solves a path of problems for each ρ, one for each strength, on its training rows, and scores all of them on its test rows. The
penalty with the best mean score is then fitted to all rows.
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
from dualgap.estimators.convergence import Ending, ending_of, report, sum_of
from dualgap.estimators.deduplication import Deduplicated
from dualgap.estimators.parameters import over_weight, positive, seed_of, solver_of
from dualgap.estimators.synonyms import has_no_penalty
from dualgap.linalg.parallel import use_threads
from dualgap.losses import Loss
from dualgap.paths import Path, solve_path
from dualgap.problem import BaseProblem

# Number of folds for cv=None, as in scikit-learn; a class with fewer rows makes it that number of rows.
DEFAULT_FOLDS = 5


class Fold(NamedTuple):
    """Scores and results of one fold, with one entry for each ρ, and in it one for each strength."""

    scores: Vector
    results: list[list[Any]]
    """For each ρ and each strength the results of its problems."""
    ending: Ending

    @property
    def gaps(self) -> list[list[float]]:
        """Relative gaps, the largest of each strength's problems."""
        return [[max(r.certificate.relative_gap for r in results) for results in path] for path in self.results]


class CrossValidated(CertifiedModel):
    """An estimator that chooses its penalty by folds, and then fits all rows as the one without a choice, its other base, does."""

    cv: Any
    scoring: Any
    classes_: NDArray[Any]
    fits_blocks: ClassVar[bool] = False
    warm_start = False
    _ending: Ending
    """How the runs of all folds ended, from `_choose` to `_report`."""

    def _l1_ratios(self) -> Vector:
        """Each ρ to try."""
        return np.array([self._l1_ratio()])

    def _check_penalty(self) -> None:
        self._l1_ratios()

    def _grids(self, loss: Loss, data: Deduplicated) -> Sequence[Vector]:
        """For each ρ the values to try of what sets the strength, `C` or `alpha`; all of the same number."""
        raise NotImplementedError

    def _strengths(self, values: Vector, total_weight: float) -> Vector:
        """λ of values of a grid on rows of this total weight."""
        raise NotImplementedError

    def _keep(self, grids: Sequence[Vector], ratios: Vector, folds: Sequence[Fold]) -> None:
        """Choose by the folds' scores, and set the attributes that say what was tried."""
        raise NotImplementedError

    def _fit_classes(self, loss: Loss, data: Deduplicated, training_data: TrainingData) -> Self:
        self._choose(loss, data, training_data, np.searchsorted(self.classes_, training_data[1]))
        fitted: Self = super()._fit_classes(loss, data, training_data)
        return fitted

    def _fit_targets(self, loss: Loss, data: Deduplicated, training_data: TrainingData) -> Self:
        self._choose(loss, data, training_data, training_data[1])
        fitted: Self = super()._fit_targets(loss, data, training_data)
        return fitted

    def _choose(self, loss: Loss, data: Deduplicated, training_data: TrainingData, targets: NDArray[Any]) -> None:
        """Run all folds; `targets` are the numbers of the classes, or y itself."""
        X, y, weights = training_data
        ratios, grids = self._l1_ratios(), self._grids(loss, data)
        splits = self._splits(X, y, targets, weights)
        seed, scorer = seed_of(self.random_state), check_scoring(self, scoring=self.scoring)
        # Each fold runs on one thread, so that n_jobs does not change the results.
        with use_threads(1):
            folds = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(self._run_fold)(loss, grids, ratios, X, y, targets, weights, train, test, seed, scorer)
                for train, test in splits
            )
        self._ending = sum_of([fold.ending for fold in folds])
        if self._ending.is_interrupted:
            raise KeyboardInterrupt(f"{type(self).__name__} was interrupted before all of its folds were solved")
        self._keep(grids, ratios, folds)

    def _report(self, results: Sequence[Any], problems: Sequence[BaseProblem], is_float32: bool) -> None:
        endings = [self.__dict__.pop("_ending"), ending_of(results, problems, is_float32)]
        report(type(self).__name__, sum_of(endings), self.tol)

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
        grids: Sequence[Vector],
        ratios: Vector,
        X: Any,
        y: Any,
        targets: NDArray[Any],
        weights: Vector | None,
        train: NDArray[Any],
        test: NDArray[Any],
        seed: int,
        scorer: Any,
    ) -> Fold:
        """Fit all penalties on the training rows and score them on the test rows."""
        train_weights = None if weights is None else weights[train]
        if is_classifier(self):
            counts = np.bincount(targets[train], train_weights, self.classes_.size)
            if not counts.all():
                raise ValueError(
                    f"{type(self).__name__} needs every class in the training rows of each fold, got a fold without "
                    f"{self.classes_[counts.argmin()]!r}; use fewer folds, or stratified folds"
                )
        data = self._deduplicate(X[train], targets[train], train_weights)
        scores, results, endings = np.empty((ratios.size, grids[0].size)), [], []
        for r, (ratio, grid) in enumerate(zip(ratios.tolist(), grids, strict=True)):
            paths = self._paths(loss, data, grid, ratio, seed)
            endings += [ending_of(path.results, path.problems) for path in paths]
            results.append([[path.results[j] for path in paths] for j in range(grid.size)])
            scores[r] = [self._score_of(at, scorer, X[test], y[test], weights, test) for at in results[r]]
        return Fold(scores, results, sum_of(endings))

    def _score_of(
        self, results: Sequence[Any], scorer: Any, X: Any, y: Any, weights: Vector | None, test: NDArray[Any]
    ) -> float:
        """The score of one penalty's results on the test rows."""
        model = copy(self)
        model.__dict__.pop("feature_names_in_", None)  # validated rows are arrays without column names
        model._set_coefficients(results)
        return float(scorer(model, X, y, **({} if weights is None else {"sample_weight": weights[test]})))

    def _paths(self, loss: Loss, data: Deduplicated, grid: Vector, ratio: float, seed: int) -> list[Path]:
        """A path over the grid for each problem: one for a target or two classes, one for each of several classes."""
        problems = [(data.targets, data.weights)]
        if isinstance(self, LinearClassifier):
            problems = self._binary_targets(data.targets, data.weights)
        return [self._path(data, labels, loss, weights, grid, ratio, seed) for labels, weights in problems]

    def _path(
        self, data: Deduplicated, targets: Any, loss: Any, weights: Vector | None, grid: Vector, ratio: float, seed: int
    ) -> Path:
        return solve_path(
            data.rows,
            targets,
            loss,
            self._strengths(grid, float(targets.size if weights is None else weights.sum())),
            solver=solver_of(self.solver),
            tol=self.tol,
            sample_weight=weights,
            intercept=self.fit_intercept,
            max_epochs=self.max_iter,
            max_seconds=self.max_seconds,
            seed=seed,
            l1_ratio=ratio,
        )

    def _set_coefficients(self, results: Sequence[Any]) -> None:
        """Set coef_ and intercept_ to the results of one penalty, for scoring."""
        self.coef_ = np.stack([result.weights for result in results])
        self.intercept_ = np.array([result.intercept for result in results])
        if not is_classifier(self):
            self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])

    @property
    def partial_fit(self) -> Any:
        """Not available: cross-validation needs all rows at once."""
        raise AttributeError(
            f"{type(self).__name__} has no partial_fit, because cross-validation needs all rows at once"
        )


class CrossValidatedC(CrossValidated):
    """An estimator that sets C_ by cross-validation."""

    Cs: Any
    penalty: Any
    C = 1.0
    strength: float | None = None
    # Attributes, whose shapes LogisticRegressionCV changes to scikit-learn's.
    C_: Any
    scores_: Any
    gaps_: Any

    def _check_penalty(self) -> None:
        super()._check_penalty()
        if has_no_penalty(getattr(self, "penalty", "l2")):
            raise ValueError(
                f"{type(self).__name__} needs penalty to be 'l2' or 'l1', got {self.penalty!r}; use LogisticRegression(penalty=None), "
                "which has no C to choose"
            )

    def _grids(self, loss: Loss, data: Deduplicated) -> Sequence[Vector]:
        self.Cs_ = _grid(type(self).__name__, self.Cs)
        return [self.Cs_] * self._l1_ratios().size

    def _strengths(self, values: Vector, total_weight: float) -> Vector:
        return np.array([over_weight(type(self).__name__, 1.0, C * total_weight) for C in values.tolist()])

    def _keep(self, grids: Sequence[Vector], ratios: Vector, folds: Sequence[Fold]) -> None:
        scores, gaps = np.stack([fold.scores for fold in folds]), np.array([fold.gaps for fold in folds])
        ascending = np.argsort(self.Cs_, kind="stable")
        # Among equal scores the smallest C, the strongest penalty, is chosen, and among equal C the first ρ.
        best = int(scores.mean(axis=0).T[ascending].argmax())
        self.C_ = float(self.Cs_[ascending[best // ratios.size]])
        self._keep_paths(folds, scores, gaps, float(ratios[best % ratios.size]))

    def _keep_paths(self, folds: Sequence[Fold], scores: Vector, gaps: Vector, l1_ratio: float) -> None:
        """Set scores_ and gaps_, here without the axis of ρ, of which there is one."""
        self.scores_, self.gaps_ = scores[:, 0], gaps[:, 0]

    def _strength(self, total_weight: float, k: int) -> float:
        return over_weight(type(self).__name__, 1.0, float(np.ravel(self.C_)[0]) * total_weight)


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
