"""Claims and their verdicts in Markdown: the table of all, and a section for each with its numbers folded away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dualgap.replication.claims import CLAIMS, Claim
from dualgap.replication.content import STATES
from dualgap.replication.verdicts import Part, Verdict


def outcome(found: Verdict | str) -> str:
    """The verdict in bold."""
    return f"**{found.outcome.value}**" if isinstance(found, Verdict) else "not measured"


def summary(verdicts: Mapping[str, Verdict | str]) -> list[str]:
    """The table of all claims: a line each, with the numbers that decide."""
    lines = ["| claim | the report says | verdict | by these numbers |", "|---|---|---|---|"]
    for one in CLAIMS.values():
        found = verdicts[one.id]
        short = found.in_short if isinstance(found, Verdict) else f"{found}."
        anchor = one.id.lower().replace(".", "")
        lines.append(f"| [{one.id}](#{anchor}) | {one.says} | {outcome(found)} | {_cell(short)} |")
    return lines


def folded(title: str, lines: Sequence[str]) -> list[str]:
    """Lines that a reader unfolds."""
    return ["<details>", f"<summary>{title}</summary>", "", *lines, "", "</details>", ""]


def section(claim: Claim, found: Verdict | str) -> list[str]:
    """A claim: what is said, the verdict, its parts with the numbers that decide, and the rest folded."""
    lines = [f"### {claim.id}", "", f"{claim.says} *Settings: {claim.settings}.*", ""]
    if isinstance(found, str):
        return [*lines, f"Not measured: {found}."]
    lines += [" ".join(filter(None, (f"{outcome(found)}. {found.counted}", found.why))), "", *_table(found.parts)]
    full = [f"- {one.says}: {one.numbers}" for one in found.parts if one.numbers != one.brief]
    if full:
        lines += ["", *folded("All numbers", full)[:-1]]
    for setting, other in found.beside.items():
        differing = [one for one in other.parts if one not in found.parts]
        shown = _table(differing) if differing else ["Every part comes out as above, by the same numbers."]
        lines += ["", *folded(f"{setting}: {other.outcome.value}", shown)[:-1]]
    return lines


def _table(parts: Iterable[Part]) -> list[str]:
    rows = [f"| {STATES[one.holds][1]} | {_cell(one.says)} | {_cell(one.brief)} |" for one in parts]
    return ["| | part | numbers |", "|---|---|---|", *rows]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
