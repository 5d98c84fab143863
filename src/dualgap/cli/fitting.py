"""Fitting by the options of the command line: data in, a model file out, and the certificate on the screen."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dualgap.cli.screen import make_console, reading, score, show
from dualgap.datasets import Dataset, for_task, load, split
from dualgap.datasets.dataset import MANY_LABELS
from dualgap.losses import LOSSES, Loss
from dualgap.models.fitting import fit
from dualgap.models.record import Model
from dualgap.problem import score as score_of
from dualgap.result import Status
from dualgap.spec import build
from dualgap.workbench.plan import strength_of

# What decides which rows and targets the model is fitted to; certify reads the data by the same.
READING = ("target", "positive", "test_size", "seed")


def carry_out(options: Mapping[str, Any], path: Path, quiet: bool) -> None:
    """Fit, write the file, show the certificate, and leave with 0 if certified, else 1, or 130 after Ctrl-C."""
    loss = build(options["loss"], LOSSES, "loss")
    dataset = part_of(options["data"], options, loss.task, quiet)
    try:
        model = _fitted(options, dataset, loss, quiet)
    except KeyboardInterrupt:
        typer.echo("dualgap: interrupted; nothing was written", err=True)
        raise typer.Exit(130) from None
    model.save(path)
    console = make_console()
    if not quiet:
        _show(console, model, dataset)
    console.print(str(path) if quiet else f"Model: {path}", soft_wrap=True, markup=False)
    if model.status is not Status.CERTIFIED:
        raise typer.Exit(130 if Status.INTERRUPTED in model.statuses else 1)


def _fitted(options: Mapping[str, Any], dataset: Dataset, loss: Loss, quiet: bool) -> Model:
    """The model; KeyboardInterrupt where Ctrl-C left less than was asked for."""
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
        tol=options["tol"],
        solver=options["solver"],
        max_epochs=options["epochs"],
        max_seconds=options["seconds"],
        seed=options["seed"],
        progress=sys.stderr.isatty() and not quiet,
    )
    if Status.INTERRUPTED in model.statuses and not options["partial"]:
        raise KeyboardInterrupt
    return model


def part_of(text: str, how: Mapping[str, Any], task: str, quiet: bool = False) -> Dataset:
    """The data set with its training part as X and y, and its test part if there is one."""
    with reading(Console(stderr=True, quiet=quiet), text):
        dataset = load(text, how.get("target"), how.get("positive") or ())
    if task == "regression" or _is_no_label(dataset.y):
        dataset = for_task(dataset, task)
    test_size = how.get("test_size") or 0.0
    # Columns are taken as they are, so that the model predicts from the file's own numbers.
    return split(dataset, test_size, how.get("seed") or 0, standardize=False, stratify=task == "classification")


def _is_no_label(y: np.ndarray[Any, Any]) -> bool:
    """Whether a target is a measurement, or all the same: `for_task` says so in its own words."""
    values = np.unique(y)
    measured = y.dtype.kind == "f" and not np.array_equal(values, np.round(values))
    return len(values) < 2 or len(values) > MANY_LABELS or (measured and len(values) > 2)


def _strength(strength: str | None, C: float | None, rows: int) -> float:
    if strength is not None and C is not None:
        raise ValueError("a fit needs --strength or --C, got both; they are the same setting, λ = 1/(C·n)")
    if C is None:
        return strength_of(strength or "1/n", rows)
    if not (np.isfinite(C) and C > 0):
        raise ValueError(f"C needs to be a finite number above 0, got {C}; 1 is a common choice")
    return 1.0 / (C * rows)


def _show(console: Console, model: Model, dataset: Dataset) -> None:
    """What was fitted to what, the certificate, and how it ended."""
    rows, columns = dataset.shape
    free = "free intercept" if model.free_intercept else "no intercept"
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="bold")
    table.add_row("data", Text(f"{dataset.name}: {rows:,} rows × {columns:,} columns"))
    table.add_row("model", Text(f"{model.loss}, strength {model.strength:.6g}, {free}"))
    table.add_row("solver", Text(model.solver if model.reason == "as asked" else model.reason))
    if len(model.certificates) == 1:
        certificate = model.certificate
        table.add_row("primal", Text(f"{certificate.primal:.12g}"))
        table.add_row("dual", Text(f"{certificate.dual:.12g}"))
        table.add_row("gap", Text(f"{certificate.gap:.3g}, relative {certificate.relative_gap:.3g}"))
    color = "green" if model.status is Status.CERTIFIED else "yellow"
    table.add_row("status", Text(f"{model.status.name}: {model.status.value}", style=color))
    for name, X, y in (("train", dataset.X, dataset.y), ("test", dataset.X_test, dataset.y_test)):
        if X is not None and y is not None:
            kind = "R²" if model.classes is None else "accuracy"
            table.add_row(name, Text(f"{kind} {score(_score(model, X, y))}"))
    show(console, table)
    if len(model.certificates) > 1:
        console.print()
        show(console, _classes_table(model))
    console.print()


def _score(model: Model, X: Any, y: np.ndarray[Any, Any]) -> float:
    if model.classes is not None:
        return float((model.predict(X) == y).mean())
    return score_of(model.scores(X), np.asarray(y, dtype=np.float64), "regression")


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
