"""From a run's result to what an estimator holds: coef_ in the type of X, judged as it is rounded, and fits without a penalty."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dualgap.certificate import Certificate, certify
from dualgap.certificate.full_rank import full_rank
from dualgap.losses import Squared
from dualgap.models.from_estimator import ProblemInFile
from dualgap.problem import BaseProblem, Problem
from dualgap.result import Result, Status


class Settled(NamedTuple):
    """What an estimator holds of one problem."""

    result: Result
    """Weights as coef_ holds them, and the certificate that is true of these."""
    strength: float
    """λ of the certificate: 0 where none was asked for and X has full rank."""
    in_file: ProblemInFile


def settle(problem: BaseProblem, result: Result, is_unpenalized: bool, dtype: Any, tol: float) -> Settled:
    """The answer with weights of type `dtype`, and its certificate."""
    if is_unpenalized and isinstance(problem, Problem) and isinstance(problem.loss, Squared) and not problem.l1_ratio:
        found = _without_penalty(problem, result, dtype, tol)
        if found is not None:
            return found
    weights = rounded(result.weights, dtype)
    if weights is not result.weights:
        judged = certify(problem, weights, result.intercept, result.duals, tol=tol)
        result = with_certificate(
            replace(result, weights=weights, intercept=judged.intercept, duals=judged.duals), judged.certificate, tol
        )
    return Settled(
        result, problem.strength, ProblemInFile(problem.strength, result.certificate, getattr(problem, "l1_ratio", 0.0))
    )


def rounded(weights: Any, dtype: Any) -> Any:
    """The numbers that coef_ holds: float32 where X is, else the weights themselves. They are kept as float64."""
    return weights.astype(np.float32).astype(np.float64) if dtype == np.float32 else weights


def with_certificate(result: Result, certificate: Certificate, tol: float) -> Result:
    """A result with the certificate of its rounded weights, and the ending that follows from it.

    It is STALLED where only float64 weights proved tol, and CERTIFIED where duals that rounded weights suggest prove what a run could not.
    """
    status = result.status
    if certificate.proves(tol) and not certificate.is_broken:
        status = Status.CERTIFIED
    elif status is Status.CERTIFIED:
        status = Status.STALLED
    return replace(result, certificate=certificate, status=status, sentence=str(status.value))


def _without_penalty(problem: Problem, result: Result, dtype: Any, tol: float) -> Settled | None:
    """The least-squares fit without a penalty, certified by its gradient; None where X has no proof of full rank, or tol none."""
    proof = full_rank(problem)
    if proof is None:
        return None
    certificate, weights, intercept = proof.refined(result.weights, float(result.intercept))
    if dtype == np.float32:
        weights = rounded(weights, dtype)
        certificate = proof.certify(weights, intercept)[0]
    if not certificate.proves(tol):
        return None
    in_file = certify(problem, weights, intercept, result.duals, tol=tol)
    settled = replace(
        result,
        weights=weights,
        intercept=intercept,
        duals=in_file.duals,
        certificate=certificate,
        status=Status.CERTIFIED,
        sentence=str(Status.CERTIFIED.value),
        reason=f"{result.reason}; X has full rank, so that the gradient proves the gap without a penalty",
    )
    return Settled(settled, 0.0, ProblemInFile(problem.strength, in_file.certificate))
