"""Cases that fit estimators, and what a fitted estimator claims about each of its problems, on the data as it was given."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import aimed
import data
import numpy as np
from data import Random, happens, pick
from exact import Facts
from problems import (
    EPOCHS,
    SECONDS,
    TOLERANCES,
    Case,
    both_classes,
    make_y,
    random_l1_ratio,
    random_loss,
    softmax_rows,
)
from sklearn.base import is_classifier
from verdict import Claim

import dualgap as dg
from dualgap.losses import Huber

MARGIN_LOSSES = ("hinge", "smoothed_hinge", "squared_hinge")
TUBE_LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive")
# Values of C, or of alpha, that cross-validation chooses among: it fits each of them to each of two folds.
CANDIDATES = (0.01, 1.0, 100.0)


@dataclass(frozen=True)
class Drawn:
    """How an estimator is drawn: how often, with which losses, and what gives it the problem of some facts and their S."""

    often: float
    losses: tuple[str, ...]
    parameters: Callable[[Facts, float], dict[str, Any]]
    is_cross_validated: bool = False
    """Whether it chooses the strength itself."""


def _strength(facts: Facts, total: float) -> dict[str, Any]:
    return {"strength": facts.strength}


def _loss_and_strength(facts: Facts, total: float) -> dict[str, Any]:
    return {"loss": facts.loss, "strength": facts.strength}


def _alpha_over_weight(facts: Facts, total: float) -> dict[str, Any]:
    return {"alpha": 0.5 * facts.strength * total}


def _cross_validated(facts: Facts, total: float) -> dict[str, Any]:
    return {"Cs": CANDIDATES, "cv": 2} | (
        {} if facts.is_softmax or facts.loss.name == "logistic" else {"loss": facts.loss}
    )


ESTIMATORS: dict[str, Drawn] = {
    "LinearSVC": Drawn(3.0, MARGIN_LOSSES, _loss_and_strength),
    "LogisticRegression": Drawn(3.0, ("logistic",), _strength),
    "LinearSVR": Drawn(2.0, TUBE_LOSSES, _loss_and_strength),
    "Ridge": Drawn(3.0, ("squared",), _alpha_over_weight),
    "QuantileRegressor": Drawn(
        2.0, ("quantile",), lambda facts, total: {"quantile": facts.loss.tau, "alpha": facts.strength}
    ),
    "Lasso": Drawn(1.0, ("squared",), lambda facts, total: {"alpha": 0.5 * facts.strength}),
    "ElasticNet": Drawn(1.0, ("squared",), lambda facts, total: {"alpha": 0.5 * facts.strength}),
    "PoissonRegressor": Drawn(1.0, ("poisson",), lambda facts, total: {"alpha": facts.strength}),
    "RidgeClassifier": Drawn(1.0, ("squared",), _alpha_over_weight),
    "HuberRegressor": Drawn(
        1.5, ("huber",), lambda facts, total: {"epsilon": facts.loss.delta} | _alpha_over_weight(facts, total)
    ),
    "RidgeCV": Drawn(0.5, ("squared",), lambda facts, total: {"alphas": CANDIDATES}, True),
    "LassoCV": Drawn(0.15, ("squared",), lambda facts, total: {"alphas": list(CANDIDATES), "cv": 2}, True),
    "ElasticNetCV": Drawn(0.15, ("squared",), lambda facts, total: {"alphas": list(CANDIDATES), "cv": 2}, True),
    "LogisticRegressionCV": Drawn(0.15, ("logistic",), _cross_validated, True),
    "LinearSVCCV": Drawn(0.15, MARGIN_LOSSES, _cross_validated, True),
    "LinearSVRCV": Drawn(0.15, TUBE_LOSSES, _cross_validated, True),
}
"""Every estimator; `tests/fuzz/test_fuzz_certificates.py` holds the table against the package's own."""
# What gives an estimator an L1 part, beside the ratio itself.
L1_PARAMETERS: tuple[dict[str, Any], ...] = ({}, {"penalty": "elasticnet"}, {"penalty": "elasticnet", "solver": "saga"})
ALWAYS_L1 = ("ElasticNet", "ElasticNetCV")
ONLY_L1 = ("Lasso", "LassoCV")
# Epsilon of HuberRegressor, which is at least 1.
EPSILONS = (1.0, 1.05, 1.35, 2.0, 10.0)


@cache
def l1_parameters(name: str) -> dict[str, Any] | None:
    """What an estimator takes beside l1_ratio for an L1 part, found by a tiny fit; None where it has none."""
    if "l1_ratio" not in inspect.signature(getattr(dg, name)).parameters:
        return None
    for extra in L1_PARAMETERS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                getattr(dg, name)(l1_ratio=0.5, **extra).fit(np.eye(4), [0, 1, 0, 1])
        except ValueError:
            continue
        return extra
    return None


def _loss_among(random: Random, names: tuple[str, ...]) -> Any:
    if names == ("huber",):
        return Huber(float(random.choice(EPSILONS)))
    while True:
        loss = random_loss(random)
        if loss.name in names:
            return loss


