"""The record of a fitted model: what predicts, what it claims to have reached, and what it was fitted to."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import dualgap
from dualgap.certificate import Certificate
from dualgap.data.blocks import Block, Blocks
from dualgap.data.blocks.transformed import Scaling
from dualgap.data.preparation import Preparation
from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows
from dualgap.fitted_features import FittedMap
from dualgap.losses import LOSSES, Logistic, Squared
from dualgap.losses.probabilities import class_probabilities
from dualgap.models.digests import DataDigest, digest
from dualgap.problem import MultinomialProblem, Problem
from dualgap.result import Result, Status, sentence_of
from dualgap.spec import build, full_text

Vector = NDArray[np.float64]

REGRESSION, BINARY, ONE_VS_REST, MULTINOMIAL = "regression", "binary", "one_vs_rest", "multinomial"
KINDS = (REGRESSION, BINARY, ONE_VS_REST, MULTINOMIAL)
HISTORY = ("epoch", "seconds", "primal", "dual", "gap")
KEPT_RECORDS = 200  # of a run in a model file: enough for a curve, at 20 kB
DIMENSIONS = {REGRESSION: (2, 1), BINARY: (1,), ONE_VS_REST: (2,), MULTINOMIAL: (2,)}


def history_of(result: Result) -> dict[str, tuple[float, ...]]:
    """The records of a run, evenly thinned where there are many; the last one is always there."""
    records = list(result.trace)
    step = -(-len(records) // KEPT_RECORDS)
    kept = records[::-1][::step][::-1]
    return {name: tuple(float(getattr(record, name)) for record in kept) for name in HISTORY}


def versions() -> dict[str, str]:
    """What computed a model."""
    return {"dualgap": dualgap.__version__, "numpy": np.__version__, "python": platform.python_version()}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Model:
    """Weights with their certificates: one of each, or one per class against the rest, or one per target."""

    kind: str
    weights: Vector
    """One number a column, or columns × classes, or columns × targets; with a feature map one a feature."""
    intercept: float | Vector
    loss: str
    strengths: tuple[float, ...]
    """λ of each problem."""
    free_intercept: bool
    certificates: tuple[Certificate, ...]
    statuses: tuple[Status, ...]
    tol: float | None = None
    gap_tol: float | None = None
    """The absolute gap that was asked for as well; None where there was none."""
    classes: NDArray[Any] | None = None
    feature_names: tuple[str, ...] | None = None
    """Names of the data's columns, once they are prepared."""
    l1_ratio: float = 0.0
    """ρ, the L1 part of the penalty."""
    preparation: Preparation | None = None
    """How the data's columns become numbers; None where they are taken as they are."""
    features: FittedMap | None = None
    """The map from the data's columns to the features that weights belong to; None where these are the columns."""
    solver: str = ""
    reason: str = ""
    duals: Vector | None = None
    """One number a row, or rows × classes; None where they were not kept."""
    data: DataDigest | None = None
    class_factors: tuple[tuple[float, ...], ...] | None = None
    """What weights of rows are multiplied by: for each problem the other classes' and its own; of a softmax each class's."""
    reading: dict[str, Any] = field(default_factory=dict)
    """How the command line read the data: target, positive, test_size and seed, and what a text file did not say of itself."""
    metrics: dict[str, dict[str, float]] = field(default_factory=dict)
    """Of the training part, the test part and the best constant, by their names; `metrics.py` has what each is."""
    history: tuple[dict[str, tuple[float, ...]], ...] = ()
    """For each problem its records, a column each: epoch, seconds, primal, dual and gap."""
    estimator: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=versions)

    def __post_init__(self) -> None:
        fault = next(_faults(self), None)
        if fault is not None:
            raise ValueError(fault)

    @staticmethod
    def of(
        result: Result,
        problem: Problem | MultinomialProblem,
        *,
        tol: float | None = None,
        gap_tol: float | None = None,
        feature_names: Sequence[str] | None = None,
        duals: bool = False,
        reading: dict[str, Any] | None = None,
        features: FittedMap | None = None,
        X: Any = None,
        preparation: Preparation | None = None,
    ) -> Model:
        """The record of one solved problem; `tol` and `gap_tol` are those that were asked of `solve`.

        Where the rows of the problem are the features of a map, `features` is the map and X what it was applied to. A
        `preparation` is what made these rows, or X, of the data's columns.
        """
        if (features is None) != (X is None):
            raise ValueError("a model of features needs the map and the rows X it was applied to, got one of the two")
        classes = problem.classes
        many = problem.is_softmax
        y: NDArray[Any] = problem.labels
        if classes is not None:
            y = classes[problem.labels if many else (problem.labels > 0.0).astype(np.intp)]
        return Model(
            kind=MULTINOMIAL if many else REGRESSION if classes is None else BINARY,
            weights=np.array(result.weights, dtype=np.float64),
            intercept=np.array(result.intercept, dtype=np.float64) if many else float(result.intercept),
            loss=Logistic.name if isinstance(problem, MultinomialProblem) else full_text(problem.loss),
            strengths=(problem.strength,),
            l1_ratio=problem.l1_ratio,
            free_intercept=problem.intercept,
            certificates=(result.certificate,),
            statuses=(result.status,),
            tol=tol,
            gap_tol=gap_tol,
            classes=classes,
            feature_names=None if feature_names is None else tuple(map(str, feature_names)),
            solver=result.solver.name,
            reason=result.reason,
            duals=np.array(result.duals, dtype=np.float64) if duals else None,
            data=digest(problem.rows if X is None else X, y, problem.given_weight),
            reading=reading or {},
            features=features,
            preparation=preparation,
            history=(history_of(result),),
        )

    @property
    def strength(self) -> float:
        """λ; with several problems the first one's."""
        return self.strengths[0]

    @property
    def status(self) -> Status:
        """How the fit ended; with several problems the first ending that is not CERTIFIED."""
        return next((status for status in self.statuses if status is not Status.CERTIFIED), Status.CERTIFIED)

    @property
    def sentence(self) -> str:
        """How the fit ended, in words; where an absolute gap ended it, with that gap."""
        return sentence_of(self.status, self.certificate, self.tol or 0.0, self.gap_tol)

    @property
    def certificate(self) -> Certificate:
        """The certificate; with several problems the one with the largest relative gap."""
        return max(self.certificates, key=lambda certificate: certificate.relative_gap)

    @property
    def has_probabilities(self) -> bool:
        """Whether its scores are log odds."""
        return self.kind in (BINARY, MULTINOMIAL) and build(self.loss, LOSSES, "loss").name == "logistic"

    @property
    def columns(self) -> int:
        """How many columns the data has, once they are prepared."""
        return int(self.weights.shape[0]) if self.features is None else self.features.columns

    def rows_of(self, X: Any) -> Rows:
        """The rows of X with the columns of the fit, prepared where the fit prepared them; a frame's go by name."""
        if self.preparation is not None:
            from dualgap.models.preparing import prepared

            return as_rows(prepared(self.preparation, X).X).of_width(self.columns)
        # Imported where it is used: a fit reads no table of data sets, and its process starts sooner.
        from dualgap.datasets.columns import matched

        return as_rows(matched(X, self.feature_names)).of_width(self.columns)

    def scores(self, X: Any) -> Vector:
        """⟨x, w⟩ + b for each row of X, or of its features, and for each class where there are several; row blocks are read one by one."""
        if isinstance(X, Blocks):
            found: Vector = X.answers(_block_scores, self, self._block_names())
            return found
        return self.scores_of_rows(self.rows_of(X))

    def _block_names(self) -> tuple[str, ...] | None:
        """The names of the columns that row blocks need."""
        preparation = self.preparation
        if preparation is None:
            return self.feature_names
        if any("" in values for values in preparation.categories.values()):
            raise ValueError(
                "row blocks have zeros for a missing cell, and the model has a category of its own for it; pass a data frame, or "
                "use dualgap predict --memory-limit"
            )
        return preparation.prepared_names if preparation.has_names else None

    def scores_of_rows(self, rows: Rows) -> Vector:
        """The same of rows that are prepared."""
        out = np.empty((rows.count, *self.weights.shape[1:]))
        for part, block in rows.blocks() if self.features is None else self.features.blocks(rows):
            out[part] = block @ self.weights
        out += self.intercept
        return out

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted target, or the likeliest label."""
        return self.decided(self.scores(X))

    def decided(self, scores: Vector) -> NDArray[Any]:
        """The predictions that scores stand for."""
        if self.classes is None:
            return build(self.loss, LOSSES, "loss").predictions(scores)
        chosen: NDArray[np.intp] = (scores > 0.0).astype(np.intp) if self.kind == BINARY else scores.argmax(axis=1)
        return self.classes[chosen]

    def probabilities(self, scores: Vector) -> Vector:
        """The probability of each class, rows × classes, for a logistic model."""
        if not self.has_probabilities:
            raise ValueError(f"probabilities need a logistic model, got {self.loss}; its scores only order the classes")
        return class_probabilities(scores)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to one file, which `dualgap.load` reads; an older file of that name is replaced."""
        from dualgap.models.writing import save

        save(self, path)

    def certify(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, max_seconds: float | None = None
    ) -> Any:
        """Whether what the model claims is true of the data it was fitted to; see `dualgap.models.verifying.verify`."""
        from dualgap.models.verifying import verify

        return verify(self, X, y, sample_weight, max_seconds)

    def __repr__(self) -> str:
        many = "" if self.weights.ndim == 1 else f" × {self.weights.shape[1]} classes"
        kind = "columns" if self.features is None else "features"
        return f"Model({self.loss}, {self.weights.shape[0]} {kind}{many}, {self.status.name}: {self.certificate})"


