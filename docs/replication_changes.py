"""What became of the first verdicts: a table for docs/replication.md with the numbers that changed one.

`replication/first.json` has the verdicts and parts of the first full run, whose rules knew no intervals.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from replication_claims import folded, outcome

from dualgap.replication.claims import CLAIMS
from dualgap.replication.content import STATES
from dualgap.replication.verdicts import Outcome, Part, Verdict

FILE = Path(__file__).parent / "replication" / "first.json"
# At most two of the parts that changed a verdict are told with their numbers.
MOST_PARTS = 2
HEIGHTS = "five heights instead of one, intervals, finer records"
SETTING = "a real genomic problem decides, the report's likely setting stands beside it"
ACCURACY = "an interval over draws or splits instead of a median"

# Of each claim, what is measured differently since.
WHY = {
    "R0.1": f"{HEIGHTS}; {SETTING}; ASDCA with the paper's θ",
    "R0.2": f"{HEIGHTS}; {SETTING}; ASDCA with the paper's θ; skin was censored at its first record",
    "R0.3": (
        f"{HEIGHTS}; {SETTING}; certified runs keep their last value instead of ending the curve; one order is not compared with "
        "permutations in the first epoch; 20 repeats on skin data"
    ),
    "R0.4": "the range of 95 % of 160 draws instead of 90 % of 40",
    "R0.5": f"{HEIGHTS}; {SETTING}; a smoother curve must be so beyond chance",
    "R0.5b": "a bootstrap interval instead of two standard errors",
    "R0.6": f"{HEIGHTS}; {SETTING}; heights of each λ's own way, so that no curve begins below one",
    "R0.7": f"{HEIGHTS}; {SETTING}",
    "R0.8": f"{HEIGHTS}; {SETTING}; ASDCA with the paper's θ; skin was censored at its first record",
    "R0.9": f"{HEIGHTS}; updates decide, rows touched stand beside them; skin was censored",
    "R0.10": f"{ACCURACY}; 160 draws",
    "R0.11": "the theorem's bound says nothing at this size and is no part any more",
    "R1.1": f"{HEIGHTS}; SDCA was censored at its first record; 100 repeats",
    "R1.2": "an interval at each epoch; 100 repeats",
    "R1.3": "an interval at each epoch",
    "R1.4": f"{HEIGHTS}; SDCA was censored at its first record",
    "R2.1": f"{HEIGHTS}; 60 and 100 repeats; the stored order, which the printed code takes, stands beside",
    "R2.2": f"{HEIGHTS}; the explanation by labels is a tested hypothesis",
    "R2.3": f"{ACCURACY}; 60 draws; a mean difference below one of 200 rows is none",
    "R2.4": f"{HEIGHTS}; 60 draws",
    "R3.1": f"{ACCURACY}; 100 draws",
    "R3.2": ACCURACY,
    "R4.1": "all rows of Adult decide; SGD draws with replacement; a split of its own for each repeat",
    "R4.2": "an interval; a first record does not decide",
    "R4.3": "standardized and raw columns are two findings instead of one median",
    "R4.4": "all rows of Adult decide; a split of its own for each repeat",
    "R0.12": "section 4.5 on similar weights",
    "R3.3": "by the algorithm's own duals and P",
    "R4.5": "table 1 as a selection; 20 splits",
}


def section(verdicts: Mapping[str, Verdict | str]) -> list[str]:
    """The table in Markdown: every claim in the table's order."""
    first = json.loads(FILE.read_text(encoding="utf-8"))
    lines = ["| claim | at first | now | by these numbers | measured differently |", "|---|---|---|---|---|"]
    changed = 0
    for claim in CLAIMS:
        found, before = verdicts[claim], first.get(claim)
        now = found.outcome.value if isinstance(found, Verdict) else "not measured"
        numbers = "unchanged"
        if before is None:
            numbers = "no claim at first"
        elif before["verdict"] != now:
            changed += 1
            numbers = numbers_of(before["parts"], found) if isinstance(found, Verdict) else found
        at_first = before["verdict"] if before else "–"
        lines.append(f"| {claim} | {at_first} | {outcome(found)} | {numbers.replace('|', '')} | {WHY[claim]} |")
    said = f"{changed} of the {len(first)} first verdicts changed, {len(CLAIMS) - len(first)} claims were added."
    return ["## What changed against the first verdicts", "", said, "", *folded("All claims, at first and now", lines)]


def numbers_of(before: Mapping[str, list[Any]], found: Verdict) -> str:
    """The parts that came out otherwise at first, with the numbers of both; the parts that decide where none is the same part."""
    told = list(_turned(before, found)) or [f"{one.says}: {one.brief}" for one in _deciding(found)]
    more = [f"and {len(told) - MOST_PARTS} more"] if len(told) > MOST_PARTS else []
    return "; ".join([*told[:MOST_PARTS], *more])


def _turned(before: Mapping[str, list[Any]], found: Verdict) -> Iterator[str]:
    """Parts with another state than at first; those that make the verdict what it is come first."""
    for one in sorted(found.parts, key=lambda part: part not in _deciding(found)):
        holds, numbers = before.get(one.says, (one.holds, ""))
        if holds is not one.holds:
            states = f"{STATES[holds][2]} at first ({numbers}), {STATES[one.holds][2]} now"
            yield f"{one.says}: {states}: {one.brief}"


def _deciding(found: Verdict) -> list[Part]:
    """The parts in the state on which the outcome rests."""
    wanted = {Outcome.HOLDS: True, Outcome.UNDECIDED: None}.get(found.outcome, False)
    return [one for one in found.parts if one.holds is wanted]
