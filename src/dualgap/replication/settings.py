"""The settings of every experiment as one table: data, λ, scaling, θ, epochs, records, repeats, splits, stand-ins."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dualgap.replication.experiments import Contenders, Experiment

HEAD = ("experiment", "data", "λ", "rows and columns", "θ, batch", "epochs", "records", "repeats", "splits")


def table(experiments: Sequence[Experiment]) -> list[tuple[str, ...]]:
    """A row for each group of runs under the same limits; groups that differ in λ or names alone are one."""
    rows: dict[tuple[str, ...], None] = {}
    for experiment in experiments:
        groups: dict[tuple[str, ...], list[Contenders]] = {}
        for one in experiment.contenders:
            if one.solvers:
                groups.setdefault(_limits(one), []).append(one)
        for limits, some in groups.items():
            strengths = list(dict.fromkeys(text for one in some for text in one.strengths))
            data = _data(some[0].data)
            scaling = _scaling(some[0])
            rows.setdefault((experiment.name, data, _range(strengths), scaling, _batches(some), *limits))
    return list(rows)


def _limits(one: Contenders) -> tuple[str, ...]:
    openings = f", {one.openings[0][1]:.2g} at first" if one.openings else ""
    return f"{one.epochs:g}", f"every {one.every:g} epochs{openings}", f"{_draws(one)}", f"{one.splits}"


def _draws(one: Contenders) -> str:
    drawn = len({match for text in one.data for match in re.findall(r"seed=(\d+)", text)})
    return f"{one.repeats} × {drawn} draws" if drawn > 1 else f"{one.repeats}"


def _data(names: Sequence[str]) -> str:
    bases = [re.sub(r"unit_rows\(data=(\w+)(?:\(.*\))?.*\)", r"\1", text) for text in names]
    bases = [re.sub(r",? ?(?:seed|width)=[\d.e+-]+", "", text).replace("(, ", "(").replace("()", "") for text in bases]
    told = {"genomic": "genomic (stand-in: prostate, 102 × 5,966)"}
    return ", ".join(dict.fromkeys(told.get(base, base) for base in bases))


def _scaling(one: Contenders) -> str:
    said = []
    if one.standardize or "standardized=true" in one.data[0]:
        said.append("columns standardized")
    if one.data[0].startswith("unit_rows"):
        said.append("rows of length at most 1")
    if one.test_size:
        said.append(f"{one.test_size:.0%} held out")
    return ", ".join(said) or "as stored"


def _batches(some: Sequence[Contenders]) -> str:
    texts = [text for one in some for text in one.solvers.values()]
    thetas = list(dict.fromkeys(match for text in texts for match in re.findall(r"theta=(\d+x)", text)))
    batches = list(dict.fromkeys(match for text in texts for match in re.findall(r"batch_size=(\d+)", text)))
    said = [f"θ {', '.join(thetas)} the paper's"] if thetas else []
    return "; ".join([*said, *([f"batch {', '.join(batches)}"] if batches else [])])


def _range(strengths: Sequence[str]) -> str:
    return (
        ", ".join(strengths) if len(strengths) <= 4 else f"{strengths[0]} … {strengths[-1]} ({len(strengths)} values)"
    )
