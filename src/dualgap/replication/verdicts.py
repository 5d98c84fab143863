"""Verdicts: a claim's parts, each of which holds, does not hold or is undecided, and the outcome the parts add up to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from dualgap.replication.frames import Missing


class Outcome(Enum):
    """How a claim fared."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Finding:
    """Whether something holds, None where the measurements do not decide it, and the numbers with their interval."""

    holds: bool | None
    numbers: str


@dataclass(frozen=True)
class Part:
    """One thing a claim says, whether it holds (None: undecided), and by which numbers."""

    says: str
    holds: bool | None
    numbers: str
    measured: bool = True


@dataclass(frozen=True)
class Verdict:
    """The outcome, its parts, a sentence that the numbers support, and the outcomes under other settings beside it."""

    outcome: Outcome
    parts: tuple[Part, ...]
    sentence: str
    beside: Mapping[str, Verdict] = field(default_factory=dict)


def part(says: str, finding: Callable[..., Finding], *arguments: Any) -> Part:
    """A part from its finding; what was not measured is undecided, and the part says what is missing."""
    try:
        found = finding(*arguments)
    except Missing as missing:
        return Part(says, None, f"not measured: {missing}", measured=False)
    return Part(says, found.holds, found.numbers)


def all_of(findings: Sequence[Finding]) -> Finding:
    """Holds if all hold, does not if one does not, and is undecided otherwise."""
    holds: bool | None = all(one.holds for one in findings)
    if not holds and not any(one.holds is False for one in findings):
        holds = None
    return Finding(holds, "; ".join(one.numbers for one in findings))


def outcome_of(parts: Sequence[Part]) -> Outcome:
    """The outcome that stands however undecided parts may turn out; undecided where there is none."""
    states = {one.holds for one in parts}
    if {True, False} <= states:
        return Outcome.PARTLY
    if None in states or not states:
        return Outcome.UNDECIDED
    return Outcome.HOLDS if True in states else Outcome.FAILS


def verdict(
    parts: Sequence[Part], why: str = "", failing: str = "", beside: Mapping[str, Sequence[Part]] | None = None
) -> Verdict:
    """The verdict on a claim of these parts.

    `why` explains the numbers, `failing` is said only where a part does not hold, and `beside` has the same parts under
    other settings, which are shown and do not count.
    """
    if not any(one.measured for one in parts):
        raise Missing(parts[0].numbers.removeprefix("not measured: "))
    others = {
        setting: Verdict(outcome_of(some), tuple(some), _counted(some))
        for setting, some in (beside or {}).items()
        if any(one.measured for one in some)
    }
    said = [_counted(parts), why, failing if any(one.holds is False for one in parts) else ""]
    said += [f"{setting}: {other.outcome.value}." for setting, other in others.items()]
    return Verdict(outcome_of(parts), tuple(parts), " ".join(filter(None, said)), others)


def _counted(parts: Sequence[Part]) -> str:
    """How many parts hold, and which do not."""
    holding = sum(one.holds is True for one in parts)
    said = [f"{holding} of {len(parts)} {'part holds' if len(parts) == 1 else 'parts hold'}."]
    for state, words in ((False, "Does not hold"), (None, "Undecided")):
        named = [one.says for one in parts if one.holds is state]
        if named:
            said.append(f"{words}: {'; '.join(named)}.")
    return " ".join(said)


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
