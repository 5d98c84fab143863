"""The command `fit` on row blocks: Parquet and .npy files larger than memory, in this process or on Dask's workers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from math import inf, log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dualgap.cli.console import make_console, score, show

if TYPE_CHECKING:
    from dualgap.data.blocks import Blocks
    from dualgap.models.model import Model
    from dualgap.result import Result
    from dualgap.trace import Record

# Options of `fit` that need all rows in memory, with the value that they have where they are not given.
IN_MEMORY = {
    "features": None,
    "test_size": 0.0,
    "duals": False,
    "keep_iterates": None,
    "positive": None,
    "onehot": False,
    "category": None,
    "impute": None,
    "drop": None,
    "standardize": False,
    "encoding": None,
    "decimal": None,
}
# Rounds in which the gap has fallen by less than this factor tell nothing of the time that is left.
TELLING_FALL = 2.0


def asks_for_blocks(options: Mapping[str, Any]) -> bool:
    """Whether the options of `fit` ask for row blocks."""
    asked = (options["memory_limit"], options["dask"], options["workers"])
    return len(options["data"]) > 1 or any(value is not None for value in asked)


def carry_out(options: Mapping[str, Any], path: Path, quiet: bool) -> None:
    """Fit, write the file, show the certificate, and leave with 0 if certified, else 1, or 130 after Ctrl-C."""
    from dualgap.result import Status

    for name, absent in IN_MEMORY.items():
        if options[name] not in (absent, [], ()):
            raise ValueError(f"--{name.replace('_', '-')} needs rows in memory, got row blocks; leave it out")
    if options["dask"] is not None and options["workers"] is not None:
        raise ValueError("a fit needs --dask or --workers, got both; --workers starts a cluster of its own")
    if options["target"] is None:
        raise ValueError("row blocks need --target, the column of the labels, got none; name it")
    with ExitStack() as stack:
        if options["dask"] is not None or options["workers"] is not None:
            stack.enter_context(_cluster(options["dask"], options["workers"]))
        blocks = _blocks(options)
        try:
            model, results = _fitted(options, blocks, quiet)
        except KeyboardInterrupt:
            typer.echo("dualgap: interrupted; nothing was written", err=True)
            raise typer.Exit(130) from None
    if Status.INTERRUPTED in model.statuses and not options["partial"]:
        typer.echo("dualgap: interrupted; nothing was written", err=True)
        raise typer.Exit(130)
    model.save(path)
    console = make_console()
    if not quiet:
        _show(console, model, results, blocks)
    console.print(str(path) if quiet else f"Model: {path}", soft_wrap=True, markup=False)
    if model.status is not Status.CERTIFIED:
        raise typer.Exit(130 if Status.INTERRUPTED in model.statuses else 1)


@contextmanager
def _cluster(address: str | None, workers: int | None) -> Iterator[None]:
    """The client of a running cluster, or of one that is closed at the end."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ImportError("--dask and --workers need distributed; python -m pip install 'dualgap[dask]'") from None
    if address is not None:
        try:
            client = Client(address, timeout="10s")
        except (OSError, ValueError, TypeError) as error:
            raise ValueError(f"--dask needs the address of a running scheduler, got {address!r} ({error})") from None
        with client:
            yield
        return
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster),
    ):
        yield


def _blocks(options: Mapping[str, Any]) -> Blocks:
    from dualgap.data.blocks import Blocks
    from dualgap.data.blocks.blocks import memory_bytes, parquet_paths
    from dualgap.data.blocks.parquet import Parquet

    target, weight = options["target"], options["weight"]
    if options["dask"] is None and options["workers"] is None:
        return Blocks(options["data"], memory_limit=options["memory_limit"], target=target, weight=weight)
    from dask import delayed

    paths = parquet_paths(options["data"])
    if paths is None:
        raise ValueError(f"a fit on Dask needs Parquet files, got {options['data'][0]!r}; convert them")
    limit = memory_bytes(options["memory_limit"])
    table = Parquet(paths, target, weight, None, limit)
    blocks = Blocks([delayed(part)() for part in table.parts()], memory_limit=limit)
    blocks.column_names = table.column_names
    return blocks


