"""The clock of whole calls: a solver is called as a user calls it, and a run's records are placed on that clock."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

from dualgap.problem import Problem
from dualgap.result import Result
from dualgap.run import solve
from dualgap.trace import Clock


class Call(NamedTuple):
    """A whole call: its wall seconds, and what it returned."""

    seconds: float
    result: Result

    @property
    def update_seconds(self) -> float:
        return self.result.trace[-1].seconds


def timed_call(X: Any, y: Any, problem: dict[str, Any], solver: Any, limits: dict[str, Any]) -> Call:
    """Make the problem of the rows and solve it, with the certificates alone that the run needs to end."""
    clock = Clock()
    with clock:
        result = solve(Problem(X, y, **problem), solver, record_every=inf, **limits)
    return Call(clock.seconds, result)


def on_call_clock(seconds: Sequence[float], call: float) -> list[float]:
    """Seconds of updates as seconds of the whole call, which took `call`: the last is `call` itself.

    What the call takes besides its updates (checks, first state, certificates) is counted before the first update. Where the recorded
    run's updates took longer than the whole call, their seconds are scaled to it.
    """
    last = seconds[-1]
    if call >= last:
        return [call - last + moment for moment in seconds]
    return [moment * call / last for moment in seconds]
