"""The dual objective of an algorithm's own duals: below the judge's bound, and equal to D of the duals that were kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dualgap as dg
from dualgap.replication.experiments import REFERENCE
from dualgap.replication.figures_r3 import BOUND_ONLY, FIGURES
from dualgap.replication.gathering import gather, joined
from dualgap.replication.panels import Panel
from dualgap.replication.rules_r3 import ACCURACY, BOX, PROJECTED
from dualgap.workbench.plan import Plan
from dualgap.workbench.runner import race
from dualgap.workbench.store import FinishedRun


def drawn(classes: int = 2) -> tuple[Any, Any]:
    random = np.random.default_rng(5)
    X = random.normal(size=(80, 5))
    X[3] = 0.0
    scores = X[:, 0] + 0.5 * random.normal(size=80)
    return X, np.digitize(scores, np.quantile(scores, np.arange(1, classes) / classes))


def problem_of(loss: str, intercept: bool = False) -> Any:
    if loss == "softmax":
        return dg.MultinomialProblem(*drawn(3), 0.05, intercept=intercept)
    weights = np.random.default_rng(6).uniform(0.5, 2.0, 80)
    return dg.Problem(*drawn(), loss, strength=0.05, sample_weight=weights, intercept=intercept)


CASES = [
    ("hinge", "sdca"),
    ("logistic", "sdca"),
    ("squared_hinge", "sdca(sampling=cyclic)"),
    ("hinge", "sdca(output=average)"),
    ("hinge", "asdca"),
    ("hinge", "asdca(theta=16x)"),
    ("hinge", "projected_ascent"),
    ("hinge", "projected_ascent(step=0.1)"),
    ("hinge", "box_ascent"),
    ("hinge", "pegasos"),
    ("logistic", "newton"),
    ("softmax", "sdca"),
    ("softmax", "newton"),
]


@pytest.mark.parametrize(("loss", "solver"), CASES)
def test_own_dual_is_at_most_the_judges_bound_and_that_at_most_the_optimum(loss: str, solver: str) -> None:
    problem = problem_of(loss)
    best = dg.solve(problem, tol=1e-10, max_epochs=100_000).certificate
    result = dg.solve(problem, solver, tol=1e-9, max_epochs=30, record_every=1.0)
    rounding = 1e-12 * best.primal
    found = [record for record in result.trace if record.own_dual is not None]
    assert found
    for record in found:
        assert record.own_dual <= record.dual + rounding
        assert record.dual <= best.primal + rounding


@pytest.mark.parametrize(("loss", "solver"), CASES)
def test_own_dual_is_the_dual_objective_of_the_kept_duals(loss: str, solver: str) -> None:
    problem = problem_of(loss)
    result = dg.solve(problem, solver, tol=1e-9, max_epochs=10, record_every=1.0, keep_iterates=True)
    for record in result.trace:
        assert record.iterate is not None
        duals = record.iterate.duals
        if record.own_dual is not None:
            assert duals is not None
            value = problem.dual(duals, problem.weights_of(duals))
            assert record.own_dual == pytest.approx(value, rel=1e-12, abs=1e-14)


def entropy(p: Any) -> float:
    inside = p[p > 0.0]
    return float(-(inside * np.log(inside)).sum())


def test_softmax_dual_is_the_mean_entropy_minus_the_penalty() -> None:
    problem = problem_of("softmax")
    duals = dg.solve(problem, "sdca", max_epochs=2, tol=0.0).duals
    p = np.eye(3)[problem.labels] - duals
    weights = problem.rows.dense().arrays[0].T @ duals / problem.lambda_n
    value = np.mean([entropy(row) for row in p]) - 0.5 * problem.strength * (weights**2).sum()
    assert problem.dual_of(duals) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "softmax"])
def test_certificates_duals_are_feasible_and_give_its_dual_value(loss: str) -> None:
    for intercept in (False, True):
        problem = problem_of(loss, intercept)
        result = dg.solve(problem, tol=1e-8)
        assert problem.dual_of(result.duals) == pytest.approx(result.certificate.dual, rel=1e-9)


def test_dual_objective_of_infeasible_duals_is_minus_infinity() -> None:
    free, fixed = problem_of("hinge", intercept=True), problem_of("hinge")
    ones = np.where(fixed.labels > 0, 1.0, -1.0)
    assert np.isfinite(fixed.dual_of(ones))
    assert fixed.dual_of(2.0 * ones) == -np.inf
    assert fixed.dual_of(-ones) == -np.inf
    assert free.dual_of(np.where(ones > 0, 0.5, 0.0)) == -np.inf
    assert fixed.dual_of(ones * (1.0 + 1e-15)) == pytest.approx(fixed.dual_of(ones))


def test_duals_that_violate_the_intercepts_constraint_have_no_own_dual() -> None:
    result = dg.solve(problem_of("hinge", intercept=True), "sdca", max_epochs=5, tol=0.0, record_every=1.0)
    assert result.trace[0].own_dual == 0.0
    assert all(record.own_dual is None for record in result.trace.records[1:])


@pytest.mark.parametrize("options", [{}, {"record_every": np.inf}])
def test_own_dual_is_computed_only_where_records_were_asked_for(options: dict[str, Any]) -> None:
    problem = problem_of("hinge")
    for solver in ("auto", "sdca"):
        assert all(record.own_dual is None for record in dg.solve(problem, solver, **options).trace)
    asked = dg.solve(problem, "sdca", max_epochs=2, tol=0.0, record_updates=40)
    assert all(record.own_dual is not None for record in asked.trace)


def test_race_stores_own_duals() -> None:
    run = dg.race(*drawn(), "sdca", epochs=5, repeats=1, tol=0.0).runs[0]
    assert len(run.records["own_dual"]) == len(run.records["dual"])
    assert all(own <= bound + 1e-12 for own, bound in zip(run.records["own_dual"], run.records["dual"], strict=True))


def runs_of_r3(data: tuple[str, ...] = ("classification(n=60)",)) -> list[FinishedRun]:
    common: dict[str, Any] = {"data": data, "strengths": ("1/n",), "test_size": 0.0, "repeats": 1}
    common |= {"standardize": False, "experiment": ACCURACY}
    proof = Plan(solvers=(REFERENCE,), epochs=1000, **common)
    dual = Plan(solvers=("projected_ascent", "box_ascent"), epochs=10, tol=0.0, every=1, **common)
    return [*race(proof).runs, *race(dual).runs]


def panels_of(runs: list[FinishedRun], solver: str) -> list[Panel]:
    name = f"dual-{solver.replace(' ', '-')}"
    made = next(figure for figure in FIGURES if figure.name == name).make(gather(runs, {}))
    return [panel for panel in made if isinstance(panel, Panel)]


def panel_of(runs: list[FinishedRun], solver: str) -> Panel:
    (panel,) = panels_of(runs, solver)
    return panel


def test_figures_of_several_draws_show_the_first_as_it_is_and_all_as_fractions_of_their_optima() -> None:
    both = panels_of(runs_of_r3(("classification(n=60, seed=3)", "classification(n=60, seed=4)")), BOX)
    alone = panel_of(runs_of_r3(("classification(n=60, seed=3)",)), BOX)
    assert [panel.title for panel in both] == ["the first draw", "all draws"]
    assert both[0].lines[0].y == alone.lines[0].y
    assert both[0].levels == alone.levels
    assert both[1].levels == {"P* (proven)": 1.0}
    assert both[1].lines[0].high is not None
    assert 0.5 < max(both[1].lines[0].high) <= 1.0 + 1e-6


def test_figures_draw_own_duals_below_the_optimum_and_say_where_results_have_none() -> None:
    runs = runs_of_r3()
    old = [replace(run, records={k: v for k, v in run.records.items() if k != "own_dual"}) for run in runs]
    for solver in (PROJECTED, BOX):
        panel = panel_of(runs, solver)
        (optimum,) = panel.levels.values()
        assert panel.title == ""
        assert max(panel.lines[0].y) <= optimum * (1 + 1e-6)
        assert panel.lines[0].y[-1] > panel.lines[0].y[0]
        fallback = panel_of(old, solver)
        assert fallback.title == BOUND_ONLY
        assert fallback.y_label == "dual value D"


def test_openings_without_own_duals_are_joined_to_runs_with_them() -> None:
    common: dict[str, Any] = {"data": ("classification(n=60)",), "solvers": ("box_ascent",), "tol": 0.0, "repeats": 1}
    short, long = (race(Plan(epochs=epochs, every=1, experiment=ACCURACY, **common)).runs[0] for epochs in (2, 6))
    older = replace(short, records={k: v for k, v in short.records.items() if k != "own_dual"})
    (whole,) = joined([older, long])
    assert len({len(values) for values in whole.records.values()}) == 1
    assert whole.records["own_dual"][:3] == [None] * 3
