"""The command `fit`: data in, a model file out, and the certificate on the screen."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dualgap.cli.console import make_console, reading, score, show
from dualgap.cli.fit_blocks import asks_for_blocks
from dualgap.cli.fit_blocks import carry_out as fit_blocks
from dualgap.data.files import destination, first_unused, unused

if TYPE_CHECKING:
    from dualgap.datasets import Dataset
    from dualgap.losses import Loss
    from dualgap.models.model import Model
    from dualgap.result import Result
    from dualgap.trace import Trace

# Typer keeps the line ends of a paragraph, so a paragraph is one line.
HELP = (
    "Fit a model, prove how good it is, and write it to a file.\n\n"
    "DATA is a name ([bold]dualgap datasets[/] lists them), a spec, or a file: .csv, .svm/.libsvm (also .gz and "
    ".bz2), .npz, .parquet, or a folder or zip of pictures. Columns are taken as they are. The model minimizes the mean loss plus half the strength times the "
    "squared length of the weights; an intercept is free, never penalized. More than two labels are one softmax model "
    "under the logistic loss, and under the others each fitted against the rest.\n\n"
    "The file holds weights, certificate and a digest of the data: [bold]dualgap predict[/] uses it, "
    "[bold]dualgap certify[/] checks it, and dualgap.load reads it in Python. With --features the map is fitted to the "
    "columns of the training rows as they are, kept in the file, and applied by both.\n\n"
    "Exit codes: 0 certified, 1 not certified (the file is written, and says so), 2 for bad input, 130 for Ctrl-C, "
    "which writes nothing without --partial."
)
EPILOG = """Examples:

dualgap fit breast_cancer -o cancer.dg

dualgap fit wine.csv --target quality --loss squared_hinge --C 10 -o wine.dg

dualgap fit digits --features "gaussian(centers=200, width=1000)" -o digits.dg

dualgap fit houses.csv --target price --loss "quantile(tau=0.9)" --strength 1/n --test-size 0.2

