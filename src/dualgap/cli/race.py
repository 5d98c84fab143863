"""The command `race`: where a race is written, what is shown meanwhile, and what is said at the end."""

from __future__ import annotations

import webbrowser
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from dualgap.cli.columns import Category, Decimal, Drop, Encoding, Impute, OneHot
from dualgap.cli.console import make_console
from dualgap.data.files import refuse_unwritable, unused

if TYPE_CHECKING:
    from dualgap.cli.race_views import View
    from dualgap.workbench.plan import Plan
    from dualgap.workbench.runner import RaceResult
    from dualgap.workbench.store import FinishedRun

PAGE = "race.html"
# Where a race is written, and what is done with it then, is no part of what a race is.
NOT_KEPT = ("out", "svg", "open")

# Typer keeps the line ends of a paragraph, so a paragraph is one line.
HELP = (
    "Race solvers on the same problem, live, each judged by the same certificate.\n\n"
    "Without arguments, ten solvers race on scikit-learn's breast cancer data. DATA is a name "
    '([bold]dualgap datasets[/] lists them), a spec such as [bold]"simulated(n=500, seed=3)"[/], or a file: '
    ".svm/.libsvm and .csv (also .gz and .bz2), .npz, .parquet, or a folder or zip of pictures. Results, settings (race.toml) and a page (race.html) go to a "
    "new numbered folder; nothing is overwritten.\n\n"
    "Tables may have text (--onehot), missing cells (--impute) and columns that should not be used (--drop), as in "
    "[bold]dualgap fit[/]; what is done to columns is learned from the training part.\n\n"
    "[bold]--resume[/] goes on in the newest such folder, or in -o DIR, with the settings kept there: finished runs are "
    "never run again. More data, strengths, solvers, repeats and jobs may be asked for; other settings than those of "
    "the finished runs are refused.\n\n"
    "Exit codes: 0, 2 for bad input, 130 for Ctrl-C, which keeps what is finished."
)
EPILOG = """Examples:

dualgap race

dualgap race digits -s sdca -s "pegasos(batch_size=8)" --seconds 2

dualgap race wine.csv --positive 2 --loss logistic --strength 1/n --rivals

dualgap race houses.csv --target price --loss huber --repeats 100 --jobs 2

dualgap race people.csv --target income --onehot --impute median

dualgap race --config race.toml --open
"""


