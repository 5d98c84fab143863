"""An absolute gap that ends a run: proven by the judge, named in the sentence, kept in files and plans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dualgap as dg
from commands import ended, refused
from dualgap.workbench.plan import Plan
from dualgap.workbench.repeating import command_of
from dualgap.workbench.verdict import verdict


def drawn(kind: str = "labels", seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(120, 8))
    scores = X[:, 0] + 0.5 * random.normal(size=120)
    if kind == "classes":
        return X, np.digitize(scores, [-0.5, 0.5])
    return X, scores if kind == "targets" else np.where(scores > 0, 1, -1)


def problem_of(loss: str, intercept: bool) -> Any:
    if loss == "softmax":
        return dg.MultinomialProblem(*drawn("classes"), 0.01, intercept=intercept)
    kind = "targets" if loss in ("squared", "huber", "quantile") else "labels"
    return dg.Problem(*drawn(kind), loss, strength=0.01, intercept=intercept)


LOSSES = ("hinge", "squared_hinge", "logistic", "squared", "huber", "quantile", "softmax")


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", ["auto", "sdca", "newton"])
@pytest.mark.parametrize("gap_tol", [1e-1, 1e-4])
def test_run_ends_certified_at_a_proven_absolute_gap(loss: str, intercept: bool, solver: str, gap_tol: float) -> None:
    problem = problem_of(loss, intercept)
    result = dg.solve(problem, solver, tol=0.0, gap_tol=gap_tol, max_epochs=20_000, record_every=np.inf)
    assert result.status is dg.Status.CERTIFIED
    assert result.certificate.gap <= gap_tol
    assert all(record.gap > gap_tol for record in result.trace.records[:-1])
    assert f"gap_tol = {gap_tol:g}" in result.sentence
    best = dg.solve(problem, tol=1e-9, max_epochs=100_000)
    assert result.certificate.primal - best.certificate.primal <= gap_tol


def test_relative_gap_may_be_larger_than_tol_where_gap_tol_ended_the_run() -> None:
    result = dg.solve(problem_of("hinge", False), "sdca", tol=1e-9, gap_tol=1e-2)
    assert result.status is dg.Status.CERTIFIED
    assert result.certificate.relative_gap > 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_sentence_names_tol_where_tol_was_reached(loss: str) -> None:
    result = dg.solve(problem_of(loss, False), tol=1e-3, gap_tol=1e-12)
    assert result.status is dg.Status.CERTIFIED
    assert result.certificate.relative_gap <= 1e-3
    assert result.sentence == dg.Status.CERTIFIED.value


@pytest.mark.parametrize("solver", ["auto", "sdca", "newton", "pegasos"])
def test_gap_tol_changes_no_record_before_its_end(solver: str) -> None:
    problem = problem_of("hinge", True)
    options: dict[str, Any] = {"tol": 1e-6, "max_epochs": 60, "record_every": 1.0}
    plain = dg.solve(problem, solver, **options)
    ended = dg.solve(problem, solver, gap_tol=0.05, **options)
    steps = [record.primal for record in ended.trace]
    assert steps[:-1] == [record.primal for record in plain.trace][: len(steps) - 1]


def test_tiny_gap_tol_stalls_where_float64_proves_no_smaller_gap() -> None:
    result = dg.solve(problem_of("hinge", False), tol=0.0, gap_tol=1e-40)
    assert result.status is dg.Status.STALLED


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan, "1", (1.0,)])
def test_gap_tol_that_is_no_positive_number_is_refused_in_one_sentence(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"^gap_tol needs to be a finite number > 0, got .*; leave it out"):
        dg.solve(problem_of("hinge", False), gap_tol=bad)


@pytest.mark.parametrize("kind", ["labels", "classes"])
def test_model_certified_by_gap_tol_is_confirmed_and_a_smaller_claim_refuted(tmp_path: Path, kind: str) -> None:
    from dataclasses import replace

    from dualgap.losses import LOSSES as TABLE
    from dualgap.models.fitting import fit
    from dualgap.spec import build

    X, y = drawn(kind)
    model = fit(X, y, build("logistic", TABLE, "loss"), 0.01, duals=True, tol=1e-12, gap_tol=1e-2, solver="sdca")
    model.save(tmp_path / "model.dg")
    read = dg.load(tmp_path / "model.dg")
    assert read.gap_tol == 1e-2
    assert "gap_tol = 0.01" in read.sentence
    assert read.certify(X, y).holds
    assert not replace(read, gap_tol=None).certify(X, y).holds
    assert not replace(read, gap_tol=read.certificate.gap / 100).certify(X, y).holds


def test_race_keeps_gap_tol_and_its_command_repeats_it() -> None:
    outcome = dg.race(*drawn(), ["sdca", "pegasos"], epochs=200, tol=0.0, gap_tol=0.02, repeats=1)
    for run in outcome.runs:
        assert run.settings["gap_tol"] == 0.02
        assert run.status == "CERTIFIED"
        assert run.last("gap") <= 0.02
        assert "gap_tol = 0.02" in run.sentence
    assert "a gap of 0.02" in outcome.winner
    assert "gap_tol=0.02" in command_of(outcome.runs)


def test_plan_without_gap_tol_has_the_ids_of_before() -> None:
    plain, given = Plan(), Plan(gap_tol=0.1)
    assert "gap_tol" not in next(plain.heats()).runs[0].settings
    assert next(plain.heats()).runs[0].id != next(given.heats()).runs[0].id
    with pytest.raises(ValueError, match="gap_tol needs"):
        Plan(gap_tol=-1.0)


def test_race_names_the_gap_that_ended_the_winner() -> None:
    runs = dg.race(*drawn(), ["sdca"], epochs=200, tol=1e-12, gap_tol=0.02, repeats=2).runs
    assert "reached a gap of 0.02, by" in verdict(runs, 1e-12)
    runs = dg.race(*drawn(), ["sdca"], epochs=200, tol=0.1, gap_tol=1e-12, repeats=2).runs
    assert "reached a relative gap of 0.1, by" in verdict(runs, 0.1)


def test_race_resumes_only_with_the_same_gap_tol(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = ["race", "-s", "sdca", "--epochs", "30", "--repeats", "1", "-q", "-o", str(tmp_path / "race")]
    assert ended(*base, "--gap-tol", "0.05") == 0
    line = json.loads((tmp_path / "race" / "results.jsonl").read_text().splitlines()[0])
    assert line["settings"]["gap_tol"] == 0.05
    assert ended(*base, "--resume") == 0
    capsys.readouterr()
    assert "gap_tol 0.05" in refused(capsys, *base, "--resume", "--gap-tol", "0.01")
    assert "--gap-tol 0.05" in (tmp_path / "race" / "race.html").read_text()


def test_fit_ends_at_gap_tol_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(tmp_path / "m.dg")
    assert ended("fit", "breast_cancer", "--tol", "1e-15", "--gap-tol", "0.05", "-o", model) == 0
    assert "gap_tol = 0.05" in capsys.readouterr().out
    assert ended("certify", model, "breast_cancer") == 0
    capsys.readouterr()
    assert "--gap-tol needs" in refused(capsys, "fit", "breast_cancer", "--gap-tol", "-1", "-o", str(tmp_path / "n.dg"))
