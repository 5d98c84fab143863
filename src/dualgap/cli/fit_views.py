"""A fit on the screen: what was fitted to what, the certificate, how well it predicts; and the same of a model file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dualgap.cli.console import in_options, show

if TYPE_CHECKING:
    from dualgap.data.preparation import Preparation
    from dualgap.models.model import Model
    from dualgap.models.training import TrainingPart


def show_fit(console: Console, model: Model, part: TrainingPart, dropped: Sequence[str]) -> None:
    """The whole story of a fit."""
    rows, columns = part.dataset.shape
    table = facts_table()
    table.add_row("data", Text(f"{part.dataset.name}: {rows:,} rows × {columns:,} columns"))
    add_facts(table, model, dropped)
    show(console, table)
    if len(model.certificates) > 1:
        console.print()
        show(console, classes_table(model))
    show_metrics(console, model)
    for note in part.notes:
        console.print(Text(f"Note: {note}."))
    console.print()


def facts_table() -> Table:
    """Names in bold, and beside them what there is to say."""
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="bold")
    return table


def add_facts(table: Table, model: Model, dropped: Sequence[str]) -> None:
    """What was done to columns, the model, the solver, the certificate and how the fit ended."""
    from dualgap.result import Status

    if model.preparation is not None:
        table.add_row("columns", Text(told(model.preparation)))
    if dropped:
        table.add_row("left out", Text(", ".join(dropped)))
    if model.features is not None:
        table.add_row("features", Text(f"{model.features.spec}: {model.features.count:,}"))
    free = "free intercept" if model.free_intercept else "no intercept"
    table.add_row("model", Text(f"{model.loss}, strength {model.strength:.6g}, {free}"))
    table.add_row("solver", Text(model.solver if model.reason.endswith(", as asked") else model.reason))
    if len(model.certificates) == 1:
        certificate = model.certificate
        table.add_row("primal", Text(f"{certificate.primal:.12g}"))
        table.add_row("dual", Text(f"{certificate.dual:.12g}"))
        table.add_row("gap", Text(f"{certificate.gap:.3g}, relative {certificate.relative_gap:.3g}"))
    color = "green" if model.status is Status.CERTIFIED else "yellow"
    table.add_row("status", Text(f"{model.status.name}: {in_options(model.sentence)}", style=color))


def told(preparation: Preparation) -> str:
    """What is done to columns before the model sees them."""
    text = len(preparation.categories)
    numbers = len(preparation.names) - text
    done = [
        *(["filled"] if preparation.needs_filling else []),
        *(["standardized"] if preparation.is_standardized else []),
    ]
    how = f" ({', '.join(done)})" if done else ""
    parts = [f"{numbers:,} of numbers{how}"] if numbers else []
    if text:
        parts.append(f"{text:,} of text, {sum(map(len, preparation.categories.values())):,} categories")
    return "; ".join(parts)


def show_metrics(console: Console, model: Model) -> None:
    """A row for each metric, a column for each part; nothing where the file has none."""
    if not model.metrics:
        return
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    table.add_column("")
    for part in model.metrics:
        table.add_column(part, justify="right")
    for name in dict.fromkeys(name for found in model.metrics.values() for name in found):
        table.add_row(name, *(_number(found.get(name)) for found in model.metrics.values()))
    console.print()
    show(console, table)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}" if abs(value) < 1e4 else f"{value:.6g}"


def classes_table(model: Model) -> Table:
    """A row for each class against the rest."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    for heading in ("class", "primal", "dual", "relative gap", "status"):
        table.add_column(heading, justify="left" if heading in ("class", "status") else "right")
    names: list[Any] = list(range(len(model.certificates))) if model.classes is None else model.classes.tolist()
    for label, certificate, status in zip(names, model.certificates, model.statuses, strict=True):
        numbers = (f"{certificate.primal:.8g}", f"{certificate.dual:.8g}", f"{certificate.relative_gap:.2e}")
        table.add_row(Text(str(label)), *numbers, status.name)
    return table
