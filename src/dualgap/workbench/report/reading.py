"""Reading for a report: every complete run of the files, each run once, and a note for each thing that is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from dualgap.data.files import parsed_json
from dualgap.workbench.decompression import content_of
from dualgap.workbench.results_schema import is_number
from dualgap.workbench.store import FORMAT, FinishedRun

FIELDS = {field.name for field in fields(FinishedRun)}
# A run that lacks one of the first is not a run; a run that lacks one of the others still says something.
ESSENTIAL: dict[str, type | tuple[type, ...]] = {
    "run": str,
    "settings": dict,
    "strength": (int, float),
    "status": str,
}
EMPTY: dict[str, Any] = {"data": {}, "sentence": "", "reason": "", "certificate": {}, "records": {}}
MAX_NOTES = 20


def read_all(paths: Sequence[Path]) -> tuple[list[FinishedRun], list[str]]:
    """The runs of all files, a run id taken once, and sentences about what was left out."""
    runs: dict[str, FinishedRun] = {}
    notes: list[str] = []
    twice = 0
    for path in paths:
        for finished in _read(path, notes):
            twice += finished.run in runs
            runs.setdefault(finished.run, finished)
    if twice:
        notes.append(f"{twice} run{'s were' if twice > 1 else ' was'} found more than once and taken once")
    if len(notes) > MAX_NOTES:
        notes[MAX_NOTES:] = [f"and {len(notes) - MAX_NOTES} notes more of this kind"]
    return list(runs.values()), notes


def _read(path: Path, notes: list[str]) -> list[FinishedRun]:
    text = _text(path, notes)
    lines = text.split(b"\n")
    torn = bool(lines[-1].strip())
    found: list[FinishedRun] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"line {number} of {path.name}"
        try:
            parsed = parsed_json(line)
        except ValueError:
            last = torn and number == len(lines)
            notes.append(f"{where} is {'torn' if last else 'not JSON'} and was left out")
            continue
        finished = _finished(parsed, where, notes)
        if finished is not None:
            found.append(finished)
    if not found:
        raise ValueError(f"{str(path)!r} holds no finished run")
    return found


def _text(path: Path, notes: list[str]) -> bytes:
    """The bytes of a file, unpacked where it is a .gz; of an archive cut short or damaged, what stands before that."""
    content = content_of(path)
    if content.damage and not content.text:
        raise ValueError(f"{str(path)!r} is not a gzip file: {content.damage}")
    if content.damage:
        notes.append(f"the archive {path.name} is damaged; what stands before the damage is shown")
    if content.cut:
        notes.append(f"the archive {path.name} is cut short; what stands before the cut is shown")
    return content.text


def _finished(parsed: Any, where: str, notes: list[str]) -> FinishedRun | None:
    if not isinstance(parsed, dict) or not isinstance(parsed.get("format"), int):
        notes.append(f"{where} is not a run of dualgap and was left out")
        return None
    if parsed.pop("format") > FORMAT:
        raise ValueError(f"{where} was written by a newer dualgap; upgrade this one (python -m pip install -U dualgap)")
    for name, kind in ESSENTIAL.items():
        if not isinstance(parsed.get(name), kind) or isinstance(parsed[name], bool):
            notes.append(f"{where} has no proper {name!r}, and the run was left out")
            return None
    if not is_number(parsed["strength"]):
        notes.append(f"{where} has no finite strength, and the run was left out")
        return None
    lacking = [name for name, empty in EMPTY.items() if not isinstance(parsed.get(name), type(empty))]
    if lacking:
        notes.append(f"{where} lacks {', '.join(lacking)}; the rest of the run is shown")
    strange = [name for name in parsed if name not in FIELDS]
    if strange:
        more = f" and {len(strange) - 3} more" if len(strange) > 3 else ""
        notes.append(f"{where} has fields unknown here, which are ignored: {', '.join(strange[:3])}{more}")
    kept = {name: value for name, value in parsed.items() if name in FIELDS and name not in lacking}
    for name in ("machine", "versions"):
        if not isinstance(kept.get(name, {}), dict):
            del kept[name]
    try:
        return FinishedRun(**({name: EMPTY[name] for name in lacking} | kept))
    except TypeError as error:
        notes.append(f"{where} is not a run of dualgap and was left out: {error}")
        return None
