"""The length of a step: where the slope along its direction, which rises from below zero, passes zero, in few looks at it."""

from __future__ import annotations

from math import inf, nan, sqrt

# How much longer each trial may be than the last while the way still leads downhill.
FARTHER = 8.0


class Search:
    """Between which lengths the slope passes zero, as far as it is known; each look at slope and bend says where to look next."""

    def __init__(self, slope: float, is_smooth: bool) -> None:
        """`slope` is that at 0; `is_smooth` says that it has no corners."""
        self.low, self.at_low = 0.0, slope
        self.high, self.at_high = inf, inf
        self.last = (0.0, slope)
        self.is_smooth = is_smooth
        self.is_middle_due = False

    def after(self, t: float, here: float, bend: float) -> float | None:
        """The length to try after t, where slope and bend are these; None where float64 knows none."""
        before = abs(self.last[1]) if self.last[0] else inf
        if here < 0.0:
            self.low, self.at_low = t, here
        else:
            self.high, self.at_high = t, here
        proposal = self._zero(t, here, bend)
        self.last = (t, here)
        if self.high == inf:
            proposal = min(proposal, FARTHER * t) if proposal > t else 2.0 * t
        elif abs(here) > 0.5 * before or not self.low < proposal < self.high:
            proposal = self._between()
        return proposal if self.low < proposal < self.high else None

    def _zero(self, t: float, here: float, bend: float) -> float:
        """Where slope and bend at t say it is: on a line, or on a parabola through the last place too, which no kink bends."""
        if not bend > 0.0:
            return nan
        if not self.is_smooth:
            return t - here / bend
        other, there = self.last
        bending = ((there - here) / (other - t) - bend) / (other - t)
        # Where the parabola never comes to zero, twice as far as the line says.
        return t - 2.0 * here / (bend + sqrt(max(bend * bend - 4.0 * bending * here, 0.0)))

    def _between(self) -> float:
        """On the line between both ends and in their middle, in turn: the one may jump there, the other surely arrives."""
        line = self.low + (self.high - self.low) * self.at_low / (self.at_low - self.at_high)
        is_middle = self.is_middle_due or not self.low < line < self.high
        self.is_middle_due = not self.is_middle_due
        return 0.5 * (self.low + self.high) if is_middle else line
