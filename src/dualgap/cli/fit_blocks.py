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

from dualgap.cli.console import bytes_words, make_console, score, show
from dualgap.data.files import source

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
    "encoding": None,
    "decimal": None,
}
# Rounds in which the gap has fallen by less than this factor tell nothing of the time that is left.
TELLING_FALL = 2.0


def asks_for_blocks(options: Mapping[str, Any]) -> bool:
    """Whether the options of `fit` ask for row blocks."""
    asked = (options["memory_limit"], options["dask"], options["workers"])
    data = options["data"]
    return len(data) > 1 or data[0].endswith(".npy") or any(value is not None for value in asked)


def carry_out(options: Mapping[str, Any], path: Path, quiet: bool) -> None:
    """Fit, write the file, show the certificate, and leave with 0 if certified, else 1, or 130 after Ctrl-C."""
    from dualgap.result import Status

    for name, absent in IN_MEMORY.items():
        if options[name] not in (absent, [], ()):
            raise ValueError(f"--{name.replace('_', '-')} needs rows in memory, got row blocks; leave it out")
    if options["dask"] is not None and options["workers"] is not None:
        raise ValueError("a fit needs --dask or --workers, got both; --workers starts a cluster of its own")
    paths = _paths(options["data"])
    if options["target"] is None:
        raise ValueError("row blocks need --target, the column of the labels or their .npy file, got none; name it")
    with ExitStack() as stack:
        if options["dask"] is not None or options["workers"] is not None:
            stack.enter_context(_cluster(options["dask"], options["workers"]))
        blocks, size = _blocks(options, paths)
        try:
            model, results = _fitted(options, blocks, size, quiet)
        except KeyboardInterrupt:
            typer.echo("dualgap: interrupted; nothing was written", err=True)
            raise typer.Exit(130) from None
    if Status.INTERRUPTED in model.statuses and not options["partial"]:
        typer.echo("dualgap: interrupted; nothing was written", err=True)
        raise typer.Exit(130)
    model.save(path)
    console = make_console()
    if not quiet:
        _show(console, model, results, blocks, size)
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


def _paths(data: Sequence[str]) -> list[str] | None:
    """The Parquet files that are named, all there; None for a file of another kind."""
    from dualgap.data.blocks.sources import parquet_paths

    for named in map(Path, data):
        if "*" not in str(named) and not named.is_dir():
            source(named)
    return parquet_paths(data if len(data) > 1 else data[0])


def _blocks(options: Mapping[str, Any], paths: Sequence[str] | None) -> tuple[Blocks, int]:
    """The blocks, and the bytes of the files."""
    from dualgap.data.blocks import Blocks

    data = options["data"]
    target, weight, limit = options["target"], options["weight"], options["memory_limit"]
    is_on_dask = options["dask"] is not None or options["workers"] is not None
    if paths is None:
        source = data[0]
        if is_on_dask:
            raise ValueError(f"a fit on Dask needs Parquet files, got {source!r}; convert them")
        if options["drop"]:
            raise ValueError("--drop leaves out columns of Parquet files, got another file; leave --drop out")
        blocks = Blocks(source, target, weight, memory_limit=limit, standardize=options["standardize"])
        return blocks, Path(source).stat().st_size
    columns = _columns(paths[0], options) if options["drop"] else None
    blocks = Blocks(
        paths, memory_limit=limit, target=target, weight=weight, columns=columns, standardize=options["standardize"]
    )
    table, size = blocks.table, sum(Path(path).stat().st_size for path in paths)
    assert table is not None
    if is_on_dask:
        from dask import delayed

        from dualgap.data.blocks.on_dask import home_of

        assert blocks.column_names is not None  # the categories are found here, once, and not by each worker
        blocks.home = home_of([delayed(part)() for part in table.parts()], None, None)
    return blocks, size


def _columns(path: str, options: Mapping[str, Any]) -> list[str]:
    """All columns but the target, the weights and those that --drop names."""
    from dualgap.datasets.layout import column_named
    from dualgap.datasets.parquet import column_names

    names = column_names(Path(path))
    dropped = {names[column_named(Path(path).name, names, True, one)] for one in options["drop"]}
    return [name for name in names if name not in dropped | {options["target"], options["weight"]}]


def _fitted(options: Mapping[str, Any], blocks: Blocks, size: int, quiet: bool) -> tuple[Model, list[Result]]:
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
        with _progress(not quiet and sys.stderr.isatty(), options["tol"], size) as tell:
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
        preparation=blocks.preparation,
        feature_names=None if blocks.column_names is None else tuple(blocks.column_names),
        solver=first.solver.name,
        reason=first.reason,
        reading={name: options[name] for name in READING if name != "positive"}
        | {"positive": [], "drop": list(options["drop"] or ()), "weight": options["weight"]},
    )
    return model, results


def _stacked(columns: Sequence[Any]) -> Any:
    import numpy as np

    return np.stack(columns, axis=-1)


@contextmanager
def _progress(is_visible: bool, tol: float, size: int) -> Iterator[Callable[[Record], None]]:
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
            read = f"pass {record.epoch:g} over {bytes_words(size)}"
            status.update(f"{read}: relative gap {record.relative_gap:.1e} → {tol:.0e}{time_left}")

        yield tell


def _seconds_left(first: Record, now: Record, tol: float) -> float:
    """The time that is left where the logarithm of the gap goes on to fall as it did."""
    if not (tol > 0.0 and 0.0 < now.relative_gap * TELLING_FALL <= first.relative_gap < inf):
        return inf
    pace = (now.seconds - first.seconds) / log(first.relative_gap / now.relative_gap)
    return max(pace * log(now.relative_gap / tol), 0.0)


def _show(console: Console, model: Model, results: Sequence[Result], blocks: Blocks, size: int) -> None:
    """What was fitted, the certificate, and how it ended."""
    from dualgap.result import Status

    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="bold")
    found = blocks.scanned(model.classes is not None)
    count = sum(facts.count for facts in found.facts)
    table.add_row(
        "data",
        Text(
            f"{count:,} rows × {found.facts[0].dimension:,} columns in {blocks.count:,} block"
            + "s" * (blocks.count > 1)
        ),
    )
    free = "free intercept" if model.free_intercept else "no intercept"
    table.add_row("model", Text(f"{model.loss}, strength {model.strength:.6g}, {free}"))
    table.add_row("solver", Text(model.reason))
    table.add_row("passes", Text(f"{sum(result.trace[-1].epoch for result in results):g} over {bytes_words(size)}"))
    certificate = model.certificate
    table.add_row("gap", Text(f"{certificate.gap:.3g}, relative {certificate.relative_gap:.3g}"))
    color = "green" if model.status is Status.CERTIFIED else "yellow"
    table.add_row("status", Text(f"{model.status.name}: {model.sentence}", style=color))
    if len(results) == 1:
        kind = "R²" if model.classes is None else "accuracy"
        table.add_row("train", Text(f"{kind} {score(results[0].trace[-1].train_score)}"))
    show(console, table)
    console.print()
