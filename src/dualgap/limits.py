"""Limits of a run: when it stops, and how often a record is made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Epochs of a run without any limit.
DEFAULT_EPOCHS = 1000.0


@dataclass(frozen=True)
class Limits:
    """When a run stops, and how often a record is made."""

    tol: float
    """The relative gap to reach."""
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

    @staticmethod
    def of(tol: float, epochs: float | None, seconds: float | None, every: float | None, updates: int | None) -> Limits:
        """Limits from what a caller passed, or a refusal."""
        if not tol >= 0.0:
            raise ValueError(f"tol needs to be a number ≥ 0, got {tol!r}; 1e-6 is the default")
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
        return Limits(float(tol), float(epochs), float(seconds or np.inf), every, updates, has_given_epochs)
