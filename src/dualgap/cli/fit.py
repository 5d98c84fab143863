"""The command `fit`: its options, their help, and the file its model goes to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dualgap.files import destination

# Typer keeps the line ends of a paragraph, so a paragraph is one line.
HELP = (
    "Fit a model, prove how good it is, and write it to a file.\n\n"
    "DATA is a name ([bold]dualgap datasets[/] lists them), a spec, or a file: .csv, .svm/.libsvm (also .gz and "
    ".bz2), .npz, .parquet, or a folder or zip of pictures. Columns are taken as they are. The model minimizes the mean loss plus half the strength times the "
    "squared length of the weights; an intercept is free, never penalized. More than two labels are one softmax model "
    "under the logistic loss, and under the others each fitted against the rest.\n\n"
    "The file holds weights, certificate and a digest of the data: [bold]dualgap predict[/] uses it, "
    "[bold]dualgap certify[/] checks it, and dualgap.load reads it in Python.\n\n"
    "Exit codes: 0 certified, 1 not certified (the file is written, and says so), 2 for bad input, 130 for Ctrl-C, "
    "which writes nothing without --partial."
)
EPILOG = """Examples:

dualgap fit breast_cancer -o cancer.dg

dualgap fit wine.csv --target quality --loss squared_hinge --C 10 -o wine.dg

dualgap fit houses.csv --target price --loss "quantile(tau=0.9)" --strength 1/n --test-size 0.2
"""


def fit(
    context: typer.Context,
    data: Annotated[str, typer.Argument(metavar="DATA", help="A name, a spec or a file.")],
    target: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Target column of a csv file, by name or position. (default: the last)"),
    ] = None,
    loss: Annotated[str, typer.Option(metavar="SPEC", help="The loss; dualgap losses lists them.")] = "hinge",
    strength: Annotated[
        str | None, typer.Option(metavar="X", help="The strength λ: a number, or 1/n, 10/n … (default: 1/n)")
    ] = None,
    C: Annotated[
        float | None, typer.Option("--C", metavar="X", help="Instead of --strength: λ = 1/(C·n), as in scikit-learn.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="MODEL", help="The file. (default: a new model.dg)")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace MODEL where it exists.")] = False,
    no_intercept: Annotated[bool, typer.Option("--no-intercept", help="Fit without an intercept.")] = False,
    positive: Annotated[
        list[str] | None,
        typer.Option(metavar="LABEL", help="Labels to set against all others, as +1 against −1; repeatable."),
    ] = None,
    solver: Annotated[
        str, typer.Option("-s", "--solver", metavar="SPEC", help="The solver; dualgap solvers lists them.")
    ] = "auto",
    tol: Annotated[float, typer.Option(metavar="X", help="The relative gap that is to be proven.")] = 1e-6,
    epochs: Annotated[
        float | None, typer.Option(metavar="N", help="End after N epochs. (default: 1000, if no --seconds)")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="X", help="End after X seconds, for each label if there are several.")
    ] = None,
    test_size: Annotated[
        float, typer.Option(metavar="X", help="The share of rows held out as a test; 0 for none.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Decides the split and all random draws.")] = 0,
    duals: Annotated[
        bool, typer.Option("--duals", help="Keep the duals, a number a row: certify then needs no new solve.")
    ] = False,
    partial: Annotated[bool, typer.Option("--partial", help="On Ctrl-C, write what there is.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but the model file's name.")] = False,
) -> None:
    """Fit a model and write it to a file."""
    # What computes is imported here: help and refusals of options must not wait for it.
    from dualgap.cli.fitting import carry_out

    path = new_model() if out is None else checked(out, overwrite)
    options = {name: value for name, value in context.params.items() if name not in ("out", "overwrite", "quiet")}
    carry_out(options, path, quiet=quiet or context.obj == "quiet")


def checked(path: Path, overwrite: bool) -> Path:
    """A file that may be written, found out before anything is computed."""
    if destination(path).exists() and not overwrite:
        raise ValueError(f"{str(path)!r} exists already; choose another name, or pass --overwrite")
    return path


def new_model() -> Path:
    """The first of model.dg, model-002.dg, … that does not exist yet."""
    for name in ("model.dg", *(f"model-{number:03d}.dg" for number in range(2, 1000))):
        if not Path(name).exists():
            return Path(name)
    raise ValueError("there are 999 files model….dg here already; choose a name with -o")
