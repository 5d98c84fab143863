"""Data sets by name, spec and split: what they hold, and how they refuse."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from dualgap.datasets import DATASETS, Dataset, against_rest, for_task, load, place_of, split, title

BUILT_IN = [name for name, source in DATASETS.items() if place_of(source()) == "built in"]


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_name_loads_what_its_table_row_says(name: str) -> None:
    source = DATASETS[name]()
    dataset = load(name)
    assert dataset.shape == source.shape
    assert dataset.y.shape == (dataset.shape[0],)
    assert len(dataset.labels) == 2
    assert dataset.description
    assert dataset.source
    assert np.isfinite(dataset.X).all()
    again = load(name)
    assert np.array_equal(dataset.X, again.X)
    assert np.array_equal(dataset.y, again.y)


def test_hyphen_underscore_and_capitals_are_the_same_name() -> None:
    assert load("breast-cancer").shape == load("Breast_Cancer").shape == (569, 30)
    assert title("breast-cancer") == "breast_cancer"
    assert title("simulated(d=10, n=77)") == "simulated(n=77)"
    assert title("./some/file.csv") == "./some/file.csv"


def test_breast_cancer_is_raw_with_benign_positive() -> None:
    dataset = load("breast-cancer")
    assert (dataset.y == 1).sum() == 357
    assert dataset.X.max() > 4000
    assert dataset.feature_names is not None
    assert dataset.feature_names[0] == "mean radius"


def test_digits_are_even_against_odd() -> None:
    from sklearn.datasets import load_digits

    digits = load_digits().target
    assert np.array_equal(load("digits").y == 1, digits % 2 == 0)


def test_the_true_direction_of_simulated_data_scores_as_the_reports_did() -> None:
    dataset = load("simulated(n=200000)")
    assert dataset.beta is not None
    accuracy = np.mean(np.sign(dataset.X @ dataset.beta) == dataset.y)
    assert accuracy == pytest.approx(1 - math.atan(0.4) / math.pi, abs=0.004)
    assert accuracy == pytest.approx(0.878, abs=0.005)
    assert np.linalg.norm(dataset.beta) == pytest.approx(1)


def test_gaussians_cannot_be_told_apart_better_than_their_overlap_allows() -> None:
    dataset = load("gaussians(n=100000, d=5, noise=0.5)")
    assert dataset.beta is not None
    accuracy = np.mean(np.sign(dataset.X @ dataset.beta) == dataset.y)
    assert accuracy == pytest.approx(0.5 * (1 + math.erf(2 / math.sqrt(2))), abs=0.003)


def test_seed_and_size_are_options() -> None:
    one, other = load("simulated(n=50, d=3, seed=1)"), load("simulated(n=50, d=3, seed=2)")
    assert one.shape == (50, 3)
    assert not np.array_equal(one.X, other.X)
    assert load("classification(n=60, d=5, informative=3)").shape == (60, 5)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("digit", "there is no data set 'digit'; did you mean 'digits'"),
        ("nothing-like-it", "there is no data set 'nothing_like_it'; there are: breast_cancer"),
        ("simulated(rows=3)", "no option 'rows'; its options are n, d, noise, seed"),
        ("simulated(n=0)", "needs a whole number n ≥ 1, got n=0"),
        ("simulated(n=2.5)", "needs a whole number n"),
        ("gaussians(noise=-1)", "needs a number noise ≥ 0"),
        ("gaussians(seed=-1)", "whole number seed"),
        ("classification(informative=30)", "1 ≤ informative ≤ d = 20"),
        ("classification(flip=2)", "between 0 and 1"),
        ("digits(n=3)", "it has no options"),
        ("simulated(n=3", "a spec is a name or"),
        ("", "needs a name"),
    ],
)
def test_bad_names_and_options_are_refused_in_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ValueError) as refusal:
        load(text)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_target_column_is_for_files() -> None:
    with pytest.raises(ValueError, match="csv and parquet files only"):
        load("digits", target="class")


def three_classes() -> Dataset:
    return Dataset("wine", np.arange(12.0).reshape(6, 2), np.array([1, 2, 3, 1, 2, 3], dtype=np.int8))


def test_positive_labels_are_set_against_the_rest() -> None:
    dataset = against_rest(three_classes(), ["1", "3.0"])
    assert dataset.y.tolist() == [1, -1, 1, 1, -1, 1]
    words = Dataset("words", np.eye(3), np.array(["no", "yes", "no"]), np.eye(3), np.array(["yes", "yes", "maybe"]))
    assert against_rest(words, ["yes"]).y.tolist() == [-1, 1, -1]
    assert against_rest(words, ["yes"]).y_test.tolist() == [1, 1, -1]


@pytest.mark.parametrize(
    ("positive", "sentence"), [(["4"], "its labels are 1, 2, 3"), (["1", "2", "3"], "leave at least one")]
)
def test_positive_labels_must_exist_and_leave_some(positive: list[str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        against_rest(three_classes(), positive)


def test_more_than_two_labels_need_a_choice() -> None:
    with pytest.raises(ValueError, match=r"wine has 3 labels \(1, 2, 3\); pass --positive"):
        for_task(three_classes(), "classification")


def test_a_data_set_may_name_its_task_of_two_classes() -> None:
    dataset = replace(three_classes(), positive=("2",))
    task = for_task(dataset, "classification")
    assert task.y.tolist() == [-1, 1, -1, -1, 1, -1]
    assert for_task(task, "classification").y.tolist() == task.y.tolist()
    assert against_rest(dataset, ["3"]).y.tolist() == [-1, -1, 1, -1, -1, 1], "the labels themselves stay reachable"


def test_a_measured_target_is_recognized_as_a_regression() -> None:
    dataset = Dataset("houses", np.zeros((5, 1)), np.array([0.5, 1.5, 2.25, 3.0, 1.0]))
    with pytest.raises(ValueError, match="looks like a regression; pass --loss"):
        for_task(dataset, "classification")
    assert for_task(dataset, "regression") is dataset


def test_words_are_labels_but_no_regression_targets() -> None:
    dataset = Dataset("pets", np.zeros((3, 1)), np.array(["cat", "dog", "cat"]))
    assert for_task(dataset, "classification").y.tolist() == [-1, 1, -1]
    with pytest.raises(ValueError, match="is text"):
        for_task(dataset, "regression")


def test_one_label_or_a_strange_test_label_is_refused() -> None:
    with pytest.raises(ValueError, match=r"one label only \(7\)"):
        for_task(Dataset("same", np.zeros((2, 1)), np.array([7, 7])), "classification")
    strange = Dataset("strange", np.eye(2), np.array([0, 1]), np.eye(2), np.array([0, 5]))
    with pytest.raises(ValueError, match="labels the training part lacks: 5"):
        for_task(strange, "classification")


def test_large_labels_stay_apart() -> None:
    dataset = Dataset("ids", np.zeros((2, 1)), np.array([12345678.0, 12345679.0]))
    assert dataset.labels == ["12345678", "12345679"]


def test_the_split_is_stratified_repeatable_and_complete() -> None:
    dataset = load("breast-cancer")
    parts = split(dataset, 0.2, seed=3, stratify=True)
    assert (len(parts.y), len(parts.y_test)) == (455, 114)
    assert np.mean(parts.y == 1) == pytest.approx(np.mean(parts.y_test == 1), abs=0.01)
    assert np.array_equal(parts.X, split(dataset, 0.2, seed=3, stratify=True).X) is True
    assert not np.array_equal(parts.X, split(dataset, 0.2, seed=4, stratify=True).X)


def test_standardizing_uses_the_training_part_only() -> None:
    parts = split(load("breast-cancer"), 0.2, standardize=True)
    np.testing.assert_allclose(parts.X.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(parts.X.std(axis=0), 1, atol=1e-9)
    assert np.abs(parts.X_test.mean(axis=0)).max() > 1e-3


def test_the_data_set_says_whether_it_wants_standardizing() -> None:
    np.testing.assert_allclose(split(load("breast-cancer"), 0).X.std(axis=0), 1, atol=1e-9)
    assert split(load("breast-cancer"), 0, standardize=False).X.max() > 4000
    simulated = load("simulated")
    assert np.array_equal(split(simulated, 0).X, simulated.X)


def test_sparse_rows_are_scaled_and_keep_their_zeros() -> None:
    X = sparse.random(40, 6, density=0.3, format="csr", random_state=0)
    parts = split(Dataset("text", X, np.arange(40) % 2), 0.25, standardize=True)
    assert sparse.issparse(parts.X)
    assert parts.X.nnz + parts.X_test.nnz == X.nnz


def test_float32_stays_and_integers_become_float() -> None:
    X = np.arange(40).reshape(20, 2)
    for stored, scaled in ((np.float32, np.float32), (np.uint8, np.float64)):
        parts = split(Dataset("stored", X.astype(stored), np.arange(20) % 2), 0.2, standardize=True)
        assert parts.X.dtype == scaled
    assert split(Dataset("stored", X.astype(np.uint8), np.arange(20) % 2), 0.2).X.dtype == np.uint8


def test_an_official_test_part_is_kept() -> None:
    dataset = Dataset("official", np.eye(3), np.array([0, 1, 1]), np.ones((2, 3)), np.array([1, 0]))
    parts = split(dataset, 0.5)
    assert parts.shape == (3, 3)
    assert len(parts.y_test) == 2


@pytest.mark.parametrize(
    ("dataset", "fraction", "sentence"),
    [
        (Dataset("lonely", np.zeros((5, 1)), np.array([0, 0, 0, 0, 1])), 0.2, "too small to hold out"),
        (Dataset("single", np.zeros((1, 1)), np.array([0.5])), 0.2, "too few to hold out"),
        (Dataset("any", np.zeros((5, 1)), np.arange(5) % 2), 1.0, "at least 0 and below 1"),
    ],
)
def test_impossible_splits_are_refused(dataset: Dataset, fraction: float, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        split(dataset, fraction, stratify=len(dataset.y) > 1)


def test_the_module_loads_neither_scikit_learn_nor_pandas() -> None:
    code = (
        "import sys, dualgap.datasets; print([m for m in ('sklearn', 'pandas', 'scipy', 'numba') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
