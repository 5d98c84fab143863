"""SDCA with shrinking as a user meets it: few certificates, few steps, the same optimum, on every loss and storage."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

import dualgap as dg
from examples import small_problem


def badly_scaled(loss: str = "hinge", factor: float = 1e-2) -> dg.Problem:
    """Nearly dependent columns of unlike sizes and little regularization: plain coordinate ascent is slow here."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 8)) @ rng.normal(size=(8, 8)) * np.logspace(0, 1, 8)
    scores = X @ rng.normal(size=8) + rng.normal(size=300)
    y = np.sign(scores) if dg.LOSSES[loss].task == "classification" else scores / scores.std()
    return dg.Problem(X, y, loss, factor / 300)


@pytest.mark.parametrize("loss", ["hinge", "absolute", "epsilon_insensitive"])
def test_shrinking_takes_a_tenth_of_the_steps_where_plain_epochs_are_slow(loss: str) -> None:
    problem = badly_scaled(loss, 1.0)
    fast = dg.solve(problem, dg.SDCA(shrinking=True), tol=1e-4, record_every=inf, max_epochs=6000)
    assert fast.status is dg.Status.CERTIFIED
    plain = dg.solve(problem, dg.SDCA(), tol=1e-4, record_every=20, max_epochs=10 * fast.trace[-1].epoch)
    assert plain.status is dg.Status.EPOCHS_EXHAUSTED


@pytest.mark.parametrize("loss", dg.LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_a_run_without_records_asked_for_makes_few_certificates(loss: str, intercept: bool) -> None:
    problem = small_problem(loss, "csr", True, intercept, strength=0.3)
    result = dg.solve(problem, dg.SDCA(shrinking=True), tol=1e-6, record_every=inf)
    assert result.status is dg.Status.CERTIFIED
    assert len(result.trace) <= 6
    watched = dg.solve(problem, dg.SDCA(), tol=1e-9, max_epochs=20_000, record_every=10)
    assert result.certificate.primal == pytest.approx(watched.certificate.primal, rel=2e-6)


def test_records_change_no_bit() -> None:
    problem = badly_scaled()
    runs = [
        dg.solve(problem, dg.SDCA(shrinking=True), tol=0.0, max_epochs=40, record_every=every) for every in (inf, 0.3)
    ]
    assert np.array_equal(runs[0].duals, runs[1].duals)
    assert np.array_equal(runs[0].weights, runs[1].weights)


@pytest.mark.parametrize("options", [{"output": "average"}, {"output": "random"}, {"sampling": "random"}])
def test_averages_and_draws_with_replacement_are_those_of_plain_epochs(options: dict[str, str]) -> None:
    problem = small_problem("hinge", strength=0.3)
    plain, shrunk = (
        dg.solve(problem, dg.SDCA(shrinking=shrinking, **options), tol=0.0, max_epochs=6) for shrinking in (False, True)
    )
    assert np.array_equal(plain.duals, shrunk.duals)


def test_a_warm_start_and_a_modified_sgd_epoch_lead_to_the_same_optimum() -> None:
    problem = badly_scaled(factor=1.0)
    cold = dg.solve(problem, dg.SDCA(shrinking=True), tol=1e-6)
    first = dg.solve(problem, dg.SDCA(shrinking=True, first_epoch="sgd"), tol=1e-6)
    assert first.status is dg.Status.CERTIFIED
    warm = dg.solve(problem, dg.SDCA(shrinking=True), tol=1e-7, start=cold)
    assert warm.status is dg.Status.CERTIFIED
    assert warm.certificate.primal == pytest.approx(first.certificate.primal, rel=2e-6)
