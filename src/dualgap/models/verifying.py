"""Whether what a model claims is true: primal, dual and gap recomputed from the data, and what differs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualgap.certificate import Certificate, certify
from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows
from dualgap.models.digests import DIGESTED, digest
from dualgap.models.fields import EstimatedCertificate
from dualgap.models.metrics import TEST, TRAIN, faults, of_scores
from dualgap.problem import MultinomialProblem, Problem
from dualgap.result import Status
from dualgap.run import solve

if TYPE_CHECKING:
    from dualgap.models.model import Model

Vector = NDArray[np.float64]

REORDERED = (
    "the rows are in another order than at the fit: P, which does not depend on it, is as the file says to its last digit, "
    "and the digest and the duals, which go by row, cannot be compared; give the rows in their old order"
)
ROWS_DIFFER = tuple(f"{part} are not those of the fit" for part in DIGESTED)
# A claim that the file's own duals do not settle is settled by a new solve, which should not take longer than this.
SECONDS = 60.0


@dataclass(frozen=True)
class Verdict:
    """What differs from the claim, how the rest was settled, and the certificates as they were recomputed."""

    differences: tuple[str, ...]
    notes: tuple[str, ...]
    certificates: tuple[Certificate, ...]
    undecided: tuple[str, ...] = ()
    """What could neither be proven nor refuted in the time there was."""
    order: str = ""
    """A sentence where the rows are in another order than at the fit, so that digest and duals cannot be compared."""

    @property
    def holds(self) -> bool:
        """Whether the claim is true, as far as it could be decided."""
        return not self.differences and not self.undecided and not self.order


@dataclass
class _Found:
    """What one claim came to: the certificate as it is, and sentences about what differs from it."""

    certificate: Certificate
    faults: list[str]
    notes: list[str]
    undecided: list[str]


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
    gap_tol: float | None


def verify(
    model: Model,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    max_seconds: float | None = None,
    test: tuple[Any, ArrayLike] | None = None,
) -> Verdict:
    """Recompute what the model claims, at its weights and intercept, on the data it was fitted to.

    P is computed from the scores. D needs duals: the model's own where it kept them, else those its scores suggest; and
    where these do not reach the claimed D, as for a loss with a kink they rarely do, a new solve looks for duals that
    prove it or weights that refute it, for at most `max_seconds` a problem. Features are recomputed from the rows of X, and
    the digest is that of these rows.

    Metrics are recomputed too, those of the test part where `test` is given, (X, y).
    """
    rows = model.rows_of(X)
    notes = []
    if model.data is None:
        differences = []
        notes.append("the file has no digest of its data, so that only the values can tell whether this is the same")
    else:
        differences = model.data.differences(digest(rows, y, sample_weight))
    strange = _strange_labels(model, y)
    if strange:
        return Verdict((*differences, strange), tuple(notes), ())
    differences += _metric_faults(model, TRAIN, rows, y)
    if test is not None:
        differences += _metric_faults(model, TEST, model.rows_of(test[0]), test[1])
    if model.features is not None:
        rows = as_rows(model.features.transform(rows))
    certificates, undecided, order = [], [], ""
    claims = _claims(model, rows, y, sample_weight)
    if _is_reordered(model, rows, y, differences, claims):
        # The file's duals go by row, so that D is shown by others.
        order, differences = REORDERED, []
        claims = [claim._replace(duals=None) for claim in claims]
    for claim in claims:
        found = _verify_one(claim, not differences, max_seconds or SECONDS)
        certificates.append(found.certificate)
        differences += [claim.name + fault for fault in found.faults]
        notes += [claim.name + note for note in found.notes]
        undecided += [claim.name + question for question in found.undecided]
    return Verdict(tuple(differences), tuple(notes), tuple(certificates), tuple(undecided), order)


def _is_reordered(model: Model, rows: Rows, y: ArrayLike, differences: list[str], claims: list[_Claim]) -> bool:
    """Whether the digest alone differs: P, a sum over rows that does not see their order, is as claimed to its last digits.

    Other rows give another P. Weights of zero see no rows at all, and say nothing.
    """
    is_digest_alone = bool(differences) and set(differences) <= set(ROWS_DIFFER)
    if not is_digest_alone or not all(claim.weights.any() for claim in claims):
        return False
    for claim in claims:
        with np.errstate(over="ignore", invalid="ignore"):
            scores = claim.problem.scores(claim.weights) + claim.intercept
        if not np.isfinite(scores).all():
            return False
        error = certify(claim.problem, claim.weights, claim.intercept, None).certificate.primal_error
        if not abs(claim.problem.primal(scores, claim.weights) - claim.certificate.primal) <= 2.0 * error:
            return False
    return True


def _metric_faults(model: Model, part: str, rows: Rows, y: ArrayLike) -> list[str]:
    if part not in model.metrics:
        return []
    with np.errstate(over="ignore", invalid="ignore"):
        found = of_scores(model, model.scores_of_rows(rows), np.asarray(y))
    return faults(model.metrics[part], found, part, rows.count)


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
        elif model.kind == "binary":
            assert model.classes is not None
            targets = np.where(targets == model.classes[-1], 1.0, -1.0)
        elif targets.ndim == 2:
            targets, name = targets[:, k], f"target {k}: " if count > 1 else ""
        row_weights = sample_weight
        if model.class_factors is not None and model.classes is not None:
            if len(model.class_factors[k]) == model.classes.size:
                factors = np.array(model.class_factors[k])[np.searchsorted(model.classes, np.asarray(y))]
            else:
                rest, own = model.class_factors[k]
                factors = np.where(targets == 1.0, own, rest)
            row_weights = factors if sample_weight is None else factors * np.asarray(sample_weight, dtype=np.float64)
        problem = Problem(
            rows, targets, model.loss, model.strengths[k], row_weights, model.free_intercept, l1_ratio=model.l1_ratio
        )
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
                model.gap_tol,
            )
        )
    return claims


def _softmax_claim(model: Model, rows: Rows, y: ArrayLike, sample_weight: ArrayLike | None) -> _Claim:
    row_weights = sample_weight
    if model.class_factors is not None:
        factors = np.array(model.class_factors[0])[np.searchsorted(model.classes, np.asarray(y))]  # type: ignore[arg-type]
        row_weights = factors if sample_weight is None else factors * np.asarray(sample_weight, dtype=np.float64)
    problem = MultinomialProblem(rows, y, model.strength, row_weights, model.free_intercept)
    return _Claim(
        "",
        problem,
        model.weights,
        model.intercept,
        model.duals,
        model.certificate,
        model.statuses[0],
        model.tol,
        model.gap_tol,
    )


def _verify_one(claim: _Claim, may_hold: bool, seconds: float) -> _Found:
    """The certificate of one problem as it is, and what of the claim differs from it."""
    problem, said, duals = claim.problem, claim.certificate, claim.duals
    faults: list[str] = []
    if duals is not None and duals.shape[0] != problem.rows.count:
        faults.append(f"the file keeps {duals.shape[0]:,} duals, and the data has {problem.rows.count:,} rows")
        duals = None
    if np.isnan(said.primal) or np.isnan(said.dual):
        faults.append("the file claims a value that is not a number")
    with np.errstate(over="ignore", invalid="ignore"):
        scores = problem.scores(claim.weights) + claim.intercept
    if not np.isfinite(scores).all():
        faults.append("primal: the weights in the file are so large that their scores are not finite numbers")
        return _Found(replace(said, primal=np.inf, dual=0.0, gap=np.inf), faults, [], [])
    tol, gap_tol = (claim.tol or 0.0, claim.gap_tol or 0.0) if claim.status is Status.CERTIFIED else (0.0, 0.0)
    answer = (claim.weights, claim.intercept, duals)
    judged = certify(problem, *answer, tol=tol, gap_tol=gap_tol, thorough=True).certificate
    # The judge may move a free intercept to its best place; what is claimed is claimed of the one in the file.
    primal = problem.primal(scores, claim.weights)
    # Another machine may round differently, by what the bounds allow each of the two.
    primal_slack, dual_slack = 2.0 * judged.primal_error, 2.0 * (judged.dual_error + judged.rounding)
    if not abs(primal - said.primal) <= primal_slack:
        faults.append(f"primal: the file says {said.primal:.12g}, and its weights give {primal:.12g}")
    found = _Found(replace(judged, primal=primal, gap=judged.gap + max(primal - judged.primal, 0.0)), faults, [], [])
    if isinstance(said, EstimatedCertificate):
        found.notes.append(
            "the file is from a version that estimated rounding; its claim is checked as such an estimate"
        )
    if not said.dual <= judged.dual + dual_slack:
        if duals is not None:
            faults.append(f"dual: the file says {said.dual:.12g}, and its duals give {judged.dual:.12g}")
        elif not may_hold or faults:
            found.notes.append("the dual value was not checked, because the claim is refuted already")
        else:
            _settle(claim, found, dual_slack, seconds)
    elif duals is None and may_hold and not faults and not _is_gap_shown(claim, found, primal_slack):
        # The duals of the fit may have been better than those that the scores suggest, by less than D is known.
        _settle(claim, found, dual_slack, seconds)
    if not found.undecided:
        _compare_gaps(claim, found, primal_slack)
    return found


def _gap_slack(found: _Found, primal_slack: float) -> float:
    """What rounding may change in the relative gap."""
    certificate = found.certificate
    return 2.0 * (certificate.rounding + primal_slack) / certificate.scale if certificate.reference > 0.0 else 0.0


def _is_gap_shown(claim: _Claim, found: _Found, primal_slack: float) -> bool:
    """Whether the gap is at most what the file says, up to rounding."""
    return found.certificate.relative_gap <= claim.certificate.relative_gap + _gap_slack(found, primal_slack)


def _compare_gaps(claim: _Claim, found: _Found, primal_slack: float) -> None:
    """In place: faults where the gap is larger than the file says, or than the tol that its status speaks of."""
    certificate, said = found.certificate, claim.certificate
    slack = _gap_slack(found, primal_slack)
    if not found.faults and not _is_gap_shown(claim, found, primal_slack):
        found.faults.append(
            f"gap: the file says a relative gap of {said.relative_gap:.3g}, and it is {certificate.relative_gap:.3g}"
        )
    is_certified = claim.status is Status.CERTIFIED and claim.tol is not None
    gap_tol = claim.gap_tol or 0.0
    is_small = gap_tol > 0.0 and certificate.gap <= gap_tol + slack * certificate.scale
    if is_certified and not certificate.relative_gap <= (claim.tol or 0.0) + slack and not is_small:
        also = f" or gap_tol {gap_tol:g}" if gap_tol else ""
        shown = f", the gap {certificate.gap:.3g}" if gap_tol else ""
        found.faults.append(
            f"status: the file says CERTIFIED at tol {claim.tol:g}{also}, and the relative gap that can be shown is "
            f"{certificate.relative_gap:.3g}{shown}"
        )


def _settle(claim: _Claim, found: _Found, slack: float, seconds: float) -> None:
    """In place: the best certificate known after a new solve, and what it says about the claimed D."""
    claimed_dual = claim.certificate.dual
    result = solve(
        claim.problem,
        tol=0.0,
        max_seconds=seconds,
        start=(claim.weights, claim.intercept, None),
        callback=lambda record: record.dual >= claimed_dual or record.primal < claimed_dual - slack,
    )
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    known, solved = found.certificate, result.certificate
    slack += solved.dual_error + solved.rounding
    if solved.dual > known.dual:
        # P − D of the claimed weights is P − P of the new ones plus the gap of those.
        gap = max(known.primal - solved.primal + solved.gap, 0.0)
        rounding = known.primal_error + solved.primal_error + solved.rounding
        found.certificate = known = replace(known, dual=solved.dual, gap=gap + rounding, rounding=rounding)
    if claimed_dual <= known.dual + slack:
        found.notes.append("the file keeps no duals; those of a new solve prove its dual value")
    elif solved.primal < claimed_dual - slack:
        found.faults.append(
            f"dual: the file says that no weights give less than {claimed_dual:.12g}, and a new solve found weights that give "
            f"{solved.primal:.12g}"
        )
    else:
        found.undecided.append(
            f"dual: the file says {claimed_dual:.12g} and keeps no duals to show it; a new solve proved {known.dual:.12g} in "
            f"{seconds:g} s, which neither proves nor refutes it; allow more seconds, or fit again and keep the duals"
        )
