"""Every kernel against its slow twin: given the same order they agree to rounding, at every slice of every epoch.

The two sum in different orders: a kernel carries w and a scale along, the twin recomputes w from the duals. Their
difference grows with the number of updates (some hundred) times the unit roundoff (1e-16) times the largest values met,
which early steps of 1/λ make large: AGREEMENT is that with room, and still far below any difference in a formula.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse

import dualgap as dg
import reference
from dualgap.kernels import asdca as asdca_kernel
from dualgap.kernels import primal as primal_kernel
from dualgap.kernels import sdca as sdca_kernel
from dualgap.kernels.compile import is_interpreted, kernel
from dualgap.kernels.rows import PREFETCH, add_to, dot
from dualgap.rows import as_rows
from dualgap.solvers import Answer
from dualgap.solvers.base import INTERCEPT_SHARE, draw_batches, draw_order
from examples import FORMS, small_problem, small_rows
from reference_losses import closed_form_dual, table_of

pytestmark = pytest.mark.kernels

AGREEMENT = 1e-10
EPOCHS = 3

SWITCHES = list(product(FORMS, (False, True), (False, True)))  # form, weights, intercept


def random_of(seed: int) -> Callable[[int], np.random.Generator]:
    """The random numbers of an epoch, as the loop addresses them."""
    return lambda epoch: np.random.default_rng((seed, epoch, 0))


class Seen(NamedTuple):
    """What was read off a solver: per epoch its order and its answers by the updates done, then the end and the mean."""

    orders: list[np.ndarray]
    answers: list[dict[int, Answer]]
    end: Answer
    mean: Answer | None


def copied(answer: Answer) -> Answer:
    return Answer(answer.weights.copy(), answer.intercept, answer.duals.copy())


def drive(
    solver: dg.Solver,
    problem: dg.Problem,
    epochs: int = EPOCHS,
    average_from: int | None = None,
    slices: int = 3,
    orders: list[np.ndarray] | None = None,
) -> Seen:
    """Make the moves of the loop with a solver, each epoch cut into slices, averaging from one epoch on."""
    batch = solver.batch(problem)
    state = solver.start(problem, None)
    seen_orders, answers = [], []
    for epoch in range(epochs):
        if epoch == average_from:
            state = solver.begin_average(problem, state)
        steps = solver.plan(problem, state, epoch, random_of(7)) if orders is None else orders[epoch]
        updates = -(-len(steps) // batch)
        cuts = sorted({round(updates * part / slices) for part in range(slices + 1)})
        found = {}
        for begin, stop in pairwise(cuts):
            state = solver.advance(problem, state, steps[begin * batch : stop * batch])
            found[stop] = copied(solver.answer(problem, state))
        state = solver.end_epoch(problem, state)
        seen_orders.append(np.array(steps))
        answers.append(found)
    mean = None if average_from is None else copied(solver.average(problem, state))
    return Seen(seen_orders, answers, copied(solver.answer(problem, state)), mean)


def close(shown: Any, expected: Any, tolerance: float, size: float) -> None:
    np.testing.assert_allclose(shown, expected, rtol=tolerance, atol=tolerance * max(size, 1.0))


def assert_twins(
    seen: Seen, twin: reference.Run, average_from: int | None = None, tolerance: float = AGREEMENT
) -> None:
    """Kernel and twin agree in weights, intercept and duals, at each slice, at the end, and in the mean."""
    largest = max(float(np.abs(it.weights).max()) for it in twin.iterates)
    heaviest = max(float(np.abs(it.duals).max()) for it in twin.iterates)
    assert largest > 0.0
    pairs = [(answer, twin.epochs[e][k - 1]) for e, found in enumerate(seen.answers) for k, answer in found.items()]
    for answer, iterate in [*pairs, (seen.end, twin.end)]:
        close(answer.weights, iterate.weights, tolerance, largest)
        close(answer.duals, iterate.duals, tolerance, heaviest)
        close(answer.intercept, iterate.intercept, tolerance, largest)
    if average_from is not None:
        weights, duals = reference.mean_of(it for epoch in twin.epochs[average_from:] for it in epoch)
        close(seen.mean.weights, weights, tolerance, largest)
        close(seen.mean.duals, duals, tolerance, heaviest)


def same_bits(one: Seen, other: Seen) -> None:
    for left, right in ((one.end, other.end), (one.mean, other.mean)):
        assert (left is None) == (right is None)
        if left is not None:
            assert np.array_equal(left.weights, right.weights)
            assert np.array_equal(left.duals, right.duals)
            assert left.intercept == right.intercept


# ---- rows


@kernel
def one_dot(rows, i, weights):
    return dot(rows, i, weights)


@kernel
def one_add(rows, i, scale, weights):
    add_to(rows, i, scale, weights)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", FORMS)
def test_a_row_times_a_vector_and_a_row_added_to_one(form: str, dtype: type) -> None:
    # Rows of 0 to 11 values: the sparse product takes four at a time and then the rest.
    random = np.random.default_rng(1)
    X = np.tril(random.normal(size=(12, 12)), k=-1).astype(dtype)
    rows = as_rows(sparse.csr_matrix(X) if form == "csr" else X).arrays
    weights = random.normal(size=12)
    scale = np.float64(0.3)
    for i in range(12):
        exact = X[i].astype(np.float64)
        for function in (dot, one_dot):
            assert function(rows, np.uint32(i), weights) == pytest.approx(exact @ weights, rel=1e-13, abs=1e-14)
        for function in (add_to, one_add):
            moved = weights.copy()
            function(rows, np.uint32(i), scale, moved)
            np.testing.assert_allclose(moved, weights + 0.3 * exact, rtol=1e-14, atol=1e-15)


@pytest.mark.skipif(not is_interpreted(), reason="compiled code asks the processor, which tells nobody")
@pytest.mark.parametrize("form", FORMS)
def test_prefetching_stays_inside_the_row(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from dualgap.kernels import rows as module

    X = np.tril(np.ones((100, 100)))
    rows = as_rows(sparse.csr_matrix(X) if form == "csr" else X).arrays
    asked: list[int] = []
    monkeypatch.setattr(module, "fetch", lambda array, position: asked.append(int(position)))
    for i in (0, 3, 99):
        asked.clear()
        PREFETCH[type(rows)](rows, np.uint32(i))
        begin, end = (i * 100, i * 100 + 100) if form == "dense" else (int(rows.indptr[i]), int(rows.indptr[i + 1]))
        assert asked
        assert begin == min(asked)
        assert max(asked) < min(end, begin + 64)


# ---- sampling


@pytest.mark.parametrize("count", [1, 24, 1000])
def test_orders(count: int) -> None:
    random = random_of(3)
    plans = {
        s: [draw_order(count, s, epoch, random) for epoch in range(3)] for s in ("random", "permutation", "cyclic")
    }
    for sampling, orders in plans.items():
        for order in orders:
            assert order.size == count
            assert order.dtype == np.uint32
            if sampling != "random":
                assert np.array_equal(np.sort(order), np.arange(count))
    assert np.array_equal(plans["cyclic"][0], plans["cyclic"][2])
    again = draw_order(count, "permutation", 1, random)
    assert np.array_equal(again, plans["permutation"][1])
    if count > 1:
        assert not np.array_equal(plans["permutation"][0], plans["permutation"][1])
        assert not np.array_equal(plans["random"][0], plans["random"][1])
        # With replacement some rows come twice and about n/e never.
        drawn = np.unique(plans["random"][0]).size
        assert 0.5 * count < drawn < 0.8 * count


@pytest.mark.parametrize(
    ("count", "size"), [(24, 5), (24, 24), (100, 30), (10_000, 60), (1000, 30), (24, 2)], ids=lambda value: str(value)
)
def test_batches_hold_distinct_rows(count: int, size: int) -> None:
    # Large batches are drawn one by one, small ones all at once and again where a row comes twice.
    order = draw_batches(count, size, "random", 0, random_of(11))
    batches = -(-count // size)
    assert order.size == batches * size
    assert order.dtype == np.uint32
    assert order.max() < count
    for batch in order.reshape(batches, size):
        assert np.unique(batch).size == size
    assert np.array_equal(order, draw_batches(count, size, "random", 0, random_of(11)))
    if batches > 1:
        assert np.unique(order).size < order.size, "batches are drawn independently of each other"


def test_small_batches_repeat_rows_before_they_are_mended() -> None:
    # Batches of 30 out of 1,000 repeat a row in one of three draws, so mending is needed and was seen above.
    raw = random_of(11)(0).integers(0, 1000, (34, 30), dtype=np.uint32)
    assert any(np.unique(batch).size < 30 for batch in raw)


@pytest.mark.parametrize("sampling", ["permutation", "cyclic"])
def test_batches_without_replacement_are_a_partition(sampling: str) -> None:
    orders = [draw_batches(25, 4, sampling, epoch, random_of(2)) for epoch in (0, 1)]
    for order in orders:
        assert np.array_equal(np.sort(order), np.arange(25))
    assert np.array_equal(*orders) == (sampling == "cyclic")


@pytest.mark.parametrize("sampling", ["random", "permutation", "cyclic"])
@pytest.mark.parametrize("kind", [dg.SDCA, dg.Pegasos, dg.SGD])
def test_solvers_plan_with_the_sampling_they_were_given(kind: type[dg.Solver], sampling: str) -> None:
    problem = small_problem("hinge")
    solver = kind(sampling=sampling)
    state = solver.start(problem, None)
    for epoch in range(2):
        plan = solver.plan(problem, state, epoch, random_of(7))
        assert np.array_equal(plan, draw_order(24, sampling, epoch, random_of(7)))


# ---- SDCA


def sdca_twin(solver: dg.SDCA, problem: dg.Problem, orders: list[np.ndarray]) -> reference.Run:
    return reference.sdca(
        reference.plain(problem),
        table_of(problem.loss),
        orders,
        intercept_share=INTERCEPT_SHARE if problem.intercept else 0.0,
        modified_sgd_first=solver.first_epoch == "sgd",
        **({"step": closed_form_dual} if solver.logistic_step == "closed_form" else {}),
    )


SDCA_LOSSES = (
    "hinge",
    "squared_hinge",
    "logistic",
    "absolute",
    "epsilon_insensitive",
    "huber",
    "squared",
    "quantile(tau=0.2)",
)


@pytest.mark.parametrize(("form", "weights", "intercept"), SWITCHES)
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
@pytest.mark.parametrize("sampling", ["random", "permutation", "cyclic"])
def test_sdca(form: str, weights: bool, intercept: bool, loss: str, sampling: str) -> None:
    problem = small_problem(loss, form, weights, intercept)
    solver = dg.SDCA(sampling=sampling)
    seen = drive(solver, problem, average_from=1)
    assert_twins(seen, sdca_twin(solver, problem, seen.orders), average_from=1)


@pytest.mark.parametrize("loss", dg.LOSSES)
def test_sdca_on_every_loss(loss: str) -> None:
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


@pytest.mark.parametrize("step", ["newton", "closed_form"])
@pytest.mark.parametrize("first", ["sdca", "sgd"])
def test_both_logistic_steps(step: str, first: str) -> None:
    problem = small_problem("logistic", "csr", weights=True, intercept=True)
    solver = dg.SDCA(logistic_step=step, first_epoch=first)
    seen = drive(solver, problem)
    assert_twins(seen, sdca_twin(solver, problem, seen.orders))


def test_shrinking_leaves_alone_the_rows_the_twin_leaves_alone() -> None:
    problem = small_problem("hinge", strength=0.3)
    data, table = reference.plain(problem), table_of(problem.loss)
    solver = dg.SDCA(shrinking=True)
    state = solver.start(problem, None)
    left_alone = 0
    for epoch in range(12):
        steps = solver.plan(problem, state, epoch, random_of(7))
        before, threshold = state.duals.copy(), float(state.moving[sdca_kernel.THRESHOLD])
        was_active = state.active.copy()
        assert set(steps) == set(np.flatnonzero(was_active))
        state = solver.advance(problem, state, steps)
        duals, left, largest = reference.sdca_epoch_with_shrinking(data, table, steps, before, threshold)
        close(state.duals, duals, AGREEMENT, 1.0)
        close(state.weights, data.weights_of(duals), AGREEMENT, 1.0)
        assert state.moving[sdca_kernel.LARGEST] == pytest.approx(largest, abs=1e-12)
        assert set(np.flatnonzero(was_active)) - set(np.flatnonzero(state.active)) == left
        left_alone += len(left)
        state = solver.end_epoch(problem, state)
    assert left_alone > 0


def test_shrinking_counts_a_row_left_alone_as_an_update_of_the_average() -> None:
    problem = small_problem("hinge", strength=0.3)
    solver = dg.SDCA(shrinking=True)
    state = solver.begin_average(problem, solver.start(problem, None))
    iterates = []
    for epoch in range(8):
        for step in np.split(solver.plan(problem, state, epoch, random_of(7)), 1):
            for i in range(step.size):
                state = solver.advance(problem, state, step[i : i + 1])
                iterates.append(state.duals.copy())
        state = solver.end_epoch(problem, state)
    assert len(iterates) < 8 * 24
    close(solver.average(problem, state).duals, np.mean(iterates, axis=0), AGREEMENT, 1.0)


# ---- sub-gradients


def mobility(problem: dg.Problem) -> float:
    return INTERCEPT_SHARE * reference.plain(problem).mean_squared_norm


def primal_twin(
    solver: Any, problem: dg.Problem, orders: list[np.ndarray], eta: Callable[[int], float], radius: float = np.inf
) -> reference.Run:
    """The step in b is the step in w times its mobility, later by the delay the solver sets for schedules of 1/(λt)."""
    strength, rho = problem.strength, mobility(problem)
    delay = solver.step_for(problem).delay if isinstance(solver, dg.Pegasos) else 0.0
    later = lambda t: 1.0 / (1.0 / eta(t) + strength * delay) if delay else eta(t)
    return reference.sub_gradient(
        reference.plain(problem),
        table_of(problem.loss),
        orders,
        solver.batch(problem),
        eta,
        (lambda t: rho * later(t)) if problem.intercept else None,
        radius,
    )


def pegasos_step(problem: dg.Problem) -> Callable[[int], float]:
    """1/(λt), and 1/(λ(t + t₀)) with t₀ = smoothness·max‖x‖²/λ where slopes are unbounded; t counts from 1.

    With weights and a free intercept ‖x‖² is what one row bends the sampled objective by: (n s_i/S)(‖x_i‖² + ρ).
    """
    data = reference.plain(problem)
    late = 0.0
    if problem.loss.name in ("squared", "squared_hinge", "squared_epsilon_insensitive"):
        lengths = (data.X**2).sum(axis=1) + (mobility(problem) if problem.intercept else 0.0)
        late = 2.0 * float((lengths * data.shares).max()) * data.labels.size / data.total / data.strength
    return lambda t: 1.0 / (data.strength * (t + 1 + late))


def ball(problem: dg.Problem) -> float:
    """√(P(0)/λ)."""
    data, table = reference.plain(problem), table_of(problem.loss)
    at_zero = sum(s * table.value(0.0, y) for s, y in zip(data.shares, data.labels, strict=True)) / data.total
    return float(np.sqrt(at_zero / data.strength))


@pytest.mark.parametrize(("form", "weights", "intercept"), SWITCHES)
@pytest.mark.parametrize(
    ("loss", "batch", "projection", "sampling"),
    [
        ("hinge", 1, True, "random"),
        ("hinge", 5, False, "permutation"),
        ("squared_epsilon_insensitive", 1, False, "cyclic"),
        ("absolute", 7, True, "random"),
    ],
)
def test_pegasos(
    form: str, weights: bool, intercept: bool, loss: str, batch: int, projection: bool, sampling: str
) -> None:
    problem = small_problem(loss, form, weights, intercept)
    solver = dg.Pegasos(batch_size=batch, projection=projection, sampling=sampling)
    seen = drive(solver, problem, average_from=1)
    radius = ball(problem) if projection else np.inf
    twin = primal_twin(solver, problem, seen.orders, pegasos_step(problem), radius)
    assert_twins(seen, twin, average_from=1)
    if projection:
        on_the_ball = [np.linalg.norm(it.weights) >= radius * (1.0 - 1e-12) for it in twin.iterates]
        assert any(on_the_ball)


@pytest.mark.parametrize("loss", dg.LOSSES)
def test_pegasos_on_every_loss(loss: str) -> None:
    problem = small_problem(loss, "dense", weights=True, intercept=True)
    solver = dg.Pegasos(batch_size=3)
    seen = drive(solver, problem)
    assert_twins(seen, primal_twin(solver, problem, seen.orders, pegasos_step(problem)))


def test_the_ball_of_the_hinge_is_one_over_root_lambda() -> None:
    problem = small_problem("hinge", weights=True, strength=0.04)
    assert dg.Pegasos(projection=True).radius(problem) == pytest.approx(5.0, rel=1e-15)


SCHEDULES: dict[str, Callable[[float, float], Callable[[int], float]]] = {
    "constant": lambda step, strength: lambda t: step,
    "inverse": lambda step, strength: lambda t: step / (1.0 + strength * step * t),
    "sqrt": lambda step, strength: lambda t: step / np.sqrt(t + 1.0),
}


@pytest.mark.parametrize(("form", "weights", "intercept"), SWITCHES)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_sgd(form: str, weights: bool, intercept: bool, schedule: str) -> None:
    problem = small_problem("hinge" if weights else "huber", form, weights, intercept)
    solver = dg.SGD(step=0.2, schedule=schedule, batch_size=2, sampling="permutation")
    seen = drive(solver, problem, average_from=0)
    twin = primal_twin(solver, problem, seen.orders, SCHEDULES[schedule](0.2, problem.strength))
    assert_twins(seen, twin, average_from=0)


@pytest.mark.parametrize("average_from", [None, 0, 1])
def test_sgd_whose_scale_is_folded_in_many_times(average_from: int | None) -> None:
    # λη = 1/2 halves the scale at every step, and a fold comes every few dozen updates at most.
    problem = small_problem("hinge", "csr")
    solver = dg.SGD(step=0.5 / problem.strength, schedule="constant")
    seen = drive(solver, problem, epochs=6, average_from=average_from)
    assert primal_kernel.SMALLEST_SCALE**2 > 0.5 ** (6 * 24)
    twin = primal_twin(solver, problem, seen.orders, lambda t: 0.5 / problem.strength)
    assert_twins(seen, twin, average_from=average_from)


def test_sgd_with_a_step_that_turns_the_scale_negative() -> None:
    problem = small_problem("hinge")
    solver = dg.SGD(step=1.5 / problem.strength, schedule="constant")
    seen = drive(solver, problem, average_from=1)
    assert_twins(seen, primal_twin(solver, problem, seen.orders, lambda t: 1.5 / problem.strength), average_from=1)


def test_the_norm_for_the_projection_is_computed_anew_now_and_then() -> None:
    problem = small_problem("hinge", strength=0.1)
    solver = dg.Pegasos(projection=True)
    updates = primal_kernel.NORM_PERIOD + 50
    order = np.random.default_rng(4).integers(0, 24, updates, dtype=np.uint32)
    state = solver.start(problem, None)
    for begin, stop in ((0, updates - 100), (updates - 100, updates)):
        state = solver.advance(problem, state, order[begin:stop])
        exact = float(state.weights @ state.weights)
        assert state.moving[primal_kernel.SQUARED_NORM] == pytest.approx(exact, rel=1e-9)
    data = reference.plain(problem)
    eta = lambda t: 1.0 / (data.strength * (t + 1))
    twin = reference.sub_gradient(data, table_of(problem.loss), [order], 1, eta, radius=ball(problem))
    close(solver.answer(problem, state).weights, twin.end.weights, 1e-9, 1.0)


@pytest.mark.parametrize(("form", "weights", "intercept"), SWITCHES)
@pytest.mark.parametrize(("loss", "schedule"), [("hinge", "inverse"), ("logistic", "constant"), ("absolute", "sqrt")])
def test_subgradient(form: str, weights: bool, intercept: bool, loss: str, schedule: str) -> None:
    problem = small_problem(loss, form, weights, intercept)
    solver = dg.Subgradient(step=0.3, schedule=schedule)
    seen = drive(solver, problem, epochs=5, average_from=2, slices=1)
    twin = primal_twin(solver, problem, [np.arange(24)] * 5, SCHEDULES[schedule](0.3, problem.strength))
    assert_twins(seen, twin, average_from=2)


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
def test_asdca(form: str, weights: bool, loss: str, batch: int, theta: float, gamma: float) -> None:
    problem = small_problem(loss, form, weights)
    solver = dg.ASDCA(batch_size=batch, theta=theta, gamma=gamma)
    seen = drive(solver, problem, average_from=1)
    data, table = reference.plain(problem), table_of(problem.loss)
    twin = reference.asdca(data, table, seen.orders, batch, theta, gamma if problem.loss.has_kink else None)
    assert_twins(seen, twin, average_from=1)


@pytest.mark.parametrize("loss", dg.LOSSES)
def test_asdca_on_every_loss(loss: str) -> None:
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
    # θ = 1 is run as 1 − 1e-9, which leaves a lag of that size.
    assert_twins(seen, twin, average_from=average_from, tolerance=AGREEMENT if theta < 1.0 else 1e-8)


def test_the_papers_theta() -> None:
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
def test_box_ascent(form: str, weights: bool, loss: str) -> None:
    problem = small_problem(loss, form, weights)
    seen = drive(dg.BoxAscent(), problem, average_from=1)
    assert all(np.array_equal(order, np.arange(24)) for order in seen.orders)
    twin = reference.sdca(reference.plain(problem), table_of(problem.loss), seen.orders)
    assert_twins(seen, twin, average_from=1)


def test_box_ascent_is_the_reports_in_sum_form() -> None:
    problem = small_problem("hinge")
    seen = drive(dg.BoxAscent(), problem)
    duals = reference.box_ascent_in_sum_form(small_rows(), problem.labels, problem.strength * 24, EPOCHS)
    close(seen.end.duals, duals, AGREEMENT, 1.0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize(
    "loss", ["hinge", "squared_epsilon_insensitive", "huber", "epsilon_insensitive", "squared_hinge"]
)
def test_projected_ascent(form: str, weights: bool, loss: str) -> None:
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
    scaled = np.sqrt(data.shares / data.total)[:, None] * data.X
    largest = float(np.linalg.eigvalsh(scaled.T @ scaled).max()) / data.strength
    assert largest <= state.curvature <= 1.1 * largest
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


def test_shrinking_cut_into_slices_gives_the_same_bits() -> None:
    problem = small_problem("hinge", "dense", strength=0.3)
    solver = dg.SDCA(shrinking=True)
    whole = drive(solver, problem, epochs=8, slices=1)
    same_bits(whole, drive(solver, problem, epochs=8, slices=7))


@pytest.mark.parametrize("solver", STOCHASTIC.values(), ids=STOCHASTIC.keys())
@pytest.mark.parametrize("form", FORMS)
def test_float32_rows_are_summed_in_float64(solver: dg.Solver, form: str) -> None:
    """The stored values are rounded, the sums are not: the same rows stored as float64 give the same run.

    Plain Python multiplies a float32 by a Python float in float32, where compiled code does not, so it may differ more.
    """
    problem = small_problem("hinge", form, dtype=np.float32)
    assert problem.rows.stored
    wide = dg.Problem(reference.plain(problem).X, problem.labels, strength=problem.strength)
    seen, same = (drive(solver, p, average_from=1) for p in (problem, wide))
    tolerance = 1e-4 if is_interpreted() else AGREEMENT
    for left, right in ((seen.end, same.end), (seen.mean, same.mean)):
        close(left.weights, right.weights, tolerance, float(np.abs(right.weights).max()))
        close(left.duals, right.duals, tolerance, 1.0)


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
    close(shown.weights, given.weights, 1e-13, 1.0)
    close(shown.duals, given.duals, 1e-13, 1.0)
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
