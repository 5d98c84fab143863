"""Limits of a run: when it stops, and how often a record is made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualgap.linalg.elementary import is_number

# Epochs of a run without any limit.
DEFAULT_EPOCHS = 1000.0


@dataclass(frozen=True)
class Limits:
    """When a run stops, and how often a record is made."""

    tol: float
    """The relative gap to reach."""
    gap_tol: float
    """An absolute gap that ends the run as well; 0 for none."""
    max_epochs: float
    max_seconds: float
    record_every: float | None
    """Epochs between records; infinite for records only where the run needs a certificate."""
    record_updates: int | None
    """Updates between records, instead of epochs."""
    has_given_epochs: bool
    """Whether the caller passed max_epochs."""

    @property
    def has_record_schedule(self) -> bool:
        """Whether records are made at fixed distances; otherwise only where the run needs a certificate."""
        return self.record_updates is not None or self.record_every != np.inf

    def relative_goal(self, primal: float) -> float:
        """The relative gap that ends the run where P is `primal`: the looser of tol and gap_tol/P."""
        if self.gap_tol == 0.0:
            return self.tol
        return max(self.tol, self.gap_tol / primal if primal > 0.0 else np.inf)

    @staticmethod
    def of(
        tol: float,
        epochs: float | None,
        seconds: float | None,
        every: float | None,
        updates: int | None,
        gap_tol: float | None = None,
    ) -> Limits:
        """Limits from what a caller passed, or a refusal."""
        if not tol >= 0.0:
            raise ValueError(f"tol needs to be a number ≥ 0, got {tol!r}; 1e-6 is the default")
        check_gap_tol(gap_tol)
        for name, value in (
            ("max_epochs", epochs),
            ("max_seconds", seconds),
            ("record_every", every),
            ("record_updates", updates),
        ):
            if value is not None and not value > 0:
                raise ValueError(f"{name} needs to be a number > 0, got {value!r}; leave it out for the default")
        if every is not None and updates is not None:
            raise ValueError(
                "records are made every record_every epochs or every record_updates updates, got both; choose one"
            )
        if updates is None and every is None:
            every = 1.0
        has_given_epochs = epochs is not None
        if epochs is None:
            epochs = DEFAULT_EPOCHS if seconds is None else np.inf
        absolute = 0.0 if gap_tol is None else float(gap_tol)
        return Limits(float(tol), absolute, float(epochs), float(seconds or np.inf), every, updates, has_given_epochs)


def check_gap_tol(gap_tol: float | None) -> None:
    """Refuse an absolute gap that no proof could mean."""
    if gap_tol is not None and not (is_number(gap_tol) and gap_tol > 0.0):
        raise ValueError(f"gap_tol needs to be a finite number > 0, got {gap_tol!r}; leave it out to end at tol alone")
