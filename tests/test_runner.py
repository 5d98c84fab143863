"""The runner: the same numbers in one process or in several, one thread, known weights, and the command that repeats it."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from dualgap.cli.app import main
from dualgap.linalg.parallel import threads_in_use
from dualgap.workbench import store
from dualgap.workbench.plan import Plan
from dualgap.workbench.pool import Pool
from dualgap.workbench.repeating import command_of
from dualgap.workbench.runner import Watcher, race
from test_resume import numbers

PLAN = Plan(
    data=("simulated(n=80, d=3)",),
    strengths=("0.1", "1/n"),
    solvers=("sdca", "pegasos", "box_ascent"),
    epochs=6.0,
    tol=1e-14,
    repeats=2,
    rivals=("zeros",),
)


class Ears(Watcher):
    """Writes down what it hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    def refused(self, solver: str, sentence: str) -> None:
        self.heard.append(("refused", solver))

    def started(self, run: Any) -> None:
        self.heard.append(("started", run.id))

    def recorded(self, run: Any, record: Any) -> None:
        self.heard.append(("recorded", run.id))

    def finished(self, run: Any, finished: store.FinishedRun) -> None:
        self.heard.append(("finished", run.id))


def test_two_processes_give_the_same_numbers_as_one(tmp_path: Path) -> None:
    one, two, ears = tmp_path / "one.jsonl", tmp_path / "two.jsonl", Ears()
    alone, together = race(PLAN, one), race(PLAN, two, ears, jobs=2)
    assert numbers(one) == numbers(two)
    assert len(numbers(one)) == 16
    assert [run.run for run in alone.runs] == [run.run for run in together.runs], "in the order of the plan"
    for what in ("started", "finished"):
        assert sorted(key for said, key in ears.heard if said == what) == sorted(run.run for run in alone.runs)
    assert any(said == "recorded" for said, _ in ears.heard), "workers tell how far they are"


def test_refusals_come_out_of_several_processes_too() -> None:
    plan = Plan(data=("simulated(n=50)",), solvers=("sdca", "box_ascent"), epochs=2.0, repeats=2, intercept=True)
    ears = Ears()
    outcome = race(plan, watcher=ears, jobs=2)
    assert list(outcome.heats[0].refusals) == ["box_ascent"]
    assert ears.heard.count(("refused", "box_ascent")) == 1
    assert [run.settings["solver"] for run in outcome.runs] == ["sdca", "sdca"]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL needs POSIX")
def test_a_worker_that_dies_is_reported_and_what_was_finished_stays(tmp_path: Path) -> None:
    class Murderer(Watcher):
        def finished(self, run: Any, finished: store.FinishedRun) -> None:
            for worker in pools[0].workers.values():
                os.kill(worker.pid, signal.SIGKILL)

    pools: list[Pool] = []
    enter = Pool.__enter__

    def remembered(pool: Pool) -> Pool:
        pools.append(pool)
        return enter(pool)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pool, "__enter__", remembered)
        with pytest.raises(OSError, match=r"a worker process ended during .* with code -9.*pass --resume"):
            race(PLAN, tmp_path / store.FILE, Murderer(), jobs=2)
    # The other worker may have handed its run over before it was killed; nothing that was handed over is lost.
    kept = [finished.run for finished in store.read(tmp_path / store.FILE)]
    assert 1 <= len(kept) <= 2
    assert len(set(kept)) == len(kept)
    assert not pools[0].workers


@pytest.mark.parametrize("threads", [1, 2])
def test_runs_use_the_threads_they_were_given(threads: int) -> None:
    seen: set[tuple[int, int]] = set()

    class Counter(Watcher):
        def recorded(self, run: Any, record: Any) -> None:
            # A solver's threads call BLAS with one each, so that its bits do not depend on their number. Packages such as
            # OpenCV bring a BLAS of their own, which no solver calls.
            called = [library for library in threadpool_info() if library["user_api"] == "blas"]
            called = [
                library for library in called if {"numpy.libs", "scipy.libs"} & {*Path(library["filepath"]).parts}
            ]
            blas = max(library["num_threads"] for library in called)
            seen.add((threads_in_use(), blas))

    before = [library["num_threads"] for library in threadpool_info()]
    plan = Plan(data=("simulated(n=60)",), solvers=("sdca",), epochs=2.0, repeats=1)
    outcome = race(plan, watcher=Counter(), threads=threads)
    assert seen == {(threads, 1)}
    assert outcome.runs[0].machine["threads"] == threads
    assert [library["num_threads"] for library in threadpool_info()] == before


