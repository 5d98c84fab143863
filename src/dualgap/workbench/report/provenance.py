"""Provenance: where the runs of a page come from, and the commands that repeat them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dualgap.workbench.repeating import command_of
from dualgap.workbench.store import FinishedRun

# Without these settings it is not known what was run.
NEEDED = {"data", "solver", "strength"}
COUNTED = ("cores", "threads")


def facts(runs: Sequence[FinishedRun]) -> list[tuple[str, list[str]]]:
    """Names and values: machines, versions, seeds, times."""
    machines = _different(", ".join(_machine(name, value) for name, value in run.machine.items()) for run in runs)
    versions = _different(" · ".join(f"{name} {value}" for name, value in run.versions.items()) for run in runs)
    started = sorted(str(run.started) for run in runs if run.started)
    first, last = started[:1], started[-1:]
    times = first if first == last else [f"{first[0]} to {last[0]}"]
    sources = _different(str(run.data.get("source", "")) for run in runs)
    listed = [
        ("Runs", [f"{len(runs):,} finished"]),
        ("Seeds", [_ranges(run.settings.get("seed") for run in runs)]),
        ("Machine", machines),
        ("Versions", versions),
        ("Started", times),
        ("Data from", sources),
    ]
    return [(name, [value for value in values if value]) for name, values in listed if any(values)]


def _machine(name: str, value: Any) -> str:
    return f"{value} {name.removesuffix('s') if value == 1 else name}" if name in COUNTED else str(value)


def commands(runs: Sequence[FinishedRun]) -> list[str]:
    """The commands that repeat the runs, as far as their settings are complete."""
    complete = [run for run in runs if run.settings.keys() >= NEEDED]
    try:
        return command_of(complete).splitlines()
    except (TypeError, ValueError):
        return []  # settings that no command line accepts


def _different(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _ranges(values: Iterable[Any]) -> str:
    """Whole numbers with runs of them joined: 0–4, 7."""
    numbers = sorted({value for value in values if isinstance(value, int)})
    texts: list[str] = []
    begin = 0
    for place, number in enumerate(numbers):
        if place + 1 == len(numbers) or numbers[place + 1] != number + 1:
            first = numbers[begin]
            texts.append(f"{first}" if first == number else f"{first}–{number}")
            begin = place + 1
    return ", ".join(texts)
