"""The command `fit`: data in, a model file out, and the certificate on the screen."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from dualgap.cli.checks import checked_iterates, checked_options, checked_output, strength_of
from dualgap.cli.columns import COLUMNS, Category, Decimal, Drop, Encoding, Impute, OneHot
from dualgap.cli.console import make_console, reading
from dualgap.cli.fit_blocks import asks_for_blocks
from dualgap.cli.fit_blocks import carry_out as fit_blocks
from dualgap.cli.fit_views import show_fit
from dualgap.data.files import first_unused

if TYPE_CHECKING:
    from dualgap.losses import Loss
    from dualgap.models.model import Model
    from dualgap.models.training import TrainingPart
    from dualgap.result import Result
    from dualgap.trace import Trace

# Typer keeps the line ends of a paragraph, so a paragraph is one line.
HELP = (
    "Fit a model, prove how good it is, and write it to a file.\n\n"
    "DATA is a name ([bold]dualgap datasets[/] lists them), a spec, or a file: .csv, .svm/.libsvm (also .gz and "
    ".bz2), .npz, .parquet, or a folder or zip of pictures. The model minimizes the mean loss plus half the strength "
    "times the squared length of the weights; an intercept is free, never penalized. More than two labels are one "
    "softmax model under the logistic loss, and under the others each fitted against the rest.\n\n"
    "A csv or parquet file may have text (--onehot makes a column of each category), missing cells (--impute fills "
    "them) and columns that should not be used (--drop). True and False are read as 1 and 0. Columns of different units "
    "are best brought to one scale (--standardize). Whatever is done to columns is learned from the training rows, kept in "
    "the model file, and done alike by predict and certify.\n\n"
    "The file holds weights, certificate and a digest of the data: [bold]dualgap show[/] prints it, "
    "[bold]dualgap predict[/] uses it, [bold]dualgap certify[/] checks it, and dualgap.load reads it in Python. With "
    "--features the map is fitted to the prepared columns of the training rows, kept in the file, and applied by both.\n\n"
    "Exit codes: 0 certified, 1 not certified (the file is written, and says so), 2 for bad input, 130 for Ctrl-C, "
    "which writes nothing without --partial."
)
EPILOG = """Examples:

dualgap fit breast_cancer -o cancer.dg

dualgap fit people.csv --target income --onehot --impute median --standardize

dualgap fit wine.csv --target quality --loss squared_hinge --C 10 -o wine.dg

dualgap fit kunden.csv --encoding cp1252 --decimal , --drop Name --onehot

dualgap fit digits --features "gaussian(centers=200, width=1000)" -o digits.dg

dualgap fit houses.csv --target price --loss "quantile(tau=0.9)" --test-size 0.2

