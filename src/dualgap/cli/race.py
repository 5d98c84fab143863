"""The command `race`: options in, a live race, a closing screen, and results on disk."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

# What computes is imported inside the functions: help and refusals of options must not wait for it.
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from dualgap.cli.views import View
    from dualgap.workbench.plan import Plan
    from dualgap.workbench.runner import RaceResult

# The end of a run where none is given: small data gets all its epochs, large data does not take all day.
DEFAULT_EPOCHS, DEFAULT_SECONDS = 500.0, 10.0
DEFAULT_STRENGTH = "0.01"

# Typer keeps the line ends of a paragraph, so a paragraph is one line.
HELP = (
    "Race solvers on the same problem, live, each judged by the same certificate.\n\n"
    "Without arguments, eight algorithms race on scikit-learn's breast cancer data. DATA is a name "
    '([bold]dualgap datasets[/] lists them), a spec such as [bold]"simulated(n=500, seed=3)"[/], or a file: '
    ".svm/.libsvm, .csv, .npz, also .csv.gz and .svm.gz. The results go to a new numbered folder; nothing is "
    "overwritten. Exit codes: 0, 2 for bad input, 130 for Ctrl-C."
)
EPILOG = """Examples:

dualgap race

dualgap race digits -s sdca -s "pegasos(batch_size=8)" --seconds 2

dualgap race wine.csv --positive 2 --loss logistic --strength 1/n

dualgap race houses.csv --target price --loss huber --repeats 5
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
            help="A solver, such as sdca or 'sdca(sampling=cyclic)'; repeatable. (default: eight of them)",
        ),
    ] = None,
    loss: Annotated[str, typer.Option(metavar="SPEC", help="The loss; dualgap losses lists them.")] = "hinge",
    strength: Annotated[
        list[str] | None,
        typer.Option(metavar="X", help="The strength λ: a number, or 1/n, 10/n …; repeatable. (default: 0.01)"),
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
    test_size: Annotated[
        float, typer.Option(metavar="X", help="The share of rows held out as a test; 0 for none.")
    ] = 0.2,
    repeats: Annotated[int, typer.Option(metavar="N", help="Runs per solver, with seeds SEED, SEED + 1, …")] = 3,
    seed: Annotated[int, typer.Option(metavar="N", help="Decides the split and all random draws.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="DIR", help="Folder for the results. (default: a new numbered one)"),
    ] = None,
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
    intercept: Annotated[bool, typer.Option("--intercept", help="Fit a free intercept, never penalized.")] = False,
    standardize: Annotated[
        bool | None,
        typer.Option(
            "--standardize/--no-standardize",
            help="Give columns mean 0 and deviation 1 by the training part. (default: dense data that was measured)",
        ),
    ] = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write results.parquet too (needs the extra io).")] = False,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the closing screen as an SVG picture.")] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but the results file's name.")] = False,
) -> None:
    """Race solvers on the same problem, and say who won."""
    from dualgap.cli.screen import make_console
    from dualgap.workbench import store
    from dualgap.workbench.plan import DEFAULT_SOLVERS, Plan
    from dualgap.workbench.runner import race as run_race

    if epochs is None and seconds is None:
        epochs, seconds = DEFAULT_EPOCHS, DEFAULT_SECONDS
    plan = Plan(
        data=_data_texts(data or ["breast_cancer"]),
        loss=_loss_text(loss),
        strengths=tuple(dict.fromkeys(strength or [DEFAULT_STRENGTH])),
        solvers=_solver_texts(solver or DEFAULT_SOLVERS),
        epochs=epochs,
        seconds=seconds,
        tol=tol,
        test_size=test_size,
        repeats=repeats,
        seed=seed,
        intercept=intercept,
        standardize=standardize,
        target=target,
        positive=tuple(positive or ()),
    )
    if parquet:
        store.check_parquet()
    if svg is not None and svg.exists():
        raise ValueError(f"{str(svg)!r} exists already, and nothing is overwritten; choose another name")
    quiet = quiet or context.obj == "quiet"
    console = make_console()
    folder = store.new_folder(Path()) if out is None else store.claim_folder(out)
    results = folder / store.FILE
    view = None if quiet else _view(console, plan)
    try:
        outcome = run_race(plan, results, view)
    finally:
        if view is not None:
            view.close()
        if not any(folder.iterdir()):
            folder.rmdir()  # nothing was finished, so nothing is left behind
    if parquet and outcome.runs:
        store.write_parquet(folder / "results.parquet", outcome.runs)
    refusals = [sentence for heat in outcome.heats for sentence in heat.refusals.values()]
    if not outcome.runs and refusals and not outcome.interrupted:
        raise ValueError(f"no solver can do this: {refusals[0]}")
    if not quiet:
        _closing_screen(console, outcome, plan)
    if outcome.runs:
        console.print(str(results) if quiet else f"Results: {results}", soft_wrap=True, markup=False)
    if svg is not None:
        _save_picture(svg, view, outcome, plan)
    if outcome.interrupted:
        number = len(outcome.runs)
        kept = f"{number} finished run{'s are' if number > 1 else ' is'} kept" if number else "no run was finished"
        typer.echo(f"dualgap: interrupted; {kept}", err=True)
        raise typer.Exit(130)


def _data_texts(texts: Sequence[str]) -> tuple[str, ...]:
    from dualgap.datasets import title

    return tuple(dict.fromkeys(title(text) for text in texts))


def _loss_text(text: str) -> str:
    from dualgap import spec
    from dualgap.losses import LOSSES

    return spec.text_of(spec.build(text, LOSSES, "loss"))


def _solver_texts(texts: Sequence[str]) -> tuple[str, ...]:
    from dualgap import spec
    from dualgap.solvers import SOLVERS

    return tuple(dict.fromkeys(spec.text_of(spec.build(text, SOLVERS, "solver")) for text in texts))


def _view(console: Console, plan: Plan) -> View:
    from dualgap.cli.views import LiveView, PlainView

    return LiveView(console, plan) if console.is_terminal else PlainView(console, plan)


def _save_picture(path: Path, view: View | None, outcome: RaceResult, plan: Plan) -> None:
    """The last frame of the live view, where there was one, and the closing screen, as an SVG picture."""
    import io

    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console

    from dualgap.cli.views import LiveView

    paper = Console(record=True, file=io.StringIO(), width=80, force_terminal=True, highlight=False)
    if isinstance(view, LiveView):
        paper.print(view.frame())
    _closing_screen(paper, outcome, plan)
    # Rich's picture would fetch its font from a network; the fonts of whoever looks at it do as well.
    offline = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    paper.save_svg(str(path), title="dualgap race", code_format=offline)


def _closing_screen(console: Console, outcome: RaceResult, plan: Plan) -> None:
    """Per heat: what was raced, the table, the refusals, the winner, and what is proven."""
    from rich.text import Text

    from dualgap.cli.screen import show
    from dualgap.cli.standings import bounds, heading, table, verdict

    for heat in outcome.heats:
        if len(outcome.heats) > 1:
            console.print(heading(heat.heat, heat.data, heat.strength, plan))
        console.print()
        show(console, table(heat))
        console.print()
        # Lines in a pipe have told the refusals already.
        for solver, sentence in heat.refusals.items() if console.is_terminal else ():
            console.print(Text(f"{solver}: refused: {sentence}", style="red"))
        console.print(Text(verdict(heat, plan.tol), style="bold"))
        console.print(Text(bounds(heat.runs)))