def race(
    context: typer.Context,
    data: Annotated[list[str] | None, typer.Argument(metavar="DATA", help="Names, specs or files to race on.")] = None,
    solver: Annotated[
        list[str] | None,
        typer.Option(
            "-s",
            "--solver",
            metavar="SPEC",
            help="A solver, such as sdca or 'sdca(sampling=cyclic)', or one of your own, my_file.py:MySolver; repeatable. (default: ten of them)",
        ),
    ] = None,
    loss: Annotated[str, typer.Option(metavar="SPEC", help="The loss; dualgap losses lists them.")] = "hinge",
    strength: Annotated[
        list[str] | None,
        typer.Option(metavar="X", help="The strength λ: a number, or 1/n, 10/n …; repeatable. (default: 1/n)"),
    ] = None,
    epochs: Annotated[
        float | None, typer.Option(metavar="N", help="End a run after N epochs. (default: 500, if no --seconds)")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="X", help="End a run after X seconds. (default: 10, if no --epochs)")
    ] = None,
    tol: Annotated[
        float, typer.Option(metavar="X", help="End a run when its relative gap is proven this small.")
    ] = 1e-6,
    gap_tol: Annotated[
        float | None, typer.Option(metavar="X", help="End a run as well when its gap itself is proven this small.")
    ] = None,
    test_size: Annotated[
        float, typer.Option(metavar="X", help="The fraction of rows held out as a test; 0 for none.")
    ] = 0.2,
    repeats: Annotated[int, typer.Option(metavar="N", help="Runs per solver, with seeds SEED, SEED + 1, …")] = 3,
    seed: Annotated[int, typer.Option(metavar="N", help="Decides the split and all random draws.")] = 0,
    rivals: Annotated[
        bool,
        typer.Option(
            "--rivals",
            help="Race other packages too, those of scikit-learn, liblinear-multicore, snapml and skglm that are "
            "installed, and the zero weights. A rival is fitted at one tolerance of its own after the other, "
            "in --seconds (default: 10) for all.",
        ),
    ] = False,
    jobs: Annotated[
        int,
        typer.Option(metavar="N", help="Runs at the same time, in N processes. One keeps the clocks fair."),
    ] = 1,
    threads: Annotated[
        int, typer.Option(metavar="N", help="Threads a run may use for matrix products (BLAS, OpenMP).")
    ] = 1,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='Read options from a TOML file such as a race.toml: solver = ["sdca", "sgd"], repeats = 100. '
            "Options given here win.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="DIR", help="Folder for the results. (default: a new numbered one)"),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a race that was ended before its time.")] = False,
    target: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Target column of a csv file, by name or position. (default: the last)"),
    ] = None,
    positive: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL", help="Labels to set against all others, where there are more than two; repeatable."
        ),
    ] = None,
    intercept: Annotated[
        bool,
        typer.Option(
            "--intercept",
            help="Fit a free intercept, never penalized, as fit does by itself; several solvers cannot. Without one the targets of a regression are centered.",
        ),
    ] = False,
    standardize: Annotated[
        bool | None,
        typer.Option(
            "--standardize/--no-standardize",
            help="Give columns mean 0 and deviation 1 by the training part. (default: dense data that was measured)",
        ),
    ] = None,
    onehot: OneHot = False,
    category: Category = None,
    impute: Impute = None,
    drop: Drop = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Race on features of the columns: polynomial, gaussian, rbf or nystroem, with options as in "
            "'gaussian(centers=100, width=0.5)'; the map is fitted to the training part.",
        ),
    ] = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write results.parquet too (needs the extra io).")] = False,
    keep_iterates: Annotated[
        bool,
        typer.Option(
            "--keep-iterates",
            help="Write weights, intercept and duals of every record to iterates/RUN.npz beside the results.",
        ),
    ] = False,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the closing screen as an SVG picture.")] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser at the end.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but the results file's name.")] = False,
) -> None:
    """Race solvers on the same problem, and name the winner."""
    options = {"open" if name == "open_page" else name: value for name, value in context.params.items()}
    options["config"] = config  # a path; in the context, older versions of typer keep the text
    # Older versions of click say of an argument that may be left out that it was typed, with nothing in it.
    typed = {
        "open" if name == "open_page" else name
        for name, value in context.params.items()
        if value != () and getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }
    for name in ("data", "solver", "strength", "category", "drop"):
        options[name] = options[name] or None
    _carry_out(options, typed, quiet=quiet or context.obj == "quiet")


def _carry_out(options: dict[str, Any], typed: Collection[str], quiet: bool) -> None:
    """Race by the options; those that were typed win over a file's, and a file's over those kept in the folder."""
    # What computes is imported here: help and refusals of options must not wait for it.
    from dualgap.workbench import config
    from dualgap.workbench.locking import sole_writer

    given = {name: options[name] for name in typed if name in config.OPTIONS}
    read = {} if options["config"] is None else config.read(options["config"])
    out = None if (named := (read | given).get("out")) is None else Path(named)
    resumed = _resumed_folder(out) if options["resume"] else None
    with ExitStack() as held:
        if resumed is not None and resumed.exists():
            # Locked before it is read: the torn last line of a running race is no damage.
            held.enter_context(sole_writer(resumed))
        _carry_out_in(resumed, out, options, read | given, quiet, held)


