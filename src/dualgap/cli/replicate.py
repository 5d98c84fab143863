"""The command `replicate`: where a replication is written, what is shown meanwhile, and the verdicts at the end."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from dualgap.cli.console import make_console, show

if TYPE_CHECKING:
    from dualgap.replication.claims import Claim
    from dualgap.replication.experiments import Experiment
    from dualgap.replication.running import Carried
    from dualgap.replication.selection import Selection
    from dualgap.replication.verdicts import Verdict

PAGE = "replication.html"
COLORS = {"HOLDS": "green", "PARTLY": "yellow", "FAILS": "red", "UNDECIDED": "dim"}

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
        bool,
        typer.Option(
            "--quick",
            help="Fewer repeats and epochs: about 5 minutes on two cores instead of an hour. (default: full sizes)",
        ),
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
    from dualgap.replication.selection import Selection

    carry_out(
        Selection(tuple(names or ()), quick, figure),
        out=out,
        resume=resume,
        open_page=open_page,
        quiet=quiet or context.obj == "quiet",
    )


def carry_out(selection: Selection, *, out: Path | None, resume: bool, open_page: bool, quiet: bool) -> None:
    """Repeat what is selected, write the page, and print the verdicts; the folder is held meanwhile."""
    from dualgap.replication.selection import STEM, claim_folder, resumed
    from dualgap.workbench import store
    from dualgap.workbench.locking import sole_writer

    with ExitStack() as held:
        if resume:
            folder = store.newest_folder(Path(), STEM) if out is None else out
            if folder.is_dir():
                held.enter_context(sole_writer(folder))
            selection = resumed(folder, selection)
        todo = selection.experiments()
        if not resume:
            folder = store.new_folder(Path(), STEM) if out is None else claim_folder(out)
        if not (resume and folder.is_dir()):
            folder.mkdir(parents=True, exist_ok=True)
            held.enter_context(sole_writer(folder))
        _carry_out_in(folder, selection, todo, open_page, quiet)


def _carry_out_in(folder: Path, selection: Selection, todo: Sequence[Experiment], open_page: bool, quiet: bool) -> None:
    from dualgap.cli.replicate_views import view
    from dualgap.replication import running
    from dualgap.replication.selection import SETTINGS, keep, seconds_so_far
    from dualgap.trace import Clock
    from dualgap.workbench import store

    before = seconds_so_far(folder)
    clock = Clock()
    keep(folder, selection, before)
    console = make_console()
    done = store.resume(folder / store.FILE)
    with view(console, running.still_to_do(todo, done), quiet) as observer:
        carried = running.carry_out(todo, folder, observer)
    keep(folder, selection, before + clock.elapsed())
    if not carried.runs and not carried.facts:
        (folder / SETTINGS).unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()
        if carried.left_out and not carried.interrupted:
            raise ValueError(next(iter(carried.left_out.values())))
    else:
        page = _finish(selection, carried, folder, console, quiet)
        if open_page:
            webbrowser.open(page.resolve().as_uri())
    if carried.interrupted:
        typer.echo("dualgap: interrupted; what is finished is kept, and --resume goes on from there", err=True)
        raise typer.Exit(130)


def _finish(selection: Selection, carried: Carried, folder: Path, console: Console, quiet: bool) -> Path:
    from dualgap.replication import gathering, running
    from dualgap.replication.content import content, judged
    from dualgap.replication.page import write_page

    gathered = gathering.gather(running.belonging(selection.experiments(), carried.runs), carried.facts)
    claims = selection.claims()
    shown = content(
        claims,
        selection.figures(),
        gathered,
        left_out=carried.left_out,
        quick=selection.quick,
        command=selection.command(),
    )
    page = write_page(shown, folder / PAGE)
    if not quiet:
        if claims:
            _verdicts(console, claims, judged(claims, gathered))
        for name, sentence in carried.left_out.items():
            console.print(f"Left out: {name}: {sentence}", soft_wrap=True, markup=False)
    console.print(str(page) if quiet else f"Page: {page}", soft_wrap=True, markup=False)
    return page


def _verdicts(console: Console, claims: Sequence[Claim], verdicts: dict[str, Verdict | str]) -> None:
    from dualgap.replication.verdicts import Verdict

    table = Table(box=None, pad_edge=False)
    for name in ("claim", "verdict", "by these numbers"):
        table.add_column(name, overflow="fold")
    for claim in claims:
        found = verdicts[claim.id]
        if isinstance(found, Verdict):
            table.add_row(claim.id, f"[{COLORS[found.outcome.name]}]{found.outcome.value}[/]", _plain(found.in_short))
        else:
            table.add_row(claim.id, "not measured", _plain(found))
    show(console, table)


def _plain(text: str) -> str:
    return text.replace("[", "\\[")
