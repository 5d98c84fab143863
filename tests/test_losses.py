"""Laws every loss of the table keeps; a new row is tested by being in the table."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dualgap as dg
import reference_losses
from dualgap.certificate import certify
from dualgap.losses import margin
from examples import EMPTY_ROW, loss_variants, small_problem
from reference_losses import table_of

VARIANTS = loss_variants()
KINKED = [loss for loss in VARIANTS if loss.has_kink]
every_loss = pytest.mark.parametrize("loss", VARIANTS, ids=repr)
every_kinked_loss = pytest.mark.parametrize("loss", KINKED, ids=repr)

SCORES = np.concatenate([np.linspace(-6.0, 6.0, 481), [-1e4, -300.0, -40.0, 40.0, 300.0, 1e4]])
WIDTH = 1e-4


def labels_for(loss: dg.Loss) -> tuple[float, ...]:
    if loss.task == "classification":
        return (-1.0, 1.0)
    return (-2.5, 0.0, 0.3) if loss.smallest_label < 0.0 else (0.0, 0.3, 2.5)


def with_every_label(loss: dg.Loss, scores: np.ndarray = SCORES) -> tuple[np.ndarray, np.ndarray]:
    """Every score for which float64 has the loss, with every label."""
    labels = np.array(labels_for(loss))
    with np.errstate(over="ignore"):
        scores = scores[[np.isfinite(table_of(loss).value(z, float(labels[0]))) for z in scores]]
    return np.tile(scores, labels.size), np.repeat(labels, scores.size)


def domain(loss: dg.Loss, label: float) -> tuple[float, float]:
    """The ends of the duals' interval, as far as clipping shows them."""
    ends = loss.clip(np.array([-1e6, 1e6]), np.full(2, label))
    return float(ends[0]), float(ends[1])


number = st.floats(-50.0, 50.0)


def test_every_loss_has_its_row_in_the_reference() -> None:
    assert set(reference_losses.LOSSES) == set(dg.LOSSES), "write the loss by cases in tests/reference_losses.py"
    assert all(name == kind.name for name, kind in dg.LOSSES.items())


@every_loss
def test_value_conjugate_and_candidate_are_the_tables(loss: dg.Loss) -> None:
    table = table_of(loss)
    scores, labels = with_every_label(loss)
    expected = [table.value(z, y) for z, y in zip(scores, labels, strict=True)]
    np.testing.assert_allclose(loss.value(scores, labels), expected, rtol=1e-12, atol=1e-14)
    slopes = [-table.slope(z, y) for z, y in zip(scores, labels, strict=True)]
    np.testing.assert_allclose(loss.dual_candidate(scores, labels), slopes, rtol=1e-12, atol=1e-14)
    for label in labels_for(loss):
        low, high = table.domain(label)
        duals = np.linspace(max(low, -30.0), min(high, 30.0), 61)
        lines = [table.dual_value(alpha, label) for alpha in duals]
        shown = loss.negative_conjugate(duals, np.full(duals.size, label))
        np.testing.assert_allclose(shown, lines, rtol=1e-12, atol=1e-13)


def some_duals(loss: dg.Loss, labels: np.ndarray) -> np.ndarray:
    """Duals all over the domain, its ends among them."""
    steps = np.linspace(-1.2, 1.2, labels.size) * min(loss.lipschitz, 8.0)
    return loss.clip(steps, labels)


@every_loss
def test_the_terms_of_a_certificate_are_the_definition(loss: dg.Loss) -> None:
    scores, labels = with_every_label(loss, SCORES[:481])
    duals = some_duals(loss, labels)
    terms = loss.terms(loss.argument(scores, labels), duals, labels, 0.0)
    np.testing.assert_array_equal(terms.conjugates, loss.negative_conjugate(duals, labels))
    np.testing.assert_allclose(terms.values, loss.value(scores, labels), rtol=1e-13, atol=1e-15)
    plain = terms.values - terms.conjugates + duals * scores
    np.testing.assert_allclose(terms.gaps, plain, rtol=1e-12, atol=1e-12)
    assert (terms.gaps >= 0.0).all()


