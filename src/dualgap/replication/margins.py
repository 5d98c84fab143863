"""The margins inside which two quantities are called equal, and the bounds of words such as "far more", with reasons.

They are fixed before a run: a rule compares an interval with them and never moves them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Margin:
    """A bound with its unit and the reason for it."""

    value: float
    unit: str
    reason: str


SAME_SPEED = Margin(1.25, "times as many updates", "A quarter more cannot be told apart by eye on the reports' axes.")
COMPARABLE_SPEED = Margin(1.5, "times as many updates", 'R2.4 says "very comparable", which is weaker than equal.')
CLOSE_SPEED = Margin(2.0, "times as many updates", 'R0.2 says "closely followed", a second place and no tie.')
SAME_STABILITY = Margin(2.0, "times as far a jump", "A curve's mean jump depends on where records fall.")
SAME_LIMIT = Margin(0.02, "of the way from P(0) to P*", "A fiftieth of a figure's height is about a line's width.")
SAME_ACCURACY = Margin(0.01, "accuracy", "Test parts of 114 to 330 rows have a standard error of 1.8 points or more.")
UNIMPORTANT = Margin(0.02, "accuracy", "R0 calls differences of 1.5 points in table 2 unimportant.")
ONE_ROW = Margin(0.003, "accuracy", "One row of R0's 330 test rows; table 2's smallest change is twice that.")
SLIGHT_ACCURACY = Margin(0.02, "accuracy", 'R2.3 says "a slight difference": above none and at most two points.')
ONE_HELD_OUT = Margin(
    0.005, "accuracy", "One row of the 200 that R2.3 is judged on; this one was added after results were seen."
)
SLIGHTLY_BETTER = Margin(0.03, "accuracy", 'R2.4 says "slightly better": above none and at most three points.')
PRINTED_ACCURACY = Margin(0.01, "accuracy", "R3 prints two and three decimals of 200 rows, 0.5 points each.")
PRINTED_ERROR = Margin(0.03, "test error", "R1 reads 26 % off a curve that moves by some points.")
TELLING_ACCURACY = Margin(0.1, "accuracy", "A spread of more than ten points over draws would agree with any number.")
SAME_DIRECTION = Margin(0.1, "distance of unit vectors", "About 6 degrees; figure 7 shows coefficients by eye.")
MUCH_NEARER = Margin(0.9, "times the distance to β", "R0 says averaging does not bring the weights much closer.")
FAR_MORE = Margin(10.0, "times as much", "An order of magnitude.")
FAR_CHEAPER = Margin(0.5, "times the CPU time", "Less than half.")
SETTLED = Margin(0.01, "test error", "A curve has settled when it stays within a point of its last value.")
VERY_FAST = Margin(0.01, "of the way left after 10 epochs", "R3 names fewer than 10 epochs; a hundredth looks flat.")
GOOD_PRIMAL = Margin(0.01, "above P*, relative", "R4.4 says good results: a hundredth above the least loss.")
TRAPPED_GAP = Margin(
    0.01, "relative duality gap", "A point within a hundredth of the optimum is not trapped elsewhere."
)
NEAR_SIXTY = (0.55, 0.67)  # "environ 60 %" in R2.2
THREE_TIMES = (2.0, 4.5)  # "≈ 3 times longer" in R1.1
FOURTH_EPOCH = (3.0, 5.0)  # "around the 4-th epoch" in R1.1
SIX_TIMES = 3.0  # 3,000 against 500 updates in R2.2 is a factor 6, read off a figure: at least 3

MARGINS = {name: value for name, value in globals().items() if isinstance(value, Margin)}
