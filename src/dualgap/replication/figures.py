"""All figures and tables of the five reports by their ids, and those that a claim or a name asks for."""

from __future__ import annotations

from collections.abc import Sequence

from dualgap.replication import figures_r0, figures_r1, figures_r2, figures_r3, figures_r4
from dualgap.replication.panels import Figure

_REPORTS = (figures_r0, figures_r1, figures_r2, figures_r3, figures_r4)
FIGURES: dict[str, Figure] = {figure.id: figure for report in _REPORTS for figure in report.FIGURES}


def named(name: str, reports: Sequence[str]) -> list[Figure]:
    """The figures of some reports that go by a name such as `cropping`, or by a number such as `4` or `table 2`."""
    asked = name.strip().lower()
    among = [figure for figure in FIGURES.values() if figure.report in reports]
    found = [figure for figure in among if asked in (figure.name, *_numbers(figure))]
    if not found:
        there = ", ".join(figure.name for figure in among)
        raise ValueError(f"there is no figure {name!r} in {', '.join(reports)}; there are: {there}")
    return found


def _numbers(figure: Figure) -> tuple[str, ...]:
    said = figure.id.partition(" ")[2].lower()
    return (said, said.removeprefix("figure "), figure.id.lower())
