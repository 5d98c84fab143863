"""Cases that fit estimators, and what a fitted estimator claims about each of its problems, on the data as it was given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import aimed
import data
import numpy as np
from data import Random, happens, pick
from exact import Facts
from problems import EPOCHS, SECONDS, TOLERANCES, Case, both_classes, random_loss, softmax_rows
from verdict import Claim

import dualgap as dg
from dualgap.losses import Logistic, Squared

MARGIN_LOSSES = ("hinge", "smoothed_hinge", "squared_hinge")
TUBE_LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive")


def _loss_among(random: Random, names: tuple[str, ...]) -> Any:
    while True:
        loss = random_loss(random)
        if loss.name in names:
            return loss


def estimator_for(loss: Any, strength: float, total_weight: float) -> Callable[..., Any]:
    """A factory of the estimator that minimizes this loss; the softmax model has no loss."""
    if loss is None or loss.name == "logistic":
        return partial(dg.LogisticRegression, strength=strength)
    if loss.name in MARGIN_LOSSES:
        return partial(dg.LinearSVC, loss=loss, strength=strength)
    if loss.name in TUBE_LOSSES:
        return partial(dg.LinearSVR, loss=loss, strength=strength)
    if loss.name == "quantile":
        return partial(dg.QuantileRegressor, quantile=loss.tau, alpha=strength, l1_ratio=0.0)
    return partial(dg.Ridge, alpha=0.5 * strength * total_weight)


def _with_options(case: Case, random: Random, tol: float) -> Case:
    """The case with an estimator of its loss and random settings."""
    facts = case.facts
    total = float(len(facts.labels) if facts.sample_weight is None else facts.sample_weight.sum())
    settings: dict[str, Any] = {
        "tol": tol,
        "fit_intercept": facts.intercept,
        "max_iter": EPOCHS,
        "max_seconds": SECONDS,
    }
    if happens(random, 0.2):
        settings["solver"] = str(random.choice(["sdca", "newton", "auto"]))
    if happens(random, 0.1):
        settings["warm_start"] = True
    settings["random_state"] = 0
    factory = partial(estimator_for(facts.loss, facts.strength, total), **settings)
    return replace(case, estimator=factory, options={**settings})


def random_estimator(random: Random, seed: int) -> Case:
    """An estimator on random data: two classes or several, one target or several."""
    kind = pick(random, (("svc", 3), ("logistic", 3), ("svr", 2), ("ridge", 3), ("quantile", 2)))
    loss = {
        "svc": lambda: _loss_among(random, MARGIN_LOSSES),
        "logistic": Logistic,
        "svr": lambda: _loss_among(random, TUBE_LOSSES),
        "ridge": Squared,
        "quantile": lambda: _loss_among(random, ("quantile",)),
    }[kind]()
    X = softmax_rows(random)
    classes = 2
    if loss.task == "classification":
        classes = min(int(pick(random, ((2, 6), (3, 3), (4, 1)))), len(X))
        y = data.labels(random, X, classes)
    elif kind == "ridge" and happens(random, 0.2):
        y = np.column_stack([data.targets(random, X) for _ in range(2)])
    else:
        y = data.targets(random, X)
    weights = data.sample_weights(random, len(X))
    if loss.task == "classification":
        weights = both_classes(y, weights)
    is_softmax = kind == "logistic" and classes > 2
    strength, intercept = data.strength(random, len(X)), happens(random, 0.7)
    facts = Facts(data.stored(random, X), y, None if is_softmax else loss, strength, weights, intercept, classes)
    tol = float(random.choice(TOLERANCES))
    return _with_options(Case(seed, "estimator", facts), random, tol)


def aimed_estimator(random: Random, seed: int) -> Case:
    """An estimator on data where cancellation is likely."""
    while True:
        facts, tol = aimed.softmax(random) if happens(random, 0.15) else aimed.binary(random)
        name = "" if facts.is_softmax else facts.loss.name
        if name in ("absolute", "huber"):
            continue  # no estimator has this loss alone
        if not facts.is_softmax and facts.loss.task == "classification":
            facts = replace(facts, labels=np.where(facts.labels > 0.0, 1, 0))
        return _with_options(Case(seed, "estimator_aimed", facts), random, tol)


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
    columns = _problem_labels(facts)
    weights, duals = np.atleast_2d(model.coef_), np.atleast_2d(model.dual_coef_)
    constants = np.atleast_1d(model.intercept_)
    certificates, statuses, strengths = (
        value if isinstance(value, list) else [value] for value in (model.certificate_, model.status_, model.strength_)
    )
    return [
        Claim(
            replace(facts, labels=labels, strength=strengths[k]),
            weights[k],
            float(constants[k]),
            duals[k],
            certificates[k],
            statuses[k].name,
            tol,
        )
        for k, labels in enumerate(columns)
    ]


def _problem_labels(facts: Facts) -> list[np.ndarray]:
    """The labels or targets of each problem: the larger of two classes, each class against the rest, or each target."""
    y = facts.labels
    if facts.loss.task == "regression":
        return list(y.T) if y.ndim == 2 else [y]
    classes = np.unique(y)
    positives = classes[1:] if classes.size == 2 else classes
    return [np.where(y == positive, 1.0, -1.0) for positive in positives]
