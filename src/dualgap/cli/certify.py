"""The command `certify`: a model file and its data in, whether what the file claims is true out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dualgap.cli.checks import checked_data
from dualgap.cli.console import make_console, reading, show

if TYPE_CHECKING:
    from dualgap.models.model import Model
    from dualgap.models.verifying import Verdict

HELP = (
    "Check what a model file claims, from scratch, on the data it was fitted to.\n\n"
    "Primal, dual and gap are recomputed at the file's weights by code that no solver shares, and the data is compared "
    "with the digest in the file; columns are prepared and features computed as the file says, and the metrics in it are "
    "recomputed. Where the file keeps no duals, those that its scores suggest are tried, and then those "
    "of a new solve; that can prove the claim or refute it, given the time.\n\n"
    "Exit codes: 0 the claim is true; 1 it is refuted, and each difference is printed; 2 for bad input, also for rows in "
    "another order than at the fit, of which only the values are checked; 3 where the time was too short to decide; 130 for "
    "Ctrl-C."
)
# The exit code where the claim is neither proven nor refuted.
UNDECIDED = 3
EPILOG = """Examples:

dualgap certify cancer.dg breast_cancer

dualgap certify people.dg people.csv

dualgap certify wine.dg wine.csv --seconds 600

dualgap certify clicks.dg data/*.parquet
"""


def certify(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by dualgap fit or by save.")],
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA", help="The data it was fitted to: a name, a spec or a file; or several Parquet files."
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Target column of a csv file. (default: the one of the fit)"),
    ] = None,
    seconds: Annotated[
        float, typer.Option(metavar="X", help="For a new solve where the file keeps no duals, at most.")
    ] = 60.0,
) -> None:
    """Check what a model file claims."""
    if not seconds > 0:
        raise ValueError(f"--seconds needs a number above 0, got {seconds:g}; the default is 60")
    # What computes is imported here: help and refusals of options must not wait for it.
    from dualgap.models.reading import load

    for name in data:
        if "*" not in name:
            checked_data(name)
    claimed = load(model)
    weighted = claimed.data is not None and claimed.data.sample_weight is not None
    if weighted:
        raise ValueError(
            f"{str(model)!r} was fitted with sample weights, which a data file does not hold; certify it in Python with "
            "dualgap.load(path).certify(X, y, sample_weight)"
        )
    how = claimed.reading if target is None else claimed.reading | {"target": target}
    try:
        if _is_of_blocks(claimed, data):
            verdict = _verdict_of_blocks(replace(claimed, reading=dict(how)), data, seconds)
        else:
            verdict = _verdict(claimed, data[0], how, seconds)
    except KeyboardInterrupt:
        typer.echo("dualgap: interrupted; nothing was decided", err=True)
        raise typer.Exit(130) from None
    quiet = context.obj == "quiet"
    console = make_console()
    if not quiet and len(verdict.certificates) == 1:
        said, found = claimed.certificates[0], verdict.certificates[0]
        table = Table.grid(padding=(0, 3, 0, 0))
        table.add_row("", Text("in the file", style="bold"), Text("recomputed", style="bold"))
        for name in ("primal", "dual", "gap", "relative_gap"):
            form = ".12g" if name in ("primal", "dual") else ".3g"
            words = Text(name.replace("_", " "), style="bold")
            table.add_row(words, f"{getattr(said, name):{form}}", f"{getattr(found, name):{form}}")
        show(console, table)
        console.print()
    for sentence in dict.fromkeys(verdict.notes) if not quiet else ():
        console.print(Text(f"Note: {sentence}."))
    for sentence in verdict.differences:
        console.print(Text(f"Differs: {sentence}."), style="yellow")
    if verdict.differences:
        console.print(Text("The claim does not hold for this data.", style="bold red"))
        raise typer.Exit(1)
    if verdict.order:
        raise ValueError(verdict.order)
    for sentence in verdict.undecided:
        console.print(Text(f"Undecided: {sentence}."), style="yellow")
    if verdict.undecided:
        console.print(Text("The claim is neither proven nor refuted.", style="bold yellow"))
        raise typer.Exit(UNDECIDED)
    several = f", {len(verdict.certificates)} times" if len(verdict.certificates) > 1 else ""
    worst = max(one.relative_gap for one in verdict.certificates)
    console.print(
        Text(f"The claim is true{several}: {claimed.status.name}, relative gap {worst:.3g}.", style="bold green")
    )


def _is_of_blocks(claimed: Model, data: Sequence[str]) -> bool:
    """Whether the model was fitted to row blocks of such files, or there are several of them."""
    from dualgap.models.streaming import are_streamed

    return are_streamed(data) or (claimed.data is None and data[0].endswith(".parquet"))


def _verdict_of_blocks(claimed: Model, data: Sequence[str], seconds: float) -> Verdict:
    """What verifying finds on all rows of Parquet files, which are held in memory."""
    from dualgap.models.streaming import gathered
    from dualgap.models.verifying import verify

    if data[0].endswith(".npy"):
        raise ValueError(
            f"certify needs rows and targets in one file, got {data[0]!r}; certify it in Python with "
            "dualgap.load(path).certify(X, y)"
        )
    with reading(Console(stderr=True), " ".join(data)):
        part = gathered(claimed, data)
    if part.y is None:
        raise ValueError(
            f"the data needs the target {claimed.reading.get('target')!r} in every row, got none or missing values; give the data "
            "of the fit, or name the column with --target"
        )
    # The rows are prepared already.
    return verify(replace(claimed, preparation=None), part.rows, part.y, part.weights, max_seconds=seconds)


def _verdict(claimed: Model, data: str, how: Mapping[str, Any], seconds: float) -> Verdict:
    """What verifying finds on the training part of the data, its columns in the order of the fit."""
    from dualgap.data.sheet import Sheet
    from dualgap.datasets.columns import positions
    from dualgap.models.training import given_part, lines_digest
    from dualgap.models.verifying import ROWS_DIFFER, verify

    preparation, names = claimed.preparation, claimed.feature_names
    if preparation is not None:
        names = preparation.names if preparation.has_names else None
    task = "regression" if claimed.classes is None else "classification"
    with reading(Console(stderr=True), data):
        part = given_part(data, how, task, fitted=preparation)
    X, X_test = part.X, part.X_test
    if not isinstance(X, Sheet) and names is not None and part.feature_names is not None:
        order = positions(part.feature_names, names)
        X, X_test = (x if x is None or order is None else x[:, order] for x in (X, X_test))
    test = None if X_test is None or part.y_test is None else (X_test, part.y_test)
    verdict = verify(claimed, X, part.y, max_seconds=seconds, test=test)
    # The same lines in the same order have the same rows, and then what differs is a false claim.
    is_other_part = not set(ROWS_DIFFER).isdisjoint(verdict.differences)
    if is_other_part and how.get("lines") is not None and how["lines"] == lines_digest(data):
        raise ValueError(
            "the rows are in another order than at the fit, which held out a part of them by their numbers, so that its "
            "training part cannot be found; give the rows in their old order"
        )
    return verdict
