"""What float64 can hold: the numbers that other thresholds follow from."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

UNIT = 2.0**-53
"""The unit roundoff u: an operation errs by at most u relative to its result."""
HALF_DIGITS = sqrt(UNIT)
"""A difference this small beside its terms has half of its digits left; the square of an error this small is rounding."""
MANY_ROUNDINGS = 2.0**13 * UNIT
"""What some thousands of operations err by at most, relative to the largest number in them: 9e-13."""
BELOW_ONE = float(np.nextafter(1.0, 0.0))
"""The largest number below 1."""

TINY = float(np.finfo(np.float64).tiny)
"""The smallest number with all its digits: programs that round smaller ones to zero are common."""
SAFE_SQUARES = TINY / (UNIT * UNIT)
"""A sum of squares above this loses at most u² of itself for each square that underflows."""

LOG_MAX = log(np.finfo(np.float64).max)
"""The logarithm of the largest number: e^z of a larger z is infinite."""
LOG_MIN = log(np.finfo(np.float64).smallest_subnormal)
"""The logarithm of the smallest number above 0."""
