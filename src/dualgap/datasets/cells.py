"""What a cell of a table can be: a number, a truth value, missing, a date, or text; and what is said of columns of each.

True and False are the numbers 1 and 0. Every other column that is not numbers is refused, with what can be done about it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dualgap.data.sheet import MISSING
from dualgap.data.unseen import some

TRUTH = {"true": 1.0, "false": 0.0}

NUMBER, POINT, COMMA, GROUPED, INFINITE, TRUE_FALSE, GAP, DATE, TEXT = (
    "number", "point", "comma", "grouped", "infinite", "true_false", "gap", "date", "text",
)  # fmt: skip
# What a column of numbers may hold, by its decimal mark.
NUMERIC = {
    ".": frozenset({NUMBER, POINT, TRUE_FALSE, GAP}),
    ",": frozenset({NUMBER, COMMA, GROUPED, TRUE_FALSE, GAP}),
}
_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
# 1,234 is 1.234 or 1234.
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
# 1,234.5, 1.234,5, 1,234,567: marks between groups of three digits, and at most one decimal mark of the other kind.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}((,\d{3})+(\.\d+)?|(\.\d{3})+,\d+|(\.\d{3}){2,})")
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4})( .*)?|\d{1,2}:\d{2}(:\d{2})?"
)


@dataclass
class Seen:
    """Cells of one kind in a column: how many, and the first of them with its line or row."""

    count: int
    line: int
    cell: str


Kinds = dict[str, Seen]


def kind_of_cell(cell: str) -> str:
    """What a stripped cell is, by its text alone."""
    lower = cell.lower()
    if lower in MISSING:
        return GAP
    if is_number(cell):
        return POINT if "." in cell else NUMBER
    if lower in TRUTH:
        return TRUE_FALSE
    if _COMMA.fullmatch(cell):
        return GROUPED if _GROUPED.fullmatch(cell) else COMMA
    if _DATE.fullmatch(cell):
        return DATE
    return INFINITE if _is_infinite(cell) else TEXT


def is_number(cell: str) -> bool:
    """Whether a cell is a finite number with a decimal point or without; Python's 1_000 and other scripts' digits are none."""
    try:
        return math.isfinite(float(cell)) and "_" not in cell and cell.isascii()
    except ValueError:
        return False


def _is_infinite(cell: str) -> bool:
    try:
        return math.isinf(float(cell))
    except ValueError:
        return False


def number_of(cell: str, decimal: str) -> float:
    """The number of a stripped cell of a column of numbers; NaN where it is missing."""
    lower = cell.lower()
    if lower in MISSING:
        return math.nan
    if lower in TRUTH:
        return TRUTH[lower]
    return float(cell.replace(",", ".") if decimal == "," else cell)


def note(kinds: Kinds, cell: str, line: int) -> None:
    """Count a stripped cell, in place."""
    kind = kind_of_cell(cell)
    seen = kinds.get(kind)
    if seen is None:
        kinds[kind] = Seen(1, line, cell)
    else:
        seen.count += 1


def kinds_of(cells: Iterable[str]) -> Kinds:
    """What the cells of a column are; rows count from 1."""
    kinds: Kinds = {}
    for row, cell in enumerate(cells, start=1):
        note(kinds, cell, row)
    return kinds


def is_numeric(kinds: Kinds, decimal: str) -> bool:
    """Whether a column can be read as numbers, missing cells apart."""
    return kinds.keys() <= NUMERIC[decimal]


def decimal_mark(name: str, delimiter: str, columns: Iterable[Kinds]) -> str:
    """The decimal mark that the numbers of a file have; refused where they have both, or could mean two numbers."""
    if delimiter == ",":
        return "."
    numeric = [kinds for kinds in columns if kinds.keys() <= NUMERIC["."] | NUMERIC[","]]
    commas = [kinds[kind] for kinds in numeric for kind in (COMMA, GROUPED) if kind in kinds]
    points = [kinds[POINT] for kinds in numeric if POINT in kinds]
    if commas and points:
        raise ValueError(
            f"{name} has numbers with a decimal comma ({commas[0].cell!r} in line {commas[0].line}) and with a point "
            f"({points[0].cell!r} in line {points[0].line}); write them one way, or say which: --decimal ,"
        )
    if commas and not any(COMMA in kinds for kinds in numeric):
        raise ValueError(
            f"{commas[0].cell!r} in line {commas[0].line} of {name} could be {commas[0].cell.replace(',', '.')} or "
            f"{commas[0].cell.replace(',', '')}; say that the comma is a decimal one (--decimal ,) or write "
            "the numbers without it"
        )
    return "," if commas else "."


def refuse_columns(
    name: str, columns: Mapping[str, Kinds], decimal: str, place: str = "line", may_be_missing: bool = False
) -> None:
    """A refusal in one sentence where a column is no column of numbers, or has missing cells; rows are named by `place`."""
    for column, kinds in columns.items():
        odd = _first_odd(kinds, decimal)
        if odd is not None and is_mostly_numbers(kinds, decimal):
            raise ValueError(
                f"{place} {odd.line} of {name} has {odd.cell!r} in column {column}, which is no finite number as "
                f"most rows have there; {reading_advice(odd.cell) or 'correct it, or leave the row out'}"
            )
    dates = [column for column, kinds in columns.items() if is_date(kinds)]
    text = [column for column, kinds in columns.items() if not is_numeric(kinds, decimal) and column not in dates]
    gaps = {column: kinds[GAP] for column, kinds in columns.items() if GAP in kinds and column not in (*text, *dates)}
    missing = "" if may_be_missing or not gaps else _missing(gaps, place)
    if text:
        odd = _first_odd(columns[text[0]], decimal)
        assert odd is not None
        also, fill = (f", and {missing}", ", fill with --impute median") if missing else ("", "")
        found = f"{name} has text in column {some(text)} (for example {odd.cell!r} in {place} {odd.line}){also}"
        if advice := reading_advice(odd.cell):
            raise ValueError(f"{found}; {advice}")
        raise ValueError(
            f"{found}; dualgap fit and race make numbers of text with --onehot{fill} and leave columns out with --drop, "
            "and pandas.get_dummies or scikit-learn's OneHotEncoder do so elsewhere"
        )
    if dates:
        seen = columns[dates[0]][DATE]
        raise ValueError(
            f"{name} has dates in column {some(dates)} (for example {seen.cell!r} in {place} {seen.line}), and a linear "
            "model needs numbers; write days since a fixed day, or the month and the weekday, in their place, or leave "
            "the column out: --drop"
        )
    if missing:
        raise ValueError(
            f"{name} has {missing}; dualgap fit and race fill them with --impute median, and scikit-learn's SimpleImputer "
            "does so elsewhere; or leave those rows or columns out"
        )


def refuse_missing_labels(name: str, column: str, gaps: Seen, place: str = "line") -> None:
    """A refusal of a target with missing cells, which nothing fills."""
    raise ValueError(
        f"the target of {name} has {_missing({column: gaps}, place)}; leave those rows out, for a target is never filled"
    )


def reading_advice(cell: str) -> str:
    """What to do about a cell that looks like a number written another way; nothing of any other cell."""
    if _THOUSANDS.fullmatch(cell):
        if _GROUPED.fullmatch(cell):
            return (
                f"{cell!r} looks like {cell.replace(',', '')} with a mark between thousands: write numbers without it; "
                f"if it is {cell.replace(',', '.')}, with a decimal comma, pass --decimal ,"
            )
        point = cell.rfind(".") < cell.rfind(",") and cell.count(",") == 1
        plain = cell.replace(".", "") if point else cell.replace(",", "") if "," in cell else cell.replace(".", "")
        comma = ", and then pass --decimal , for the decimal comma" if "," in plain else ""
        return f"{cell!r} looks like {plain} with marks between thousands: write numbers without them{comma}"
    return "a decimal comma is read with --decimal ," if _COMMA.fullmatch(cell) else ""


def _missing(gaps: Mapping[str, Seen], place: str) -> str:
    count = sum(seen.count for seen in gaps.values())
    cells = "1 missing cell" if count == 1 else f"{count:,} missing cells"
    return f"{cells} in column {some(list(gaps))}, the first in {place} {min(seen.line for seen in gaps.values())}"


def is_mostly_numbers(kinds: Kinds, decimal: str) -> bool:
    """Whether a column has more numbers than cells that are none; missing ones are not counted."""
    numeric = NUMERIC[decimal] - {GAP}
    numbers = sum(seen.count for kind, seen in kinds.items() if kind in numeric)
    return numbers > sum(seen.count for kind, seen in kinds.items() if kind not in NUMERIC[decimal])


def is_date(kinds: Kinds) -> bool:
    """Whether a column holds dates, missing cells apart."""
    return DATE in kinds and kinds.keys() <= {DATE, GAP}


def _first_odd(kinds: Kinds, decimal: str) -> Seen | None:
    odd = [seen for kind, seen in kinds.items() if kind not in NUMERIC[decimal]]
    return min(odd, key=lambda seen: seen.line, default=None)
