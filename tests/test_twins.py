"""SDCA, ASDCA and the dual ascents against their slow twins: given the same order they agree to rounding."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import dualgap as dg
import reference
from driving import AGREEMENT, EPOCHS, assert_twins, close, copied, drive, random_of, same_bits
from dualgap.kernels import asdca as asdca_kernel
from dualgap.linalg.floats import HALF_DIGITS
from dualgap.solvers.base import INTERCEPT_FRACTION, SAMPLINGS, first_intercept
from examples import FORMS, small_problem, small_rows
from reference_losses import closed_form_dual, table_of

pytestmark = pytest.mark.kernels

SWITCHES = list(product(FORMS, (False, True), (False, True)))  # form, weights, intercept


def sdca_twin(solver: dg.SDCA, problem: dg.Problem, orders: list[np.ndarray]) -> reference.Run:
    return reference.sdca(
        reference.plain(problem),
        table_of(problem.loss),
        orders,
        intercept_fraction=INTERCEPT_FRACTION if problem.intercept else 0.0,
        modified_sgd_first=solver.first_epoch == "sgd",
        center=first_intercept(problem),
        **({"step": closed_form_dual} if solver.logistic_step == "closed_form" else {}),
    )


@pytest.mark.parametrize(("form", "weights", "intercept"), SWITCHES)
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_sdca_equals_its_twin(form: str, weights: bool, intercept: bool, loss: str, sampling: str) -> None:
    problem = small_problem(loss, form, weights, intercept)
    solver = dg.SDCA(sampling=sampling)
    seen = drive(solver, problem, average_from=1)
    assert_twins(seen, sdca_twin(solver, problem, seen.orders), average_from=1)


@pytest.mark.parametrize("loss", dg.LOSSES)
def test_sdca_equals_its_twin_on_every_loss(loss: str) -> None:
    problem = small_problem(loss, "dense", weights=True, intercept=True)
    seen = drive(dg.SDCA(), problem)
    assert_twins(seen, sdca_twin(dg.SDCA(), problem, seen.orders))


@pytest.mark.parametrize(("form", "weights", "intercept"), SWITCHES)
@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_the_modified_sgd_first_epoch(form: str, weights: bool, intercept: bool, loss: str) -> None:
    problem = small_problem(loss, form, weights, intercept)
    solver = dg.SDCA(first_epoch="sgd", sampling="random")
    seen = drive(solver, problem, average_from=1)
    assert np.array_equal(np.sort(seen.orders[0]), np.arange(24)), "its first epoch sees each row once"
    assert np.unique(seen.orders[1]).size < 24
    assert_twins(seen, sdca_twin(solver, problem, seen.orders), average_from=1)


@pytest.mark.parametrize(("form", "weights", "intercept"), SWITCHES)
@pytest.mark.parametrize("loss", ["hinge", "poisson"])
def test_sdca_under_an_elastic_net(form: str, weights: bool, intercept: bool, loss: str) -> None:
    problem = small_problem(loss, form, weights, intercept, l1_ratio=0.4)
    solver = dg.SDCA()
    seen = drive(solver.specialized(problem), problem)
    twin = reference.sdca(
        reference.plain(problem),
        table_of(problem.loss),
        seen.orders,
        intercept_fraction=INTERCEPT_FRACTION if intercept else 0.0,
        center=first_intercept(problem),
        ratio=0.4,
    )
    assert_twins(seen, twin)
    assert 0 < np.count_nonzero(twin.end.weights) < 5


@pytest.mark.parametrize("step", ["newton", "closed_form"])
@pytest.mark.parametrize("first", ["sdca", "sgd"])
def test_both_logistic_steps_equal_their_twins(step: str, first: str) -> None:
    problem = small_problem("logistic", "csr", weights=True, intercept=True)
    solver = dg.SDCA(logistic_step=step, first_epoch=first)
    seen = drive(solver, problem)
    assert_twins(seen, sdca_twin(solver, problem, seen.orders))


# ---- ASDCA


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize(
    ("loss", "batch", "theta", "gamma"),
    [
        ("hinge", 5, 0.1, 0.5),
        ("smoothed_hinge(gamma=0.7)", 8, 0.05, 1.0),
        ("epsilon_insensitive", 1, 0.3, 0.2),
        ("squared", 3, 0.02, 1.0),
    ],
)
def test_asdca_equals_its_twin(form: str, weights: bool, loss: str, batch: int, theta: float, gamma: float) -> None:
    problem = small_problem(loss, form, weights)
    solver = dg.ASDCA(batch_size=batch, theta=theta, gamma=gamma)
    seen = drive(solver, problem, average_from=1)
    data, table = reference.plain(problem), table_of(problem.loss)
    twin = reference.asdca(data, table, seen.orders, batch, theta, gamma if problem.loss.has_kink else None)
    assert_twins(seen, twin, average_from=1)


@pytest.mark.parametrize("loss", [loss for loss in dg.LOSSES if loss != "poisson"])
def test_asdca_equals_its_twin_on_every_loss(loss: str) -> None:
    problem = small_problem(loss, "csr", weights=True)
    solver = dg.ASDCA(batch_size=4, theta=0.05, gamma=0.3)
    seen = drive(solver, problem)
    gamma = 0.3 if problem.loss.has_kink else None
    assert_twins(seen, reference.asdca(reference.plain(problem), table_of(problem.loss), seen.orders, 4, 0.05, gamma))


@pytest.mark.parametrize("theta", [0.7, 1.0])
@pytest.mark.parametrize("average_from", [None, 0, 1])
def test_asdca_whose_lag_is_folded_in_many_times(theta: float, average_from: int | None) -> None:
    problem = small_problem("smoothed_hinge", "dense", strength=1.0)
    solver = dg.ASDCA(batch_size=2, theta=theta)
    seen = drive(solver, problem, epochs=6, average_from=average_from)
    assert asdca_kernel.SMALLEST_SCALE**3 > (1.0 - 0.7) ** (6 * 12)
    twin = reference.asdca(reference.plain(problem), table_of(problem.loss), seen.orders, 2, theta)
    # θ = 1 is run as 1 − HALF_DIGITS, which leaves a lag of that size.
    assert_twins(seen, twin, average_from=average_from, tolerance=AGREEMENT if theta < 1.0 else HALF_DIGITS)


def test_theta_of_the_paper_equals_its_twin() -> None:
    # θ = ¼·min{1, √(γλn/m), γλn, (γλn)^⅔/m^⅓}, with γ divided by max‖x‖² where rows are longer than 1.
    problem = small_problem("smoothed_hinge(gamma=0.5)")
    longest = float((small_rows() ** 2).sum(axis=1).max())
    assert longest > 1.0
    for batch, strength in ((1, 1e-2), (8, 1e-2), (8, 10.0), (3, 0.4)):
        problem = small_problem("smoothed_hinge(gamma=0.5)", strength=strength)
        size = 0.5 / longest * strength * 24
        expected = min(1.0, np.sqrt(size / batch), size, size ** (2 / 3) / batch ** (1 / 3)) / 4.0
        assert dg.ASDCA(batch_size=batch).theta_for(problem) == pytest.approx(expected, rel=1e-12)
        larger = dg.ASDCA(batch_size=batch, theta="16x").theta_for(problem)
        assert larger == pytest.approx(min(1.0, 16.0 * expected), rel=1e-12)
    assert dg.ASDCA(theta=0.3).theta_for(problem) == 0.3


# ---- dual ascent


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive", "huber", "logistic"])
def test_box_ascent_equals_its_twin(form: str, weights: bool, loss: str) -> None:
    problem = small_problem(loss, form, weights)
    seen = drive(dg.BoxAscent(), problem, average_from=1)
    assert all(np.array_equal(order, np.arange(24)) for order in seen.orders)
    twin = reference.sdca(reference.plain(problem), table_of(problem.loss), seen.orders)
    assert_twins(seen, twin, average_from=1)


def test_box_ascent_is_the_reports_in_sum_form() -> None:
    problem = small_problem("hinge")
    seen = drive(dg.BoxAscent(), problem)
    duals = reference.box_ascent_in_sum_form(small_rows(), problem.labels, problem.strength * 24, EPOCHS)
    close(seen.end.duals, duals)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize(
    "loss", ["hinge", "squared_epsilon_insensitive", "huber", "epsilon_insensitive", "squared_hinge"]
)
def test_projected_ascent_equals_its_twin(form: str, weights: bool, loss: str) -> None:
    problem = small_problem(loss, form, weights)
    step = 0.003
    seen = drive(dg.ProjectedAscent(step=step), problem, epochs=8, average_from=3, slices=1)
    twin = reference.projected_ascent(reference.plain(problem), table_of(problem.loss), 8, step)
    assert_twins(seen, twin, average_from=3)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_projected_ascent_steps_by_the_largest_eigenvalue_and_never_descends(loss: str, weights: bool) -> None:
    problem = small_problem(loss, "csr", weights)
    data = reference.plain(problem)
    solver = dg.ProjectedAscent()
    state = solver.start(problem, None)
    scaled = np.sqrt(data.sample_weight / data.total)[:, None] * data.X
    largest = float(np.linalg.eigvalsh(scaled.T @ scaled).max()) / data.strength
    assert largest <= state.dual_curvature <= 1.1 * largest
    values = []
    for _ in range(30):
        state = solver.advance(problem, state, range(24))
        values.append(problem.dual(state.duals, state.weights))
    assert (np.diff(values) >= -1e-14).all()
    assert values[-1] > values[0]


# ---- storage and slices

STOCHASTIC = {
    "sdca": dg.SDCA(sampling="random"),
    "sdca with modified sgd": dg.SDCA(first_epoch="sgd"),
    "asdca": dg.ASDCA(batch_size=5, theta=0.1),
    "pegasos": dg.Pegasos(batch_size=3, projection=True),
    "sgd": dg.SGD(step=0.2, schedule="sqrt"),
    "box_ascent": dg.BoxAscent(),
}


@pytest.mark.parametrize("solver", STOCHASTIC.values(), ids=STOCHASTIC.keys())
@pytest.mark.parametrize("form", FORMS)
def test_an_epoch_cut_into_slices_gives_the_same_bits(solver: dg.Solver, form: str) -> None:
    free = isinstance(solver, dg.SDCA | dg.Pegasos | dg.SGD)
    problem = small_problem("hinge", form, weights=True, intercept=free)
    whole = drive(solver, problem, average_from=1, slices=1)
    for slices in (2, 24):
        same_bits(whole, drive(solver, problem, average_from=1, slices=slices))


@pytest.mark.parametrize("solver", STOCHASTIC.values(), ids=STOCHASTIC.keys())
@pytest.mark.parametrize("form", FORMS)
def test_float32_rows_are_summed_in_float64(solver: dg.Solver, form: str) -> None:
    # The stored values are rounded, the sums are not: the same rows stored as float64 give the same run.
    problem = small_problem("hinge", form, dtype=np.float32)
    assert problem.rows.arrays[0].dtype == np.float32
    wide = dg.Problem(reference.plain(problem).X, problem.labels, strength=problem.strength)
    seen, same = (drive(solver, p, average_from=1) for p in (problem, wide))
    for left, right in ((seen.end, same.end), (seen.mean, same.mean)):
        close(left.weights, right.weights, float(np.abs(right.weights).max()))
        close(left.duals, right.duals)


# ---- starting from an answer


@pytest.mark.parametrize(
    "solver", [*STOCHASTIC.values(), dg.Subgradient(step=0.1), dg.ProjectedAscent()], ids=lambda s: s.name
)
def test_a_warm_start_keeps_the_answer_it_was_given(solver: dg.Solver) -> None:
    problem = small_problem("hinge", weights=True)
    given = drive(dg.SDCA(), problem).end
    before = copied(given)
    state = solver.start(problem, given)
    shown = solver.answer(problem, state)
    close(shown.weights, given.weights, tolerance=1e-13)
    close(shown.duals, given.duals, tolerance=1e-13)
    state = solver.advance(problem, state, solver.plan(problem, state, 1, random_of(7)))
    assert np.array_equal(given.duals, before.duals), "a start is read, never written"
    assert np.array_equal(given.weights, before.weights)


@pytest.mark.parametrize(
    "solver", [*STOCHASTIC.values(), dg.Subgradient(step=0.1), dg.ProjectedAscent()], ids=lambda s: s.name
)
def test_the_average_of_nothing_is_the_last_iterate(solver: dg.Solver) -> None:
    problem = small_problem("hinge")
    state = solver.start(problem, None)
    state = solver.advance(problem, state, solver.plan(problem, state, 0, random_of(7)))
    last = copied(solver.answer(problem, state))
    state = solver.begin_average(problem, state)
    assert np.array_equal(solver.average(problem, state).weights, last.weights)
    assert replace(solver, output="average") != solver
