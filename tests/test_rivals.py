"""Rivals: each minimizes the same objective as we do, or refuses with its sentence; a ladder ends when it must."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

import dualgap as dg
from dualgap.losses import LOSSES
from dualgap.workbench import rivals
from dualgap.workbench.plan import Plan
from dualgap.workbench.rivals import RIVALS, installed, missing
from dualgap.workbench.rivals.base import Fit, Rival
from dualgap.workbench.rivals.ladder import Ladder, Task
from dualgap.workbench.runner import race

NAMES = list(RIVALS)
# The weakest of them that is not meant to be exact; the squared hinge makes its steps explode.
ROUGH = {"scikit-learn SGDClassifier": 0.05}
REFUSED_BY_THEM = [("skglm", "squared", True)]
CELLS = [(name, loss) for name in NAMES for loss in RIVALS[name].losses if name != "zeros"]


def task(loss: str, strength: float = 0.1, sparse: bool = False, tol: float = 1e-7, **options: Any) -> Task:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((90, 4))
    X[5], X[6] = 0.0, X[7]
    y = X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * rng.standard_normal(90)
    if LOSSES[loss].task == "classification":
        y = np.where(y > 0, "yes", "no")
    rows = csr_matrix(X) if sparse else X
    return Task(dg.Problem(rows, y, loss, strength, **options), rows, None, tol)


def test_the_table_holds_every_file_with_a_rival() -> None:
    files = [
        path for path in Path(rivals.__file__).parent.glob("*.py") if "\nRIVAL = " in path.read_text(encoding="utf-8")
    ]
    assert len(NAMES) == len(files) >= 14
    assert sorted(installed() + missing()) == sorted(NAMES)
    assert {"zeros", *(name for name in NAMES if name.startswith("scikit-learn"))} <= set(installed())


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(("name", "loss"), CELLS)
def test_a_rival_minimizes_our_objective(name: str, loss: str, sparse: bool) -> None:
    if name in missing():
        pytest.skip(f"{name} is not installed; python -m pip install {RIVALS[name].package}")
    given = task(loss, sparse=sparse)
    if (name, loss, sparse) in REFUSED_BY_THEM:
        with pytest.raises(ValueError, match=f"{name} fails on this problem: .*sparse data"):
            Ladder(RIVALS[name], given)
        return
    best = dg.solve(given.problem, "sdca", tol=1e-9, max_epochs=20_000).certificate
    climbed = Ladder(RIVALS[name], given).climb(seed=0, seconds=5.0)
    lowest = min(climbed.records["primal"])
    assert lowest >= best.dual - 1e-12
    assert lowest <= best.primal * (1.0 + ROUGH.get(name, 2e-4))
    assert lowest < 0.9 * given.problem.primal_at_zero


@pytest.mark.parametrize(("name", "loss"), [cell for cell in CELLS if RIVALS[cell[0]].threaded])
def test_two_threads_minimize_the_same_objective(name: str, loss: str) -> None:
    rival, given = RIVALS[name], task(loss)
    if name in missing():
        pytest.skip(f"{name} is not installed; python -m pip install {rival.package}")
    problem = given.problem
    optimum = dg.solve(problem, "sdca", tol=1e-9, max_epochs=20_000).certificate
    table = rival.table(given.X, problem.labels)
    weights = rival.fit(
        *table, problem.loss, problem.strength, 1e-6, rows=90, seed=0, iterations=rival.max_iterations, threads=2
    ).weights
    primal = problem.primal(problem.scores(weights), weights)
    assert optimum.dual - 1e-12 <= primal <= optimum.primal * (1.0 + 2e-3)


def test_another_strength_is_another_optimum() -> None:
    rival = RIVALS["scikit-learn LinearSVC"]
    primals = [Ladder(rival, task("hinge", strength)).climb(0, 5.0).certificate.primal for strength in (0.01, 1.0)]
    assert primals[1] > 1.2 * primals[0]


@pytest.mark.parametrize("name", NAMES)
def test_the_ladder_has_two_rungs_a_decade(name: str) -> None:
    rungs = np.array(RIVALS[name].tolerances())
    assert rungs[0] == RIVALS[name].loosest
    assert rungs[-1] == pytest.approx(RIVALS[name].tightest)
    assert np.allclose(np.diff(np.log10(rungs)), -0.5, atol=1e-3)


@pytest.mark.parametrize("name", sorted(set(installed()) - {"zeros"}))
def test_what_a_rival_cannot_do_it_refuses(name: str) -> None:
    other = next(loss for loss in LOSSES if loss not in RIVALS[name].losses)
    with pytest.raises(ValueError, match=rf"{name} does .* only, got {other}"):
        Ladder(RIVALS[name], task(other))
    with pytest.raises(ValueError, match=r"needs a problem without a free intercept.*leave --intercept out"):
        Ladder(RIVALS[name], task(RIVALS[name].losses[0], intercept=True))


def test_zeros_cost_what_predicting_nothing_costs() -> None:
    given = task("logistic")
    climbed = Ladder(RIVALS["zeros"], given).climb(0, None)
    assert climbed.certificate.primal == pytest.approx(np.log(2))
    assert climbed.records["primal"] == [climbed.certificate.primal]
    assert Ladder(RIVALS["zeros"], task("hinge", intercept=True)).climb(0, None).certificate.primal <= 1.0


class Fake(Rival):
    """A rival that does what a test wants at each rung; the first call is the warm-up."""

    name = "fake"
    package = "fake-package"
    module = "numpy"
    losses = ("hinge",)
    tightest = 1e-3

    def __init__(self, *deeds: Any) -> None:
        self.deeds = [None, *deeds]
        self.limits: list[int] = []

    def fit(self, X: Any, y: Any, *rest: Any, rows: int, seed: int, iterations: int) -> Fit:
        self.limits.append(iterations)
        deed = self.deeds.pop(0) if self.deeds else None
        if isinstance(deed, Warning):
            warnings.warn(deed, stacklevel=1)
        elif isinstance(deed, Exception):
            raise deed
        if isinstance(deed, float):
            time.sleep(deed)
        return Fit(np.full(X.shape[1], np.nan) if deed == "nan" else np.zeros(X.shape[1]), 10)


@pytest.mark.parametrize(
    ("deeds", "rungs", "status", "words"),
    [
        ((), 7, "STOPPED", "its tightest tolerance was reached"),
        ((None, RuntimeError("no\n way")), 1, "STOPPED", "it failed at its tolerance 0.316: no way"),
        ((None, None, "nan"), 2, "STOPPED", "its weights are not finite"),
        ((None, ConvergenceWarning("x"), None), 2, "STOPPED", "it did not converge at its tolerance 0.316"),
        ((UserWarning("x"),), 7, "STOPPED", "its tightest tolerance"),
        ((None, 0.3), 2, "TIME_EXHAUSTED", "its fits took the 0.2 s they had"),
    ],
)
def test_a_ladder_ends_when_it_must(deeds: tuple[Any, ...], rungs: int, status: str, words: str) -> None:
    # Only the rival that sleeps may run out of time, on a busy machine too.
    climbed = Ladder(Fake(*deeds), task("hinge")).climb(
        0, 0.2 if any(isinstance(deed, float) for deed in deeds) else 60.0
    )
    assert {len(column) for column in climbed.records.values()} == {rungs}
    assert climbed.status == status
    assert words in climbed.sentence


def test_a_ladder_that_never_begins_is_a_refusal() -> None:
    broken = Fake()
    broken.deeds[0] = RuntimeError("library missing")
    with pytest.raises(ValueError, match="fake fails on this problem: library missing"):
        Ladder(broken, task("hinge"))
    with pytest.raises(ValueError, match="fake fails on this problem: its weights"):
        Ladder(Fake("nan"), task("hinge")).climb(0, 1.0)
    absent = Fake()
    absent.module = "no_such_module"
    with pytest.raises(ValueError, match="fake is not installed; python -m pip install fake-package"):
        Ladder(absent, task("hinge"))


def test_one_failure_to_converge_is_forgiven_with_more_iterations() -> None:
    fake = Fake(ConvergenceWarning("x"), None)
    assert len(Ladder(fake, task("hinge")).climb(0, 5.0).records["gap"]) == 7
    assert fake.limits[1] == 1000
    assert fake.limits[2] > 1000


def test_rivals_race_beside_solvers_with_the_same_fields() -> None:
    plan = Plan(
        data=("simulated(n=120, d=4)",),
        loss="logistic",
        solvers=("sdca",),
        rivals=("scikit-learn LogisticRegression", "scikit-learn LinearSVC", "zeros"),
        repeats=2,
    )
    outcome = race(plan)
    assert list(outcome.heats[0].refusals) == ["scikit-learn LinearSVC"]
    ours, rival, zeros = outcome.runs[:3]
    assert [run.settings["kind"] for run in (ours, rival, zeros)] == ["solver", "rival", "rival"]
    assert rival.settings["solver"] == "scikit-learn LogisticRegression"
    assert list(rival.records) == list(ours.records)
    assert (rival.status, ours.status) == ("CERTIFIED", "CERTIFIED")
    assert rival.certificate["primal"] == pytest.approx(ours.certificate["primal"], rel=2e-6)
    assert {value for name in ("epoch", "updates", "support") for value in rival.records[name]} == {None}
    assert all(0 < seconds < 5 for seconds in rival.records["call_seconds"])
    assert rival.records["test_score"][-1] == ours.last("test_score")
    assert rival.weights == pytest.approx(ours.weights, abs=1e-2)
    assert zeros.last("primal") == pytest.approx(np.log(2))
