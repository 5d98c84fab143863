"""Exact arithmetic with floats: an array of integers times one power of two, closed under sums and products.

Every finite float is m·2^e with integers m and e, so scores, residuals and squares of floats have no rounding here.
Divisions come last, as fractions.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

MANTISSA_BITS = 53
# Digits of logarithms and exponentials; a verdict allows for an error of SLACK in them.
DIGITS, SLACK = 64, Fraction(1, 10**45)
# Operators of decimals round to another context: only methods of this one, and copies with another sign, are used.
WIDE = Context(prec=DIGITS, rounding=ROUND_HALF_EVEN, Emin=-(10**17), Emax=10**17, traps=[])
# A decimal below this counts as zero when it becomes a fraction, whose denominator would be too long otherwise.
SMALLEST_DECIMAL = Decimal("1e-2000")


class Dyadic:
    """Integers (a Python int or an array of them) times 2^exponent."""

    __slots__ = ("exponent", "ints")

    def __init__(self, ints: Any, exponent: int) -> None:
        self.ints, self.exponent = ints, exponent

    @staticmethod
    def of(values: Any) -> Dyadic:
        """The exact value of a float or of each float of an array."""
        array = np.asarray(values, dtype=np.float64)
        if not np.isfinite(array).all():
            raise OverflowError("exact arithmetic needs finite numbers")
        mantissas, exponents = np.frexp(array)
        whole = np.ldexp(mantissas, MANTISSA_BITS).astype(np.int64)
        is_zero = whole == 0
        lowest = 0 if is_zero.all() else int(exponents[~is_zero].min())
        shifts = np.where(is_zero, 0, exponents - lowest)
        ints = np.left_shift(whole.astype(object), shifts.astype(object))
        return Dyadic(int(ints) if array.ndim == 0 else ints, lowest - MANTISSA_BITS)

    def at(self, exponent: int) -> Any:
        """The integers for a lower or equal exponent."""
        shift = self.exponent - exponent
        return self.ints if shift == 0 else np.left_shift(self.ints, shift) if self.is_array else self.ints << shift

    @property
    def is_array(self) -> bool:
        return isinstance(self.ints, np.ndarray)

    def __add__(self, other: Dyadic) -> Dyadic:
        low = min(self.exponent, other.exponent)
        return Dyadic(self.at(low) + other.at(low), low)

    def __sub__(self, other: Dyadic) -> Dyadic:
        low = min(self.exponent, other.exponent)
        return Dyadic(self.at(low) - other.at(low), low)

    def __mul__(self, other: Dyadic) -> Dyadic:
        return Dyadic(self.ints * other.ints, self.exponent + other.exponent)

    def __neg__(self) -> Dyadic:
        return Dyadic(-self.ints, self.exponent)

    def __abs__(self) -> Dyadic:
        return Dyadic(abs(self.ints), self.exponent)

    def __getitem__(self, index: Any) -> Dyadic:
        return Dyadic(self.ints[index], self.exponent)

    def doubled(self, times: int = 1) -> Dyadic:
        """The value times 2^times."""
        return Dyadic(self.ints, self.exponent + times)

    def sum(self) -> Dyadic:
        """The sum of all entries."""
        return Dyadic(sum(self.ints.ravel().tolist()), self.exponent)

    def dot(self, other: Dyadic) -> Dyadic:
        """Σ of the products, entry by entry."""
        return (self * other).sum()

    def is_positive(self) -> Any:
        """Whether each entry is above zero."""
        return np.asarray(self.ints > 0, dtype=bool) if self.is_array else self.ints > 0

    def is_negative(self) -> Any:
        """Whether each entry is below zero."""
        return (-self).is_positive()

    def fraction(self) -> Fraction:
        """A single number as a fraction."""
        value = int(self.ints)
        return Fraction(value << self.exponent) if self.exponent >= 0 else Fraction(value, 1 << -self.exponent)

    def decimals(self) -> list[Decimal]:
        """Every entry with DIGITS digits."""
        unit = WIDE.power(Decimal(2), Decimal(self.exponent))
        return [WIDE.multiply(Decimal(value), unit) for value in np.ravel(self.ints).tolist()]


def where(mask: Any, chosen: Dyadic, other: Dyadic) -> Dyadic:
    """The entries of one array where the mask holds, of the other elsewhere."""
    low = min(chosen.exponent, other.exponent)
    return Dyadic(np.where(mask, chosen.at(low), other.at(low)), low)


def as_decimal(value: Fraction) -> Decimal:
    """A fraction with DIGITS digits."""
    return WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))


def as_fraction(value: Decimal) -> Fraction:
    """A decimal as a fraction; zero where it is below 1e-2000."""
    return Fraction(0) if value.copy_abs() < SMALLEST_DECIMAL else Fraction(value)


class ExactRows:
    """The stored values of a dense or sparse matrix, and exact products with them."""

    def __init__(self, X: Any) -> None:
        entries = sparse.coo_array(X)
        self.count, self.dimension = X.shape
        self.rows, self.columns = entries.row, entries.col
        self.values = Dyadic.of(entries.data)

    def scores(self, weights: Dyadic) -> Dyadic:
        """X w."""
        return self._summed(self.values * weights[self.columns], self.rows, self.count)

    def combination(self, coefficients: Dyadic) -> Dyadic:
        """Xᵀ c."""
        return self._summed(self.values * coefficients[self.rows], self.columns, self.dimension)

    def _summed(self, products: Dyadic, places: Any, count: int) -> Dyadic:
        out = np.zeros(count, dtype=object)
        np.add.at(out, places, products.ints)
        return Dyadic(out, products.exponent)