@every_loss
@pytest.mark.parametrize("reach", [1e-9, 0.01, 2.0])
def test_rates_bound_the_slope_within_reach(loss: dg.Loss, reach: float) -> None:
    scores, labels = with_every_label(loss, SCORES[:481])
    duals = some_duals(loss, labels)
    rates = loss.terms(loss.argument(scores, labels), duals, labels, reach).rates
    each = loss.terms(loss.argument(scores, labels), duals, labels, np.full(scores.size, reach)).rates
    np.testing.assert_array_equal(each, rates)
    for move in np.linspace(-reach, reach, 9):
        slopes = np.abs(duals - loss.dual_candidate(scores + move, labels))
        assert (slopes <= rates * (1 + 1e-12) + 1e-12).all()


@every_loss
def test_further_digits_of_the_scores_reach_the_argument(loss: dg.Loss) -> None:
    """Near a kink a score of full digits is not enough: y − z of a pair keeps what the low part says."""
    scores, labels = with_every_label(loss, np.array([1e5, 1.0, -3.0]))
    low = np.full(scores.size, 1e-17)
    plain, pair = loss.argument(scores, labels), loss.argument(scores, labels, low)
    np.testing.assert_allclose(pair, plain, rtol=1e-12, atol=1e-12)
    on_kink = plain == 0.0
    if loss.has_product_form and on_kink.any():
        assert (np.abs(pair[on_kink]) == 1e-17).all()


@every_loss
@given(z=number, fraction=st.floats(0.0, 1.0), reach=st.floats(0.0, 40.0), pick=st.integers(0, 5))
def test_fenchel_young_inequality_holds(loss: dg.Loss, z: float, fraction: float, reach: float, pick: int) -> None:
    label = labels_for(loss)[pick % len(labels_for(loss))]
    low, high = (max(min(end, reach), -reach) for end in domain(loss, label))
    alpha, y, score = np.array([low + fraction * (high - low)]), np.array([label]), np.array([z])
    excess = loss.value(score, y) - loss.negative_conjugate(alpha, y) + alpha * score
    assert excess[0] >= -1e-12 * (1.0 + abs(z) * (1.0 + reach) + reach**2)


@every_loss
def test_fenchel_young_is_an_equality_at_the_candidate(loss: dg.Loss) -> None:
    scores, labels = with_every_label(loss)
    candidate = loss.dual_candidate(scores, labels)
    value, line = loss.value(scores, labels), loss.negative_conjugate(candidate, labels)
    size = 1.0 + np.abs(value) + np.abs(line) + np.abs(candidate * scores)
    assert (np.abs(value - line + candidate * scores) <= 1e-14 * size).all()


@every_loss
def test_candidates_bracket_the_differences_of_the_value(loss: dg.Loss) -> None:
    # φ is convex: the slope of a chord lies between the slopes at its ends, kink or not.
    scores, labels = with_every_label(loss)
    ahead, behind = loss.value(scores + WIDTH, labels), loss.value(scores - WIDTH, labels)
    chord = (ahead - behind) / (2.0 * WIDTH)
    rounding = 1e-15 * (1.0 + np.abs(ahead) + np.abs(scores)) / WIDTH
    assert (-loss.dual_candidate(scores - WIDTH, labels) <= chord + rounding).all()
    assert (chord - rounding <= -loss.dual_candidate(scores + WIDTH, labels)).all()


