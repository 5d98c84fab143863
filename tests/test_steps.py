"""What kernels know of a loss, one row at a time: its derivative, its exact dual step, and its KKT violation.

Each law is checked on the function as plain Python calls it and on a small kernel around it, which is how solvers do;
under NUMBA_DISABLE_JIT=1 the two are the same.
"""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import dualgap as dg
from dualgap.kernels import families
from dualgap.kernels.compile import kernel
from dualgap.kernels.families import base, kernel_loss
from examples import loss_variants
from reference_losses import best_dual, closed_form_dual, logistic_dual, table_of
from reference_losses import kkt_violation as reference_violation

pytestmark = pytest.mark.kernels


@kernel
def all_slopes(loss, scores, labels, out):
    """out_i = −φ′(z_i), compiled."""
    for i in range(out.size):
        out[i] = loss.negative_derivative(scores[i], labels[i])


@kernel
def all_steps(loss, scores, labels, duals, dual_curvatures, out):
    """out_i = the new dual of row i, compiled."""
    for i in range(out.size):
        out[i] = loss.dual_step(scores[i], labels[i], duals[i], dual_curvatures[i])


@kernel
def all_violations(loss, scores, labels, duals, out):
    """out_i = the KKT violation of row i, compiled."""
    for i in range(out.size):
        out[i] = loss.kkt_violation(scores[i], labels[i], duals[i])


def compiled(function, loss, *columns: np.ndarray) -> np.ndarray:
    out = np.empty(columns[0].size)
    function(loss, *columns, out)
    return out


def interpreted(function: str, loss, *columns: np.ndarray) -> np.ndarray:
    return np.array([getattr(loss, function)(*map(float, row)) for row in zip(*columns, strict=True)])


def agreeing(kernel_function, function: str, loss, *columns: np.ndarray) -> np.ndarray:
    """What the kernel says, once plain Python was seen to say the same."""
    said = compiled(kernel_function, loss, *columns)
    np.testing.assert_allclose(said, interpreted(function, loss, *columns), rtol=1e-13, atol=1e-15)
    return said


def with_smoothed(losses: list[dg.Loss]) -> list[dg.Loss]:
    return losses + [loss.smoothed(0.4) for loss in losses if loss.has_kink and loss.name != "hinge"]


VARIANTS = loss_variants()
every_loss = pytest.mark.parametrize("loss", VARIANTS, ids=repr)
NEWTON, CLOSED_FORM = kernel_loss(dg.Logistic()), kernel_loss(dg.Logistic(), "logistic_closed_form")


def labels_for(loss: dg.Loss) -> tuple[float, ...]:
    if loss.task == "classification":
        return (-1.0, 1.0)
    return (-0.9, 0.6) if loss.smallest_label < 0.0 else (0.0, 0.6, 5.0)


def duals_for(loss: dg.Loss, label: float) -> list[float]:
    """Both ends of the interval (or far out where there are none), zero, and places between."""
    ends = loss.clip(np.array([-3.0, 3.0]), np.full(2, label))
    return sorted({*np.linspace(*ends, 4).tolist(), 0.0})


