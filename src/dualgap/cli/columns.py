"""The options that say what becomes of the columns of a table; `fit` and `race` have the same."""

from __future__ import annotations

from typing import Annotated

import typer

COLUMNS = "Columns of a table"

OneHot = Annotated[
    bool,
    typer.Option(
        "--onehot",
        help="Make a column of 0 and 1 of each category of each text column; a missing cell is a category.",
        rich_help_panel=COLUMNS,
    ),
]
Category = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL",
        help="Take a column as categories whatever it holds, numbers such as zip codes too; repeatable.",
        rich_help_panel=COLUMNS,
    ),
]
Impute = Annotated[
    str | None,
    typer.Option(
        metavar="mean|median",
        help="Fill missing numbers with the mean or median of their column.",
        rich_help_panel=COLUMNS,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="Leave a column out, by name or position; repeatable.", rich_help_panel=COLUMNS),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Encoding of a csv file, such as latin-1 or cp1252. (default: UTF-8, or as its mark says)",
        rich_help_panel=COLUMNS,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        metavar="MARK",
        help="Decimal mark of a csv file, . or , (default: found out, and asked for where it cannot be)",
        rich_help_panel=COLUMNS,
    ),
]
