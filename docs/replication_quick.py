"""Where a quick replication and the full one see a part differently, and why: a table for docs/replication.md.

`python docs/replication_quick.py FOLDER` takes the parts of a finished `dualgap replicate --quick` into docs/replication/quick.json.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from replication_claims import folded

from dualgap.replication import gathering
from dualgap.replication.claims import CLAIMS
from dualgap.replication.content import STATES, judged
from dualgap.replication.verdicts import Part, Verdict
from dualgap.workbench import store

FILE = Path(__file__).parent / "replication" / "quick.json"
# How findings are written: heights that a curve does not reach or is below from its first record on, an estimate with its interval,
# and what marks one that decides nothing.
LACKING = re.compile(
    r"((?:[\d.]+ %, )*[\d.]+ %) (not reached by|censored:) ([^;]+?)(?: below at the first record)?(?=;|$)"
)
OPEN = re.compile(r"[-+\d.,e]+(?: %)? \([^()]+ to [^()]+\)(?: at [\d.]+ %)?(?= \(undecided\)|, undecided at )")
REPEATS = re.compile(r"undecided at (\d+) repeats")
SHORT = re.compile(r"the runs end before epoch [\d.]+")
UNKNOWN = "not known from these runs"


class QuickPart(NamedTuple):
    """What a quick run found of one part."""

    claim: str
    says: str
    holds: bool | None
    numbers: str


def take(folder: Path) -> None:
    """Keep what a quick run found of every part."""
    gathered = gathering.gather(store.read(folder / store.FILE), gathering.read_facts(folder))
    verdicts = judged(list(CLAIMS.values()), gathered)
    found = [
        QuickPart(claim, part.says, part.holds, part.numbers)
        for claim, verdict in verdicts.items()
        if isinstance(verdict, Verdict)
        for part in verdict.parts
    ]
    seconds = json.loads((folder / "replication.json").read_text(encoding="utf-8"))["seconds"]
    text = json.dumps({"seconds": seconds, "parts": found}, ensure_ascii=False, indent=0)
    FILE.write_text(text + "\n", encoding="utf-8")


def section(verdicts: Mapping[str, Verdict | str]) -> list[str]:
    """The table in Markdown."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    parts = [QuickPart(*part) for part in kept["parts"]]
    rows = list(_differences(parts, verdicts))
    lines = [
        "## Where a quick run differs",
        "",
        f"`dualgap replicate --quick` took {kept['seconds'] / 60:.0f} min on the same two cores. It sees {len(parts) - len(rows)} of "
        f"{len(parts)} parts as the full run does.",
        "",
    ]
    head = ["| claim | part | quick | full | cause |", "|---|---|---|---|---|"]
    return [*lines, *folded(f"The other {len(rows)}, with the cause", [*head, *rows])]


def _differences(parts: list[QuickPart], verdicts: Mapping[str, Verdict | str]) -> Iterator[str]:
    for quick in parts:
        verdict = verdicts[quick.claim]
        full = next((part for part in getattr(verdict, "parts", ()) if part.says == quick.says), None)
        if full is not None and full.holds != quick.holds:
            states = f"{STATES[quick.holds][2]} | {STATES[full.holds][2]}"
            yield f"| {quick.claim} | {quick.says} | {states} | {cause(quick.numbers, full)} |"


def cause(quick: str, full: Part) -> str:
    """Why a quick part comes out otherwise, from the numbers of both."""
    sides = {"quick": [*_short(quick, full.numbers), *_wide(quick)], "full": list(_wide(full.numbers))}
    if not any(sides.values()):
        sides = {"quick": [quick], "full": [full.brief]}
    return "; ".join(f"{side}: {', and '.join(told)}" for side, told in sides.items() if told)


def _short(quick: str, full: str) -> Iterator[str]:
    """What the quick runs are too short or too coarse for, and the full runs are not."""
    theirs = set(_lacking(full))
    lacking: dict[str, dict[str, None]] = {}
    for height, why in _lacking(quick):
        if (height, why) not in theirs:
            lacking.setdefault(why, {})[height] = None
    for why, heights in lacking.items():
        yield f"{', '.join(heights)} {why}"
    ends = SHORT.search(quick)
    if ends:
        yield ends[0]
    if UNKNOWN in quick:
        yield UNKNOWN


def _lacking(numbers: str) -> Iterator[tuple[str, str]]:
    """Each height with what is lacking there, of each solver that lacks it."""
    for heights, why, names in LACKING.findall(numbers):
        for height in heights.split(", "):
            for name in names.split(" and "):
                yield height, f"{why} {name}"


def _wide(numbers: str) -> Iterator[str]:
    """The first interval that decides nothing, with its number of repeats."""
    found, repeats = OPEN.findall(numbers), REPEATS.search(numbers)
    if found and repeats:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield f"at {repeats[1]} repeats the interval is wide: {found[0]}{more}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of a finished quick replication")
    take(parser.parse_args().folder)
