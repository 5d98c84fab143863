"""Small HTML tables for notebooks; they take their colors and fonts from the page, light or dark."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

CELL = "text-align:left;padding:2px 12px 2px 0;background:none;border:none"


def facts_table(title: str, facts: Sequence[tuple[str, str]]) -> str:
    """A table of two columns: what, and its value."""
    return _table(title, [f"{_cell('th', name)}{_cell('td', value)}" for name, value in facts])


def records_table(title: str, names: Sequence[str], records: Sequence[Sequence[str]]) -> str:
    """A table with a header and a line for each record."""
    header = "".join(_cell("th", name) for name in names)
    return _table(title, [header, *("".join(_cell("td", value) for value in record) for record in records)])


def _table(title: str, lines: Sequence[str]) -> str:
    rows = "".join(f'<tr style="background:none">{line}</tr>' for line in lines)
    caption = (
        f'<caption style="caption-side:top;text-align:left;color:inherit;font-weight:600">{escape(title)}</caption>'
    )
    return f'<table style="border-collapse:collapse;border:none;color:inherit">{caption}<tbody>{rows}</tbody></table>'


def _cell(kind: str, text: str) -> str:
    return f'<{kind} style="{CELL}">{escape(text)}</{kind}>'
