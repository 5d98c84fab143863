"""The command `replicate`: its options, their help, and which of them were typed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

HELP = (
    "Repeat the experiments of five reports on SDCA, Pegasos and SGD, and judge what they claim.\n\n"
    "Without arguments all of them. A name is a report, [bold]R0[/] to [bold]R4[/], or a claim such as [bold]R0.4[/]. "
    "Results, and one page (replication.html) with every claim, its figures, its numbers and its verdict, go to a new "
    "numbered folder; nothing is overwritten. Data sets are looked for in the folders that DUALGAP_DATA names; what is "
    "not there is left out, and the page says so.\n\n"
    "[bold]--resume[/] goes on in the newest such folder, or in -o DIR, with the names and the size kept there.\n\n"
    "Exit codes: 0, 2 for bad input, 130 for Ctrl-C, which keeps what is finished."
)
EPILOG = """Examples:

dualgap replicate --quick

dualgap replicate R4.2 R0 --quick -o mine

dualgap replicate R1 --figure cropping

dualgap replicate --resume -o mine
"""


def replicate(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Reports (R0 … R4) or claims (R0.4). (default: all)")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer repeats and epochs: minutes instead of hours. (default: full sizes)")
    ] = False,
    figure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Only one figure or table of a report, by name or number: cropping, 4, 'table 2'."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="DIR", help="Folder for the results. (default: a new numbered one)"),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what was ended before its time.")] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser at the end.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but the page's name.")] = False,
) -> None:
    """Repeat the reports, and judge what they claim."""
    # What computes is imported here: help and refusals of options must not wait for it.
    from dualgap.cli.replicating import Asked, carry_out

    carry_out(
        Asked(tuple(names or ()), quick, figure),
        out=out,
        resume=resume,
        show=open_page,
        quiet=quiet or context.obj == "quiet",
    )
