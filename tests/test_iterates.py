"""Iterates kept in records: copies, judged again to the records' certificates, and written to files of their own."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dualgap as dg
from commands import ended, refused
from dualgap.workbench import store


def drawn(classes: int = 2) -> tuple[Any, Any]:
    random = np.random.default_rng(3)
    X = random.normal(size=(90, 6))
    scores = X[:, 0] + 0.5 * random.normal(size=90)
    return X, np.digitize(scores, np.quantile(scores, np.arange(1, classes) / classes))


def problem_of(loss: str, intercept: bool) -> Any:
    if loss == "softmax":
        return dg.MultinomialProblem(*drawn(3), 0.01, intercept=intercept)
    return dg.Problem(*drawn(), loss, strength=0.01, intercept=intercept)


CASES = [
    ("hinge", "sdca", False),
    ("hinge", "sdca", True),
    ("hinge", "sdca(output=average)", False),
    ("hinge", "asdca", False),
    ("hinge", "projected_ascent", False),
    ("hinge", "box_ascent", False),
    ("hinge", "pegasos", True),
    ("hinge", "subgradient", False),
    ("logistic", "newton", True),
    ("squared_hinge", "auto", True),
    ("softmax", "sdca", True),
    ("softmax", "newton", False),
]


@pytest.mark.parametrize(("loss", "solver", "intercept"), CASES)
def test_iterates_judged_again_give_the_certificates_of_their_records(loss: str, solver: str, intercept: bool) -> None:
    problem = problem_of(loss, intercept)
    result = dg.solve(problem, solver, tol=1e-9, max_epochs=8, record_every=1.0, keep_iterates=True)
    target = np.inf if result.solver.is_ascent or result.solver.suggests_its_duals else 1e-9
    assert len(result.trace) > 1
    for record in result.trace:
        assert record.iterate is not None
        found = dg.certify(problem, *record.iterate, carried_target=target, tol=1e-9).certificate
        assert (found.primal, found.dual, found.gap) == (record.primal, record.dual, record.gap)


@pytest.mark.parametrize(("loss", "solver", "intercept"), CASES)
def test_keeping_iterates_changes_no_number(loss: str, solver: str, intercept: bool) -> None:
    problem = problem_of(loss, intercept)
    options: dict[str, Any] = {"tol": 1e-9, "max_epochs": 6, "record_every": 1.0}
    plain, kept = (dg.solve(problem, solver, **options, keep_iterates=keep) for keep in (False, True))
    assert all(record.iterate is None for record in plain.trace)
    assert [record.gap for record in plain.trace] == [record.gap for record in kept.trace]
    assert np.array_equal(plain.weights, kept.weights)


def test_iterates_are_copies_that_later_epochs_leave_alone() -> None:
    result = dg.solve(problem_of("hinge", False), "sdca", max_epochs=5, tol=0.0, keep_iterates=True)
    weights = result.trace.iterates()["weights"]
    assert not weights[0].any()
    assert all(not np.array_equal(one, other) for one, other in pairwise(weights))
    assert np.array_equal(weights[-1], result.weights)


def test_stacked_iterates_have_the_shapes_of_the_problem() -> None:
    for loss, solver in (("hinge", "sdca"), ("softmax", "sdca"), ("squared", "newton")):
        problem = problem_of(loss, True)
        result = dg.solve(problem, solver, max_epochs=3, tol=0.0, keep_iterates=True)
        found, count = result.trace.iterates(), len(result.trace)
        assert found["weights"].shape == (count, *problem.weights_shape)
        assert found["intercept"].shape == (count, *problem.intercept_shape)
        assert ("duals" in found) == (solver == "sdca")
        if "duals" in found:
            assert found["duals"].shape == (count, *problem.duals_shape)
        assert found["epoch"].tolist() == [record.epoch for record in result.trace]


def test_trace_without_iterates_says_what_to_pass() -> None:
    with pytest.raises(ValueError, match="pass keep_iterates=True"):
        dg.solve(problem_of("hinge", False)).trace.iterates()


def test_frames_and_columns_have_numbers_only() -> None:
    trace = dg.solve(problem_of("hinge", False), keep_iterates=True).trace
    assert "iterate" not in trace.columns()
    assert "iterate" not in trace.to_frame().columns


def test_fit_writes_iterates_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, file = tmp_path / "m.dg", tmp_path / "steps.npz"
    words = ("fit", "breast_cancer", "-o", str(model), "--keep-iterates")
    assert ended(*words, str(file)) == 0
    assert str(file) in capsys.readouterr().out.replace("\n", "")
    with np.load(file) as found:
        assert np.array_equal(found["weights"][-1], dg.load(model).weights)
    assert "exists already" in refused(capsys, *words, str(file), "--overwrite")
    assert "ends in .npz" in refused(capsys, *words, str(tmp_path / "steps.txt"), "--overwrite")


def test_fit_of_classes_against_the_rest_writes_each_under_its_number(tmp_path: Path) -> None:
    data, file = tmp_path / "three.csv", tmp_path / "steps.npz"
    X, y = drawn(3)
    lines = [",".join(map(repr, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    data.write_text("\n".join(["a,b,c,d,e,f,label", *lines]) + "\n")
    assert ended("fit", str(data), "--tol", "1e-3", "-o", str(tmp_path / "m.dg"), "--keep-iterates", str(file)) == 0
    with np.load(file) as found:
        last = np.column_stack([found[f"{k}_weights"][-1] for k in range(3)])
    assert np.array_equal(last, dg.load(tmp_path / "m.dg").weights)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_race_writes_iterates_beside_its_results(tmp_path: Path, jobs: str) -> None:
    folder = tmp_path / "race"
    words = ("race", "simulated(n=60, d=3)", "-s", "sdca", "-s", "sgd", "--epochs", "5", "--repeats", "1", "-q")
    assert ended(*words, "--jobs", jobs, "-o", str(folder), "--keep-iterates") == 0
    runs = store.read(folder / store.FILE)
    assert "iterates" not in (folder / store.FILE).read_text()
    assert len(runs) == 2
    for run in runs:
        with np.load(store.iterates_file(folder / store.FILE, run.run)) as found:
            assert found["epoch"].tolist() == run.records["epoch"]
            assert found["duals"].shape == (len(run.records["epoch"]), run.data["rows"])
    assert sorted(path.name for path in (folder / store.ITERATES).iterdir()) == sorted(f"{run.run}.npz" for run in runs)


def test_race_in_python_holds_iterates_and_saves_them(tmp_path: Path) -> None:
    outcome = dg.race(*drawn(), "sdca", epochs=4, repeats=1, tol=0.0, keep_iterates=True)
    run = outcome.runs[0]
    assert run.iterates is not None
    file = outcome.save(tmp_path / "kept")
    with np.load(store.iterates_file(file, run.run)) as found:
        assert np.array_equal(found["weights"], run.iterates["weights"])
    assert dg.Race.load(file).runs[0].iterates is None
