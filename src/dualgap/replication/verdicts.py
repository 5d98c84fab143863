"""Verdicts: a claim's parts, each true or not with the numbers it rests on, and the outcome they add up to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    """How a claim fared."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold"


@dataclass(frozen=True)
class Part:
    """One thing a claim says, whether it is so, and by which numbers."""

    says: str
    true: bool
    numbers: str


@dataclass(frozen=True)
class Verdict:
    """The outcome, the parts it is made of, and a sentence that the numbers support."""

    outcome: Outcome
    parts: tuple[Part, ...]
    sentence: str


def verdict(parts: Sequence[Part], why: str = "", failing: str = "") -> Verdict:
    """All parts true: holds; some: holds in part; none: does not hold.

    `why` is a sentence that explains the numbers; `failing` one that is said only where a part is not so.
    """
    true = sum(part.true for part in parts)
    if true == len(parts):
        return Verdict(Outcome.HOLDS, tuple(parts), f"All {true} parts are so. {why}".strip())
    outcome = Outcome.PARTLY if true else Outcome.FAILS
    said = "; ".join(part.says for part in parts if not part.true)
    counted = f"{true} of {len(parts)} parts are so. " if true else ""
    return Verdict(outcome, tuple(parts), " ".join(filter(None, (f"{counted}Not so: {said}.", why, failing))))


def number(value: float, digits: int = 3) -> str:
    """A number as a person reads it; `never` where a curve did not come down."""
    if math.isinf(value):
        return "never"
    if math.isnan(value):
        return "unknown"
    if value == round(value) and abs(value) < 1e12:
        return f"{value:,.0f}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def percent(fraction: float, digits: int = 1) -> str:
    """A fraction in percent."""
    if math.isnan(fraction):
        return "unknown"
    return f"{100.0 * fraction:,.0f} %" if abs(fraction) >= 10.0 else f"{100.0 * fraction:.{digits}f} %"


def proven(gap: float) -> str:
    """A certificate's relative gap."""
    return "0 in float64" if gap == 0.0 else f"{gap:.1e}"


def times(first: float, second: float) -> float:
    """How many times the second the first is; nan where that says nothing."""
    if not math.isfinite(first) or not math.isfinite(second):
        return math.inf if math.isinf(first) and math.isfinite(second) else math.nan
    return first / second if second else (1.0 if first == 0.0 else math.inf)
