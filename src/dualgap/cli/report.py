"""The command `report`: results files in, one page out; nothing is run and nothing is overwritten."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from dualgap.data.files import first_unused, unused

HELP = (
    "Make one HTML page of results files: the winner, how sure that is, and every curve.\n\n"
    "FILES are results of [bold]dualgap race[/], .jsonl or .jsonl.gz, or the folders they are in; several merge, and a "
    "run found twice is taken once. The page opens offline in any browser. Nothing is run, and nothing is overwritten. "
    "Exit codes: 0, 2 for bad input."
)
EPILOG = """Examples:

dualgap report dualgap-race-001

dualgap report monday/results.jsonl tuesday/results.jsonl.gz -o both.html --open
"""


def report(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILES", help="Results files, or folders with one.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="PAGE", help="The page. (default: a new report.html by the first file)"),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Make the page of finished races."""
    # What computes is imported here: help and refusals of options must not wait for it.
    from dualgap.workbench import store
    from dualgap.workbench.report import write_page

    paths = [path / store.FILE if path.is_dir() else path for path in files]
    folder = paths[0].parent if out is None else out
    page = first_unused(folder, "report", "html") if out is None or out.is_dir() else unused(out)
    write_page(paths, page)
    quiet = context.obj == "quiet"
    typer.echo(str(page) if quiet else f"Page: {page}")
    if show:
        webbrowser.open(page.resolve().as_uri())
