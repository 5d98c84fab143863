"""The command `race`: its options, their help, and which of them were typed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

# Typer keeps the line ends of a paragraph, so a paragraph is one line.
HELP = (
    "Race solvers on the same problem, live, each judged by the same certificate.\n\n"
    "Without arguments, eight algorithms race on scikit-learn's breast cancer data. DATA is a name "
    '([bold]dualgap datasets[/] lists them), a spec such as [bold]"simulated(n=500, seed=3)"[/], or a file: '
    ".svm/.libsvm and .csv (also .gz and .bz2), .npz, .parquet, or a folder or zip of pictures. Results, settings (race.toml) and a page (race.html) go to a "
    "new numbered folder; nothing is overwritten.\n\n"
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
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser at the end.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but the results file's name.")] = False,
) -> None:
    """Race solvers on the same problem, and say who won."""
    # What computes is imported here: help and refusals of options must not wait for it.
    from dualgap.cli.racing import carry_out

    options = {"open" if name == "open_page" else name: value for name, value in context.params.items()}
    options["config"] = config  # a path; in the context, older versions of typer keep the text
    # Older versions of click say of an argument that may be left out that it was typed, with nothing in it.
    typed = {
        "open" if name == "open_page" else name
        for name, value in context.params.items()
        if value != () and getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }
    carry_out(options, typed, quiet=quiet or context.obj == "quiet")
