"""Whether what a model claims is true: primal, dual and gap recomputed from the data, and what differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualgap.certificate import Certificate, certify
from dualgap.intake import as_rows
from dualgap.models.digests import digest
from dualgap.multinomial.certificate import certify as certify_softmax
from dualgap.multinomial.problem import MultinomialProblem
from dualgap.multinomial.run import solve_multinomial
from dualgap.problem import Problem
from dualgap.result import Status
from dualgap.rows import Rows
from dualgap.run import solve

if TYPE_CHECKING:
    from dualgap.models.record import Model

Vector = NDArray[np.float64]

# A claim that the file's own duals do not settle is settled by a new solve, which should not take longer than this.
SECONDS = 60.0


@dataclass(frozen=True)
class Verdict:
    """What differs from the claim, how the rest was settled, and the certificates as they were recomputed."""

    differences: tuple[str, ...]
    notes: tuple[str, ...]
    certificates: tuple[Certificate, ...]

    @property
    def holds(self) -> bool:
        """Whether the claim is true."""
        return not self.differences


class _Claim(NamedTuple):
    """One problem with the answer and the certificate that the model has for it."""

    name: str
    problem: Problem | MultinomialProblem
    weights: Vector
    intercept: float | Vector
    duals: Vector | None
    certificate: Certificate
    status: Status
    tol: float | None


def recheck(
    model: Model, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, max_seconds: float | None = None
) -> Verdict:
    """Recompute what the model claims, at its weights and intercept, on the data it was fitted to.

    P is computed from the scores. D needs duals: the model's own where it kept them, else those its scores suggest; and
    where these do not reach the claimed D, as for a loss with a kink they rarely do, a new solve looks for duals that
    prove it or weights that refute it, for at most `max_seconds` a problem.
    """
    # Imported where it is used: a fit reads no table of data sets, and its process starts sooner.
    from dualgap.datasets.columns import matched

    rows = as_rows(matched(X, model.feature_names)).of_width(model.weights.shape[0])
    notes = []
    if model.data is None:
        differences = []
        notes.append("the file has no digest of its data, so that only the values can tell whether this is the same")
    else:
        differences = model.data.differences(digest(rows, y, sample_weight))
    strange = _strange_labels(model, y)
    if strange:
        return Verdict((*differences, strange), tuple(notes), ())
    certificates = []
    for claim in _claims(model, rows, y, sample_weight):
        found, faults, remarks = _recheck_one(claim, not differences, max_seconds or SECONDS)
        certificates.append(found)
        differences += [claim.name + fault for fault in faults]
        notes += [claim.name + remark for remark in remarks]
    return Verdict(tuple(differences), tuple(notes), tuple(certificates))


def _strange_labels(model: Model, y: ArrayLike) -> str | None:
    if model.classes is None:
        return None
    known, found = model.classes.tolist(), np.unique(np.asarray(y)).tolist()
    if known == found:
        return None
    return f"the data has the labels {_few(found)}, and the model the labels {_few(known)}"


def _few(values: list[Any]) -> str:
    return ", ".join(map(str, values[:5])) + (" …" if len(values) > 5 else "")


def _claims(model: Model, rows: Rows, y: ArrayLike, sample_weight: ArrayLike | None) -> list[_Claim]:
    """The problems that the model says it solved."""
    if model.kind == "multinomial":
        return [_softmax_claim(model, rows, y, sample_weight)]
    count = len(model.certificates)
    weights, intercepts = model.weights.reshape(-1, count), np.reshape(model.intercept, count)
    duals = None if model.duals is None else model.duals.reshape(-1, count)
    claims = []
    for k in range(count):
        name = ""
        targets = np.asarray(y)
        if model.kind == "one_vs_rest":
            assert model.classes is not None
            targets, name = np.where(targets == model.classes[k], 1.0, -1.0), f"class {model.classes[k]}: "
        elif targets.ndim == 2:
            targets, name = targets[:, k], f"target {k}: " if count > 1 else ""
        shares = sample_weight
        if model.class_factors is not None and model.classes is not None:
            rest, own = model.class_factors[k]
            positive = targets == (1.0 if model.kind == "one_vs_rest" else model.classes[-1])
            factors = np.where(positive, own, rest)
            shares = factors if sample_weight is None else factors * np.asarray(sample_weight, dtype=np.float64)
        problem = Problem(rows, targets, model.loss, model.strengths[k], shares, model.free_intercept)
        claims.append(
            _Claim(
                name,
                problem,
                np.ascontiguousarray(weights[:, k]),
                float(intercepts[k]),
                None if duals is None else np.ascontiguousarray(duals[:, k]),
                model.certificates[k],
                model.statuses[k],
                model.tol,
            )
        )
    return claims


def _softmax_claim(model: Model, rows: Rows, y: ArrayLike, sample_weight: ArrayLike | None) -> _Claim:
    shares = sample_weight
    if model.class_factors is not None:
        factors = np.array(model.class_factors[0])[np.searchsorted(model.classes, np.asarray(y))]  # type: ignore[arg-type]
        shares = factors if sample_weight is None else factors * np.asarray(sample_weight, dtype=np.float64)
    problem = MultinomialProblem(rows, y, model.strength, shares, model.free_intercept)
    return _Claim(
        "", problem, model.weights, model.intercept, model.duals, model.certificate, model.statuses[0], model.tol
    )


def _recheck_one(claim: _Claim, may_hold: bool, seconds: float) -> tuple[Certificate, list[str], list[str]]:
    """The certificate as it is, what of the claim differs from it, and how the dual value was settled."""
    problem, said, duals = claim.problem, claim.certificate, claim.duals
    faults: list[str] = []
    notes: list[str] = []
    if duals is not None and duals.shape[0] != problem.rows.count:
        faults.append(f"the file keeps {duals.shape[0]:,} duals, and the data has {problem.rows.count:,} rows")
        duals = None
    judge: Any = certify_softmax if isinstance(problem, MultinomialProblem) else certify
    judged = judge(problem, claim.weights, claim.intercept, duals).certificate
    # The judge may move a free intercept to its best place; what is claimed is claimed of the one in the file.
    primal = problem.primal(problem.scores(claim.weights) + claim.intercept, claim.weights)
    dual, rounding = judged.dual, judged.alarm
    if not abs(primal - said.primal) <= rounding:
        faults.append(f"primal: the file says {said.primal:.12g}, and its weights give {primal:.12g}")
    if not said.dual <= dual + rounding:
        if duals is not None:
            faults.append(f"dual: the file says {said.dual:.12g}, and its duals give {dual:.12g}")
        elif not may_hold or faults:
            notes.append("the dual value was not looked into, because the claim is refuted already")
        else:
            dual, rounding, fault, note = _settle(claim, dual, rounding, seconds)
            faults += [fault] if fault else []
            notes += [note] if note else []
    found = Certificate(primal, dual, judged.floor, judged.alarm, judged.reference)
    slack = 2.0 * rounding / max(found.primal, found.reference) if found.reference > 0.0 else 0.0
    if not faults and not found.relative_gap <= said.relative_gap + slack:
        faults.append(
            f"gap: the file says a relative gap of {said.relative_gap:.3g}, and it is {found.relative_gap:.3g}"
        )
    if claim.status is Status.CERTIFIED and claim.tol is not None and not found.relative_gap <= claim.tol + slack:
        faults.append(
            f"status: the file says CERTIFIED at tol {claim.tol:g}, and the relative gap that can be shown is "
            f"{found.relative_gap:.3g}"
        )
    return found, faults, notes


def _settle(claim: _Claim, dual: float, rounding: float, seconds: float) -> tuple[float, float, str, str]:
    """The best D known after a new solve, its rounding, and in words what refutes the claimed D or how it was proven."""
    wanted = claim.certificate.dual
    solver: Any = solve_multinomial if isinstance(claim.problem, MultinomialProblem) else solve
    result = solver(
        claim.problem,
        tol=0.0,
        max_seconds=seconds,
        start=(claim.weights, claim.intercept, None),
        callback=lambda record: record.dual >= wanted or record.primal < wanted - rounding,
    )
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    best, rounding = max(dual, result.certificate.dual), rounding + result.certificate.alarm
    if wanted <= best + rounding:
        return best, rounding, "", "the file keeps no duals; those of a new solve prove its dual value"
    if result.certificate.primal < wanted - rounding:
        return (
            best,
            rounding,
            f"dual: the file says that no weights give less than {wanted:.12g}, and a new solve found weights that give "
            f"{result.certificate.primal:.12g}",
            "",
        )
    return (
        best,
        rounding,
        f"dual: the file says {wanted:.12g} and keeps no duals to show it; a new solve proved {best:.12g} in "
        f"{seconds:g} s, which neither proves nor refutes it; allow more seconds, or fit again and keep the duals",
        "",
    )