def _fitted(options: Mapping[str, Any], blocks: Blocks, quiet: bool) -> tuple[Model, list[Result]]:
    """The model and its results: one problem, with several labels the softmax model or one problem for each label against the rest."""
    from dualgap.losses import LOSSES
    from dualgap.models.model import BINARY, MULTINOMIAL, ONE_VS_REST, REGRESSION, Model
    from dualgap.models.training import READING
    from dualgap.problem import BlockProblem, MultinomialBlockProblem
    from dualgap.run import solve
    from dualgap.spec import build, full_text

    loss = build(options["loss"], LOSSES, "loss")
    found = blocks.scanned(loss.task == "classification")
    classes = found.classes if loss.task == "classification" else None
    is_softmax = classes is not None and classes.size > 2 and loss.name == "logistic"
    positives = classes if classes is not None and classes.size > 2 and not is_softmax else [None]
    strength = options["strength_of"](sum(facts.count for facts in found.facts))
    results = []
    for positive in positives:
        free = not options["no_intercept"]
        problem = (
            MultinomialBlockProblem(blocks, strength, free)
            if is_softmax
            else BlockProblem(blocks, loss, strength, free, positive=positive)
        )
        with _progress(not quiet and sys.stderr.isatty(), options["tol"]) as tell:
            results.append(
                solve(
                    problem,
                    options["solver"],
                    tol=options["tol"],
                    gap_tol=options["gap_tol"],
                    max_epochs=options["epochs"],
                    max_seconds=options["seconds"],
                    seed=options["seed"],
                    callback=tell,
                    n_jobs=-1,
                )
            )
    several, first = len(results) > 1, results[0]
    columns = [result.weights for result in results]
    model = Model(
        kind=MULTINOMIAL if is_softmax else ONE_VS_REST if several else REGRESSION if classes is None else BINARY,
        weights=_stacked(columns) if several else first.weights,
        intercept=_stacked([result.intercept for result in results])
        if several
        else first.intercept
        if is_softmax
        else float(first.intercept),
        loss=full_text(loss),
        strengths=(strength,) * len(results),
        free_intercept=not options["no_intercept"],
        certificates=tuple(result.certificate for result in results),
        statuses=tuple(result.status for result in results),
        tol=options["tol"],
        gap_tol=options["gap_tol"],
        classes=classes,
        feature_names=None if blocks.column_names is None else tuple(blocks.column_names),
        solver=first.solver.name,
        reason=first.reason,
        reading={name: options[name] for name in READING if name != "positive"} | {"positive": []},
    )
    return model, results


def _stacked(columns: Sequence[Any]) -> Any:
    import numpy as np

    return np.stack(columns, axis=-1)


@contextmanager
def _progress(is_visible: bool, tol: float) -> Iterator[Callable[[Record], None]]:
    """A function to call with each round; it writes a line over the last one, where anybody looks."""
    if not is_visible:
        yield lambda record: None
        return
    console = Console(stderr=True)
    with console.status("first pass") as status:
        first: list[Record] = []

        def tell(record: Record) -> None:
            first.append(record)
            left = _seconds_left(first[0], record, tol)
            time_left = f", about {left:.0f} s left" if left < inf else ""
            status.update(f"pass {record.epoch:g}: relative gap {record.relative_gap:.1e} → {tol:.0e}{time_left}")

        yield tell


def _seconds_left(first: Record, now: Record, tol: float) -> float:
    """The time that is left where the logarithm of the gap goes on to fall as it did."""
    if not (tol > 0.0 and 0.0 < now.relative_gap * TELLING_FALL <= first.relative_gap < inf):
        return inf
    pace = (now.seconds - first.seconds) / log(first.relative_gap / now.relative_gap)
    return max(pace * log(now.relative_gap / tol), 0.0)


def _show(console: Console, model: Model, results: Sequence[Result], blocks: Blocks) -> None:
    """What was fitted, the certificate, and how it ended."""
    from dualgap.result import Status

    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="bold")
    found = blocks.scanned(model.classes is not None)
    count = sum(facts.count for facts in found.facts)
    table.add_row("data", Text(f"{count:,} rows × {found.facts[0].dimension:,} columns in {blocks.count:,} blocks"))
    free = "free intercept" if model.free_intercept else "no intercept"
    table.add_row("model", Text(f"{model.loss}, strength {model.strength:.6g}, {free}"))
    table.add_row("solver", Text(model.reason))
    table.add_row("passes", Text(f"{sum(result.trace[-1].epoch for result in results):g}"))
    certificate = model.certificate
    table.add_row("gap", Text(f"{certificate.gap:.3g}, relative {certificate.relative_gap:.3g}"))
    color = "green" if model.status is Status.CERTIFIED else "yellow"
    table.add_row("status", Text(f"{model.status.name}: {model.sentence}", style=color))
    if len(results) == 1:
        kind = "R²" if model.classes is None else "accuracy"
        table.add_row("train", Text(f"{kind} {score(results[0].trace[-1].train_score)}"))
    show(console, table)
    console.print()
