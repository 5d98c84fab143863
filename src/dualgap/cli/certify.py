"""The command `certify`: a model file and its data in, whether what the file claims is true out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dualgap.cli.console import make_console, reading, show

HELP = (
    "Check what a model file claims, from scratch, on the data it was fitted to.\n\n"
    "Primal, dual and gap are recomputed at the file's weights by code that no solver shares, and the data is compared "
    "with the digest in the file; the features of a map are recomputed "
    "from it. Where the file keeps no duals, those that its scores suggest are tried, and then those "
    "of a new solve; that can prove the claim or refute it, given the time.\n\n"
    "Exit codes: 0 the claim is true, 1 it is refuted (what differs, is said), 2 for bad input, 3 where the time was too "
    "short to decide, 130 for Ctrl-C."
)
# The exit code where the claim is neither proven nor refuted.
UNDECIDED = 3
EPILOG = """Examples:

dualgap certify cancer.dg breast_cancer

dualgap certify wine.dg wine.csv --seconds 600
"""


def certify(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by dualgap fit or by save.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help="The data it was fitted to: a name, a spec or a file.")],
    target: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Target column of a csv file. (default: the one of the fit)"),
    ] = None,
    seconds: Annotated[
        float, typer.Option(metavar="X", help="For a new solve where the file keeps no duals, at most.")
    ] = 60.0,
) -> None:
    """Check what a model file claims."""
    # What computes is imported here: help and refusals of options must not wait for it.
    from dualgap.datasets.columns import positions
    from dualgap.models.fitting import training_part
    from dualgap.models.reading import load
    from dualgap.models.verifying import verify

    if not seconds > 0:
        raise ValueError(f"--seconds needs a number above 0, got {seconds:g}; the default is 60")
    claimed = load(model)
    weighted = claimed.data is not None and claimed.data.sample_weight is not None
    if weighted:
        raise ValueError(
            f"{str(model)!r} was fitted with sample weights, which a data file does not hold; certify it in Python with "
            "dualgap.load(path).certify(X, y, sample_weight)"
        )
    how = claimed.reading if target is None else claimed.reading | {"target": target}
    with reading(Console(stderr=True), data):
        part = training_part(data, how, "regression" if claimed.classes is None else "classification")
    names, fitted_names = part.feature_names, claimed.feature_names
    order = None if names is None or fitted_names is None else positions(names, fitted_names)
    try:
        verdict = verify(claimed, part.X if order is None else part.X[:, order], part.y, max_seconds=seconds)
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
