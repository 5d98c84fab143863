"""Races on the features of a map: one map for all runs, fitted to the training part, in settings and commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dualgap as dg
from dualgap.workbench import config
from dualgap.workbench.repeating import command_of

MAP = "gaussian(centers=20, width=8)"


def ring(rows: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """A disc inside a ring, which no line separates."""
    X = np.random.default_rng(4).normal(size=(rows, 2))
    return X, np.where((X**2).sum(axis=1) < 1.0, 1, -1)


def test_all_solvers_race_on_the_features_of_one_map() -> None:
    X, y = ring()
    race = dg.race(
        X, y, ["sdca", "pegasos"], strengths=1e-4, epochs=200, repeats=2, features="gaussian(centers=20, width=2)"
    )
    plainly = dg.race(X, y, "sdca", strengths=1e-4, epochs=200, repeats=1)
    assert {run.settings["features"] for run in race.runs} == {"gaussian(centers=20, width=2.0, seed=0)"}
    assert {run.data["columns"] for run in race.runs} == {20}
    assert "features" not in plainly.runs[0].settings, "ids of races without a map must stay what they were"
    accuracy = {run.settings["solver"]: run.records["test_score"][-1] for run in race.runs}
    assert accuracy["sdca"] > plainly.runs[0].records["test_score"][-1] + 0.1
    assert "features='gaussian(centers=20, width=2.0, seed=0)'" in command_of(race.runs)


def test_the_map_sees_the_training_part_alone() -> None:
    X, y = ring()
    race = dg.race(X, y, "sdca", epochs=3, repeats=1, features="gaussian(centers=0.9, width=2)")
    assert race.runs[0].data["columns"] == round(0.9 * 0.8 * len(X))


def run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dualgap", "race", *words], cwd=folder, capture_output=True, text=True, timeout=120
    )


def test_the_command_writes_the_map_and_goes_on_with_it(tmp_path: Path) -> None:
    words = ("breast_cancer", "-s", "sdca", "--epochs", "5", "--repeats", "1", "-q", "-o", "out")
    assert run(*words, "--features", MAP, folder=tmp_path).returncode == 0
    assert config.read(tmp_path / "out" / config.FILE)["features"] == MAP
    found = dg.Race.load(tmp_path / "out")
    assert "--features 'gaussian(centers=20, width=8.0, seed=0)'" in command_of(found.runs)
    assert run("--resume", "-o", "out", "--repeats", "2", "-q", folder=tmp_path).returncode == 0
    assert [one.data["columns"] for one in dg.Race.load(tmp_path / "out").runs] == [20, 20]
    other = run("--resume", "-o", "out", "--features", "polynomial", "-q", folder=tmp_path)
    assert other.returncode == 2, other.stderr
    assert "features" in other.stderr


@pytest.mark.parametrize(
    ("spec", "word"), [("gausian", "gaussian"), ("gaussian(width=0)", "width > 0"), ("rbf(x=1)", "x")]
)
def test_a_wrong_map_is_refused_in_one_line_before_any_folder(spec: str, word: str, tmp_path: Path) -> None:
    refused = run("breast_cancer", "--features", spec, folder=tmp_path)
    assert refused.returncode == 2
    assert word in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
