"""Limits of a run: when to stop, and when to look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Limits:
    """When to stop and when to look."""

    tol: float
    max_epochs: float
    max_seconds: float
    record_every: float | None
    record_updates: int | None
    given_epochs: bool

    @property
    def asks_for_records(self) -> bool:
        """Whether somebody said how often to look; otherwise looks come where they pay."""
        return self.record_updates is not None or self.record_every != np.inf

    @staticmethod
    def of(tol: float, epochs: float | None, seconds: float | None, every: float | None, updates: int | None) -> Limits:
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
        given = epochs is not None
        if epochs is None:
            epochs = 1000.0 if seconds is None else np.inf
        return Limits(float(tol), float(epochs), float(seconds or np.inf), every, updates, given)