def _with_options(case: Case, random: Random, name: str, tol: float) -> Case:
    """The case with this estimator and random settings."""
    facts, drawn = case.facts, ESTIMATORS[name]
    total = float(len(facts.labels) if facts.sample_weight is None else facts.sample_weight.sum())
    parameters = drawn.parameters(facts, total)
    l1 = l1_parameters(name)
    if l1 is not None:
        parameters["l1_ratio"] = 0.0  # the default may be another
    if name in ONLY_L1:
        facts = replace(facts, l1_ratio=1.0)
    elif l1 is not None and not facts.is_softmax and (name in ALWAYS_L1 or happens(random, 0.3)):
        facts = replace(facts, l1_ratio=random_l1_ratio(random))
        parameters |= {"l1_ratio": facts.l1_ratio, **l1}
    if happens(random, 0.1) and not drawn.is_cross_validated:
        # No penalty: C=inf, or alpha=0. The solver's tiny one is L2.
        unpenalized = {"strength": None, "C": np.inf} if "strength" in parameters else {"alpha": 0.0}
        facts, parameters = replace(facts, l1_ratio=0.0), parameters | unpenalized
        parameters.pop("l1_ratio", None)
    settings: dict[str, Any] = {
        "tol": tol,
        "fit_intercept": facts.intercept,
        "max_iter": EPOCHS,
        "max_seconds": SECONDS,
        "random_state": 0,
    }
    if happens(random, 0.2) and not facts.l1_ratio:
        settings["solver"] = str(random.choice(["sdca", "newton", "auto"]))
    if happens(random, 0.1) and "warm_start" in inspect.signature(getattr(dg, name)).parameters:
        settings["warm_start"] = True
    shown = {key: value for key, value in parameters.items() if key != "loss"}
    factory = partial(getattr(dg, name), **{**settings, **parameters})
    return replace(case, facts=facts, estimator=factory, options={**settings, **shown})


def random_estimator(random: Random, seed: int) -> Case:
    """An estimator on random data: two classes or several, one target or several."""
    name = pick(random, [(name, drawn.often) for name, drawn in ESTIMATORS.items() if hasattr(dg, name)])
    loss = _loss_among(random, ESTIMATORS[name].losses)
    X = softmax_rows(random)
    classes = 2
    is_of_classes = is_classifier(getattr(dg, name)())
    if is_of_classes:
        classes = min(int(pick(random, ((2, 6), (3, 3), (4, 1)))), len(X))
        y = data.labels(random, X, classes)
    elif name in ("Ridge", "RidgeCV") and happens(random, 0.2):
        y = np.column_stack([data.targets(random, X) for _ in range(2)])
    else:
        y = make_y(random, X, loss)
    weights = data.sample_weights(random, len(X))
    if is_of_classes:
        weights = both_classes(y, weights)
    is_softmax = loss.name == "logistic" and classes > 2
    strength, intercept = data.strength(random, len(X)), happens(random, 0.7)
    facts = Facts(data.stored(random, X), y, None if is_softmax else loss, strength, weights, intercept, classes)
    tol = float(random.choice(TOLERANCES))
    return _with_options(Case(seed, "estimator", facts), random, name, tol)


def aimed_estimator(random: Random, seed: int) -> Case:
    """An estimator on data where cancellation is likely."""
    while True:
        facts, tol = aimed.softmax(random) if happens(random, 0.15) else aimed.binary(random)
        loss = "logistic" if facts.is_softmax else facts.loss.name
        is_of_classes = facts.is_softmax or facts.loss.task == "classification"
        able = [
            (name, drawn.often)
            for name, drawn in ESTIMATORS.items()
            if loss in drawn.losses and hasattr(dg, name) and is_classifier(getattr(dg, name)()) == is_of_classes
        ]
        if not able:
            continue  # no estimator has this loss alone
        if is_of_classes and not facts.is_softmax:
            facts = replace(facts, labels=np.where(facts.labels > 0.0, 1, 0))
        return _with_options(Case(seed, "estimator_aimed", facts), random, pick(random, able), tol)


def fit(case: Case) -> Any:
    """The fitted estimator; with warm_start it is fitted twice."""
    model = case.estimator()
    for _ in range(2 if case.options.get("warm_start") else 1):
        model.fit(case.facts.X, case.facts.labels, sample_weight=case.facts.sample_weight)
    return model


def claims(case: Case, model: Any) -> list[Claim]:
    """One claim for each problem that the estimator solved, with its λ, on the given rows."""
    facts, tol = case.facts, case.options["tol"]
    if facts.is_softmax:
        own = replace(facts, strength=model.strength_)
        answer = (model.coef_.T, model.intercept_, np.asarray(model.dual_coef_).T)
        return [Claim(own, *answer, model.certificate_, model.status_.name, tol)]
    columns = _problem_labels(facts, is_classifier(model))
    weights, duals = np.atleast_2d(model.coef_), np.atleast_2d(model.dual_coef_)
    constants = np.atleast_1d(model.intercept_)
    certificates, statuses, strengths = (
        value if isinstance(value, list) else [value] for value in (model.certificate_, model.status_, model.strength_)
    )
    scale = model.scale_ if isinstance(model, dg.HuberRegressor) else None
    return [
        Claim(
            replace(facts, labels=labels, strength=strengths[k], scale=scale),
            weights[k],
            float(constants[k]),
            duals[k],
            certificates[k],
            statuses[k].name,
            tol,
            dual_is_bound=scale is not None or strengths[k] == 0.0,
        )
        for k, labels in enumerate(columns)
    ]


def _problem_labels(facts: Facts, is_of_classes: bool) -> list[np.ndarray]:
    """The labels or targets of each problem: the larger of two classes, each class against the rest, or each target."""
    y = facts.labels
    if not is_of_classes:
        return list(y.T) if y.ndim == 2 else [y]
    classes = np.unique(y)
    positives = classes[1:] if classes.size == 2 else classes
    return [np.where(y == positive, 1.0, -1.0) for positive in positives]
