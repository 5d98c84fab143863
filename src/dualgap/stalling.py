"""Whether a run can still prove its tol: an iterate that no longer changes, and gaps that rounding spoils.

Where rounding spoils a proof the certificate is made again in double-double arithmetic, which costs some dozens of passes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dualgap.certificate import Certificate, Judgement
from dualgap.schedule import Schedule
from dualgap.solvers import Answer


@dataclass(frozen=True)
class StallSettings:
    """The numbers that decide when a run ends as STALLED."""

    # Epochs without a change of any bit of the iterate after which a run ends. Fewer epochs might end a run whose random steps have
    # not met the one row that still changes its iterate; more epochs only take time.
    frozen_epochs: float = 50.0
    # The largest ratio of two gaps in double-double arithmetic, one after the other, with which a run goes on: a gap that falls more
    # slowly is not expected to reach tol.
    gap_decay: float = 0.5


SETTINGS = StallSettings()


class StallDetector:
    """Remembers what the certificates of a run showed."""

    def __init__(self, tol: float, gap_tol: float) -> None:
        self.tolerances = (tol, gap_tol)
        self.fingerprint: tuple[object, ...] = ()
        self.changed_at = 0.0
        """The epoch at which the running iterate last changed."""
        self.next_precise = 0.0
        """The epoch from which double-double arithmetic may be used again; 0 before its first use."""
        self.precise_gap = np.inf
        """The gap at the last use."""

    def is_precise_due(self, epoch: float) -> bool:
        """Whether rounding spoiled an earlier certificate, and whether the gap still falls decides now if the run goes on."""
        return 0.0 < self.next_precise <= epoch

    def observe(self, epoch: float, certificate: Certificate, running: Answer, is_output: bool) -> None:
        """Note whether the run changed since the last certificate.

        `running` is the running iterate; `is_output` says that the certificate is its own and not that of a drawn or mean iterate.
        P and D stand still while rounding moves last digits of w, and the judge chooses b itself, so b is compared as the solver has it.
        """
        shown: tuple[object, ...] = (certificate.primal, certificate.dual)
        if not is_output:
            shown = (running.weights.tobytes(),)
        fingerprint = (*shown, *np.ravel(running.intercept).tolist())
        if self.fingerprint != fingerprint:
            self.fingerprint, self.changed_at = fingerprint, epoch

    def recheck(
        self, epoch: float, judged: Judgement, judge_precisely: Callable[[], Judgement]
    ) -> tuple[Judgement, bool]:
        """The judgement, again in double-double arithmetic where rounding spoils it, and whether the run is stalled."""
        tolerances, certificate = self.tolerances, judged.certificate
        is_frozen = epoch - self.changed_at >= SETTINGS.frozen_epochs
        can_prove = certificate.could_prove(*tolerances)
        is_spoiled = (judged.is_rounding or certificate.seems_to_prove(*tolerances)) and not can_prove
        if not is_frozen and not (is_spoiled and epoch >= self.next_precise):
            return judged, False
        self.next_precise = epoch + Schedule.epochs_between(epoch)
        precise = judge_precisely()
        if precise.certificate.gap < certificate.gap:
            judged, certificate = precise, precise.certificate
        is_proof_impossible = certificate.seems_to_prove(*tolerances) and not certificate.could_prove(*tolerances)
        is_falling = certificate.gap <= SETTINGS.gap_decay * self.precise_gap
        self.precise_gap = certificate.gap
        return judged, is_frozen or is_proof_impossible or not is_falling
