"""An install without extras: fits, model files and progress work, and command line and races say what to install."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

# Python searches folders through PathFinder; one that finds none of these packages is an environment without them.
WITHOUT_EXTRAS = """
import importlib.util, sys
from importlib.machinery import PathFinder

ABSENT = {"typer", "rich", "jinja2", "plotly", "platformdirs", "pandas", "pyarrow", "matplotlib", "cv2", "dask", "distributed"}

class CoreOnly(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in ABSENT else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = CoreOnly
# A .pth file of the environment may have loaded one before.
assert not ABSENT & set(sys.modules)
assert all(importlib.util.find_spec(name) is None for name in ABSENT)
"""
SENTENCE = (
    " needs typer, rich, jinja2, plotly, platformdirs, which are not installed; python -m pip install 'dualgap[race]'"
)


def run_without_extras(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT_EXTRAS + textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )


def output_without_extras(code: str, **environment: str) -> str:
    done = run_without_extras(code, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_estimator_fits_and_predicts() -> None:
    code = """
    import numpy as np, dualgap as dg
    from sklearn.base import ClassifierMixin, RegressorMixin

    X, rng = np.linspace(-1.0, 1.0, 120).reshape(60, 2), np.random.default_rng(0)
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    for name in dg.__all__:
        cls = getattr(dg, name)
        if isinstance(cls, type) and issubclass(cls, ClassifierMixin | RegressorMixin):
            model = cls().fit(X, y > 0 if issubclass(cls, ClassifierMixin) else np.exp(y))
            assert model.predict(X).shape == (60,)
            print(name)
    """
    fitted = output_without_extras(code).split()
    assert {"LinearSVC", "LogisticRegression", "LinearSVR", "Ridge", "QuantileRegressor", "LinearSVCCV"} <= set(fitted)


def test_solve_draws_plain_progress_and_models_are_saved_and_loaded(tmp_path: Path) -> None:
    code = """
    import sys, numpy as np, dualgap as dg

    X = np.array([[1.0, 2.0], [-1.0, 0.5], [0.3, -2.0], [-2.0, -1.0]])
    problem = dg.Problem(X, [1, 1, 0, 0], "logistic", 0.1)
    result = dg.solve(problem, "sdca", tol=1e-6, progress=True)
    assert result.status is dg.Status.CERTIFIED
    dg.Model.of(result, problem, tol=1e-6, duals=True).save(sys.argv[1])
    model = dg.load(sys.argv[1])
    assert model.certify(X, [1, 1, 0, 0]).holds
    assert (model.predict(X) == result.predict(X)).all()
    """
    done = run_without_extras(code, str(tmp_path / "model.dg"))
    assert done.returncode == 0, done.stderr
    assert "relative gap" in done.stderr
    assert "→ 1e-06" in done.stderr


@pytest.mark.parametrize("arguments", [(), ("race",), ("--help",), ("--version",)])
def test_the_command_line_says_what_to_install_and_exits_with_2(arguments: tuple[str, ...]) -> None:
    for code in (
        "from dualgap.__main__ import main; main()",
        "import runpy; runpy.run_module('dualgap', None, '__main__')",
    ):
        done = run_without_extras(code, *arguments)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"dualgap: the command line{SENTENCE}\n")


def test_a_race_in_python_says_what_to_install() -> None:
    code = """
    import dualgap as dg
    try:
        dg.race([[1.0], [2.0]], [0, 1])
    except ImportError as error:
        print(error)
    """
    assert output_without_extras(code) == f"a race{SENTENCE}\n"


def test_only_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from dualgap.workbench import extras

    assert extras.what_is_missing("a race") is None
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "plotly" else object())
    with pytest.raises(ImportError, match=r"^a race needs plotly, which is not installed; python -m pip install"):
        extras.require("a race")


def test_published_data_sets_are_read_from_named_folders(tmp_path: Path) -> None:
    """The cache of downloads has a place by DUALGAP_CACHE alone; without either, a sentence says so."""
    code = """
    from dualgap.datasets import load
    from dualgap.datasets.catalog import place_of, source_of
    print(load("breast_cancer").shape)
    try:
        print(place_of(source_of("skin")))
    except ImportError as error:
        print(error)
    """
    named = output_without_extras(code, DUALGAP_DATA="", DUALGAP_CACHE=str(tmp_path))
    assert named == "(569, 30)\ndownload\n"
    unnamed = output_without_extras(code, DUALGAP_DATA="", DUALGAP_CACHE="").splitlines()[1]
    assert unnamed == (
        "the folder for downloads needs platformdirs, which is not installed; python -m pip install 'dualgap[race]', "
        "or let DUALGAP_CACHE name a folder"
    )