@every_loss
def test_curvature_is_the_difference_of_the_candidates(loss: dg.Loss) -> None:
    scores, labels = with_every_label(loss, np.linspace(-6.0, 6.0, 481) + 0.00317)
    before, here, after = (loss.second_derivative(scores + step, labels) for step in (-WIDTH, 0.0, WIDTH))
    smooth = np.abs(before - after) <= 1e-3 * np.maximum(here, 1.0)
    for kink in loss.kinks(labels):
        smooth &= np.abs(scores - kink) > 2.0 * WIDTH
    assert smooth.mean() > 0.9
    ahead, behind = loss.dual_candidate(scores + WIDTH, labels), loss.dual_candidate(scores - WIDTH, labels)
    difference = (behind - ahead) / (2.0 * WIDTH)
    np.testing.assert_allclose(here[smooth], difference[smooth], rtol=1e-6, atol=1e-8)


@every_loss
def test_kinks_are_where_the_slope_jumps_and_nowhere_else(loss: dg.Loss) -> None:
    assert loss.has_kink == bool(loss.kinks(np.ones(1)))
    assert loss.smoothness == np.inf or not loss.has_kink
    for label in labels_for(loss):
        places = np.array([kink[0] for kink in loss.kinks(np.array([label]))])
        scores = np.concatenate([SCORES[np.abs(SCORES) < 10.0], places])
        nearest = np.array([np.abs(places - z).min(initial=np.inf) for z in scores])
        left, right = (loss.dual_candidate(scores + step, np.full(scores.size, label)) for step in (-1e-9, 1e-9))
        jump = left - right
        assert (jump[nearest == 0.0] > 0.1).all()
        steepest = np.maximum(loss.second_derivative(scores, np.full(scores.size, label)), 1.0)
        assert (jump[nearest > 1e-6] <= 1e-7 * steepest[nearest > 1e-6]).all()


@every_loss
def test_the_conjugate_is_minus_infinity_outside_its_domain(loss: dg.Loss) -> None:
    for label in labels_for(loss):
        low, high = domain(loss, label)
        table_low, table_high = table_of(loss).domain(label)
        for end, outwards, true_end in ((low, -1.0, table_low), (high, 1.0, table_high)):
            if not np.isfinite(true_end):
                assert abs(end) == 1e6
                continue
            assert end == pytest.approx(true_end, abs=1e-15)
            duals = end + outwards * np.array([0.0, 1e-9, 1e-3, 1.0, 1e3])
            shown = loss.negative_conjugate(duals, np.full(duals.size, label))
            assert np.isfinite(shown[0])
            assert (shown[1:] == -np.inf).all()


@every_loss
@given(alpha=st.floats(-1e3, 1e3), pick=st.integers(0, 5))
def test_clip_finds_the_nearest_dual_inside(loss: dg.Loss, alpha: float, pick: int) -> None:
    label = labels_for(loss)[pick % len(labels_for(loss))]
    clipped = loss.clip(np.array([alpha]), np.array([label]))
    low, high = table_of(loss).domain(label)
    assert clipped[0] == pytest.approx(min(max(alpha, low), high), abs=0.0)
    assert np.isfinite(loss.negative_conjugate(clipped, np.array([label]))[0])


@every_loss
def test_smoothness_and_lipschitz_bound_the_slopes_and_are_reached(loss: dg.Loss) -> None:
    scores, labels = with_every_label(loss)
    slopes = np.abs(loss.dual_candidate(scores, labels))
    assert slopes.max() <= loss.lipschitz * (1.0 + 1e-15)
    if np.isfinite(loss.lipschitz):
        assert slopes.max() == pytest.approx(loss.lipschitz)
    if not np.isfinite(loss.smoothness):
        return
    for label in labels_for(loss):
        ordered = np.sort(SCORES)
        steps = np.abs(np.diff(loss.dual_candidate(ordered, np.full(ordered.size, label))))
        assert (steps <= loss.smoothness * np.diff(ordered) * (1.0 + 1e-9) + 1e-12).all()
    assert loss.second_derivative(scores, labels).max() == pytest.approx(loss.smoothness)