def cases(loss: dg.Loss, scores: tuple[float, ...], dual_curvatures: tuple[float, ...] = (1.0,)) -> list[np.ndarray]:
    """Columns of scores, labels, duals and dual_curvatures: every combination."""
    rows = [
        (score, label, dual, dual_curvature)
        for label in labels_for(loss)
        for score, dual, dual_curvature in product(scores, duals_for(loss, label), dual_curvatures)
    ]
    return [np.array(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("loss", with_smoothed(VARIANTS), ids=repr)
def test_the_slope_is_the_losses_own_candidate(loss: dg.Loss) -> None:
    scores = np.concatenate([np.linspace(-5.0, 5.0, 101) + 0.003, [-1e4, -50.0, 50.0, 1e4]])
    for label in labels_for(loss):
        labels = np.full(scores.size, label)
        said = agreeing(all_slopes, "negative_derivative", kernel_loss(loss), scores, labels)
        np.testing.assert_allclose(said, loss.dual_candidate(scores, labels), rtol=1e-13, atol=1e-15)


def test_at_a_kink_the_slope_is_the_candidate_too() -> None:
    for loss in (loss for loss in VARIANTS if loss.has_kink):
        for label in labels_for(loss):
            for kink in loss.kinks(np.array([label])):
                said = kernel_loss(loss).negative_derivative(float(kink[0]), label)
                assert said == loss.dual_candidate(kink, np.array([label]))[0]


@every_loss
def test_the_dual_step_maximizes_the_dual_of_one_row(loss: dg.Loss) -> None:
    columns = cases(loss, scores=(-4.0, -0.73, 0.0, 0.31, 1.2, 5.0), dual_curvatures=(0.0, 1e-3, 0.5, 1.0, 40.0))
    new = agreeing(all_steps, "dual_step", kernel_loss(loss), *columns)
    scores, labels, duals, dual_curvatures = columns
    assert np.array_equal(loss.clip(new, labels), new)

    def gain(moved: np.ndarray) -> np.ndarray:
        line = loss.negative_conjugate(moved, labels) - (moved - duals) * scores
        return line - dual_curvatures * (moved - duals) ** 2 / 2.0

    reached = gain(new)
    assert np.isfinite(reached).all()
    rounding = 1e-13 * (1.0 + np.abs(reached) + np.abs(scores * new))
    wide = np.linspace(-1.0, 1.0, 201)
    for place in np.concatenate([3.0 * wide, 1e-3 * wide]):
        # A grid over the whole interval, and a finer one around the answer.
        for grid in (loss.clip(np.full(new.size, place), labels), loss.clip(new + place, labels)):
            assert (gain(grid) <= reached + rounding).all()


@every_loss
def test_the_dual_step_is_the_root_that_bisection_finds(loss: dg.Loss) -> None:
    columns = cases(loss, scores=(-2.3, 0.17, 0.9), dual_curvatures=(0.0, 0.02, 3.0))
    new = agreeing(all_steps, "dual_step", kernel_loss(loss), *columns)
    expected = [best_dual(table_of(loss), *map(float, row)) for row in zip(*columns, strict=True)]
    np.testing.assert_allclose(new, expected, rtol=1e-11, atol=1e-12)


@every_loss
def test_a_second_step_from_the_answer_stays(loss: dg.Loss) -> None:
    scores, labels, duals, dual_curvatures = cases(loss, scores=(-2.3, 0.17, 0.9), dual_curvatures=(0.02, 3.0))
    step = kernel_loss(loss)
    new = agreeing(all_steps, "dual_step", step, scores, labels, duals, dual_curvatures)
    moved = scores + dual_curvatures * (new - duals)
    again = agreeing(all_steps, "dual_step", step, moved, labels, new, dual_curvatures)
    np.testing.assert_allclose(again, new, rtol=1e-10, atol=1e-11)
    push = agreeing(all_violations, "kkt_violation", step, moved, labels, new)
    # There the dual is at rest: it wants to move by rounding alone, unless a bound holds it.
    assert (push <= 1e-11).all()
    inside = np.array(
        [table_of(loss).domain(y)[0] < a < table_of(loss).domain(y)[1] for y, a in zip(labels, new, strict=True)]
    )
    free = inside & (new != 0.0)
    assert free.any()
    assert (np.abs(push[free]) <= 1e-11).all()


LOGISTIC_SCORES = (-1e4, -2e3, -700.0, -37.0, -4.0, -0.3, 0.0, 1e-9, 0.7, 5.0, 36.0, 300.0, 1e4)
LOGISTIC_DUALS = (0.0, 1e-300, 1e-20, 1e-3, 0.25, 0.5, 0.9, 1.0 - 1e-9, 1.0 - 2.0**-53, 1.0)


def logistic_cases() -> list[np.ndarray]:
    rows = [
        (score, label, label * dual, dual_curvature)
        for score, label, dual in product(LOGISTIC_SCORES, (-1.0, 1.0), LOGISTIC_DUALS)
        for dual_curvature in np.logspace(-8, 8, 9)
    ]
    return [np.array(column) for column in zip(*rows, strict=True)]


def test_the_guarded_newton_step_is_right_to_ten_digits_everywhere() -> None:
    columns = logistic_cases()
    assert columns[2].min() == -1.0
    assert 1.0 - 2.0**-53 in columns[2]
    new = agreeing(all_steps, "dual_step", NEWTON, *columns)
    error = np.abs(new - np.asarray(logistic_dual(*columns), dtype=np.float64))
    assert error.max() <= 1e-10
    inside = columns[1] * new
    assert ((inside >= 0.0) & (inside <= 1.0)).all()


def test_no_cycle_where_the_sigmoid_saturates() -> None:
    # Newton kept inside its bracket, without a guard, jumps for ever between the flat ends of σ on some of these rows:
    # the first two are such, and so are a few in a thousand of the others.
    random = np.random.default_rng(5)
    scores = np.concatenate([[-2.9237049426587767, -2.8771474643124244], random.uniform(-3.5, -2.3, 2000)])
    duals = np.concatenate([[0.0, 0.0], random.choice([0.0, 1e-300], 2000)])
    dual_curvatures = np.concatenate([[29.66560413898693, 8997.33699794388], 10.0 ** random.uniform(1.0, 4.0, 2000)])
    for label in (1.0, -1.0):
        columns = label * scores, np.full(scores.size, label), label * duals, dual_curvatures
        new = compiled(all_steps, NEWTON, *columns)
        expected = np.asarray(logistic_dual(*columns), dtype=np.float64)
        np.testing.assert_allclose(new, expected, rtol=0.0, atol=1e-12)


def test_the_closed_form_is_the_papers_and_never_lowers_the_dual() -> None:
    scores, labels, duals, dual_curvatures = logistic_cases()
    new = agreeing(all_steps, "dual_step", CLOSED_FORM, scores, labels, duals, dual_curvatures)
    inside = labels * new
    assert ((inside >= 0.0) & (inside <= 1.0)).all()
    near = np.abs(scores) < 500.0
    rows = zip(scores[near], labels[near], duals[near], dual_curvatures[near], strict=True)
    expected = [closed_form_dual(table_of(dg.Logistic()), *map(float, row)) for row in rows]
    np.testing.assert_allclose(new[near], expected, rtol=1e-13, atol=1e-15)

    # Δ·score is where digits go at scores of 1e4, so the rise is summed from the small parts.
    loss, delta = dg.Logistic(), new - duals
    rise = loss.negative_conjugate(new, labels) - loss.negative_conjugate(duals, labels)
    rise = rise - delta * scores - dual_curvatures * delta**2 / 2.0
    assert (rise >= -1e-14 * (1.0 + np.abs(delta * scores) + dual_curvatures * delta**2)).all()
    exact = compiled(all_steps, NEWTON, scores, labels, duals, dual_curvatures)
    wants_to_move = np.abs(exact - duals) > 1e-6
    assert (rise[wants_to_move] > 0.0).all()


@every_loss
def test_kkt_violation_is_negative_exactly_where_a_bound_holds(loss: dg.Loss) -> None:
    scores, labels, duals, _ = cases(loss, scores=(-4.0, -1.0, -0.73, 0.0, 0.31, 1.0, 1.2, 5.0))
    said = agreeing(all_violations, "kkt_violation", kernel_loss(loss), scores, labels, duals)
    table = table_of(loss)
    expected = np.array(
        [reference_violation(table, *map(float, row)) for row in zip(scores, labels, duals, strict=True)]
    )
    # A held dual does not move, at whatever dual_curvature; one that pushes does.
    stays = np.array(
        [best_dual(table, *map(float, row), 0.1) == row[2] for row in zip(scores, labels, duals, strict=True)]
    )
    if kernel_loss(loss).conjugate_curvature_varies():
        # The conjugate's slope is infinite at both ends; the violation is how far the dual is from its candidate.
        np.testing.assert_allclose(said, np.abs(loss.dual_candidate(scores, labels) - duals), rtol=1e-13)
        return
    np.testing.assert_allclose(said, expected, rtol=1e-13, atol=1e-15)
    assert (said[stays] <= 1e-15).all()
    assert (said[~stays] > 0.0).all()
    if np.isfinite(loss.lipschitz):
        assert (said < 0.0).any()


def test_losses_reach_kernels_as_their_numbers() -> None:
    for loss in with_smoothed(VARIANTS):
        step = kernel_loss(loss)
        assert isinstance(step, tuple)
        assert all(isinstance(value, float) for value in step)
    assert type(NEWTON) is not type(CLOSED_FORM)


FAMILIES = sorted({path.stem for path in Path(families.__file__).parent.glob("*.py")} - {"__init__", "base"})


def family_class(name: str) -> type:
    return import_module(f"dualgap.kernels.families.{name}").FAMILY


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_has_every_scalar_function_with_its_arguments(name: str) -> None:
    family = family_class(name)
    for function in base.NAMES:
        declared = signature(getattr(base.ScalarFunctions, function))
        assert signature(getattr(family, function)) == declared, f"{name}.{function}"


def test_family_classes_have_names_of_their_own() -> None:
    # Numba names a compiled function after the class, so two classes of one name would share machine code.
    assert len({family_class(name).__name__ for name in FAMILIES}) == len(FAMILIES)


def test_every_loss_names_a_family() -> None:
    assert {loss.family for loss in dg.LOSSES.values()} <= set(FAMILIES)