@pytest.mark.parametrize("wrong", [{"jobs": 0}, {"threads": 0}])
def test_a_race_needs_a_job_and_a_thread(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least one job and one thread, got 0"):
        race(PLAN, **wrong)


def test_weights_are_kept_where_the_true_ones_are_known(tmp_path: Path) -> None:
    race(Plan(data=("simulated(n=400, d=3)",), solvers=("sdca",), repeats=1), tmp_path / store.FILE)
    (finished,) = store.read(tmp_path / store.FILE)
    beta, weights = np.array(finished.data["beta"]), np.array(finished.weights)
    assert finished.intercept == 0.0
    assert beta @ weights / np.linalg.norm(weights) / np.linalg.norm(beta) > 0.95
    for changes in ({"data": ("breast_cancer",)}, {"positive": ("-1",)}, {"standardize": True}):
        plan = Plan(**({"data": ("simulated(n=60)",), "solvers": ("sdca",), "epochs": 1.0, "repeats": 1} | changes))
        (finished,) = race(plan).runs
        assert (finished.weights, finished.intercept, "beta" in finished.data) == (None, None, False)


def test_the_command_repeats_the_race(tmp_path: Path) -> None:
    plan = Plan(
        data=("simulated(n=60, d=3)", "gaussians(n=60, d=3)"),
        loss="smoothed_hinge(gamma=0.5)",
        strengths=("0.1", "1/n"),
        solvers=("sdca", "pegasos(batch_size=8)"),
        epochs=3.0,
        tol=1e-5,
        test_size=0.25,
        repeats=2,
        seed=4,
        positive=("1",),
        standardize=False,
        rivals=("zeros",),
    )
    first = race(plan, tmp_path / "first.jsonl").runs
    words = shlex.split(command_of(first))
    assert words[:2] == ["dualgap", "race"]
    assert words[-1] == "--rivals"
    with pytest.raises(SystemExit) as ended:
        main([*words[1:-1], "-q", "-o", str(tmp_path / "again")])
    assert not ended.value.code
    again = numbers(tmp_path / "again" / store.FILE)
    ours = {
        run: found for run, found in numbers(tmp_path / "first.jsonl").items() if found["settings"]["kind"] == "solver"
    }
    assert len(ours) == 16
    assert again == ours


def test_several_races_have_a_command_each() -> None:
    plans = [Plan(data=("simulated(n=60)",), solvers=("sdca",), epochs=e, repeats=1) for e in (2.0, 3.0)]
    runs = [run for plan in plans for run in race(plan).runs]
    commands = command_of(runs).split("\n")
    assert ["--epochs 2 " in commands[0], "--epochs 3 " in commands[1]] == [True, True]
    runs[0].settings.pop("kind")
    assert "-s sdca" in command_of(runs[:1]), "a line of an older version has no kind"


def test_rivals_take_their_turn_after_the_solvers() -> None:
    heat = next(PLAN.heats())
    assert [(run.solver, run.kind) for run in heat.runs[:4]] == [
        ("sdca", "solver"),
        ("pegasos", "solver"),
        ("box_ascent", "solver"),
        ("zeros", "rival"),
    ]


def test_kernels_are_compiled_before_the_clock_starts(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dualgap", "race", "simulated(n=60, d=3)", "-s", "sdca", "-s", "pegasos"]
    command += ["--epochs", "5", "--repeats", "1", "-q", "-o", str(tmp_path / "here")]
    empty = tmp_path / "cache"
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"NUMBA_CACHE_DIR": str(empty)})
    assert list(empty.rglob("*.nbc")), "this process had to compile"
    # Compiling takes a third of a second and more; five epochs of sixty rows take some microseconds.
    assert all(run.last("cpu_seconds") < 0.1 for run in store.read(tmp_path / "here" / store.FILE))
