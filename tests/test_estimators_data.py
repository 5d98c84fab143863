"""Inputs and outputs of estimators: sparse formats, index widths, read-only files, column names, pickles, docstrings, deduplication."""

from __future__ import annotations

import doctest
import inspect
import pickle
import re
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dualgap as dg
from dualgap.estimators.deduplication import MAX_VALUES, deduplicate
from dualgap.models.digests import digest
from examples import l2_model

ESTIMATORS = (dg.LinearSVC, dg.LogisticRegression, dg.LinearSVR, dg.Ridge, dg.QuantileRegressor)
CLASSIFIERS = (dg.LinearSVC, dg.LogisticRegression, dg.LinearSVCCV, dg.LogisticRegressionCV)
every_estimator = pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
with_cross_validated = pytest.mark.parametrize(
    "kind", [*ESTIMATORS, dg.LinearSVCCV, dg.LogisticRegressionCV], ids=lambda kind: kind.__name__
)
FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")


def data_for(kind: type) -> tuple[np.ndarray, np.ndarray]:
    load = load_breast_cancer if kind in CLASSIFIERS else load_diabetes
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return np.where(np.abs(X) < 0.5, 0.0, X), y


@pytest.mark.filterwarnings("ignore:Constructing a DIA matrix:scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("solver", ["newton", "sdca"])
@every_estimator
def test_every_sparse_format_gives_the_dense_answer(kind: type, solver: str) -> None:
    X, y = (part[:100] for part in data_for(kind))
    model = l2_model(kind, solver=solver, tol=1e-2, random_state=0, max_iter=100_000)
    dense = clone(model).fit(X, y)
    for name in FORMATS:
        for container in (sparse.coo_matrix(X).asformat(name), sparse.coo_array(X).asformat(name)):
            from_sparse = clone(model).fit(container, y)
            np.testing.assert_allclose(from_sparse.coef_, dense.coef_, rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(from_sparse.predict(container), dense.predict(X), rtol=1e-6)


@pytest.mark.parametrize("solver", ["newton", "sdca", "pegasos"])
def test_index_width_does_not_change_the_bits(solver: str) -> None:
    X, y = data_for(dg.LinearSVC)
    narrow, wide = sparse.csr_array(X), sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    model = dg.LinearSVC(solver=solver, tol=0.5, random_state=0)
    assert np.array_equal(clone(model).fit(narrow, y).coef_, clone(model).fit(wide, y).coef_)
    assert wide.indices.dtype == np.int64


def test_unsorted_indices_are_accepted_and_not_modified() -> None:
    X, y = data_for(dg.LinearSVC)
    tidy = sparse.csr_array(X)
    reverse = np.concatenate([np.arange(e - 1, b - 1, -1) for b, e in zip(tidy.indptr, tidy.indptr[1:], strict=False)])
    untidy = sparse.csr_array((tidy.data[reverse], tidy.indices[reverse], tidy.indptr), shape=tidy.shape)
    before = untidy.indices.copy()
    fit = dg.LinearSVC().fit(untidy, y)
    assert np.array_equal(fit.coef_, dg.LinearSVC().fit(tidy, y).coef_)
    assert np.array_equal(untidy.indices, before)


@pytest.mark.parametrize("solver", ["newton", "sdca", "pegasos"])
def test_read_only_files_are_fitted_in_place(solver: str, tmp_path: Path) -> None:
    X, y = data_for(dg.LinearSVC)
    X = np.tile(X, (1 + MAX_VALUES // X.size, 1))  # as large as data that is used as given
    y = np.resize(y, X.shape[0])
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    files = [np.load(tmp_path / name, mmap_mode="r") for name in ("X.npy", "y.npy")]
    model = dg.LinearSVC(solver=solver, tol=0.5, random_state=0)
    assert np.array_equal(clone(model).fit(*files).coef_, clone(model).fit(X, y).coef_)


def test_float32_gives_the_float64_answer() -> None:
    X, y = data_for(dg.LinearSVC)
    exact = dg.LinearSVC(tol=1e-9).fit(X, y)
    small = dg.LinearSVC(tol=1e-9).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(small.coef_, exact.coef_, rtol=1e-3, atol=1e-5)


def test_column_names_are_checked_in_predict() -> None:
    X, y = data_for(dg.LinearSVC)
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    model = dg.LinearSVC().fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.n_features_in_ == X.shape[1]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])


def test_labels_may_be_strings() -> None:
    X, y = data_for(dg.LinearSVC)
    words = np.array(["malignant", "benign"])[y]
    model = dg.LinearSVC().fit(X, words)
    assert model.classes_.tolist() == ["benign", "malignant"]
    assert set(model.predict(X)) == {"benign", "malignant"}
    assert model.score(X, words) > 0.95


@every_estimator
def test_pickle_holds_the_model_without_the_data(kind: type) -> None:
    X, y = data_for(kind)
    X = np.tile(X, (2, 8))
    y = np.tile(y, 2)
    model = kind().fit(X, y)
    stored = pickle.dumps(model)
    assert len(stored) < 8 * (y.size + X.shape[1]) + 8192 < X.nbytes / 2
    again = pickle.loads(stored)
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.certificate_ == model.certificate_
    assert again.status_ is model.status_


@every_estimator
def test_saved_model_has_predictions_certificate_and_digest(kind: type, tmp_path: Path) -> None:
    X, y = data_for(kind)
    options = {"class_weight": "balanced"} if hasattr(kind(), "class_weight") else {}
    weights = np.random.default_rng(3).uniform(0.5, 2.0, y.size)
    model = kind(**options).fit(X, y, sample_weight=weights)
    model.save(tmp_path / "model.dg", duals=True)
    back = dg.load(tmp_path / "model.dg")
    np.testing.assert_allclose(back.predict(X), model.predict(X))
    assert back.certificates == (model.certificate_,)
    assert back.data == digest(X, y, weights)


@every_estimator
def test_clone_copies_parameters_only(kind: type) -> None:
    X, y = data_for(kind)
    model = l2_model(kind, solver=dg.SDCA(sampling="cyclic"), tol=0.1, random_state=0).fit(X, y)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "coef_")
    assert kind.__name__ in model._repr_html_()


@with_cross_validated
def test_docstrings_name_every_parameter_and_attribute(kind: type) -> None:
    text = inspect.getdoc(kind) or ""
    sections = re.split(r"\n(\w[\w ]*)\n-+\n", text)
    found = dict(zip(sections[1::2], sections[2::2], strict=True))
    assert {"Parameters", "Attributes", "See Also", "Notes", "Examples"} <= found.keys()
    named = re.findall(r"^(\w+) : ", found["Parameters"], flags=re.MULTILINE)
    assert named == list(inspect.signature(kind).parameters)
    X, y = data_for(kind)
    fitted = kind().fit(pd.DataFrame(X).rename(columns=str), y)
    attributes = {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")}
    assert attributes == set(re.findall(r"^(\w+_) : ", found["Attributes"], flags=re.MULTILINE))
    assert [name for name in vars(fitted) if name.startswith("_")] == ["_facts"], (
        "save needs _facts; nothing else is private"
    )
    for name in ("fit", "predict"):
        assert "Returns\n-------" in (inspect.getdoc(getattr(kind, name)) or "")


@with_cross_validated
def test_docstring_example_runs(kind: type) -> None:
    tests = doctest.DocTestFinder(recurse=False).find(kind, module=import_module(kind.__module__))
    assert len(tests) == 1
    assert len(tests[0].examples) >= 4
    failed, tried = doctest.DocTestRunner().run(tests[0])
    assert tried
    assert not failed


def test_metadata_routing_passes_sample_weights() -> None:
    X, y = data_for(dg.LinearSVC)
    weights = np.full(y.size, 3.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = dg.LinearSVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        options = {"params": {"sample_weight": weights}, "cv": 2, "return_estimator": True, "error_score": "raise"}
        routed = cross_validate(model, X, y, **options)["estimator"]
        # cross_validate cannot score a pipeline with weights before scikit-learn 1.7; a pipeline routes them itself.
        routed.append(make_pipeline(PCA(), model).fit(X, y, sample_weight=weights)[-1])
    for fitted in routed:
        assert 1.0 / fitted.strength_ == pytest.approx(3.0 * fitted.dual_coef_.size)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_deduplication_merges_equal_rows_in_any_order(form: Any) -> None:
    X = np.array([[0.0, 1.0], [2.0, 0.0], [-0.0, 1.0], [0.0, 0.0], [2.0, 0.0], [5.0, 5.0]])
    y = np.array([1, 0, 1, 1, 1, 0])
    weights = np.array([1.0, 2.0, 3.0, 1.0, 1.0, 0.0])
    data = deduplicate(form(X), y, weights)
    assert data.rows.count == 4
    assert data.inverse is not None
    assert data.inverse[0] == data.inverse[2] != data.inverse[3]
    assert data.inverse[1] != data.inverse[4]
    assert data.inverse[5] == -1
    assert data.weights is not None
    assert data.weights[data.inverse[:5]].tolist() == [4.0, 2.0, 4.0, 1.0, 1.0]
    assert data.targets[data.inverse[:5]].tolist() == y[:5].tolist()
    order = np.array([4, 2, 5, 0, 3, 1])
    other = deduplicate(form(X[order]), y[order], weights[order])
    assert np.array_equal(data.rows.scores(np.array([1.0, 10.0])), other.rows.scores(np.array([1.0, 10.0])))
    assert np.array_equal(data.targets, other.targets)
    duals = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(data.reduce(data.expand(duals)), duals)
    assert data.expand(duals)[5] == 0.0
    assert data.reduce(np.array([1.0, 0.0, 5.0, 0.0, 0.0, 0.0]))[data.inverse[0]] == 4.0


def test_rows_are_merged_only_where_the_sum_of_their_weights_is_exact() -> None:
    X, targets = np.ones((6, 2)), np.array([0.0, 0.0, 1.0, 1.0, 2.0, 2.0])
    weights = np.array([0.5, 3.0, 0.1, 0.2, 1e-310, 3e-310])
    merged = deduplicate(X, targets, weights)
    assert merged.rows.count == 4
    assert sorted(merged.weights.tolist()) == [4e-310, 0.1, 0.2, 3.5]
    assert merged.inverse[0] == merged.inverse[1]
    assert merged.inverse[2] != merged.inverse[3]
    assert merged.inverse[4] == merged.inverse[5]


def test_large_data_is_used_as_given() -> None:
    X = np.zeros((MAX_VALUES, 1))
    data = deduplicate(X, np.zeros(MAX_VALUES), None)
    assert data.inverse is None
    assert np.shares_memory(data.rows.arrays.values, X)


def test_import_of_dualgap_does_not_import_scikit_learn() -> None:
    code = (
        "import sys, dualgap; assert 'sklearn' not in sys.modules; dualgap.LinearSVC; assert 'sklearn' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


INTERRUPTED = """
import os, signal, threading, time
import numpy as np
import dualgap as dg

# A shell starts background jobs with Ctrl-C ignored, and child processes inherit this.
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt():
    # A run installs its own handler of Ctrl-C when it starts.
    while signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

random = np.random.default_rng(0)
X = random.normal(size=(2_000, 50))
for classes, message in ((2, "coef_ and certificate_ hold the last iterate"), (3, "before all of its problems were solved")):
    model = dg.LinearSVC(loss="hinge", solver="sdca", tol=0.0, max_iter=10_000_000)
    threading.Thread(target=interrupt).start()
    try:
        model.fit(X, random.integers(0, classes, 2_000))
    except KeyboardInterrupt as interruption:
        assert message in str(interruption), interruption
    else:
        raise SystemExit("not interrupted")
    assert classes == 3 or (model.status_ is dg.Status.INTERRUPTED and model.certificate_.gap > 0.0)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="signals between processes need POSIX")
def test_ctrl_c_sets_attributes_and_raises_keyboard_interrupt() -> None:
    subprocess.run([sys.executable, "-c", INTERRUPTED], check=True, timeout=120)
