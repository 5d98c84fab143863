"""The whole matrix: loss × solver × (dense, CSR) × (intercept, none) × (weights, none); each cell certifies or refuses."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import dualgap as dg
from dualgap.certificate import certify
from examples import FORMS, small_problem
from independent import optimum, solved

REFUSALS = Path(__file__).parent.parent / "docs" / "refusals.md"

# The relative gap each solver must reach, and in how many epochs at most.
GOALS = {
    "sdca": (1e-9, 25_000),
    "sdca(first_epoch=sgd)": (1e-9, 25_000),
    "sdca(shrinking=true)": (1e-9, 25_000),
    "asdca(theta=16x)": (1e-4, 4_000),
    "pegasos": (5e-2, 10_000),
    "pegasos(batch_size=4)": (5e-2, 10_000),
    "sgd": (5e-2, 10_000),
    "subgradient": (5e-2, 20_000),
    "projected_ascent": (1e-6, 200_000),
    "box_ascent": (1e-6, 20_000),
    "newton": (1e-9, 200),
}


@cache
def best(loss: str, weights: bool, intercept: bool) -> float:
    return optimum(small_problem(loss, "dense", weights, intercept))


def cells() -> list[tuple[str, str, bool, bool]]:
    return [(s, loss, w, b) for s in GOALS for loss in dg.LOSSES for w in (False, True) for b in (False, True)]


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize(("solver", "loss", "weights", "intercept"), cells())
def test_each_cell_certifies_or_refuses(solver: str, loss: str, weights: bool, intercept: bool, form: str) -> None:
    problem = small_problem(loss, form, weights, intercept)
    tol, epochs = GOALS[solver]
    try:
        result = dg.solve(problem, solver, tol=tol, max_epochs=epochs, record_every=20)
    except ValueError as refusal:
        does_all = ("sdca", "newton") if loss == "poisson" else ("sdca", "pegasos", "sgd", "subgradient", "newton")
        assert solver_name(solver) not in does_all, refusal
        assert refusal_row(solver_name(solver), loss, intercept) is not None
        return
    certificate = result.certificate
    if solver_name(solver) == "asdca":
        # Its promise is about the smoothed loss it works on; for a smooth loss that is the problem's own.
        certificate = certify(
            problem.with_loss(result.solver.inner_loss(problem)), result.weights, 0.0, result.duals
        ).certificate
    assert certificate.relative_gap <= tol
    reference = best(loss, weights, intercept)
    assert result.certificate.dual <= reference * (1 + 1e-8)
    assert result.certificate.primal >= reference * (1 - 1e-8)


def solver_name(spec: str) -> str:
    return spec.partition("(")[0]


def refusal_row(solver: str, loss: str, intercept: bool) -> str | None:
    """The sentence with which a solver refuses a combination, or None where it does it."""
    try:
        dg.SOLVERS[solver]().check(small_problem(loss, "dense", False, intercept))
    except ValueError as refusal:
        return str(refusal)
    return None


def test_the_refusals_in_the_documentation_are_the_ones_made() -> None:
    rows = []
    for solver in dg.SOLVERS:
        if solver in ("auto", "sparse_newton"):
            continue
        sentences: dict[str, list[str]] = {}
        for loss in dg.LOSSES:
            for intercept in (False, True):
                sentence = refusal_row(solver, loss, intercept)
                if sentence is not None:
                    sentences.setdefault(sentence, []).append(
                        f"{loss}, {'free intercept' if intercept else 'no intercept'}"
                    )
        for sentence, combinations in sentences.items():
            everywhere = sorted(combinations) == sorted(f"{loss}, free intercept" for loss in dg.LOSSES)
            what = "any loss, free intercept" if everywhere else "; ".join(combinations)
            rows.append(f"| `{solver}` | {what} | {sentence} |")
    table = "\n".join(["| solver | combination | sentence |", "|---|---|---|", *rows])
    assert table in REFUSALS.read_text(encoding="utf-8"), f"docs/refusals.md needs this table:\n{table}"


RATIOS = (0.0, 0.5, 1.0)


# The absolute gap that cvxpy is asked for: P* can be 1e-4 where λ is small.
CVXPY_GAP = 1e-10


@cache
def best_sparse(
    loss: str, weights: bool, intercept: bool, strength: float, ratio: float
) -> tuple[float, np.ndarray, float]:
    return solved(small_problem(loss, "dense", weights, intercept, strength, l1_ratio=ratio))


@pytest.mark.parametrize("ratio", [0.5, 0.95, 1.0])
@pytest.mark.parametrize("strength", [0.3, 1e-3, 1e-5])
@pytest.mark.parametrize(("weights", "intercept"), [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("loss", dg.LOSSES)
def test_cell_with_an_l1_part(loss: str, weights: bool, intercept: bool, strength: float, ratio: float) -> None:
    reference, expected, expected_intercept = best_sparse(loss, weights, intercept, strength, ratio)
    for form in FORMS:
        problem = small_problem(loss, form, weights, intercept, strength, l1_ratio=ratio)
        result = dg.solve(problem, "sparse_newton", tol=1e-8, max_epochs=60)
        assert result.status is dg.Status.CERTIFIED
        certificate = result.certificate
        assert certificate.dual <= reference * (1 + 1e-8) + CVXPY_GAP
        assert certificate.primal >= reference * (1 - 1e-8) - CVXPY_GAP
        # A column whose x_j is well inside its interval has no weight at all.
        x = problem.combination_of(result.duals)
        assert not result.weights[np.abs(x) < 0.9 * ratio].any()
        if ratio < 1.0:
            # P is strongly convex in w: weights are as near to the best ones as their own gap says.
            theirs = certify(problem, expected, expected_intercept, result.duals).certificate
            reach = sum(np.sqrt(2.0 * c.gap / (strength * (1.0 - ratio))) for c in (certificate, theirs))
            assert np.linalg.norm(result.weights - expected) <= reach


@pytest.mark.parametrize(("weights", "intercept"), [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_sdca_proves_what_cvxpy_finds_with_an_l1_part(loss: str, weights: bool, intercept: bool) -> None:
    # sdca refuses ρ = 1; with a smaller strength or a kink it takes many epochs.
    reference = best_sparse(loss, weights, intercept, 1e-2, 0.5)[0]
    problem = small_problem(loss, "csr", weights, intercept, l1_ratio=0.5)
    result = dg.solve(problem, "sdca", tol=1e-3, max_epochs=20_000, record_every=20)
    assert result.status is dg.Status.CERTIFIED
    assert result.certificate.dual <= reference * (1 + 1e-8)
    assert result.certificate.primal >= reference * (1 - 1e-8)


def test_a_solver_that_cannot_fit_an_l1_part_refuses_it() -> None:
    sentences = {}
    for name, kind in dg.SOLVERS.items():
        if name == "auto":
            continue
        for ratio in RATIOS:
            problem = small_problem("squared_hinge", l1_ratio=ratio)
            try:
                dg.solve(problem, kind(), max_epochs=1)
            except ValueError as refusal:
                sentences[name, ratio] = str(refusal)
    for name, kind in dg.SOLVERS.items():
        for ratio in RATIOS:
            fits = name == "auto" or ratio <= kind.largest_l1_ratio
            if ratio == 0.0:
                fits = name != "sparse_newton"
            assert ((name, ratio) in sentences) is not fits
    rows = [f"| `{name}` | {ratio:g} | {sentence} |" for (name, ratio), sentence in sentences.items()]
    table = "\n".join(["| solver | ρ | sentence |", "|---|---|---|", *rows])
    assert table in REFUSALS.read_text(encoding="utf-8"), f"docs/refusals.md needs this table:\n{table}"
