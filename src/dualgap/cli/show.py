"""The command `show`: what is in a model file, on the screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dualgap.cli.console import make_console, show, small
from dualgap.cli.fit_views import add_facts, classes_table, facts_table, show_metrics

if TYPE_CHECKING:
    from dualgap.models.model import Model

HELP = (
    "Print what is in a model file: coefficients by name, certificate, metrics and history.\n\n"
    "The largest coefficients come first; --all prints every one, in the order of the columns. Coefficients belong to the "
    "columns as they were prepared: of standardized columns they tell the change in the score for one deviation. Everything "
    "is printed as the file says it; [bold]dualgap certify[/] finds out whether it is true.\n\n"
    "Exit codes: 0, 2 for bad input."
)
EPILOG = """Examples:

dualgap show cancer.dg

dualgap show people.dg --all --history
"""
SHOWN = 20  # coefficients without --all
SHOWN_CLASSES = 3  # columns of coefficients, which a terminal of 80 columns has room for


def show_model(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by dualgap fit or by save.")],
    everything: Annotated[
        bool, typer.Option("--all", help="Print every coefficient, in the order of the columns.")
    ] = False,
    history: Annotated[bool, typer.Option("--history", help="Print every certificate of the run.")] = False,
) -> None:
    """Print what is in a model file."""
    from dualgap.models.reading import load

    found = load(model)
    console = make_console()
    table = facts_table()
    if found.data is not None:
        table.add_row(
            "data", Text(f"{found.data.rows:,} rows × {found.data.columns:,} columns, SHA-256 {found.data.X[:12]}…")
        )
    if found.estimator is not None:
        table.add_row("estimator", Text(found.estimator))
    add_facts(table, found, found.reading.get("drop", ()))
    table.add_row("made by", Text(", ".join(f"{name} {version}" for name, version in found.versions.items())))
    show(console, table)
    if len(found.certificates) > 1:
        console.print()
        show(console, classes_table(found))
    show_metrics(console, found)
    console.print()
    _coefficients(console, found, everything)
    if found.history:
        console.print()
        _history(console, found, history)


def _coefficients(console: Console, model: Model, everything: bool) -> None:
    """One row a coefficient; of several classes as many columns as there is room for."""
    import numpy as np

    weights = model.weights.reshape(len(model.weights), -1)
    intercepts = np.atleast_1d(model.intercept)
    names = _names(model)
    sizes = np.abs(weights).max(axis=1)
    order = np.arange(len(sizes)) if everything else np.argsort(-sizes, kind="stable")[:SHOWN]
    shown = weights.shape[1] if everything or not console.is_terminal else min(weights.shape[1], SHOWN_CLASSES)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    table.add_column("feature" if model.features is not None else "column", overflow="fold")
    labels = [] if model.classes is None else [str(label) for label in model.classes.tolist()]
    for k in range(shown):
        table.add_column(labels[k] if weights.shape[1] > 1 and labels else "coefficient", justify="right")
    for place in order:
        table.add_row(Text(names[place]), *(f"{value:.6g}" for value in weights[place, :shown]))
    if model.free_intercept:
        table.add_row(Text("(intercept)", style="italic"), *(f"{value:.6g}" for value in intercepts[:shown]))
    show(console, table)
    told = []
    if len(order) < len(sizes):
        told.append(f"the {len(order)} largest of {len(sizes):,} coefficients")
    if shown < weights.shape[1]:
        told.append(f"{shown} of {weights.shape[1]:,} classes")
    if told:
        console.print(Text(f"These are {' and '.join(told)}; --all prints every one.", style="dim"))
    if len(labels) == 2 and weights.shape[1] == 1:
        console.print(Text(f"A positive score predicts {labels[1]}, a negative one {labels[0]}.", style="dim"))


def _names(model: Model) -> list[str]:
    """What each weight belongs to; positions where columns have no names."""
    if model.features is None and model.feature_names is not None:
        return list(model.feature_names)
    return [str(place) for place in range(len(model.weights))]


def _history(console: Console, model: Model, everything: bool) -> None:
    """The records of the run: all, or the first and the last of each problem."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    several = len(model.history) > 1
    for heading in (*(["class"] if several else []), "epoch", "seconds", "primal", "dual", "gap"):
        table.add_column(heading, justify="right")
    for k, columns in enumerate(model.history):
        records = list(zip(*(columns[name] for name in ("epoch", "seconds", "primal", "dual", "gap")), strict=True))
        for epoch, seconds, primal, dual, gap in (
            records if everything or len(records) < 3 else (records[0], records[-1])
        ):
            label = [str(k if model.classes is None else model.classes[k])] if several else []
            table.add_row(*label, f"{epoch:.1f}", f"{seconds:.4f}", f"{primal:.8g}", f"{dual:.8g}", small(gap))
    show(console, table)
