"""Counts of a campaign's outcomes, and two campaigns compared seed by seed, as Markdown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Outcome = dict[str, Any]
BAD_STATUSES = ("exception", "warning", "hang", "crash")
# Failures that a table lists.
LISTED = 40


def kinds(outcome: Outcome) -> list[str]:
    """The kinds of failure of an outcome, each once; empty for a case that behaved."""
    found = sorted({violation["kind"] for violation in outcome.get("violations", [])})
    return found + [status for status in BAD_STATUSES if outcome["status"] == status]


def described(outcome: Outcome) -> str:
    """One line for a failing case."""
    details = "; ".join(f"{v['kind']}: {v['detail']}" for v in outcome.get("violations", []))
    return f"{outcome['seed']} {outcome['family']} {outcome['status']} [{outcome.get('case', '')}] {details or outcome.get('message', '')}"


class Counts:
    """What a campaign has seen so far."""

    def __init__(self) -> None:
        self.total = 0
        self.statuses: Counter[tuple[str, str]] = Counter()
        self.failures: Counter[str] = Counter()
        self.failures_by: Counter[tuple[str, str]] = Counter()
        self.messages: Counter[str] = Counter()
        self.failing: list[Outcome] = []
        self.checked = 0
        self.seconds = self.check_seconds = 0.0

    def add(self, outcome: Outcome) -> list[str]:
        """Count an outcome; returns its kinds of failure."""
        self.total += 1
        self.statuses[outcome["family"], outcome["status"]] += 1
        self.checked += bool(outcome.get("is_checked"))
        self.seconds += outcome.get("seconds", 0.0)
        self.check_seconds += outcome.get("check_seconds", 0.0)
        found = kinds(outcome)
        for kind in found:
            self.failures[kind] += 1
            self.failures_by[outcome["family"], kind] += 1
        if found:
            self.failing.append(outcome)
        if outcome["status"] in BAD_STATUSES:
            self.messages[outcome.get("message", "")[:120]] += 1
        return found

    def summary(self) -> dict[str, Any]:
        """Everything as JSON."""
        return {
            "cases": self.total,
            "checked": self.checked,
            "failures": dict(self.failures),
            "statuses": {f"{family}/{status}": count for (family, status), count in sorted(self.statuses.items())},
            "messages": dict(self.messages.most_common()),
            "failing": [described(outcome) for outcome in sorted(self.failing, key=lambda o: o["seed"] or 0)],
        }

    def markdown(self) -> str:
        """Tables of status × family, of failures × family, and of messages."""
        each = 1e3 / max(self.total, 1)
        lines = [
            f"{self.total} cases, {self.checked} checked exactly, "
            f"{self.seconds * each:.1f} ms a fit, {self.check_seconds * each:.1f} ms a check",
            "",
            *table(self.statuses, "family"),
            "",
        ]
        if self.failures_by:
            lines += [*table(self.failures_by, "failures"), ""]
        if self.messages:
            lines += ["| exceptions, warnings, hangs | cases |", "|---|---:|"]
            lines += [f"| {message} | {count} |" for message, count in self.messages.most_common(LISTED)]
        return "\n".join(lines)


def table(counts: Counter[tuple[str, str]], corner: str) -> list[str]:
    """Counts of (row, column) pairs with totals, as lines of Markdown."""
    rows, columns = ([name for name, _ in _totals(counts, place).most_common()] for place in (0, 1))
    lines = [f"| {corner} | {' | '.join(columns)} | all |", "|---" * (len(columns) + 2) + "|"]
    for row in rows:
        cells = [counts[row, column] for column in columns]
        lines.append(f"| {row} | {' | '.join(str(cell or '') for cell in cells)} | {sum(cells)} |")
    sums = [sum(counts[row, column] for row in rows) for column in columns]
    return [*lines, f"| all | {' | '.join(map(str, sums))} | {sum(sums)} |"]


def _totals(counts: Counter[tuple[str, str]], place: int) -> Counter[str]:
    totals: Counter[str] = Counter()
    for key, count in counts.items():
        totals[key[place]] += count
    return totals


def read(path: Path) -> dict[int, Outcome]:
    """The outcomes of a file of JSON lines, by seed."""
    with path.open(encoding="utf-8") as lines:
        found: Iterable[Outcome] = [json.loads(line) for line in lines if line.strip()]
    return {outcome["seed"]: outcome for outcome in found}


def counted(parts: Iterable[Path]) -> Counts:
    """The counts of files of outcomes; a seed that is in several counts once."""
    outcomes: dict[int, Outcome] = {}
    for part in parts:
        outcomes |= read(part)
    counts = Counts()
    for outcome in outcomes.values():
        counts.add(outcome)
    return counts


def compare(before: Path, after: Path) -> str:
    """How the same seeds ended in two campaigns."""
    old, new = read(before), read(after)
    common = sorted(set(old) & set(new))
    same = [seed for seed in common if old[seed].get("case") == new[seed].get("case")]
    changes, by_loss, by_family = Counter(), Counter(), Counter()
    lost = []
    for seed in same:
        one, other = old[seed], new[seed]
        changes[one["status"], other["status"]] += 1
        if one["status"] == "CERTIFIED" != other["status"]:
            by_loss[one["loss"], other["status"]] += 1
            by_family[one["family"], other["status"]] += 1
            lost.append(seed)
    was_false = sum(bool(old[seed].get("violations")) for seed in lost)
    lines = [
        f"{len(common)} common seeds, {len(same)} with the same case",
        f"{len(lost)} were CERTIFIED before and are not now; {was_false} of them were violations before",
        "",
        *table(changes, "before \\ after"),
        "",
    ]
    if lost:
        lines += [*table(by_loss, "CERTIFIED before, by loss"), "", *table(by_family, "by family"), ""]
        lines += [f"- {described(new[seed])}; relative gap {new[seed].get('relative_gap')}, before {old[seed].get('relative_gap')}"
                  for seed in lost[:LISTED]]  # fmt: skip
    for name, side in (("before", old), ("after", new)):
        counts = Counter(kind for outcome in side.values() for kind in kinds(outcome))
        lines.append(f"failures {name}: {dict(counts)}")
    return "\n".join(lines)
