"""When a run makes its next certificate: at fixed distances, or where the solver's estimate or the epochs since the last say so.

Distances are epochs or updates and never seconds, so the same run ends at the same place on any machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from dualgap.limits import Limits
from dualgap.trace import Trace

# Rounding of epochs · rows; rows touched are whole numbers.
ROW_ROUNDING = 1e-6


@dataclass(frozen=True)
class ScheduleSettings:
    """The numbers that decide when a run without fixed distances makes a certificate."""

    # Epochs before the first certificate, and the growth of the epochs from one certificate to the next. A certificate costs about two
    # epochs: more certificates cost time, fewer let a run go on after it could have ended.
    first_check_epochs: float = 5.0
    check_growth: float = 0.2
    # Factor of the epochs to the next certificate for a solver that estimates its own gap: its estimate calls for the certificate that
    # ends the run, and others only guard against a wrong estimate.
    estimate_wait: float = 4.0
    # The same factor for the first certificate while `auto` may still change the solver, which needs a record; it is 1 where the
    # estimated relative gap is above `far_gap`, because a run that far from tol gains most by a change.
    undecided_wait: float = 2.4
    far_gap: float = 0.2


SETTINGS = ScheduleSettings()


@dataclass(frozen=True)
class Schedule:
    """When the next record is due, by the limits and the records so far."""

    limits: Limits
    rows: int
    """Rows of the problem: an epoch touches as many."""
    trace: Trace

    def next_record(self) -> float:
        """The place of the next record at fixed distances, in updates or in rows touched."""
        last = self.trace[-1]
        if self.limits.record_updates is not None:
            return (last.updates // self.limits.record_updates + 1) * self.limits.record_updates
        every = float(self.limits.record_every or 1.0)
        return (floor(last.epoch / every + 1e-9) + 1) * every * self.rows

    def rows_until_record(self, touched: int, updates: int, batch: int) -> float:
        """Rows to touch until the next record at a fixed distance; infinite without fixed distances."""
        if not self.limits.has_record_schedule:
            return float("inf")
        if self.limits.record_updates is not None:
            return (self.next_record() - updates) * batch
        return self.next_record() - touched

    def is_record_due(self, touched: int, updates: int) -> bool:
        """Whether a record at a fixed distance is due."""
        if self.limits.record_updates is not None:
            return updates >= self.next_record()
        return touched >= self.next_record() - ROW_ROUNDING

    def is_check_due(self, epoch: float, estimated_gap: float | None, may_change_solver: bool) -> bool:
        """Whether the epochs since the last certificate call for another one."""
        last = self.trace[-1].epoch if len(self.trace) else 0.0
        wait = 1.0 if estimated_gap is None else SETTINGS.estimate_wait
        if estimated_gap is not None and may_change_solver and not len(self.trace):
            wait = SETTINGS.undecided_wait if estimated_gap < SETTINGS.far_gap else 1.0
        return epoch >= last + wait * self.epochs_between(last)

    @staticmethod
    def epochs_between(epoch: float) -> float:
        """Epochs from a certificate at `epoch` to the next one."""
        return max(SETTINGS.first_check_epochs, SETTINGS.check_growth * epoch)
