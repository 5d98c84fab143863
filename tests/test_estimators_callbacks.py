"""scikit-learn's callbacks: each epoch is a task with its certificate, each task that begins also ends, and a callback can stop a fit."""

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
    """Records all calls; stops the fit after `stop_at` epochs."""

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
    recorder = Recorder()
    model = dg.LinearSVC(solver=solver, random_state=0).set_callbacks(recorder).fit(*breast_cancer())
    gaps = [certificate.relative_gap for certificate in recorder.certificates]
    assert model.status_ is dg.Status.CERTIFIED
    assert len(gaps) == model.n_iter_ > 2
    assert gaps[-1] == model.certificate_.relative_gap <= model.tol < gaps[0]
    assert recorder.certificates[-1].primal == model.certificate_.primal
    assert sorted(recorder.began) == sorted(recorder.ended)
    assert recorder.began.count(("fit", 0)) == 1
    assert [task for name, task in recorder.began if name == "epoch"] == list(range(model.n_iter_))


def test_callbacks_do_not_change_the_result() -> None:
    X, y = breast_cancer()
    model = dg.LinearSVC(solver="sdca", random_state=0, tol=1e-9, max_iter=5)
    with pytest.warns(match="not certified"):
        plain = model.fit(X, y).coef_
    with pytest.warns(match="not certified"):
        assert np.array_equal(model.set_callbacks(Recorder()).fit(X, y).coef_, plain)


def test_callback_stops_the_fit() -> None:
    recorder = Recorder(stop_at=3)
    model = dg.LinearSVC(solver="sdca", random_state=0).set_callbacks(recorder).fit(*breast_cancer())
    assert model.status_ is dg.Status.STOPPED
    assert model.n_iter_ == 3
    assert model.certificate_.relative_gap > model.tol
    assert sorted(recorder.began) == sorted(recorder.ended)


def test_max_iter_ends_open_tasks() -> None:
    recorder = Recorder()
    model = dg.LinearSVC(solver="sdca", random_state=0, max_iter=2).set_callbacks(recorder)
    with pytest.warns(match="raise max_iter"):
        model.fit(*breast_cancer())
    assert sorted(recorder.began) == sorted(recorder.ended)


def test_each_of_several_problems_is_a_task() -> None:
    recorder = Recorder()
    model = dg.LinearSVC(n_jobs=2).set_callbacks(recorder).fit(*load_iris(return_X_y=True))
    assert [task for name, task in recorder.began if name == "problem"] == [0, 1, 2]
    assert sum(name == "epoch" for name, _ in recorder.ended) == sum(ceil_epoch(trace) for trace in model.trace_)
    assert sorted(recorder.began) == sorted(recorder.ended)


def ceil_epoch(trace: dg.Trace) -> int:
    return int(np.ceil(trace[-1].epoch))


def test_sample_weights_are_in_the_metadata() -> None:
    recorder = Recorder()
    X, y = breast_cancer()
    dg.Ridge().set_callbacks(recorder).fit(X, y.astype(float), sample_weight=np.full(y.size, 2.0))
    assert recorder.weights
    assert all(weights[0] == 2.0 for weights in recorder.weights)


def test_failed_fit_tears_callbacks_down() -> None:
    recorder = Recorder()
    X, y = breast_cancer()
    with pytest.raises(ValueError, match="there is no solver"):
        dg.LinearSVC(solver="unknown").set_callbacks(recorder).fit(X, y)
    assert recorder.began.count(("setup", 0)) == recorder.ended.count(("setup", 0))


def test_meta_estimators_propagate_callbacks() -> None:
    X, y = breast_cancer()
    recorder = Recorder()
    make_pipeline(StandardScaler(), dg.LinearSVC()).set_callbacks(recorder).fit(X, y)
    assert any(name == "epoch" for name, _ in recorder.ended)
    recorder = Recorder()
    GridSearchCV(dg.LinearSVC(), {"C": [0.1, 1.0]}, cv=2).set_callbacks(recorder).fit(X, y)
    assert sum(name == "epoch" for name, _ in recorder.ended) > 10
    assert sorted(recorder.began) == sorted(recorder.ended)


def test_scoring_monitor_works() -> None:
    X, y = breast_cancer()
    monitor = callbacks.ScoringMonitor(scoring="accuracy")
    model = dg.LinearSVC().set_callbacks(monitor).fit(X, y, sample_weight=np.ones(y.size))
    assert monitor.get_logs().data[-1]["accuracy"] == model.score(X, y)
