"""The solver file for benchopt, run as benchopt runs it: benchopt's base classes are stood in for, its calls are real."""

from __future__ import annotations

import runpy
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import dualgap as dg
from conftest import SOURCE

BENCHMARK = SOURCE.parent.parent / "benchmarks" / "benchopt"


class Base:
    """benchopt sets parameters as attributes, and leaves the rest to the class."""

    def __init__(self, **parameters: Any) -> None:
        vars(self).update(parameters)

    def run_once(self, stop_value: float) -> None:
        self.run(stop_value)  # type: ignore[attr-defined]


@pytest.fixture
def benchopt(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("benchopt")
    vars(module).update(BaseSolver=Base, BaseObjective=Base, BaseDataset=Base)
    monkeypatch.setitem(sys.modules, "benchopt", module)


def found(path: str, name: str) -> Any:
    return runpy.run_path(str(BENCHMARK / path))[name]


@pytest.mark.usefixtures("benchopt")
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("name", ["auto", "newton", "sdca(shrinking=true)"])
def test_the_solver_minimizes_benchopt_s_objective(name: str, fit_intercept: bool) -> None:
    kind = found("solvers/dualgap_solve.py", "Solver")
    assert name in kind.parameters["solver"]
    assert kind.sampling_strategy == "tolerance"
    solver = kind(solver=name)
    objective = found("tiny/objective.py", "Objective")(lmbd=1.0, fit_intercept=fit_intercept)
    objective.set_data(**found("tiny/datasets/breast_cancer.py", "Dataset")().get_data())
    given = objective.get_objective()
    solver.set_objective(**given)
    solver.warm_up()
    values = []
    for tolerance in (1.0, 1e-3, 1e-9):
        solver.run(tolerance)
        values.append(objective.evaluate_result(**solver.get_result())["value"])
    problem = dg.Problem(given["X"], given["y"], "logistic", 1.0 / 569, intercept=fit_intercept)
    best = dg.solve(problem, "newton", tol=1e-10).certificate
    assert 569 * best.dual - 1e-9 <= values[-1] <= 569 * best.primal * (1.0 + 1e-9)
    assert values[0] >= values[-1] - 1e-9
    assert np.shape(solver.get_result()["beta"]) == np.shape(objective.get_one_result()["beta"])
