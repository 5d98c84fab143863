"""The command `datasets`: the table of data sets, which of them are here, and the download of those that are not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.status import Status
from rich.text import Text

from dualgap.cli.console import make_console, options_of, print_list

# Typer keeps the line ends of a paragraph, so a paragraph is one line.
HELP = (
    "List the data sets: size, where from, and whether they are here.\n\n"
    "Files of published sets are looked for in the folders that the variable DUALGAP_DATA names, then in the cache. "
    "What is in neither can be downloaded where scikit-learn or OpenML has it, and only when --download asks for it.\n\n"
    "Your own files are data sets too: .svm, .libsvm and .svmlight text; .csv, numbers only, with the target in the "
    "last column (or --target); .parquet; .npz with X and y, or with data, indices, indptr, shape and y; and folders or "
    "zips of pictures, with a folder for each label."
)
EPILOG = """Examples:

dualgap datasets

dualgap datasets skin covtype --download

dualgap race "simulated(n=5000, d=50, noise=0.2)"
"""
HEADINGS = ("data set", "rows × columns", "here", "from", "what it is", "options and defaults")
GAP = "  "
AWAY = ("no", "download")


def datasets(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Only these data sets. (default: all)")
    ] = None,
    download: Annotated[
        bool, typer.Option("--download", help="Fetch those of the named sets that are not here into the cache.")
    ] = False,
) -> None:
    """List the data sets, with their sizes, origins and options."""
    from dualgap.datasets import DATASETS
    from dualgap.spec import known

    if download and not names:
        raise ValueError(
            "--download needs the names of data sets, got none; for instance: dualgap datasets skin --download"
        )
    chosen = [known(name, DATASETS, "data set") for name in names or DATASETS]
    if download:
        _fetch(chosen)
    _show(chosen)


def _fetch(names: Sequence[str]) -> None:
    """Download what is not here, with the bytes that have come on standard error."""
    from dualgap.datasets import DATASETS
    from dualgap.datasets.catalog import fetch_missing

    console = Console(stderr=True, highlight=False)
    for name in names:
        with console.status(f"{name}: waiting for the server") as status:
            fetched = fetch_missing(DATASETS[name](), partial(_tell, status, name))
        if fetched:
            console.print(f"{name} was downloaded, compared with its known sizes, and kept")


def _tell(status: Status, name: str, count: int) -> None:
    status.update(f"{name}: {count / 1e6:,.1f} MB have come")


def _show(names: Sequence[str]) -> None:
    from dualgap.datasets import DATASETS, place_of

    rows = []
    for name in names:
        source = DATASETS[name]
        height, width = source().shape
        here = place_of(source())
        rows.append((name, f"{height:,} × {width:,}", here, source.source, source.summary, options_of(source)))
    console = make_console()
    if console.is_terminal:
        _lines_below(console, rows)
    else:
        print_list(HEADINGS, rows)


def _lines_below(console: Console, rows: Sequence[Sequence[str]]) -> None:
    """Facts in columns, and below them what it is: a screen is too narrow for one line."""
    from dualgap.datasets import locations

    widths = [max(map(len, column)) for column in zip(HEADINGS, *rows, strict=True)]

    def facts(cells: Sequence[str]) -> list[str]:
        return [cells[0].ljust(widths[0]), cells[1].rjust(widths[1]), cells[2].ljust(widths[2]), cells[3]]

    console.print(Text(GAP.join(facts(HEADINGS)), style="dim"))
    for row in rows:
        name, size, here, origin = facts(row)
        style = "yellow" if row[2] in AWAY else "green"
        console.print(Text(GAP).join([Text(name, style="bold"), Text(size), Text(here, style=style), Text(origin)]))
        for words in filter(None, row[4:]):
            console.print(Padding(Text(words, style="dim"), (0, 0, 0, len(GAP))))
    folders = ", ".join(map(str, locations.folders())) or "none is named"
    console.print(Text(f"\nfolder: DUALGAP_DATA, {folders}\ncache: {locations.cache()}", style="dim"))
