"""A race from its options to its end: where it is written, what is shown meanwhile, and what is said at last."""

from __future__ import annotations

import webbrowser
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from dualgap import spec
from dualgap.cli.closing import closing_screen, save_picture
from dualgap.cli.screen import make_console
from dualgap.cli.views import LiveView, PlainView, View
from dualgap.datasets import title
from dualgap.files import destination
from dualgap.losses import LOSSES
from dualgap.solvers import SOLVERS
from dualgap.workbench import config, store
from dualgap.workbench.locking import sole_writer
from dualgap.workbench.plan import DEFAULT_EPOCHS, DEFAULT_SECONDS, DEFAULT_SOLVERS, Plan, command_of
from dualgap.workbench.rivals import installed, missing
from dualgap.workbench.runner import RaceResult
from dualgap.workbench.runner import race as run_race

DEFAULT_STRENGTH = "0.01"
PAGE = "race.html"
# Where a race is written, and what is done with it then, is no part of what a race is.
NOT_KEPT = ("out", "svg", "open")


def carry_out(options: dict[str, Any], typed: Collection[str], quiet: bool) -> None:
    """Race by the options; those that were typed win over a file's, and a file's over those kept in the folder."""
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
    kept = config.read(resumed / config.FILE) if resumed and (resumed / config.FILE).exists() else {}
    options = options | kept | chosen
    plan = plan_of(options)
    done: list[store.FinishedRun] = []
    if resumed is not None:
        done = store.resume(resumed / store.FILE)
        plan.check_goes_on(done)
    svg = None if options["svg"] is None else Path(options["svg"])
    if svg is not None and destination(svg).exists():
        raise ValueError(f"{str(svg)!r} exists already, and nothing is overwritten; choose another name")
    if options["parquet"]:
        store.check_parquet()
    console = make_console()
    if plan.rivals and not quiet and missing():
        console.print(f"Rivals that are not installed: {', '.join(missing())}", markup=False)
    folder = resumed or (store.new_folder(Path()) if out is None else store.claim_folder(out))
    if resumed is None or not resumed.exists():
        folder.mkdir(parents=True, exist_ok=True)
        held.enter_context(sole_writer(folder))
    view = None if quiet else _view(console, plan, options["jobs"])
    outcome = _race_in(folder, plan, options, view, done)
    if not outcome.runs and (refusals := _refusals(outcome)) and not outcome.interrupted:
        raise ValueError(f"no solver can do this: {refusals[0]}")
    if not quiet:
        closing_screen(console, outcome, plan)
    if outcome.runs:
        _files(folder, outcome, options, console, quiet)
    if svg is not None:
        save_picture(svg, view, outcome, plan)
    if outcome.interrupted:
        number = len(outcome.runs)
        kept_words = (
            f"{number} finished run{'s are' if number > 1 else ' is'} kept" if number else "no run was finished"
        )
        typer.echo(f"dualgap: interrupted; {kept_words}", err=True)
        raise typer.Exit(130)


def plan_of(options: Mapping[str, Any]) -> Plan:
    """The plan that the options of the command line mean."""
    epochs, seconds = options["epochs"], options["seconds"]
    if epochs is None and seconds is None:
        epochs, seconds = DEFAULT_EPOCHS, DEFAULT_SECONDS
    return Plan(
        data=tuple(title(text) for text in options["data"] or ["breast_cancer"]),
        loss=spec.text_of(spec.build(options["loss"], LOSSES, "loss")),
        strengths=tuple(options["strength"] or [DEFAULT_STRENGTH]),
        solvers=_solver_texts(options["solver"] or DEFAULT_SOLVERS),
        epochs=epochs,
        seconds=seconds,
        tol=options["tol"],
        test_size=options["test_size"],
        repeats=options["repeats"],
        seed=options["seed"],
        intercept=options["intercept"],
        standardize=options["standardize"],
        target=options["target"],
        positive=tuple(options["positive"] or ()),
        rivals=tuple(installed()) if options["rivals"] else (),
    )


def _solver_texts(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(spec.text_of(spec.build(text, SOLVERS, "solver")) for text in texts)


def _resumed_folder(out: Path | None) -> Path:
    """Where a race goes on; a named folder that does not exist yet is a race that was ended before it began."""
    if out is not None and out.exists() and not out.is_dir():
        raise ValueError(f"{str(out)!r} is a file; choose a folder for the results")
    return store.newest_folder(Path()) if out is None else out


def _race_in(
    folder: Path, plan: Plan, options: Mapping[str, Any], view: View | None, done: Sequence[store.FinishedRun]
) -> RaceResult:
    """Race with the settings written first, so that a killed race can be resumed without typing them again."""
    # What was not typed is written too, so that other defaults of a later version change nothing.
    settled = {"epochs": plan.epochs, "seconds": plan.seconds, "data": plan.data, "solver": plan.solvers}
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
        return run_race(plan, results, view, jobs=options["jobs"], threads=options["threads"], done=done)
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
    from dualgap.workbench.report import write_page

    results = folder / store.FILE
    if options["parquet"]:
        # Made of the results alone, so a resumed race makes it anew.
        store.write_parquet(folder / "results.parquet", outcome.runs, overwrite=True)
    page = write_page([results], folder / PAGE, command=command_of(outcome.runs))
    console.print(str(results) if quiet else f"Results: {results}", soft_wrap=True, markup=False)
    if not quiet:
        console.print(f"Page: {page}", soft_wrap=True, markup=False)
    if options["open"]:
        webbrowser.open(page.resolve().as_uri())


def _refusals(outcome: RaceResult) -> list[str]:
    return [sentence for heat in outcome.heats for sentence in heat.refusals.values()]


def _view(console: Console, plan: Plan, jobs: int) -> View:
    return LiveView(console, plan, jobs) if console.is_terminal else PlainView(console, plan, jobs)
