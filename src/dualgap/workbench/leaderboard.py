"""Leaderboards: one row of plain values per solver and heat, as text, as HTML, or as a frame."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

from dualgap.workbench import figures, summary
from dualgap.workbench.store import FinishedRun

# What a narrow table shows of a row, and how; the rows themselves hold every number in full.
SHOWN: dict[str, tuple[str, Callable[[Any], str]]] = {
    "solver": ("solver", str),
    "rel gap": ("relative_gap", "{:.1e}".format),
    "primal": ("primal", "{:.6g}".format),
    "score": ("score", "{:.3f}".format),
    "support": ("support", "{:,.0f}".format),
    "epochs": ("epochs", "{:,.4g}".format),
    "call": ("call_seconds", summary.duration),
    "updates": ("seconds", summary.duration),
    "status": ("status", str),
}
MISSING = "–"


class Leaderboard(list[dict[str, Any]]):
    """The rows, best solver first in each heat; a list of dictionaries that can show itself."""

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_frame needs pandas, which is not installed; pip install 'dualgap[io]'") from None
        return pandas.DataFrame(list(self))

    def __repr__(self) -> str:
        return "\n\n".join(f"{title}\n{_text(rows)}" for title, rows in self._heats())

    def _repr_html_(self) -> str:
        return "".join(f"<p><b>{html.escape(title)}</b></p>{_html(rows)}" for title, rows in self._heats())

    def _heats(self) -> list[tuple[str, list[dict[str, Any]]]]:
        heats: list[tuple[str, list[dict[str, Any]]]] = []
        for row in self:
            if row["place"] == 1 or not heats:
                heats.append((f"{row['data']}: {row['loss']}, strength {row['typed_strength']}", []))
            heats[-1][1].append(row)
        return heats


def leaderboard(runs: Sequence[FinishedRun]) -> Leaderboard:
    """The table of all heats. Numbers are medians over repeats; `call` is the seconds of the whole call, `updates` of its updates alone."""
    rows = Leaderboard()
    for (_, loss, strength), heat in summary.groups(runs).items():
        score, _ = figures.score_of(heat)
        for place, standing in enumerate(summary.standings(heat), start=1):
            row = {
                "data": figures.name_of(heat),
                "loss": loss,
                "strength": strength,
                "typed_strength": summary.strength_words(heat[0]),
                "place": place,
                "solver": standing.solver,
                "runs": len(standing.runs),
                "status": standing.ending,
                "score": standing.median(score),
            }
            for name in ("primal", "dual", "gap", "relative_gap", "support", "call_seconds", "seconds", "cpu_seconds"):
                row[name] = standing.median(name)
            row["epochs"] = standing.median("epoch")
            for gap in summary.GAPS:
                row[f"epochs_to_{gap:.0e}"] = summary.epochs_to(standing.runs, gap)
                row[f"seconds_to_{gap:.0e}"] = summary.seconds_to(standing.runs, gap)
            rows.append(row)
    return rows


def _cells(row: dict[str, Any]) -> list[str]:
    return [MISSING if row[field] is None else write(row[field]) for field, write in SHOWN.values()]


def _side(column: str) -> str:
    """Words begin at the left, numbers end at the right."""
    return "left" if column in ("solver", "status") else "right"


def _text(rows: Sequence[dict[str, Any]]) -> str:
    table = [list(SHOWN), *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    sides = {"left": str.ljust, "right": str.rjust}
    adjust = [sides[_side(column)] for column in SHOWN]
    lines = (
        "  ".join(put(cell, width) for put, cell, width in zip(adjust, line, widths, strict=True)) for line in table
    )
    return "\n".join(line.rstrip() for line in lines)


def _html(rows: Sequence[dict[str, Any]]) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        aligned = zip(cells, SHOWN, strict=True)
        return (
            "<tr>" + "".join(f'<{tag} align="{_side(c)}">{html.escape(cell)}</{tag}>' for cell, c in aligned) + "</tr>"
        )

    body = "".join(line(_cells(row), "td") for row in rows)
    return f"<table><thead>{line(list(SHOWN), 'th')}</thead><tbody>{body}</tbody></table>"
