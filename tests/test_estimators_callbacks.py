"""scikit-learn's callbacks: a task for each epoch with its certificate, every beginning has an end, and a callback can stop a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dualgap as dg

callbacks = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks since 1.9")


class Recorder:
    """Writes down what it is told; stops the fit at an epoch if it is given one."""

    max_propagation_depth = None

    def __init__(self, stop_at: int | None = None) -> None:
        self.stop_at = stop_at
        self.began: list[tuple[str, int]] = []
        self.ended: list[tuple[str, int]] = []
        self.certificates: list[Any] = []
        self.weights: list[Any] = []

    def setup(self, estimator: Any, context: Any) -> None:
        self.began.append(("setup", 0))

    def teardown(self, estimator: Any, context: Any) -> None:
        self.ended.append(("setup", 0))

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.began.append((context.task_name, context.task_id))

    def on_fit_task_end(self, estimator: Any, context: Any, *, metadata: Any = None) -> bool:
        self.ended.append((context.task_name, context.task_id))
        if context.task_name == "epoch":
            self.certificates.append(metadata["certificate"])
            self.weights.append(metadata.get("sample_weight"))
        return self.stop_at is not None and len(self.certificates) >= self.stop_at


def breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("solver", ["auto", "sdca"])
def test_every_epoch_is_a_task_with_its_certificate(solver: str) -> None:
    told = Recorder()
    model = dg.LinearSVC(solver=solver, random_state=0).set_callbacks(told).fit(*breast_cancer())
    gaps = [certificate.relative_gap for certificate in told.certificates]
    assert model.status_ is dg.Status.CERTIFIED
    assert len(gaps) == model.n_iter_ > 2
    assert gaps[-1] == model.certificate_.relative_gap <= model.tol < gaps[0]
    assert told.certificates[-1].primal == model.certificate_.primal
    assert sorted(told.began) == sorted(told.ended)
    assert told.began.count(("fit", 0)) == 1
    assert [task for name, task in told.began if name == "epoch"] == list(range(model.n_iter_))


def test_callbacks_change_no_number() -> None:
    X, y = breast_cancer()
    model = dg.LinearSVC(solver="sdca", random_state=0, tol=1e-9, max_iter=5)
    with pytest.warns(match="not certified"):
        plain = model.fit(X, y).coef_
    with pytest.warns(match="not certified"):
        assert np.array_equal(model.set_callbacks(Recorder()).fit(X, y).coef_, plain)


def test_a_callback_stops_the_fit() -> None:
    told = Recorder(stop_at=3)
    model = dg.LinearSVC(solver="sdca", random_state=0).set_callbacks(told).fit(*breast_cancer())
    assert model.status_ is dg.Status.STOPPED
    assert model.n_iter_ == 3
    assert model.certificate_.relative_gap > model.tol
    assert sorted(told.began) == sorted(told.ended)


def test_tasks_left_open_by_a_limit_are_ended() -> None:
    told = Recorder()
    model = dg.LinearSVC(solver="sdca", random_state=0, max_iter=2).set_callbacks(told)
    with pytest.warns(match="raise max_iter"):
        model.fit(*breast_cancer())
    assert sorted(told.began) == sorted(told.ended)


def test_several_problems_are_tasks_of_their_own() -> None:
    told = Recorder()
    model = dg.LinearSVC(n_jobs=2).set_callbacks(told).fit(*load_iris(return_X_y=True))
    assert [task for name, task in told.began if name == "problem"] == [0, 1, 2]
    assert sum(name == "epoch" for name, _ in told.ended) == sum(ceil_epoch(trace) for trace in model.trace_)
    assert sorted(told.began) == sorted(told.ended)


def ceil_epoch(trace: dg.Trace) -> int:
    return int(np.ceil(trace[-1].epoch))


def test_sample_weights_are_metadata_too() -> None:
    told = Recorder()
    X, y = breast_cancer()
    dg.Ridge().set_callbacks(told).fit(X, y.astype(float), sample_weight=np.full(y.size, 2.0))
    assert told.weights
    assert all(weights[0] == 2.0 for weights in told.weights)


def test_callbacks_are_taken_down_when_a_fit_fails() -> None:
    told = Recorder()
    X, y = breast_cancer()
    with pytest.raises(ValueError, match="there is no solver"):
        dg.LinearSVC(solver="unknown").set_callbacks(told).fit(X, y)
    assert told.began.count(("setup", 0)) == told.ended.count(("setup", 0))


def test_meta_estimators_hand_callbacks_down() -> None:
    X, y = breast_cancer()
    told = Recorder()
    make_pipeline(StandardScaler(), dg.LinearSVC()).set_callbacks(told).fit(X, y)
    assert any(name == "epoch" for name, _ in told.ended)
    told = Recorder()
    GridSearchCV(dg.LinearSVC(), {"C": [0.1, 1.0]}, cv=2).set_callbacks(told).fit(X, y)
    assert sum(name == "epoch" for name, _ in told.ended) > 10
    assert sorted(told.began) == sorted(told.ended)


def test_scikit_learns_own_callbacks_work() -> None:
    X, y = breast_cancer()
    monitor = callbacks.ScoringMonitor(scoring="accuracy")
    model = dg.LinearSVC().set_callbacks(monitor).fit(X, y, sample_weight=np.ones(y.size))
    assert monitor.get_logs().data[-1]["accuracy"] == model.score(X, y)
