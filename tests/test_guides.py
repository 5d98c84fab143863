"""The code of the guides runs, and their tables list the parameters that change nothing and those that scikit-learn does not have."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import linear_model, svm

import dualgap as dg
from dualgap.estimators.synonyms import SYNONYMS

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAIRS = [
    (svm.LinearSVC, dg.LinearSVC),
    (linear_model.LogisticRegression, dg.LogisticRegression),
    (linear_model.LogisticRegressionCV, dg.LogisticRegressionCV),
    (svm.LinearSVR, dg.LinearSVR),
    (linear_model.Ridge, dg.Ridge),
    (linear_model.RidgeClassifier, dg.RidgeClassifier),
    (linear_model.RidgeCV, dg.RidgeCV),
    (linear_model.QuantileRegressor, dg.QuantileRegressor),
    (linear_model.PoissonRegressor, dg.PoissonRegressor),
    (linear_model.HuberRegressor, dg.HuberRegressor),
    (linear_model.Lasso, dg.Lasso),
    (linear_model.ElasticNet, dg.ElasticNet),
    (linear_model.LassoCV, dg.LassoCV),
    (linear_model.ElasticNetCV, dg.ElasticNetCV),
]


@pytest.mark.parametrize(
    ("page", "printed"),
    [
        ("guide.md", ["Status.CERTIFIED", "on the last batch of 69 rows", "[0]"]),
        ("pictures.md", ["(8, 64)", "broken.png': 'it is not a picture that OpenCV can decode'", "(150.0, 90.0)"]),
        ("from-scikit-learn.md", ["the duality gap reached tol", "solver='lbfgs' is scikit-learn's; dualgap used"]),
    ],
)
def test_code_of_guide_runs(page: str, printed: list[str], tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) >= 2
    # The processes of a pool inherit the environment, and turn warnings into errors too.
    strict = {**os.environ, "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)], capture_output=True, text=True, timeout=300, cwd=tmp_path, env=strict
    )
    assert done.returncode == 0, done.stderr
    for words in printed:
        assert words in done.stdout
    assert not list(tmp_path.iterdir())


def section(page: str, title: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8").split(f"## {title}\n")[1].split("\n## ")[0]


def names_in(table: str) -> set[tuple[str, str]]:
    """(estimator, parameter) for each row of a table."""
    found = re.findall(r"^\| `(\w+)` \| ([\w, ]+) \|", table, flags=re.MULTILINE)
    all_estimators = [ours.__name__ for _, ours in PAIRS]
    return {
        (owner.strip(), name)
        for name, owners in found
        for owner in (all_estimators if owners.strip() == "all" else owners.split(","))
    }


def parameters(kind: Any) -> set[str]:
    return set(inspect.signature(kind).parameters)


def test_no_parameter_of_scikit_learns_is_missing() -> None:
    def current(kind: Any) -> set[str]:
        return {name for name in parameters(kind) if inspect.signature(kind).parameters[name].default != "deprecated"}

    assert not {(ours.__name__, name) for theirs, ours in PAIRS for name in current(theirs) - parameters(ours)}


def test_every_parameter_that_changes_nothing_is_in_the_table() -> None:
    names = {*SYNONYMS, "multi_class"}
    taken = {(ours.__name__, name) for _, ours in PAIRS for name in parameters(ours) & names}
    assert taken == names_in(section("from-scikit-learn.md", "Parameters that change nothing"))


def test_every_new_parameter_is_in_the_table() -> None:
    new = {(ours.__name__, name) for theirs, ours in PAIRS for name in parameters(ours) - parameters(theirs)}
    listed = names_in(section("from-scikit-learn.md", "Parameters that are new"))
    # All estimators here have tol, max_iter, random_state and verbose; the section on differences describes them.
    described = {"tol", "max_iter", "random_state", "verbose", "multi_class", *SYNONYMS}
    assert {(owner, name) for owner, name in new if name not in described} <= listed


@pytest.mark.parametrize(("theirs", "ours"), PAIRS, ids=lambda kind: kind.__module__.split(".")[0])
def test_defaults_equal_scikit_learns(theirs: Any, ours: Any) -> None:
    """For every parameter that means the same in both."""
    a, b = inspect.signature(theirs).parameters, inspect.signature(ours).parameters
    different_meaning = {"solver", "tol", "max_iter"}
    # Defaults with which scikit-learn announces a change are not compared.
    announced = {name for name in a if a[name].default in ("warn", "deprecated")}
    same_meaning = (a.keys() & b.keys()) - different_meaning - announced
    differing = {name for name in same_meaning if a[name].default != b[name].default}
    # While scikit-learn renamed store_cv_values (1.5 to 1.6), None of the new name meant that the old one decides: False.
    differing -= {name for name in differing & {"store_cv_results"} if a[name].default is None and not b[name].default}
    # A default that is spelled otherwise (scikit-learn before 1.8: penalty="l2", l1_ratio=None for 0) has to give the same model.
    spelled = {name: a[name].default for name in differing}
    assert not spelled or np.array_equal(_tiny_fit(ours()), _tiny_fit(ours(**spelled))), spelled


def _tiny_fit(model: Any) -> Any:
    X = np.random.default_rng(0).normal(size=(40, 3))
    return model.fit(X, X[:, 0] > 0.0).coef_