dualgap fit data/*.parquet --target clicked --loss logistic --memory-limit 1GB
"""


def fit(
    context: typer.Context,
    data: Annotated[
        list[str], typer.Argument(metavar="DATA", help="A name, a spec or a file; or several Parquet files.")
    ],
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
        float, typer.Option(metavar="X", help="The fraction of rows held out as a test; 0 for none.")
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
            help="Read Parquet files block by block, within so much memory: 1GB, 512MiB.",
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
    path = first_unused(Path(), "model", "dg") if out is None else checked_output(out, overwrite)
    options = {name: value for name, value in context.params.items() if name not in ("out", "overwrite", "quiet")}
    options["keep_iterates"] = None if keep_iterates is None else _iterates_file(keep_iterates, path)
    is_quiet = quiet or context.obj == "quiet"
    if asks_for_blocks(options):
        options["strength_of"] = lambda rows: _strength(strength, C, rows)
        fit_blocks(options, path, is_quiet)
        return
    if weight is not None:
        raise ValueError("--weight needs row blocks, got rows in memory; pass --memory-limit as well")
    options["data"] = data[0]
    _carry_out(options, path, quiet=is_quiet)


def checked_output(path: Path, overwrite: bool) -> Path:
    """A file that may be written, found out before anything is computed."""
    if not overwrite:
        return unused(path, "; choose another name, or pass --overwrite")
    destination(path)
    return path


def _iterates_file(iterates: Path, model: Path) -> Path:
    """A new .npz file that is not the model's, found out before anything is computed."""
    if iterates.suffix != ".npz":
        raise ValueError(f"iterates are written to a file that ends in .npz, got {str(iterates)!r}; name such a file")
    if iterates.resolve() == model.resolve():
        raise ValueError(f"the model and its iterates need two files, got {str(model)!r} for both; name another")
    return unused(iterates)


def _carry_out(options: Mapping[str, Any], path: Path, quiet: bool) -> None:
    """Fit, write the file, show the certificate, and leave with 0 if certified, else 1, or 130 after Ctrl-C."""
    # What computes is imported here: help and refusals of options must not wait for it.
    from dualgap.features import choose_map
    from dualgap.losses import LOSSES
    from dualgap.models.fitting import training_part
    from dualgap.result import Status
    from dualgap.spec import build

    loss = build(options["loss"], LOSSES, "loss")
    if options["features"] is not None:
        options = {**options, "features": choose_map(options["features"], options["seed"])}
    with reading(Console(stderr=True, quiet=quiet), options["data"]):
        dataset = training_part(options["data"], options, loss.task)
    results: list[Result] = []
    try:
        model = _fitted(options, dataset, loss, quiet, results)
    except KeyboardInterrupt:
        typer.echo("dualgap: interrupted; nothing was written", err=True)
        raise typer.Exit(130) from None
    model.save(path)
    if options["keep_iterates"] is not None:
        _write_iterates(options["keep_iterates"], [result.trace for result in results])
    console = make_console()
    if not quiet:
        _show(console, model, dataset)
    console.print(str(path) if quiet else f"Model: {path}", soft_wrap=True, markup=False)
    if options["keep_iterates"] is not None and not quiet:
        console.print(f"Iterates: {options['keep_iterates']}", soft_wrap=True, markup=False)
    if model.status is not Status.CERTIFIED:
        raise typer.Exit(130 if Status.INTERRUPTED in model.statuses else 1)


def _write_iterates(path: Path, traces: Sequence[Trace]) -> None:
    """The iterates of one problem under their names, or of several with the number of the class in front: 0_weights, …"""
    from dualgap.data.npy import write_arrays

    found = [trace.iterates() for trace in traces]
    if len(found) == 1:
        write_arrays(path, found[0])
        return
    write_arrays(path, {f"{k}_{name}": values for k, arrays in enumerate(found) for name, values in arrays.items()})


def _fitted(options: Mapping[str, Any], dataset: Dataset, loss: Loss, quiet: bool, results: list[Result]) -> Model:
    """The model, with `results` filled; KeyboardInterrupt where Ctrl-C left less than was asked for."""
    from dualgap.models.fitting import READING, fit
    from dualgap.result import Status

    rows = dataset.shape[0]
    how = {name: options[name] for name in READING} | {"positive": list(options["positive"] or ())}
    model = fit(
        dataset.X,
        dataset.y,
        loss,
        _strength(options["strength"], options["C"], rows),
        intercept=not options["no_intercept"],
        feature_names=dataset.feature_names,
        reading=how,
        duals=options["duals"],
        features=options["features"],
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


def _strength(strength: str | None, C: float | None, rows: int) -> float:
    from dualgap.workbench.plan import strength_of

    if strength is not None and C is not None:
        raise ValueError("a fit needs --strength or --C, got both; they are the same setting, λ = 1/(C·n)")
    if C is None:
        return strength_of(strength or "1/n", rows)
    if not (math.isfinite(C) and C > 0):
        raise ValueError(f"C needs to be a finite number above 0, got {C}; 1 is a common choice")
    return 1.0 / (C * rows)


def _show(console: Console, model: Model, dataset: Dataset) -> None:
    """What was fitted to what, the certificate, and how it ended."""
    from dualgap.result import Status

    rows, columns = dataset.shape
    free = "free intercept" if model.free_intercept else "no intercept"
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="bold")
    table.add_row("data", Text(f"{dataset.name}: {rows:,} rows × {columns:,} columns"))
    if model.features is not None:
        table.add_row("features", Text(f"{model.features.spec}: {model.features.count:,}"))
    table.add_row("model", Text(f"{model.loss}, strength {model.strength:.6g}, {free}"))
    table.add_row("solver", Text(model.solver if model.reason == "as asked" else model.reason))
    if len(model.certificates) == 1:
        certificate = model.certificate
        table.add_row("primal", Text(f"{certificate.primal:.12g}"))
        table.add_row("dual", Text(f"{certificate.dual:.12g}"))
        table.add_row("gap", Text(f"{certificate.gap:.3g}, relative {certificate.relative_gap:.3g}"))
    color = "green" if model.status is Status.CERTIFIED else "yellow"
    table.add_row("status", Text(f"{model.status.name}: {model.sentence}", style=color))
    for name, X, y in (("train", dataset.X, dataset.y), ("test", dataset.X_test, dataset.y_test)):
        if X is not None and y is not None:
            kind = "R²" if model.classes is None else "accuracy"
            table.add_row(name, Text(f"{kind} {score(_score(model, X, y))}"))
    show(console, table)
    if len(model.certificates) > 1:
        console.print()
        show(console, _classes_table(model))
    console.print()


def _score(model: Model, X: Any, y: Any) -> float:
    from dualgap.problem import score as score_of

    if model.classes is not None:
        return float((model.predict(X) == y).mean())
    return score_of(model.scores(X), y.astype(float), "regression")


def _classes_table(model: Model) -> Table:
    """A row for each class against the rest."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    for heading in ("class", "primal", "dual", "relative gap", "status"):
        table.add_column(heading, justify="left" if heading in ("class", "status") else "right")
    assert model.classes is not None
    for label, certificate, status in zip(model.classes, model.certificates, model.statuses, strict=True):
        numbers = (f"{certificate.primal:.8g}", f"{certificate.dual:.8g}", f"{certificate.relative_gap:.2e}")
        table.add_row(Text(str(label)), *numbers, status.name)
    return table
