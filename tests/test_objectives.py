"""Estimators in a race minimize its objective, or refuse: each class of the table under each of its losses, and others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import linear_model, svm

import dualgap as dg
from dualgap.losses import LOSSES, Loss
from dualgap.workbench.rivals.estimator import EstimatorRival, name_of_estimator
from dualgap.workbench.rivals.function import FunctionRival
from dualgap.workbench.rivals.ladder import Ladder, Task
from dualgap.workbench.rivals.objectives import OBJECTIVES, losses_of

# Losses with options that are no class's defaults: an option that is dropped is another objective.
OPTIONS: dict[str, dict[str, float]] = {
    "smoothed_hinge": {"gamma": 0.7},
    "epsilon_insensitive": {"epsilon": 0.4},
    "squared_epsilon_insensitive": {"epsilon": 0.4},
    "quantile": {"tau": 0.9},
    "huber": {"delta": 0.5},
}
STRENGTH = 0.05
CELLS = [(name, loss) for name in OBJECTIVES for loss in losses_of(name)]
# Stochastic steps end near the optimum; what another objective's weights have is far above this.
LOOSE, TIGHT = 2e-2, 1e-4


def estimator(name: str, **parameters: Any) -> Any:
    package, kind = name.split(".")
    module = dg if package == "dualgap" else svm if kind.startswith("LinearSV") else linear_model
    return getattr(module, kind)(**parameters)


def loss_of(name: str) -> Loss:
    return LOSSES[name](**OPTIONS.get(name, {}))


def task(loss: Loss) -> Task:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(90, 5))
    z = X @ [1.0, -0.5, 0.3, 0.0, 0.8] + 0.3 * rng.normal(size=90)
    y = {"classification": np.where(z > 0, 1.0, -1.0), "regression": z + (z > 1.0) * 3.0}[loss.task]
    y = np.floor(np.exp(0.5 * z)) if loss.name == "poisson" else y
    return Task(dg.Problem(X, y, loss, STRENGTH), X, None, 1e-6)


@pytest.mark.parametrize(("name", "loss"), CELLS)
def test_a_known_class_minimizes_the_objective_of_the_race(name: str, loss: str) -> None:
    given = task(loss_of(loss))
    optimum = dg.solve(given.problem, tol=1e-8).certificate
    climbed = Ladder(EstimatorRival(estimator(name), name), given).climb(0, 20.0)
    primal = climbed.certificate.primal
    assert optimum.dual - 1e-12 <= primal <= optimum.primal * (1.0 + (LOOSE if "SGD" in name else TIGHT))
    if name.startswith("dualgap."):
        assert climbed.status == "CERTIFIED", "its own duals, in the scale of the race, prove its weights"


def test_weights_of_classes_and_other_penalties_are_set_back() -> None:
    given = task(LOSSES["logistic"]())
    optimum = dg.solve(given.problem, tol=1e-8).certificate.primal
    skewed = linear_model.LogisticRegression(C=7.0, class_weight={-1: 9.0}, l1_ratio=1.0, solver="saga")
    rival = EstimatorRival(skewed, name_of_estimator(skewed))
    assert rival.name == "sklearn.LogisticRegression(solver='saga')"
    assert Ladder(rival, given).climb(0, 20.0).certificate.primal == pytest.approx(optimum, rel=1e-4)


@pytest.mark.parametrize(
    ("asked", "label"),
    [
        (svm.LinearSVC(C=3), "sklearn.LinearSVC()"),
        (svm.LinearSVC(C=3, dual=True, tol=1e-9), "sklearn.LinearSVC(dual=True)"),
        (dg.QuantileRegressor(quantile=0.7, solver="newton"), "dualgap.QuantileRegressor(solver='newton')"),
    ],
)
def test_a_label_has_the_parameters_that_are_used(asked: Any, label: str) -> None:
    assert name_of_estimator(asked) == label


@pytest.mark.parametrize(
    ("asked", "loss", "sentence"),
    [
        (linear_model.Lasso(), "squared", "an objective of its own, which no parameter makes that of a race"),
        (linear_model.LinearRegression(), "squared", "an objective of its own"),
        (linear_model.RidgeClassifier(), "hinge", "an objective of its own"),
        (linear_model.Perceptron(), "hinge", "an objective of its own"),
        (linear_model.QuantileRegressor(), "quantile", "an objective of its own"),
        (svm.SVC(kernel="linear"), "hinge", "an objective of its own"),
        (dg.HuberRegressor(), "huber", "an objective of its own"),
        (dg.LogisticRegressionCV(), "logistic", "an objective of its own"),
        (linear_model.LogisticRegression(), "hinge", "under logistic only, and one of its own under hinge; race it"),
        (dg.QuantileRegressor(), "huber", "under quantile and absolute only"),
    ],
)
def test_another_objective_is_refused(asked: Any, loss: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Ladder(EstimatorRival(asked, "theirs"), task(loss_of(loss)))


def test_a_refusal_stands_beside_the_runs() -> None:
    given = task(LOSSES["absolute"]())
    race = dg.race(
        given.X, given.problem.labels, ["newton", dg.HuberRegressor(), dg.QuantileRegressor()], "absolute", repeats=1
    )
    assert list(race.refusals) == ["dualgap.HuberRegressor()"]
    assert "dualgap.HuberRegressor() refused: dualgap.HuberRegressor() minimizes an objective of its own" in repr(race)
    assert {row["status"] for row in race.leaderboard()} == {"certified"}


class Mine:
    """A class of neither package is given what it takes by the names of the race."""

    def __init__(self, C: float = 1.0, loss: str = "", tau: float = 0.0) -> None:
        self.C, self.loss, self.tau = C, loss, tau

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"C": self.C, "loss": self.loss, "tau": self.tau}

    def set_params(self, **given: Any) -> Mine:
        vars(self).update(given)
        return self

    def fit(self, X: Any, y: Any) -> Mine:
        self.coef_ = np.full(X.shape[1], self.tau)
        assert self.loss == "quantile(tau=0.9)"
        assert pytest.approx(1.0 / (STRENGTH * 90)) == self.C
        return self


def test_a_user_s_class_and_function_are_told_the_options_of_the_loss() -> None:
    loss = loss_of("quantile")
    climbed = Ladder(EstimatorRival(Mine(), "mine"), task(loss)).climb(0, 5.0)
    assert climbed.weights.tolist() == [0.9] * 5
    told: list[str] = []

    def mine(X: Any, y: Any, loss: str) -> Any:
        told.append(loss)
        return np.zeros(X.shape[1])

    Ladder(FunctionRival(mine, "mine"), task(loss))
    Ladder(FunctionRival(mine, "mine"), task(LOSSES["squared"]()))
    assert told == ["quantile(tau=0.9)", "squared"]
