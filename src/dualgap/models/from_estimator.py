"""How an estimator is saved: its fitted attributes, and what its fit remembered, become the record of a model."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from dualgap.certificate import Certificate
from dualgap.data.blocks.transformed import Scaling
from dualgap.data.preparation import Preparation
from dualgap.losses import Loss
from dualgap.models.digests import DataDigest, digest
from dualgap.spec import full_text

if TYPE_CHECKING:
    from dualgap.models.model import Model


class ProblemInFile(NamedTuple):
    """The problem that a model file claims something of, where it is not the one of `strength_` and `certificate_`.

    A fit without a penalty is kept as one with a tiny λ, and a Huber regression as one at its fitted scale.
    """

    strength: float
    certificate: Certificate
    l1_ratio: float = 0.0
    dual_factor: float = 1.0
    """The duals in the file are this times dual_coef_."""


class FitFacts(NamedTuple):
    """What a fit remembers beyond its attributes, because parameters may be set anew before the model is saved."""

    loss: str
    free_intercept: bool
    tol: float
    solver: str
    data: DataDigest | None
    """None for row blocks, which are not read once more for it."""
    class_factors: tuple[tuple[float, ...], ...] | None
    parameters: dict[str, Any]
    l1_ratio: float = 0.0
    in_file: tuple[ProblemInFile, ...] = ()
    """Empty where strength_ and certificate_ are those of the problem in the file."""
    preparation: Preparation | None = None
    """How columns of files became those of the fit, where they were not taken as they are."""
    scaling: Scaling | None = None
    """How the fit standardized columns; coef_ belongs to the columns as they are."""

    @staticmethod
    def of(
        estimator: Any,
        loss: Loss,
        solver: str,
        data: tuple[Any, Any, Any],
        class_factors: Sequence[Sequence[float]] | None,
        l1_ratio: float,
        in_file: Sequence[ProblemInFile],
    ) -> FitFacts:
        """The facts of a fit to `data`, (X, y, sample_weight) as they were given.

        `class_factors` has for each problem what class_weight multiplies the other classes' rows by, and its own; for
        the softmax model one list with each class's.
        """
        return FitFacts.without_data(estimator, loss, solver, class_factors)._replace(
            data=digest(*data), l1_ratio=l1_ratio, in_file=tuple(in_file)
        )

    @staticmethod
    def without_data(
        estimator: Any, loss: Loss, solver: str, class_factors: Sequence[Sequence[float]] | None
    ) -> FitFacts:
        """The facts of a fit to data that has no digest."""
        factors = None if class_factors is None else tuple(tuple(map(float, group)) for group in class_factors)
        return FitFacts(
            full_text(loss),
            bool(estimator.fit_intercept),
            float(estimator.tol),
            solver,
            None,
            factors,
            {name: _plain(value) for name, value in estimator.get_params(deep=False).items()},
        )


class SavesModels:
    """For an estimator that keeps FitFacts as `_facts`, and coef_, intercept_, certificate_, status_ and the like."""

    def save(self, path: str | PathLike[str], duals: bool = False) -> None:
        """Write the fitted model to one file, which `dualgap.load` reads and `dualgap certify` checks.

        Parameters
        ----------
        path : str or path-like
            The file; an older one of that name is replaced.
        duals : bool, default=False
            Whether to keep the duals too, one number a row for each problem, as evidence for the certificate.
        """
        from dualgap.models.writing import save

        save(model_of(self, duals), path)


def model_of(estimator: Any, duals: bool = False) -> Model:
    """The record of a fitted estimator. Attributes have a row or an entry for each problem, as in scikit-learn."""
    from dualgap.models.model import BINARY, MULTINOMIAL, ONE_VS_REST, REGRESSION, Model

    facts: FitFacts | None = getattr(estimator, "_facts", None)
    if facts is None:
        raise ValueError(
            f"a {type(estimator).__name__} needs to be fitted by fit before it is saved; partial_fit leaves no "
            "certificate of all it saw"
        )
    if duals and facts.data is None:
        raise ValueError("a fit on row blocks stores no duals, got duals=True; save without them")
    classes = getattr(estimator, "classes_", None)
    certificates = [one.certificate for one in facts.in_file] or _entries(estimator.certificate_)
    strengths = [one.strength for one in facts.in_file] or _entries(estimator.strength_)
    coefficients = dense(estimator.coef_).astype(np.float64)
    several = coefficients.ndim == 2 and (classes is None or coefficients.shape[0] > 1)
    kind = REGRESSION if classes is None else BINARY
    if classes is not None and several:
        kind = ONE_VS_REST if len(certificates) > 1 else MULTINOMIAL
    weights, intercept = _columns(coefficients, several), np.ravel(np.asarray(estimator.intercept_, dtype=np.float64))
    if facts.scaling is not None:
        weights, intercept = facts.scaling.unfolded(weights, intercept)
    names = getattr(estimator, "feature_names_in_", None)
    return Model(
        kind=kind,
        weights=weights,
        intercept=intercept.copy() if several else float(intercept[0]),
        loss=facts.loss,
        strengths=tuple(map(float, strengths)),
        l1_ratio=facts.l1_ratio,
        free_intercept=facts.free_intercept,
        certificates=tuple(certificates),
        statuses=tuple(_entries(estimator.status_)),
        tol=facts.tol,
        classes=None if classes is None else _plain_array(classes),
        feature_names=None if names is None else tuple(map(str, names)),
        preparation=facts.preparation,
        solver=facts.solver,
        reason="; ".join(dict.fromkeys(map(str, _entries(estimator.reason_)))),
        duals=_columns(np.asarray(estimator.dual_coef_) * facts.in_file[0].dual_factor, several) if duals else None,
        data=facts.data,
        class_factors=facts.class_factors,
        estimator=type(estimator).__name__,
        parameters=facts.parameters,
    )


def dense(coefficients: Any) -> Any:
    """coef_ as an array, also after `sparsify`."""
    return coefficients.toarray() if issparse(coefficients) else np.asarray(coefficients)


def _entries(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _columns(values: Any, several: bool) -> Any:
    """A row for each problem becomes a column; a single problem's numbers have one dimension."""
    return np.ascontiguousarray(values.T) if several else values.ravel().copy()


def _plain_array(classes: Any) -> Any:
    """Classes of a frame's column of Python objects as numbers or text."""
    return np.asarray(classes.tolist()) if classes.dtype == object else classes


def _plain(value: Any) -> Any:
    """A parameter as JSON knows it; what JSON does not know is told in words."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and np.isfinite(value)):
        return value
    return repr(value)