def _block_scores(block: Block, model: Model) -> Vector:
    rows, preparation = block.rows.of_width(model.columns), model.preparation
    if preparation is not None and preparation.is_standardized:
        counts = [len(preparation.categories.get(place, ("",))) for place in range(len(preparation.names))]
        scaling = Scaling(np.repeat(preparation.means, counts), np.repeat(preparation.scales, counts))
        rows = scaling(Block(block.number, rows, block.labels, block.weights)).rows
    return model.scores_of_rows(rows)


def _faults(model: Model) -> Iterator[str]:
    """Where the parts of a record contradict each other, each as a sentence."""
    weights, kind = model.weights, model.kind
    if kind not in KINDS:
        yield f"the kind of a model is one of {', '.join(KINDS)}, got {kind!r}"
        return
    if weights.ndim not in DIMENSIONS[kind] or 0 in weights.shape:
        yield f"a {kind} model needs weights in {DIMENSIONS[kind][-1]} dimensions, got shape {weights.shape}"
        return
    if weights.dtype != np.float64 or not np.isfinite(weights).all():
        yield "the weights need to be finite float64 numbers, got others"
    yield from _class_faults(model)
    if np.shape(model.intercept) != weights.shape[1:] or not np.isfinite(model.intercept).all():
        yield "the intercept needs one finite number for each column of weights, got others"
    elif not model.free_intercept and np.any(model.intercept):
        yield "a model without a free intercept has intercept 0, got another"
    yield from _loss_faults(model.loss, regression=kind == REGRESSION)
    problems = 1 if kind == MULTINOMIAL or weights.ndim == 1 else weights.shape[1]
    counts = [len(model.certificates), len(model.statuses), len(model.strengths)]
    if counts != [problems] * 3:
        yield f"a {kind} model with weights of shape {weights.shape} needs {problems} certificates, endings and strengths, got {counts}"
    if model.gap_tol is not None and not 0.0 < model.gap_tol < np.inf:
        yield f"gap_tol needs to be a finite number > 0, got {model.gap_tol}"
    if not 0.0 <= model.l1_ratio <= 1.0:
        yield f"an l1_ratio needs to be from 0 to 1, got {model.l1_ratio}"
    if not all(np.isfinite(strength) and strength > 0.0 for strength in model.strengths):
        yield f"a strength needs to be a finite number > 0, got {model.strengths}"
    factors = model.class_factors
    # One problem a class: factors of the rest and of the class, or, as ridge classifiers have them, of every class.
    widths = {MULTINOMIAL: weights.shape[1:], ONE_VS_REST: (2, *weights.shape[1:])}.get(kind, (2,))
    if factors is not None and (
        [len(group) for group in factors] not in [[width] * problems for width in widths]
        or not all(0.0 <= f < np.inf for g in factors for f in g)
    ):
        yield f"class factors need to be {problems} × {widths[0]} finite numbers ≥ 0, got others"
    if model.features is not None and model.features.count != weights.shape[0]:
        yield f"weights of {weights.shape[0]} columns cannot come from a map to {model.features.count} features"
    if model.history and len(model.history) != problems:
        yield f"a {kind} model with {problems} problems has as many histories, or none, got {len(model.history)}"
    if model.preparation is not None and model.preparation.width != model.columns:
        yield f"a preparation that makes {model.preparation.width} columns does not fit a model of {model.columns}"
    if model.feature_names is not None and len(model.feature_names) != model.columns:
        yield f"{model.columns} columns need as many feature names, got {len(model.feature_names)}"
    if model.duals is not None:
        fits = model.duals.dtype == np.float64 and model.duals.shape[1:] == weights.shape[1:]
        if not (fits and np.isfinite(model.duals).all()):
            yield "the duals need to be finite float64 numbers, a column of them for each of weights, got others"
    if model.data is not None and model.data.columns != model.columns:
        yield f"{'weights' if model.features is None else 'a map'} of {model.columns} columns cannot come from data of {model.data.columns} columns"


def _class_faults(model: Model) -> Iterator[str]:
    classes, kind = model.classes, model.kind
    if classes is None or kind == REGRESSION:
        if (classes is None) != (kind == REGRESSION):
            yield f"a {kind} model {'has no' if kind == REGRESSION else 'needs'} classes"
        return
    count = 2 if kind == BINARY else model.weights.shape[1]
    if classes.shape != (count,) or not bool((classes[:-1] < classes[1:]).all()):
        yield f"a {kind} model with weights of shape {model.weights.shape} needs {count} ascending classes, got {classes.size}"


def _loss_faults(loss: str, regression: bool) -> Iterator[str]:
    try:
        task = build(loss, LOSSES, "loss").task
    except (ValueError, TypeError) as error:
        yield f"the loss is not known here: {error}"
        return
    # Squared errors of the labels −1 and +1 are a ridge classifier.
    if (task == "regression") != regression and (regression or loss != Squared.name):
        yield f"the loss {loss} is for {task}, which the model is not"
