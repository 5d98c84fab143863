"""Where a quick replication and the full one see a part differently, and why: a table for docs/replication.md.

`python docs/replication_quick.py FOLDER` takes the parts of a finished `dualgap replicate --quick` into docs/replication/quick.json.
"""

from __future__ import annotations

import argparse
import json
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
# Said in the numbers of a part for each height that a curve does not come down to.
NOT_REACHED = "not reached"


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
        f"{len(parts)} parts as the full run does. It was judged before one order and permutations were no longer compared in "
        "their first epoch.",
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
            yield f"| {quick.claim} | {quick.says} | {states} | {_cause(quick, full)} |"


def _cause(quick: QuickPart, full: Part) -> str:
    if quick.holds is None:
        return "its few repeats leave a wide interval"
    if quick.numbers.count(NOT_REACHED) and full.holds is None:
        return "its short runs reach only the upper heights, and the full run leaves the lower ones undecided"
    if full.holds is None:
        return "an interval of few repeats comes out too narrow now and then; the full run's includes no difference"
    return "few repeats and short runs"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of a finished quick replication")
    take(parser.parse_args().folder)