dualgap fit data/*.parquet --target clicked --loss logistic --memory-limit 1GB
"""


def fit(
    context: typer.Context,
    data: Annotated[
        list[str],
        typer.Argument(metavar="DATA", help="A name, a spec or a file; several Parquet files; or a .npy file."),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COL", help="Target column of a table, by name or position, or a .npy file. (default: the last)"
        ),
    ] = None,
    loss: Annotated[str, typer.Option(metavar="SPEC", help="The loss; dualgap losses lists them.")] = "hinge",
    strength: Annotated[
        str | None, typer.Option(metavar="X", help="The strength λ: a number, or 1/n, 10/n … (default: 1/n)")
    ] = None,
    C: Annotated[
        float | None, typer.Option("--C", metavar="X", help="Instead of --strength: λ = 1/(C·n), as in scikit-learn.")
    ] = None,
    onehot: OneHot = False,
    category: Category = None,
    impute: Impute = None,
    drop: Drop = None,
    standardize: Annotated[
        bool,
        typer.Option(
            "--standardize",
            help="Bring each column of numbers to mean 0 and deviation 1; of sparse data the deviation alone.",
            rich_help_panel=COLUMNS,
        ),
    ] = False,
    encoding: Encoding = None,
    decimal: Decimal = None,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Fit to features of the columns: polynomial, gaussian, rbf or nystroem, with options as in "
            "'gaussian(centers=100, width=0.5)'; without a seed of its own the map draws by --seed.",
        ),
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
    gap_tol: Annotated[
        float | None, typer.Option(metavar="X", help="An absolute gap that is enough as well, once it is proven.")
    ] = None,
    epochs: Annotated[
        float | None, typer.Option(metavar="N", help="End after N epochs. (default: 1000, if no --seconds)")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="X", help="End after X seconds, for each label if there are several.")
    ] = None,
    test_size: Annotated[
        float,
        typer.Option(metavar="X", help="The fraction of rows held out to test the model on; 0 for none."),
    ] = 0.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Decides the split and all random draws.")] = 0,
    duals: Annotated[
        bool, typer.Option("--duals", help="Keep the duals, a number a row: certify then needs no new solve.")
    ] = False,
    keep_iterates: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.npz",
            help="Write weights, intercept and duals of every certificate of the run to a new .npz file.",
        ),
    ] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Read Parquet files block by block, within a limit on memory: 1GB, 512MiB.",
            show_default=False,
        ),
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="COL", help="Column of Parquet files with weights of the rows.")
    ] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Fit on a running Dask cluster, as tcp://host:8786.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Fit on N Dask workers of this machine, closed at the end.")
    ] = None,
    partial: Annotated[bool, typer.Option("--partial", help="On Ctrl-C, write what there is.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but the model file's name.")] = False,
) -> None:
    """Fit a model and write it to a file."""
    path = checked_output(first_unused(Path(), "model", "dg") if out is None else out, overwrite)
    options = {name: value for name, value in context.params.items() if name not in ("out", "overwrite", "quiet")}
    options["keep_iterates"] = None if keep_iterates is None else checked_iterates(keep_iterates, path)
    is_quiet = quiet or context.obj == "quiet"
    if asks_for_blocks(options):
        options["strength_of"] = lambda rows: strength_of(strength, C, rows)
        fit_blocks(options, path, is_quiet)
        return
    if weight is not None:
        raise ValueError("--weight needs row blocks, got rows in memory; pass --memory-limit as well")
    options["data"] = data[0]
    _carry_out(options, path, quiet=is_quiet)


def _carry_out(options: Mapping[str, Any], path: Path, quiet: bool) -> None:
    """Fit, write the file, show the certificate, and leave with 0 if certified, else 1, or 130 after Ctrl-C."""
    checked = checked_options(options)
    # What computes is imported here: help and refusals of options must not wait for it.
    from dualgap.models.training import training_part
    from dualgap.result import Status

    options = {**options, "features": checked.features}
    with reading(Console(stderr=True, quiet=quiet), options["data"]):
        part = training_part(options["data"], options, checked.loss.task, checked.choices)
    dataset, results = part.dataset, list[Any]()
    try:
        model = _fitted(options, part, checked.loss, quiet, results)
    except KeyboardInterrupt:
        typer.echo("dualgap: interrupted; nothing was written", err=True)
        raise typer.Exit(130) from None
    model = replace(model, metrics=_metrics(model, dataset))
    model.save(path)
    if options["keep_iterates"] is not None:
        _write_iterates(options["keep_iterates"], [result.trace for result in results])
    console = make_console()
    if not quiet:
        show_fit(console, model, part, options["drop"] or ())
    console.print(str(path) if quiet else f"Model: {path}", soft_wrap=True, markup=False)
    if options["keep_iterates"] is not None and not quiet:
        console.print(f"Iterates: {options['keep_iterates']}", soft_wrap=True, markup=False)
    if model.status is not Status.CERTIFIED:
        raise typer.Exit(130 if Status.INTERRUPTED in model.statuses else 1)


def _metrics(model: Model, dataset: Any) -> Any:
    from dualgap.data.validation import as_rows
    from dualgap.models.metrics import TEST, TRAIN, metrics_of

    parts = {TRAIN: (dataset.X, dataset.y)}
    if dataset.X_test is not None and dataset.y_test is not None:
        parts[TEST] = (dataset.X_test, dataset.y_test)
    return metrics_of(model, {name: (model.scores_of_rows(as_rows(X)), y) for name, (X, y) in parts.items()})


def _write_iterates(path: Path, traces: Sequence[Trace]) -> None:
    """The iterates of one problem under their names, or of several with the number of the class in front: 0_weights, …"""
    from dualgap.data.npy import write_arrays

    found = [trace.iterates() for trace in traces]
    if len(found) == 1:
        write_arrays(path, found[0])
        return
    write_arrays(path, {f"{k}_{name}": values for k, arrays in enumerate(found) for name, values in arrays.items()})


def _fitted(options: Mapping[str, Any], part: TrainingPart, loss: Loss, quiet: bool, results: list[Result]) -> Model:
    """The model, with `results` filled; KeyboardInterrupt where Ctrl-C left less than was asked for."""
    from dualgap.models.fitting import fit
    from dualgap.models.training import READING, lines_digest
    from dualgap.result import Status

    dataset, lists = part.dataset, ("positive", "drop")
    how = {name: list(options[name] or ()) if name in lists else options[name] for name in READING}
    how["target"] = dataset.target
    if options["test_size"]:
        # Rows are held out by their number: certify tells rows in another order from other rows by this.
        how["lines"] = lines_digest(options["data"])
    model = fit(
        dataset.X,
        dataset.y,
        loss,
        strength_of(options["strength"], options["C"], dataset.shape[0]),
        intercept=not options["no_intercept"],
        feature_names=dataset.feature_names,
        reading=how,
        duals=options["duals"],
        features=options["features"],
        preparation=part.preparation,
        tol=options["tol"],
        gap_tol=options["gap_tol"],
        on_result=results.append,
        keep_iterates=options["keep_iterates"] is not None,
        solver=options["solver"],
        max_epochs=options["epochs"],
        max_seconds=options["seconds"],
        seed=options["seed"],
        progress=sys.stderr.isatty() and not quiet,
    )
    if Status.INTERRUPTED in model.statuses and not options["partial"]:
        raise KeyboardInterrupt
    return model