def _carry_out_in(
    resumed: Path | None,
    out: Path | None,
    options: dict[str, Any],
    chosen: dict[str, Any],
    quiet: bool,
    held: ExitStack,
) -> None:
    """Race in a folder that is held already where a race is resumed in it, and else held as soon as it is there."""
    from dualgap.cli.race_table import closing_screen, save_picture
    from dualgap.workbench import config, runner, store
    from dualgap.workbench.locking import sole_writer
    from dualgap.workbench.rivals import missing

    kept = config.read(resumed / config.FILE) if resumed and (resumed / config.FILE).exists() else {}
    options = options | kept | chosen
    plan = config.plan_of(options)
    done: list[FinishedRun] = []
    if resumed is not None:
        done = store.resume(resumed / store.FILE)
        plan.check_goes_on(done)
    svg = None if options["svg"] is None else Path(options["svg"])
    if svg is not None:
        refuse_unwritable(unused(svg))
    if resumed is None:
        store.check_folder(Path() if out is None else out)
    if options["parquet"]:
        store.check_parquet()
    runner.check_data(plan)
    console = make_console()
    if plan.rivals and not quiet and missing():
        console.print(f"Rivals that are not installed: {', '.join(missing())}", markup=False)
    folder = resumed or (store.new_folder(Path()) if out is None else store.claim_folder(out))
    if resumed is None or not resumed.exists():
        folder.mkdir(parents=True, exist_ok=True)
        held.enter_context(sole_writer(folder))
    view = None if quiet else _view(console, plan, options["jobs"])
    outcome = _race_in(folder, plan, options, view, done)
    if not outcome.runs and outcome.refused and not outcome.interrupted:
        raise ValueError(f"no solver can do this: {outcome.refused[0].sentence}")
    if not quiet:
        closing_screen(console, outcome, plan)
    if outcome.runs:
        _files(folder, outcome, options, console, quiet)
    if svg is not None:
        save_picture(svg, None if view is None else view.last_frame(), outcome, plan)
    if outcome.interrupted:
        number = len(outcome.runs)
        kept_words = (
            f"{number} finished run{'s are' if number > 1 else ' is'} kept" if number else "no run was finished"
        )
        typer.echo(f"dualgap: interrupted; {kept_words}", err=True)
        raise typer.Exit(130)


def _resumed_folder(out: Path | None) -> Path:
    """Where a race goes on; a named folder that does not exist yet is a race that was ended before it began."""
    from dualgap.workbench import store

    if out is not None and out.exists() and not out.is_dir():
        raise ValueError(f"{str(out)!r} is a file; choose a folder for the results")
    return store.newest_folder(Path()) if out is None else out


def _race_in(
    folder: Path, plan: Plan, options: Mapping[str, Any], view: View | None, done: Sequence[FinishedRun]
) -> RaceResult:
    """Race with the settings written first, so that a killed race can be resumed without typing them again."""
    from dualgap.workbench import config, runner, store

    # What was not typed is written too, so that other defaults of a later version change nothing.
    settled = {"epochs": plan.epochs, "seconds": plan.seconds, "data": plan.data, "solver": plan.solvers + plan.own}
    config.write(
        folder / config.FILE,
        {
            name: value
            for name, value in (dict(options) | settled | {"strength": plan.strengths}).items()
            if name not in NOT_KEPT
        },
    )
    results = folder / store.FILE
    try:
        how = {name: options[name] for name in ("jobs", "threads", "keep_iterates")}
        return runner.race(plan, results, view, **how, done=done)
    finally:
        if view is not None:
            view.close()
        if not results.exists():
            # Nothing was finished, so nothing is left behind.
            (folder / config.FILE).unlink(missing_ok=True)
            if not any(folder.iterdir()):
                folder.rmdir()


def _files(folder: Path, outcome: RaceResult, options: Mapping[str, Any], console: Console, quiet: bool) -> None:
    """The page, and what else was asked for, made of the results file; then the names of the files."""
    from dualgap.workbench import store
    from dualgap.workbench.repeating import command_of
    from dualgap.workbench.report import write_page

    results = folder / store.FILE
    if options["parquet"]:
        # Made of the results alone, so a resumed race makes it anew.
        store.write_parquet(folder / "results.parquet", outcome.runs, overwrite=True)
    page = write_page([results], folder / PAGE, command=command_of(outcome.runs + outcome.refused))
    console.print(str(results) if quiet else f"Results: {results}", soft_wrap=True, markup=False)
    if not quiet:
        console.print(f"Page: {page}", soft_wrap=True, markup=False)
    if options["open"]:
        webbrowser.open(page.resolve().as_uri())


def _view(console: Console, plan: Plan, jobs: int) -> View:
    from dualgap.cli.race_views import LiveView, PlainView

    return LiveView(console, plan, jobs) if console.is_terminal else PlainView(console, plan, jobs)
