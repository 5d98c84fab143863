"""Feature maps: GaussianCenters passes scikit-learn's checks and is its formula; specs build the transformers they name."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import dualgap as dg
from dualgap import features
from dualgap.spec import build, text_of
from examples import small_rows

SPECS = ["polynomial(degree=3)", "gaussian(centers=5, width=2)", "rbf(components=7)", "nystroem(components=6, width=3)"]


@parametrize_with_checks([dg.GaussianCenters(), dg.GaussianCenters(0.5, width=10.0, random_state=3)])
def test_conformance(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
def test_each_feature_is_its_formula(form: Any) -> None:
    X = small_rows()
    gaussian = dg.GaussianCenters(n_centers=6, width=2.5, random_state=1).fit(form(X))
    centers = gaussian.centers_.toarray() if sparse.issparse(gaussian.centers_) else gaussian.centers_
    by_hand = [[np.exp(-np.sum((x - s) ** 2) / 2.5) for s in centers] for x in X]
    assert gaussian.transform(form(X)) == pytest.approx(np.array(by_hand), rel=1e-12)
    # The centers are six different rows of X in their order, and a row's feature at its own center is 1.
    indices = [int(np.flatnonzero((center == X).all(axis=1))[0]) for center in centers]
    assert len(set(indices)) == 6
    assert indices == sorted(indices)
    assert np.allclose(np.diag(gaussian.transform(form(X[indices]))), 1.0)
    assert gaussian.transform(form(X)).max() <= 1.0


def test_sparse_and_dense_rows_may_be_mixed_and_float32_stays() -> None:
    X = small_rows()
    gaussian = dg.GaussianCenters(n_centers=6, random_state=1)
    dense = gaussian.fit(X).transform(X)
    assert gaussian.transform(sparse.csr_matrix(X)) == pytest.approx(dense, rel=1e-12)
    single = gaussian.fit_transform(X.astype(np.float32))
    assert single.dtype == np.float32
    assert single == pytest.approx(dense, rel=1e-4)


@pytest.mark.parametrize(("asked", "drawn"), [(1, 1), (7, 7), (24, 24), (1000, 24), (0.25, 6), (0.001, 1), (0.999, 23)])
def test_the_number_of_centers_is_the_one_asked_for(asked: float, drawn: int) -> None:
    gaussian = dg.GaussianCenters(asked, random_state=0).fit(small_rows())
    assert gaussian.centers_.shape == (drawn, 5)
    assert gaussian.get_feature_names_out().tolist() == [f"gaussiancenters{k}" for k in range(drawn)]


def test_a_seed_draws_the_same_centers_and_another_draws_others() -> None:
    X = small_rows()
    drawn = [dg.GaussianCenters(5, random_state=seed).fit(X).centers_ for seed in (0, 0, 1)]
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


@pytest.mark.parametrize("count", [0, -3, 1.0, 1.5, 0.0, True, "many", None, np.nan])
def test_invalid_numbers_of_centers_are_refused(count: Any) -> None:
    with pytest.raises(ValueError, match="GaussianCenters needs n_centers ≥ 1, or a fraction of the rows"):
        dg.GaussianCenters(count).fit(small_rows())


@pytest.mark.parametrize("width", [0, -1.0, 1e-320, np.inf, np.nan, True, "2", None])
def test_invalid_widths_are_refused(width: Any) -> None:
    with pytest.raises(ValueError, match=r"a Gaussian needs width > 0, got .*; try the median"):
        dg.GaussianCenters(width=width).fit(small_rows())
    if not isinstance(width, str):
        with pytest.raises(ValueError, match="a Gaussian needs width > 0"):
            features.RBF(width=width).transformer()


@pytest.mark.parametrize("text", SPECS)
def test_a_spec_is_a_transformer(text: str) -> None:
    X = small_rows()
    made = dg.feature_map(text).fit(X)
    assert made.transform(X).shape[0] == X.shape[0]
    assert len(made.get_feature_names_out()) == made.transform(X).shape[1]
    # The same spec, the same features; and the shortest spec of the map is the map again.
    assert np.array_equal(dg.feature_map(text).fit_transform(X), made.transform(X))
    kind = build(text, dg.FEATURES, "feature map")
    assert build(text_of(kind), dg.FEATURES, "feature map") == kind
    assert kind.summary


def test_every_map_of_the_table_is_tried() -> None:
    assert {text.partition("(")[0] for text in SPECS} == set(dg.FEATURES)


def test_widths_mean_the_same_in_all_gaussian_maps() -> None:
    """Products of the approximating features come near the kernel; those of gaussian are its values."""
    X = small_rows()[:, :3]
    kernel = np.exp(-((X[:, None] - X) ** 2).sum(axis=-1) / 4.0)
    gaussian = dg.feature_map("gaussian(centers=24, width=4)").fit_transform(X)
    assert gaussian == pytest.approx(kernel, rel=1e-10)
    for text, error in (("nystroem(components=24, width=4)", 1e-6), ("rbf(components=20000, width=4)", 0.05)):
        made = dg.feature_map(text).fit_transform(X)
        assert np.abs(made @ made.T - kernel).max() < error


def test_polynomials_have_the_constant_only_when_asked() -> None:
    X = small_rows()[:, :2]
    assert dg.feature_map("polynomial").fit_transform(X) == pytest.approx(
        np.column_stack([X, X[:, 0] ** 2, X[:, 0] * X[:, 1], X[:, 1] ** 2])
    )
    assert dg.feature_map("polynomial(bias=true)").fit_transform(X)[:, 0].tolist() == [1.0] * len(X)


def test_unknown_maps_and_options_are_refused() -> None:
    with pytest.raises(ValueError, match="there is no feature map 'gausian'; did you mean 'gaussian'"):
        dg.feature_map("gausian")
    with pytest.raises(
        ValueError, match="feature map 'gaussian' has no option 'gamma'; its options are centers, width, seed"
    ):
        dg.feature_map("gaussian(gamma=2)")


def test_a_certified_fit_on_features_separates_a_ring() -> None:
    from sklearn.datasets import make_circles

    X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    model = make_pipeline(dg.feature_map("gaussian(centers=0.1, width=0.5)"), dg.LinearSVC(loss="hinge", tol=1e-6))
    assert model.fit(X, y).score(X, y) == 1.0
    assert model[-1].status_ is dg.Status.CERTIFIED


def test_the_examples_of_the_docstrings_are_true() -> None:
    failed, tried = doctest.testmod(features)
    assert tried >= 8
    assert failed == 0
