"""The loop: records, limits, endings, seeds, outputs and warm starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import dualgap as dg
from dualgap import Status
from dualgap.trace import FIELDS

STOCHASTIC = ["sdca", "sdca(sampling=random)", "asdca", "pegasos", "pegasos(batch_size=4)", "sgd"]
ALL = [*STOCHASTIC, "subgradient", "projected_ascent", "box_ascent"]


@pytest.fixture(scope="module")
def problem() -> dg.Problem:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 5))
    return dg.Problem(X, np.sign(X[:, 0] + 0.5 * rng.normal(size=50)), "hinge", 1e-2)


@pytest.mark.parametrize("solver", ALL)
def test_records_count_examples_updates_and_time(problem: dg.Problem, solver: str) -> None:
    trace = dg.solve(problem, solver, tol=0, max_epochs=5).trace
    batch = dg.solve(problem, solver, tol=0, max_epochs=1).solver.batch(problem)
    # A record follows the first update that completes an epoch, so it may be late by a part of a batch.
    assert [record.epoch for record in trace] == pytest.approx([0, 1, 2, 3, 4, 5], abs=batch / 50 if batch < 50 else 0)
    assert trace[-1].updates == -(-5 * 50 // batch)
    for earlier, later in zip(trace, trace.records[1:], strict=False):
        assert later.seconds >= earlier.seconds
        assert later.cpu_seconds >= earlier.cpu_seconds
        assert 0 <= later.support <= 50
        assert later.gap >= 0
        assert 0 <= later.gap - (later.primal - later.dual) <= 1e-12
        assert 0 <= later.train_score <= 1
    assert set(trace.columns()) == set(FIELDS)
    frame = trace.to_frame()
    assert list(frame.columns) == list(FIELDS)
    assert len(frame) == 6


@pytest.mark.parametrize("solver", [*ALL, "sdca(output=average)", "pegasos(output=random)", "sdca(first_epoch=sgd)"])
def test_recording_changes_no_number(problem: dg.Problem, solver: str) -> None:
    plain = dg.solve(problem, solver, tol=0, max_epochs=6, record_every=6)
    often = dg.solve(problem, solver, tol=0, max_epochs=6, record_every=0.1)
    single = dg.solve(problem, solver, tol=0, max_epochs=6, record_updates=1)
    for other in (often, single):
        np.testing.assert_array_equal(plain.weights, other.weights)
        np.testing.assert_array_equal(plain.duals, other.duals)
    assert len(single.trace) == single.trace[-1].updates + 1


@pytest.mark.parametrize("solver", ALL)
def test_same_seed_same_bits_other_seed_other_run(problem: dg.Problem, solver: str) -> None:
    first, again, other = (dg.solve(problem, solver, tol=0, max_epochs=3, seed=s) for s in (7, 7, 8))
    np.testing.assert_array_equal(first.weights, again.weights)
    assert [r.primal for r in first.trace] == [r.primal for r in again.trace]
    if solver in STOCHASTIC:
        assert not np.array_equal(first.weights, other.weights)


def test_records_inside_an_epoch(problem: dg.Problem) -> None:
    trace = dg.solve(problem, "sdca", tol=0, max_epochs=1, record_every=0.1).trace
    assert [record.updates for record in trace] == list(range(0, 51, 5))
    trace = dg.solve(
        problem, "pegasos(batch_size=8, sampling=permutation)", tol=0, max_epochs=2, record_updates=5
    ).trace
    assert [record.updates for record in trace] == [0, 5, 10, 14]
    assert trace[-1].epoch == 2.0


def test_max_epochs_may_be_a_part_of_one(problem: dg.Problem) -> None:
    result = dg.solve(problem, "sdca", tol=0, max_epochs=0.5)
    assert result.trace[-1].updates == 25
    assert result.status is Status.EPOCHS_EXHAUSTED


def test_a_run_ends_certified(problem: dg.Problem) -> None:
    result = dg.solve(problem, tol=1e-5)
    assert result.status is Status.CERTIFIED
    assert result.certificate.relative_gap <= 1e-5
    assert "newton" in result.reason
    assert result.status.value == "the duality gap reached tol"


def test_a_run_without_limits_ends_after_1000_epochs(problem: dg.Problem) -> None:
    result = dg.solve(problem, "pegasos", tol=0)
    assert result.status is Status.EPOCHS_EXHAUSTED
    assert result.trace[-1].epoch == 1000


def test_a_time_limit_ends_a_run_with_an_answer(problem: dg.Problem) -> None:
    begin = time.monotonic()
    result = dg.solve(problem, "pegasos", tol=0, max_seconds=0.3)
    assert result.status is Status.TIME_EXHAUSTED
    assert time.monotonic() - begin < 10
    assert result.trace[-1].epoch > 1


def test_a_callback_sees_each_record_and_may_stop(problem: dg.Problem) -> None:
    seen: list[dg.Record] = []

    def callback(record: dg.Record) -> bool:
        seen.append(record)
        return record.epoch >= 2

    result = dg.solve(problem, "sdca", tol=0, callback=callback)
    assert result.status is Status.STOPPED
    assert seen == result.trace.records
    assert seen[-1].epoch == 2
    assert result.certificate.primal == seen[-1].primal


def test_stalled_when_float64_has_no_more_to_give(problem: dg.Problem) -> None:
    for loss in ("hinge", "logistic", "squared_hinge"):
        result = dg.solve(problem.with_loss(dg.LOSSES[loss]()), "sdca", tol=1e-30, max_epochs=100_000)
        assert result.status is Status.STALLED
        assert result.certificate.relative_gap < 1e-12


def test_a_run_that_leaves_float64_is_broken_and_returns_numbers() -> None:
    X = np.array([[1.0, 2.0], [3.0, -4.0], [0.5, 1.0]])
    problem = dg.Problem(X, [1.0, 2.0, 3.0], "squared", 1e-2)
    result = dg.solve(problem, "sgd(schedule=constant, step=1000)", max_epochs=500)
    assert result.status is Status.BROKEN
    assert np.isfinite(result.weights).all()
    assert np.isfinite(result.certificate.gap)


CTRL_C = textwrap.dedent(
    """
    import sys, threading, time, os, signal
    import numpy as np, dualgap as dg
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us with it ignored
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 40))
    problem = dg.Problem(X, np.sign(X[:, 0] + rng.normal(size=200_000)), "hinge", 1e-8)
    dg.solve(problem, sys.argv[1], max_epochs=0.01, tol=0)
    at = []
    def press():
        time.sleep(0.7)
        at.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=press).start()
    result = dg.solve(problem, sys.argv[1], tol=0, max_epochs=1e6, record_every=1000)
    print(result.status.name, time.monotonic() - at[0], np.isfinite(result.certificate.gap), len(result.trace))
    """
)


@pytest.mark.parametrize("solver", ["sdca", "pegasos", "subgradient"])
def test_ctrl_c_ends_within_a_second_with_a_certificate(solver: str) -> None:
    done = subprocess.run([sys.executable, "-c", CTRL_C, solver], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    status, seconds, finite, records = done.stdout.split()
    assert (status, finite) == ("INTERRUPTED", "True")
    assert float(seconds) < 1.0
    assert int(records) == 2


def test_a_second_ctrl_c_interrupts_at_once(problem: dg.Problem) -> None:
    def twice(record: dg.Record) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            dg.solve(problem, "pegasos", tol=0, callback=twice)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_it_runs_outside_the_main_thread(problem: dg.Problem) -> None:
    results: list[dg.Result] = []
    thread = threading.Thread(target=lambda: results.append(dg.solve(problem, "sdca")))
    thread.start()
    thread.join()
    assert results[0].status is Status.CERTIFIED


def test_the_test_part_is_scored(problem: dg.Problem) -> None:
    rng = np.random.default_rng(9)
    X = rng.normal(size=(30, 5))
    y = np.sign(X[:, 0])
    result = dg.solve(problem, "sdca", test=(X, y), max_epochs=30)
    assert result.trace[-1].test_score == np.mean(result.predict(X) == y)
    assert result.trace[-1].test_score > 0.7
    with pytest.raises(ValueError, match="5 columns"):
        dg.solve(problem, test=(X[:, :2], y))
    with pytest.raises(ValueError, match="one label a row"):
        dg.solve(problem, test=(X, y[:3]))
    with pytest.raises(ValueError, match="as in training"):
        dg.solve(problem, test=(X, y + 5))


@pytest.mark.parametrize("solver", ALL)
def test_a_warm_start_goes_on_from_where_it_was(problem: dg.Problem, solver: str) -> None:
    good = dg.solve(problem, "sdca", tol=1e-8)
    warm = dg.solve(problem, solver, tol=0, start=good, max_epochs=1)
    assert warm.trace[0].relative_gap <= 1e-8
    again = dg.solve(problem, solver, tol=1e-7, start=(good.weights, good.intercept, good.duals))
    assert (again.status, len(again.trace)) == (Status.CERTIFIED, 1)


def test_a_warm_start_from_weights_alone(problem: dg.Problem) -> None:
    smooth = problem.with_loss(dg.Logistic())
    good = dg.solve(smooth, "sdca", tol=1e-9)
    warm = dg.solve(smooth, "sdca", tol=1e-6, start=(good.weights, 0.0, None))
    assert len(warm.trace) == 1


REFUSED = {
    "tol negative": (dict(tol=-1), "tol"),
    "epochs zero": (dict(max_epochs=0), "max_epochs"),
    "seconds negative": (dict(max_seconds=-1), "max_seconds"),
    "both ways of recording": (dict(record_every=1.0, record_updates=5), "choose one"),
    "solver unknown": (dict(solver="sdcaa"), "did you mean 'sdca'"),
    "option unknown": (dict(solver="sdca(step=1)"), "no option 'step'"),
    "average without max_epochs": (dict(solver="sdca(output=average)"), "max_epochs"),
    "start too short": (dict(start=(np.zeros(2), 0.0, None)), "5 finite weights"),
    "start not finite": (
        dict(start=(np.full(5, np.nan), 0.0, None)),
        "5 finite weights, got NaN or infinity in 5 of them",
    ),
    "start with one NaN": (dict(start=([1, 2, np.nan, 4, 5], 0.0, None)), "got NaN or infinity in 1 of them"),
    "start with a NaN intercept": (dict(start=(np.zeros(5), np.nan, None)), "1 finite intercept, got NaN or infinity"),
    "start with two intercepts": (dict(start=(np.zeros(5), [1.0, 2.0], None)), "1 finite intercept, got 2"),
    "start of words": (dict(start=(["a"] * 5, 0.0, None)), "5 finite weights, got values that are not numbers"),
    "start in two parts": (dict(start=(np.zeros(5), 0.0)), "3|three|parts"),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_refused_in_one_sentence(problem: dg.Problem, case: str) -> None:
    options, words = REFUSED[case]
    with pytest.raises(ValueError, match=words) as refusal:
        dg.solve(problem, **options)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("start", [5, "abc", np.zeros(3), {"weights": 1}])
def test_start_of_another_type_is_refused(problem: dg.Problem, start: object) -> None:
    sentence = rf"start needs a Result or \(weights, intercept, duals\), got {type(start).__name__}; duals may be None"
    with pytest.raises(TypeError, match=sentence):
        dg.solve(problem, start=start)


@pytest.mark.parametrize("answer", [True, np.True_])
def test_callback_stops_the_run(problem: dg.Problem, answer: object) -> None:
    result = dg.solve(problem, "sdca", tol=0.0, callback=lambda record: answer)
    assert result.status is dg.Status.STOPPED
    assert len(result.trace) == 1


@pytest.mark.parametrize("answer", [False, np.False_, None, 1, "go on"])
def test_callback_without_true_stops_nothing(problem: dg.Problem, answer: object) -> None:
    result = dg.solve(problem, "sdca", tol=0.0, max_epochs=2, callback=lambda record: answer)
    assert result.status is dg.Status.EPOCHS_EXHAUSTED


def test_a_problem_is_needed() -> None:
    with pytest.raises(TypeError, match=r"dg\.Problem"):
        dg.solve(np.ones((2, 2)))
    with pytest.raises(TypeError, match="a solver is a name"):
        dg.solve(dg.Problem(np.eye(2), [1, -1]), solver=3)


def test_a_result_predicts_and_says_what_it_is(problem: dg.Problem) -> None:
    result = dg.solve(problem)
    np.testing.assert_allclose(result.scores(np.eye(5)), result.weights)
    assert repr(result).startswith("Result(CERTIFIED: primal ")
    with pytest.raises(ValueError, match="5 columns"):
        result.predict(np.eye(3))
    assert repr(result.trace).startswith("Trace(")


def test_progress_shows_on_standard_error(problem: dg.Problem, capfd: pytest.CaptureFixture[str]) -> None:
    dg.solve(problem, "pegasos", max_epochs=3, tol=0, progress=True)
    captured = capfd.readouterr()
    assert captured.out == ""


def test_auto_may_switch(problem: dg.Problem) -> None:
    class Fickle(dg.Auto):
        def choose(self, problem, records, tol=0.0):
            late = bool(records) and records[-1].epoch >= 2
            return (dg.SDCA(), "late") if late else (dg.Pegasos(), "early")

    result = dg.solve(problem, Fickle(), tol=1e-6, record_every=1)
    assert (result.status, result.reason, result.solver) == (Status.CERTIFIED, "late", dg.SDCA())
    gaps = {record.epoch: record.relative_gap for record in result.trace}
    assert gaps[3.0] < 1.0


def test_auto_makes_fewer_certificates_without_a_callback(problem: dg.Problem) -> None:
    seen = []
    alone = dg.solve(problem, tol=1e-9)
    watched = dg.solve(problem, tol=1e-9, callback=lambda record: seen.append(record.epoch))
    assert alone.status is watched.status is Status.CERTIFIED
    assert len(alone.trace) < len(watched.trace) == len(seen)


def test_epochs_of_certificates_depend_on_the_problem_alone(problem: dg.Problem) -> None:
    first, second = (dg.solve(problem, "sdca", tol=1e-6, record_every=np.inf) for _ in range(2))
    assert [record.epoch for record in first.trace] == [record.epoch for record in second.trace]
    np.testing.assert_array_equal(first.weights, second.weights)


def test_updates_of_a_shrinking_run_are_the_rows_that_it_touched() -> None:
    """A plan of passes may end early, where a pass meets the target; the rows left over are no updates."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    result = dg.solve(
        dg.Problem(X, np.sign(X[:, 0] + 0.1 * rng.normal(size=200)), "hinge", 0.1), "sdca(shrinking=true)"
    )
    last = result.trace[-1]
    assert last.updates == round(last.epoch * 200)


def test_callback_sees_the_last_record_of_a_broken_run() -> None:
    told: list[dg.Record] = []
    problem = dg.Problem(np.full((4, 1), 1e100), [1.0, -1.0, 1.0, 1.0], "squared_hinge", 1e-3)
    result = dg.solve(problem, "sgd(step=1e300)", max_epochs=50, callback=told.append)
    assert result.status is dg.Status.BROKEN
    assert told[-1] is result.trace[-1]
