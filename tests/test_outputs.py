"""Outputs last, average and random: what is returned is what the definition says, over updates after T₀."""

from __future__ import annotations

import numpy as np
import pytest

import dualgap as dg
from dualgap.spec import build

SOLVERS = ["sdca", "sdca(sampling=cyclic)", "asdca(batch_size=2)", "pegasos", "pegasos(batch_size=3, projection=true)"]
SOLVERS += ["sgd(schedule=constant, step=0.9)", "subgradient", "projected_ascent", "box_ascent"]


@pytest.fixture(scope="module")
def problem() -> dg.Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    return dg.Problem(X, np.sign(X[:, 0] + 0.3), "hinge", 0.2)


def iterates(problem: dg.Problem, spec: str, epochs: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Every (weights, duals) after an update, by advancing one update at a time."""
    solver = build(spec, dg.SOLVERS, "solver")
    state = solver.start(problem, None)
    found, batch, touched = [], solver.batch(problem), 0
    for epoch in range(10 * epochs):
        steps = solver.plan(problem, state, epoch, lambda e: np.random.default_rng((seed, e, 0)))
        for at in range(0, len(steps), batch):
            if touched >= epochs * problem.rows.count:
                return found
            state = solver.advance(problem, state, steps[at : at + batch])
            touched += len(steps[at : at + batch])
            answer = solver.answer(problem, state)
            found.append((touched, answer.weights.copy(), answer.duals.copy()))
        state = solver.end_epoch(problem, state)
    raise AssertionError("the plan never reached the epochs asked for")


def option(spec: str, text: str) -> str:
    return f"{spec[:-1]}, {text})" if spec.endswith(")") else f"{spec}({text})"


@pytest.mark.parametrize("spec", SOLVERS)
@pytest.mark.parametrize("average_from", [0.0, 0.5, 0.9])
def test_average_is_the_mean_over_updates_after_t0(problem: dg.Problem, spec: str, average_from: float) -> None:
    all_of_them = iterates(problem, spec, 10, seed=4)
    begin = average_from * 10 * problem.rows.count
    first = (
        0 if average_from == 0 else next(k for k, (touched, *_) in enumerate(all_of_them, 1) if touched >= begin - 1e-6)
    )
    kept = all_of_them[first:]
    chosen = option(spec, f"output=average, average_from={average_from}")
    result = dg.solve(problem, chosen, tol=0, max_epochs=10, seed=4)
    np.testing.assert_allclose(result.weights, np.mean([w for _, w, _ in kept], axis=0), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("spec", SOLVERS)
def test_random_is_one_of_the_iterates_after_t0(problem: dg.Problem, spec: str) -> None:
    result = dg.solve(problem, option(spec, "output=random"), tol=0, max_epochs=10, seed=4)
    late = [w for touched, w, _ in iterates(problem, spec, 10, seed=4) if touched > 5 * problem.rows.count]
    distance = min(np.abs(result.weights - w).max() for w in late)
    assert distance <= 1e-12


def test_records_before_t0_show_the_last_iterate(problem: dg.Problem) -> None:
    last = dg.solve(problem, "pegasos", tol=0, max_epochs=10).trace
    for output in ("average", "random"):
        trace = dg.solve(problem, f"pegasos(output={output})", tol=0, max_epochs=10).trace
        assert [r.primal for r in trace][:6] == [r.primal for r in last][:6]
        assert [r.primal for r in trace][6:] != [r.primal for r in last][6:]


def test_past_t0_tol_is_tested_on_the_output(problem: dg.Problem) -> None:
    result = dg.solve(problem, "sdca(output=average, average_from=0.5)", tol=1e-3, max_epochs=400)
    assert result.certificate.relative_gap <= 1e-3


def test_an_early_stop_gives_what_was_collected_else_the_last_iterate(problem: dg.Problem) -> None:
    early = dg.solve(problem, "pegasos(output=average)", tol=0, max_epochs=10, callback=lambda r: r.epoch >= 2)
    last = dg.solve(problem, "pegasos", tol=0, max_epochs=2)
    np.testing.assert_array_equal(early.weights, last.weights)
    late = dg.solve(problem, "pegasos(output=average)", tol=0, max_epochs=10, callback=lambda r: r.epoch >= 7)
    kept = [w for touched, w, _ in iterates(problem, "pegasos", 7, seed=0) if touched > 5 * 12]
    np.testing.assert_allclose(late.weights, np.mean(kept, axis=0), rtol=1e-9, atol=1e-12)


def test_average_from_outside_its_range_is_refused() -> None:
    for bad in (-0.1, 1.0, "half"):
        with pytest.raises(ValueError, match="average_from"):
            dg.SDCA(average_from=bad)
    with pytest.raises(ValueError, match="one of last, average, random"):
        dg.SDCA(output="best")


def test_random_output_runs_to_its_last_epoch() -> None:
    """A drawn iterate that is not replaced for many epochs is no sign of a run that stands still."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    problem = dg.Problem(X, np.sign(X[:, 0] + 0.5 * rng.normal(size=60)), "hinge", 1e-2)
    for seed in range(1, 6):
        result = dg.solve(problem, "pegasos(output=random)", tol=0, max_epochs=400, seed=seed)
        assert result.status is dg.Status.EPOCHS_EXHAUSTED
        assert result.trace[-1].epoch == 400


def test_run_whose_iterate_stands_still_stalls_with_any_output() -> None:
    problem = dg.Problem(np.eye(3), [1, -1, 1], "hinge", 0.2)
    for output in ("last", "random", "average"):
        result = dg.solve(problem, f"newton(output={output})", tol=0.0, max_epochs=2000)
        assert result.status in (dg.Status.STALLED, dg.Status.CERTIFIED), output


def test_random_output_is_uniform_over_the_updates_that_count(problem: dg.Problem) -> None:
    """Chi-square over 2,000 seeds of which of the last 12 of 24 updates was drawn."""
    seeds = 2000
    drawn = np.zeros(12)
    for seed in range(seeds):
        found = dg.solve(problem, "pegasos(output=random)", tol=0.0, max_epochs=2, seed=seed, record_every=2)
        last = [weights for touched, weights, _ in iterates(problem, "pegasos", 2, seed) if touched > 12]
        matches = [k for k, weights in enumerate(last) if np.array_equal(weights, found.weights)]
        # Two iterates are equal where a row has no loss and the step only rescales; both then share the draw.
        assert matches
        drawn[matches] += 1.0 / len(matches)
    expected = seeds / 12
    statistic = float(((drawn - expected) ** 2 / expected).sum())
    assert statistic < 31.26, drawn  # 0.1 % of uniform draws exceed this with 11 degrees of freedom
