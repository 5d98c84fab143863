"""Verdicts: a claim's parts, each of which holds, does not hold or is undecided, and the outcome the parts add up to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from dualgap.replication.frames import Missing

# The most numbers that are told in brief where each of them decides; the others stand in the full list.
MOST_BRIEFS = 3


class Outcome(Enum):
    """How a claim fared."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Finding:
    """Whether something holds, None where the measurements do not decide it, and the numbers with their interval.

    `decisive` has those numbers alone that decide, or that leave it undecided; where it is empty, all of them do.
    """

    holds: bool | None
    numbers: str
    decisive: str = ""

    @property
    def brief(self) -> str:
        """The numbers that decide."""
        return self.decisive or self.numbers


@dataclass(frozen=True)
class Part:
    """One thing a claim says, whether it holds (None: undecided), and by which numbers."""

    says: str
    holds: bool | None
    numbers: str
    measured: bool = True
    decisive: str = ""

    @property
    def brief(self) -> str:
        """The numbers that decide."""
        return self.decisive or self.numbers


@dataclass(frozen=True)
class Verdict:
    """The outcome, its parts, why they were measured so, and the outcomes under other settings beside it."""

    outcome: Outcome
    parts: tuple[Part, ...]
    why: str = ""
    beside: Mapping[str, Verdict] = field(default_factory=dict)

    @property
    def counted(self) -> str:
        """How many parts hold."""
        holding = sum(one.holds is True for one in self.parts)
        return f"{holding} of {len(self.parts)} {'part holds' if len(self.parts) == 1 else 'parts hold'}."

    @property
    def sentence(self) -> str:
        """How many parts hold, which do not, why they were measured so, and how the claim fares under other settings."""
        said = [self.counted]
        for state, words in ((False, "Does not hold"), (None, "Undecided")):
            named = [one.says for one in self.parts if one.holds is state]
            if named:
                said.append(f"{words}: {'; '.join(named)}.")
        said += [self.why, *(f"{setting}: {other.outcome.value}." for setting, other in self.beside.items())]
        return " ".join(filter(None, said))

    @property
    def deciding(self) -> Part:
        """A part on which the outcome rests: the first that is undecided, that fails, or that holds, by the outcome."""
        wanted = {Outcome.HOLDS: True, Outcome.UNDECIDED: None}.get(self.outcome, False)
        return next(one for one in self.parts if one.holds is wanted)

    @property
    def in_short(self) -> str:
        """How many parts hold, and the numbers of the first part on which the outcome rests."""
        one = self.deciding
        alike = sum(other.holds is one.holds for other in self.parts) - 1
        state = {True: "Holds", False: "Does not hold", None: "Undecided"}[one.holds]
        more = f" (and {alike} more)" if alike else ""
        return f"{self.counted} {state}: {one.says}: {one.brief}{more}."


def part(says: str, finding: Callable[..., Finding], *arguments: Any) -> Part:
    """A part from its finding; what was not measured is undecided, and the part says what is missing."""
    try:
        found = finding(*arguments)
    except Missing as missing:
        return Part(says, None, f"not measured: {missing}", measured=False)
    return Part(says, found.holds, found.numbers, decisive=found.decisive)


def all_of(findings: Sequence[Finding]) -> Finding:
    """Holds if all hold, does not if one does not, and is undecided otherwise; decided by those that are so."""
    holds: bool | None = all(one.holds for one in findings)
    if not holds and not any(one.holds is False for one in findings):
        holds = None
    deciding = [one.brief for one in findings if one.holds is holds]
    brief = "; ".join(deciding[:MOST_BRIEFS])
    if len(deciding) > MOST_BRIEFS:
        brief += f"; and {len(deciding) - MOST_BRIEFS} more"
    return Finding(holds, "; ".join(one.numbers for one in findings), brief)


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
        setting: Verdict(outcome_of(some), tuple(some))
        for setting, some in (beside or {}).items()
        if any(one.measured for one in some)
    }
    explained = " ".join(filter(None, (why, failing if any(one.holds is False for one in parts) else "")))
    return Verdict(outcome_of(parts), tuple(parts), explained, others)


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