@every_kinked_loss
@pytest.mark.parametrize("gamma", [1.0, 0.25, 1e-3])
def test_smoothing_lowers_by_little_and_rounds_the_kink(loss: dg.Loss, gamma: float) -> None:
    smoothed = loss.smoothed(gamma)
    scores, labels = with_every_label(loss)
    sharp, soft = loss.value(scores, labels), smoothed.value(scores, labels)
    rounding = 1e-14 * (1.0 + np.abs(sharp))
    assert (soft <= sharp + rounding).all()
    assert (soft >= sharp - gamma * loss.lipschitz**2 / 2.0 - rounding).all()
    assert (sharp - soft).max() == pytest.approx(gamma * loss.lipschitz**2 / 2.0, rel=1e-6)
    assert smoothed.smoothness == pytest.approx(1.0 / gamma)
    assert not smoothed.has_kink
    steps = smoothed.dual_candidate(scores, labels) - smoothed.dual_candidate(scores + 1e-3 * gamma, labels)
    assert (steps >= -1e-12).all()
    assert (steps <= 1e-3 * (1.0 + 1e-9) + 1e-9).all()
    # Its duals are feasible for the loss itself, and its conjugate is lower by γα²/2.
    candidate = smoothed.dual_candidate(scores, labels)
    line = loss.negative_conjugate(candidate, labels) - gamma * candidate**2 / 2.0
    np.testing.assert_allclose(smoothed.negative_conjugate(candidate, labels), line, rtol=1e-12, atol=1e-13)


@every_loss
@pytest.mark.parametrize("gamma", [0.0, -1.0, float("nan"), float("inf"), "wide"])
def test_smoothing_refuses_a_bad_width_or_a_smooth_loss(loss: dg.Loss, gamma: object) -> None:
    with pytest.raises(ValueError, match="gamma"):
        loss.smoothed(gamma)  # type: ignore[arg-type]
    if not loss.has_kink:
        with pytest.raises(ValueError, match="smooth already"):
            loss.smoothed(1.0)


@every_loss
@pytest.mark.parametrize("size", [1e-3, 0.5, 1.0])
def test_the_slope_along_a_ray_is_the_derivative_of_the_conjugate(loss: dg.Loss, size: float) -> None:
    random = np.random.default_rng(3)
    labels = random.choice(labels_for(loss), 9)
    duals = size * loss.dual_candidate(random.normal(size=9), labels)
    limit = loss.ray_limit(duals, labels)
    assert limit >= 1.0 / size * (1 - 1e-12) or size == 1.0
    for t in (0.1, 0.5, 0.9):
        step = 1e-6 * t
        ahead, behind = (loss.negative_conjugate((t + sign * step) * duals, labels) for sign in (1, -1))
        slope = loss.ray_slope(t, duals, labels)
        np.testing.assert_allclose((ahead - behind) / (2 * step), slope, rtol=1e-6, atol=1e-8)


@every_loss
def test_the_ray_ends_where_the_domain_does(loss: dg.Loss) -> None:
    random = np.random.default_rng(4)
    labels = random.choice(labels_for(loss), 9)
    duals = 0.3 * loss.dual_candidate(random.normal(size=9), labels)
    limit = loss.ray_limit(duals, labels)
    if np.isfinite(limit):
        assert np.isfinite(loss.negative_conjugate(limit * (1 - 1e-9) * duals, labels)).all()
        assert not np.isfinite(loss.negative_conjugate(limit * (1 + 1e-9) * duals, labels)).all()
    else:
        assert np.isfinite(loss.negative_conjugate(1e6 * duals, labels)).all()
    assert loss.ray_limit(np.zeros(9), labels) == np.inf


