"""The settings of every experiment as one table: data, λ, scaling, θ, epochs, records, repeats, splits, stand-ins."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dualgap.replication.experiments import Contenders, Experiment
from dualgap.replication.naming import data_words

# More strengths than these are told by the first, the last and their number.
MOST_STRENGTHS = 4
HEAD = (
    "experiment",
    "algorithms",
    "data",
    "λ",
    "rows and columns",
    "θ, batch",
    "epochs",
    "records",
    "repeats",
    "splits",
)


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
            rows.setdefault((experiment.name, _names(some), data, _range(strengths), scaling, _batches(some), *limits))
    return list(rows)


def _limits(one: Contenders) -> tuple[str, ...]:
    openings = f", {one.openings[0][1]:.2g} at first" if one.openings else ""
    every = "every epoch" if one.every == 1 else f"every {one.every:g} epochs"
    return f"{one.epochs:g}", f"{every}{openings}", f"{_draws(one)}", f"{one.splits}"


def _draws(one: Contenders) -> str:
    drawn = len({match for text in one.data for match in re.findall(r"seed=(\d+)", text)})
    return f"{one.repeats} × {drawn} draws" if drawn > 1 else f"{one.repeats}"


def _names(some: Sequence[Contenders]) -> str:
    """The algorithms; SGD with several values of a setting, such as SGD 1000, is one."""
    return "; ".join(dict.fromkeys(re.sub(r"^SGD [\d.e+-]+$", "SGD", name) for one in some for name in one.solvers))


def _data(names: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(data_words(text, scaling=False) for text in names))


def _scaling(one: Contenders) -> str:
    said = []
    if one.standardize or "standardized=true" in one.data[0]:
        said.append("columns standardized")
    elif one.standardize is None:
        said.append("columns standardized unless raw")
    if one.data[0].startswith("unit_rows"):
        said.append("rows of length at most 1")
    if one.test_size:
        said.append(f"{100 * one.test_size:g} % held out")
    elif one.data[0].startswith("cells"):
        said.append("the official test part")
    return ", ".join(said) or "as stored"


def _batches(some: Sequence[Contenders]) -> str:
    texts = [text for one in some for text in one.solvers.values()]
    thetas = list(dict.fromkeys(match for text in texts for match in re.findall(r"theta=(\d+x)", text)))
    batches = list(dict.fromkeys(match for text in texts for match in re.findall(r"batch_size=(\d+)", text)))
    said = [f"θ {', '.join(thetas)} the paper's"] if thetas else []
    return "; ".join([*said, *([f"batch {', '.join(batches)}"] if batches else [])])


def _range(strengths: Sequence[str]) -> str:
    if len(strengths) <= MOST_STRENGTHS:
        return ", ".join(strengths)
    ordered = sorted(strengths, key=float)
    return f"{ordered[0]} to {ordered[-1]} ({len(strengths)} values)"
