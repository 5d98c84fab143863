"""One case from beginning to end: the fit, the exact check, and an outcome that a campaign can count."""

from __future__ import annotations

import linecache
import time
import traceback
import warnings
from dataclasses import asdict, dataclass, field
from typing import Any

import estimators
import numpy as np
from exact import Facts
from problems import EPOCHS, Case, make_case
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning
from verdict import STRICT_KINDS, Claim, Violation, beaten, can_judge, exact_truth, is_proven, violations

import dualgap as dg

# An exact check of more claims than this takes the first ones.
CLAIMS = 4
# One seed in this number is solved again, to a hundredth of its tol: no point may be better than P − gap.
RIVAL_EVERY, RIVAL_TOL, RIVAL_SECONDS = 10, 1e-2, 0.2


@dataclass
class Outcome:
    """What became of a case, in numbers and words that go into a line of JSON."""

    seed: int
    family: str
    loss: str
    case: str
    status: str
    """A status of the package, or refused, exception, warning, hang, crash."""
    relative_gap: float | None = None
    primal: float | None = None
    gap: float | None = None
    rounding: float | None = None
    true_gap: float | None = None
    tol: float | None = None
    seconds: float = 0.0
    check_seconds: float = 0.0
    violations: list[dict[str, str]] = field(default_factory=list)
    message: str = ""
    is_proven: bool = False
    is_checked: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Without what is empty."""
        return {name: value for name, value in asdict(self).items() if value not in (None, [], "")}


def solve_case(case: Case) -> list[Claim]:
    """The package's answers to a case and what it claims about them."""
    facts, options = case.facts, dict(case.options)
    if case.claims is not None:
        return case.claims(case)
    if case.estimator is not None:
        return estimators.claims(case, estimators.fit(case))
    found = solve_facts(facts, options)
    answer = (found.weights, found.intercept, found.duals)
    return [Claim(facts, *answer, found.certificate, found.status.name, options["tol"])]


def solve_facts(facts: Facts, options: dict[str, Any]) -> Any:
    """The result of solve."""
    if facts.is_softmax:
        many = dg.MultinomialProblem(facts.X, facts.labels, facts.strength, facts.sample_weight, facts.intercept)
        return dg.solve(many, **options)
    one = dg.Problem(
        facts.X,
        facts.labels,
        facts.loss,
        facts.strength,
        facts.sample_weight,
        intercept=facts.intercept,
        l1_ratio=facts.l1_ratio,
    )
    return dg.solve(one, **options)


def rival_claim(claim: Claim) -> Claim | None:
    """Another answer to the same problem, of a tighter solve; None where that is refused or fails."""
    if claim.facts.scale is not None:
        return None  # solve has no fitted scale
    options = {"tol": RIVAL_TOL * claim.tol, "max_seconds": RIVAL_SECONDS, "max_epochs": EPOCHS}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = solve_facts(claim.facts, options)
    except Exception:
        return None
    answer = (found.weights, found.intercept, found.duals)
    return Claim(claim.facts, *answer, found.certificate, found.status.name, options["tol"])


def run_seed(seed: int) -> Outcome:
    """The outcome of the case of a seed; nothing is raised."""
    try:
        case = make_case(seed)
        text = str(case)
    except Exception as error:
        return Outcome(seed, "generator", "", "", "exception", message=f"the generator failed: {described(error)}")
    return run_case(case, text)


def run_case(case: Case, text: str) -> Outcome:
    """The outcome of a case."""
    outcome = Outcome(case.seed, case.family, case.loss_name, text, "exception", tol=case.options.get("tol"))
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", dg.ParameterNote)
            # scikit-learn's own words for R² of a fold of one row.
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            claims = solve_case(case)
    except Warning as error:
        outcome.status, outcome.message = "warning", described(error)
        return outcome
    except Exception as error:
        outcome.status = "refused" if is_refusal(error) else "exception"
        outcome.message = str(error) if outcome.status == "refused" else described(error)
        return outcome
    finally:
        outcome.seconds = round(time.perf_counter() - begin, 4)
    begin = time.perf_counter()
    try:
        for claim in claims[:CLAIMS]:
            check(outcome, claim)
    except Exception as error:
        outcome.status, outcome.message = "exception", f"the check failed: {described(error)}"
    outcome.check_seconds = round(time.perf_counter() - begin, 4)
    return outcome


def check(outcome: Outcome, claim: Claim) -> None:
    """Judge a claim and write down what was found; of several claims the worst status and the largest gap are kept."""
    truth = exact_truth(claim) if can_judge(claim) else None
    found = violations(claim, truth)
    if truth is not None and outcome.seed % RIVAL_EVERY == 0:
        rival = rival_claim(claim)
        if rival is not None and can_judge(rival):
            found += beaten(claim, truth, exact_truth(rival))
    outcome.violations += [asdict(violation) for violation in found if counts(violation, claim)]
    outcome.is_checked = outcome.is_checked or truth is not None
    outcome.is_proven = is_proven(claim.certificate)
    gap = float(claim.certificate.relative_gap)
    if outcome.relative_gap is None or not gap <= outcome.relative_gap:
        certificate = claim.certificate
        outcome.status, outcome.relative_gap = claim.status, gap
        outcome.primal, outcome.gap = float(certificate.primal), float(certificate.gap)
        outcome.rounding = getattr(certificate, "rounding", None)
        with np.errstate(all="ignore"):
            outcome.true_gap = None if truth is None else _float(truth.gap)


def counts(violation: Violation, claim: Claim) -> bool:
    """Whether a violation says something: the gap of the first version was no bound, so rounding below it is not counted."""
    return is_proven(claim.certificate) or violation.kind not in STRICT_KINDS


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def is_refusal(error: Exception) -> bool:
    """Whether an error was raised on purpose, as one sentence, by a line of dualgap or of scikit-learn's validation."""
    if not isinstance(error, ValueError | TypeError):
        return False
    frame = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(frame.filename, frame.lineno or 0).strip()
    at_home = "dualgap" in frame.filename or "sklearn" in frame.filename
    return at_home and line.startswith("raise") and " " in str(error)


def described(error: BaseException) -> str:
    """An error with the line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if "dualgap" in frame.filename] or frames
    place = f"{inside[-1].filename.rsplit('/dualgap/', 1)[-1]}:{inside[-1].lineno}" if inside else "?"
    return f"{type(error).__name__} at {place}: {str(error)[:200]}"