@every_loss
@pytest.mark.parametrize("strength", [1e-2, 1.0, 30.0])
@pytest.mark.parametrize("size", [1e-3, 0.3, 1.0])
@pytest.mark.parametrize("score", [0.0, -50.0])
def test_the_judge_finds_the_best_of_a_ray(loss: dg.Loss, strength: float, size: float, score: float) -> None:
    problem = small_problem(loss, strength=strength)
    duals = size * loss.dual_candidate(score * np.sign(problem.labels), problem.labels)
    duals[EMPTY_ROW] = loss.dual_candidate(np.zeros(1), problem.labels[[EMPTY_ROW]])[0]
    limit = min(loss.ray_limit(duals, problem.labels), 1e5)
    grid = np.concatenate([limit * np.linspace(0.0, 1.0, 101), np.geomspace(1e-6, 1.0, 121) * limit])
    scaled = (loss.clip(t * duals, problem.labels) for t in grid)
    best = max(problem.dual(alpha, problem.weights_of(alpha)) for alpha in scaled)
    found = certify(problem, np.zeros(problem.rows.dimension), 0.0, duals, carried_target=np.inf).certificate.dual
    # A few digits are asked for, no more: D bounds P* at every point of the ray.
    assert found >= best - 1e-3 * abs(best)


@every_loss
def test_numbers_far_out_stay_numbers(loss: dg.Loss) -> None:
    scores, labels = with_every_label(loss, np.array([-1e100, -1e4, 1e4, 1e100]))
    assert np.isfinite(loss.value(scores, labels)).all()
    assert np.isfinite(loss.dual_candidate(scores, labels)).all()
    assert (loss.second_derivative(scores, labels) >= 0.0).all()


BAD = {
    "gamma": (0.0, -1.0, float("nan"), float("inf"), "wide", None),
    "epsilon": (-0.1, float("nan"), float("inf"), "wide", None),
    "tau": (0.0, 1.0, -0.5, 1.5, float("nan"), "half", None),
    "delta": (0.0, -1.0, float("nan"), float("inf"), "wide", None),
}


@pytest.mark.parametrize(
    ("kind", "option", "value"),
    [
        (kind, f.name, bad)
        for kind in dg.LOSSES.values()
        for f in fields(kind)
        for bad in BAD.get(f.name, ("nonsense",))
    ],  # type: ignore[arg-type]
)
def test_bad_parameters_are_refused_in_one_sentence(kind: type[dg.Loss], option: str, value: object) -> None:
    with pytest.raises(ValueError, match=option) as refusal:
        kind(**{option: value})
    sentence = str(refusal.value)
    assert kind.name in sentence
    assert "got" in sentence
    assert "\n" not in sentence


def test_an_insensitive_tube_may_have_no_width() -> None:
    scores, labels = with_every_label(dg.Absolute())
    narrow = dg.EpsilonInsensitive(epsilon=0.0)
    assert np.array_equal(narrow.value(scores, labels), dg.Absolute().value(scores, labels))


def test_the_entropy_sees_no_number_that_a_program_may_round_to_zero() -> None:
    """Some packages make their whole process round denormal numbers to zero, and then the logarithm of one is infinite."""
    assert float(np.finfo(np.float64).tiny) <= margin.TINY
    duals = np.array([0.0, 1e-310, 1e-300, 1.0])
    found = dg.Logistic().negative_conjugate(duals, np.ones(4))
    exact = np.array([0.0, 1e-310 * (1.0 + 310 * np.log(10.0)), 1e-300 * (1.0 + 300 * np.log(10.0)), 0.0])
    assert np.isfinite(found).all()
    # Where it is moved at all, D is the lower for it.
    assert (found <= exact * (1.0 + 1e-12)).all()
    np.testing.assert_allclose(found, exact, rtol=0.02)


@every_loss
def test_a_domain_holds_what_clipping_leaves_alone(loss: dg.Loss) -> None:
    labels = np.array([1.0, -1.0, 1.0, -1.0]) if loss.task == "classification" else np.array([0.3, -2.0, 1.5, 0.0])
    labels = np.maximum(labels, loss.smallest_label)
    inside = loss.dual_candidate(np.array([0.2, -0.4, 3.0, 0.7]), labels)
    assert loss.holds(inside, labels)
    for k in range(4):
        for far in (-50.0, 50.0, np.nan):
            moved = inside.copy()
            moved[k] = far
            assert loss.holds(moved, labels) is bool((loss.clip(moved, labels) == moved).all())
