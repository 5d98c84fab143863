"""Options of solvers: what is taken, what is refused, and the numbers they choose themselves."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dualgap as dg
from dualgap.solvers import box_ascent
from dualgap.solvers.base import SAMPLINGS
from dualgap.solvers.primal import StepFacts
from dualgap.solvers.projected_ascent import largest_dual_curvature
from examples import small_problem

REFUSED = {
    "sampling": (lambda: dg.SDCA(sampling="sorted"), "random, permutation, cyclic, stored"),
    "first epoch": (lambda: dg.SDCA(first_epoch="pegasos"), "sdca, sgd"),
    "logistic step": (lambda: dg.SDCA(logistic_step="exact"), "newton, closed_form"),
    "shrinking": (lambda: dg.SDCA(shrinking="yes"), "true or false"),
    "projection": (lambda: dg.Pegasos(projection=1.5), "true or false"),
    "batch zero": (lambda: dg.Pegasos(batch_size=0), "whole batch_size"),
    "batch part": (lambda: dg.SGD(batch_size=1.5), "whole batch_size"),
    "batch truth": (lambda: dg.ASDCA(batch_size=True), "whole batch_size"),
    "schedule": (lambda: dg.SGD(schedule="cosine"), "constant, inverse, sqrt"),
    "step": (lambda: dg.SGD(step=0), "step > 0"),
    "step text": (lambda: dg.Subgradient(step="small"), "step > 0"),
    "theta zero": (lambda: dg.ASDCA(theta=0.0), "theta in"),
    "theta text": (lambda: dg.ASDCA(theta="fast"), "theta in"),
    "theta dots": (lambda: dg.ASDCA(theta="1.2.3x"), "theta in"),
    "theta list": (lambda: dg.ASDCA(theta=[1]), "theta in"),
    "gamma": (lambda: dg.ASDCA(gamma=-1), "gamma > 0"),
    "projected step": (lambda: dg.ProjectedAscent(step=float("nan")), "step > 0"),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_refused_in_one_sentence(case: str) -> None:
    make, words = REFUSED[case]
    with pytest.raises(ValueError, match=words) as refusal:
        make()
    assert "\n" not in str(refusal.value)


def test_numbers_of_numpy_are_numbers() -> None:
    problem = small_problem("hinge")
    for solver in (
        dg.Pegasos(batch_size=np.int64(4)),
        dg.SGD(step=np.float32(0.1)),
        dg.SDCA(average_from=np.float64(0.2)),
    ):
        assert dg.solve(problem, solver, tol=0, max_epochs=2).status is dg.Status.EPOCHS_EXHAUSTED


def test_theta_is_the_papers_or_a_factor_of_it() -> None:
    """θ = ¼·min{1, √(γλn/m), γλn, (γλn)^⅔/m^⅓}, γ divided by the longest squared row where that is above 1."""
    problem = small_problem("smoothed_hinge", strength=0.05)
    size = 0.05 * 24 / problem.rows.squared_norms.max()
    expected = 0.25 * min(1, np.sqrt(size / 4), size, size ** (2 / 3) / 4 ** (1 / 3))
    assert dg.ASDCA(batch_size=4).theta_for(problem) == pytest.approx(expected)
    assert dg.ASDCA(batch_size=4, theta="16x").theta_for(problem) == pytest.approx(min(1, 16 * expected))
    assert dg.ASDCA(theta=0.3).theta_for(problem) == 0.3
    short = dg.Problem(problem.rows.scores(np.zeros(5))[:, None] + 0.1, problem.labels, "logistic", 1.0)
    assert dg.ASDCA(batch_size=1).theta_for(short) == pytest.approx(0.25)


def test_pegasos_starts_late_where_the_slope_is_unbounded() -> None:
    squared, hinge = small_problem("squared"), small_problem("hinge")
    late = 2.0 * squared.rows.squared_norms.max() / squared.strength
    assert dg.Pegasos().step_for(StepFacts.of(squared)).number == pytest.approx(1.0 + late)
    assert dg.Pegasos().step_for(StepFacts.of(hinge)).number == 1.0


def test_the_largest_dual_curvature_is_the_largest_eigenvalue() -> None:
    for weights in (False, True):
        problem = small_problem("hinge", "csr", weights)
        s = np.ones(24) if problem.sample_weight is None else problem.sample_weight
        gram = np.sqrt(s)[:, None] * problem.rows.gram() * np.sqrt(s)
        largest = np.linalg.eigvalsh(gram).max() / problem.lambda_n
        assert largest <= largest_dual_curvature(problem) <= 1.06 * largest


def test_projected_ascent_refuses_a_step_that_overshoots() -> None:
    with pytest.raises(ValueError, match="step ≤ 2 for squared_hinge"):
        dg.solve(small_problem("squared_hinge"), dg.ProjectedAscent(step=3.0))
    assert dg.solve(small_problem("hinge"), dg.ProjectedAscent(step=1e-3), max_epochs=5).trace[-1].epoch == 5


def test_box_ascent_refuses_a_gram_matrix_over_half_of_the_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box_ascent, "available_bytes", lambda: 2 * 8 * 24 * 24 - 2)
    with pytest.raises(ValueError, match=r"box_ascent needs .* GiB .* use sdca"):
        dg.solve(small_problem("hinge"), "box_ascent")
    monkeypatch.setattr(box_ascent, "available_bytes", lambda: 2 * 8 * 24 * 24)
    assert dg.solve(small_problem("hinge"), "box_ascent", tol=1e-3).status is dg.Status.CERTIFIED


@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive", "squared_hinge", "quantile", "logistic"])
def test_shrinking_touches_fewer_rows_and_proves_as_much(loss: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 6))
    y = X @ rng.normal(size=6) + 0.5 * rng.normal(size=400)
    problem = dg.Problem(X, np.sign(y) if dg.LOSSES[loss].task == "classification" else y, loss, 1e-2)
    plain = dg.solve(problem, "sdca", tol=1e-5, max_epochs=20_000)
    shrunk = dg.solve(problem, "sdca(shrinking=true)", tol=1e-5, max_epochs=20_000)
    assert (plain.status, shrunk.status) == (dg.Status.CERTIFIED, dg.Status.CERTIFIED)
    assert shrunk.certificate.primal == pytest.approx(plain.certificate.primal, rel=1e-4)
    if loss == "hinge":
        assert shrunk.trace[-1].epoch < plain.trace[-1].epoch


def test_closed_form_logistic_steps_certify_too() -> None:
    problem = small_problem("logistic", "csr", True, True)
    result = dg.solve(problem, "sdca(logistic_step=closed_form)", tol=1e-9, max_epochs=20_000)
    assert result.status is dg.Status.CERTIFIED
    duals = [record.dual for record in dg.solve(small_problem("logistic"), "sdca(logistic_step=closed_form)").trace]
    assert all(later >= earlier - 1e-15 for earlier, later in itertools.pairwise(duals))


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_dual_never_falls_in_an_ascent(sampling: str) -> None:
    problem = small_problem("hinge", "dense", True)
    duals = [r.dual for r in dg.solve(problem, dg.SDCA(sampling=sampling), tol=1e-9, max_epochs=300).trace]
    assert all(later >= earlier - 1e-14 for earlier, later in itertools.pairwise(duals))
