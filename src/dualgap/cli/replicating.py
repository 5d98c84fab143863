"""A replication from its options to its end: where it is written, what is shown meanwhile, and what is said at last."""

from __future__ import annotations

import json
import shlex
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as Grid

from dualgap.cli.screen import make_console, show
from dualgap.files import parsed_json, source, write_text
from dualgap.replication import gathering, running
from dualgap.replication.claims import REPORTS, Claim, chosen
from dualgap.replication.content import content, judged
from dualgap.replication.experiments import Experiment
from dualgap.replication.figures import FIGURES, named
from dualgap.replication.page import write_page
from dualgap.replication.panels import Figure
from dualgap.replication.table import experiments
from dualgap.replication.verdicts import Outcome, Verdict
from dualgap.trace import Clock, Record
from dualgap.workbench import store
from dualgap.workbench.locking import sole_writer
from dualgap.workbench.plan import Run

STEM = "dualgap-replication"
SETTINGS = "replication.json"
PAGE = "replication.html"
STYLES = {Outcome.HOLDS: "green", Outcome.PARTLY: "yellow", Outcome.FAILS: "red"}


@dataclass(frozen=True)
class Asked:
    """What is to be repeated: names of reports and claims, the size, perhaps one figure."""

    names: tuple[str, ...] = ()
    quick: bool = False
    figure: str | None = None

    def claims(self) -> list[Claim]:
        """The claims to judge; none where one figure is asked for."""
        found = chosen(self.names)
        return [] if self.figure is not None else found

    def figures(self) -> list[Figure]:
        """The figures to draw: those of whole reports, those of single claims, or the one that is asked for."""
        wanted = chosen(self.names)
        if self.figure is not None:
            return named(self.figure, list(dict.fromkeys(claim.report for claim in wanted)))
        whole = {name.upper() for name in self.names if name.upper() in REPORTS} if self.names else set(REPORTS)
        single = {name for claim in wanted for name in claim.figures}
        return [figure for figure in FIGURES.values() if figure.report in whole or figure.id in single]

    def experiments(self) -> list[Experiment]:
        """Everything the claims and figures rest on."""
        needed = {name for claim in self.claims() for name in claim.experiments}
        needed |= {name for figure in self.figures() for name in figure.experiments}
        whole = {name.upper() for name in self.names if name.upper() in REPORTS} if self.names else set(REPORTS)
        if self.figure is not None:
            whole = set()
        every = experiments(self.quick)
        return [one for one in every if one.name in needed or one.report in whole]

    def command(self) -> str:
        """As it is typed."""
        words = ["dualgap", "replicate", *self.names]
        words += ["--quick"] if self.quick else []
        words += ["--figure", self.figure] if self.figure is not None else []
        return shlex.join(words)


def carry_out(asked: Asked, *, out: Path | None, resume: bool, show: bool, quiet: bool) -> None:
    """Repeat what is asked for, write the page, and print the verdicts; the folder is held meanwhile."""
    with ExitStack() as held:
        if resume:
            folder = store.newest_folder(Path(), STEM) if out is None else out
            if folder.is_dir():
                held.enter_context(sole_writer(folder))
            asked = _kept(folder, asked)
        todo = asked.experiments()
        if not resume:
            folder = store.new_folder(Path(), STEM) if out is None else _claimed(out)
        if not (resume and folder.is_dir()):
            folder.mkdir(parents=True, exist_ok=True)
            held.enter_context(sole_writer(folder))
        _carry_out_in(folder, asked, todo, show, quiet)


def _carry_out_in(folder: Path, asked: Asked, todo: Sequence[Experiment], show: bool, quiet: bool) -> None:
    before = _seconds(folder)
    clock = Clock()
    _keep(folder, asked, before)
    console = make_console()
    done = store.resume(folder / store.FILE)
    with _view(console, running.still_to_do(todo, done), quiet) as observer:
        carried = running.carry_out(todo, folder, observer)
    _keep(folder, asked, before + clock.elapsed())
    if not carried.runs and not carried.facts:
        (folder / SETTINGS).unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()
        if carried.left_out and not carried.interrupted:
            raise ValueError(next(iter(carried.left_out.values())))
    else:
        page = _finish(asked, carried, folder, console, quiet)
        if show:
            webbrowser.open(page.resolve().as_uri())
    if carried.interrupted:
        typer.echo("dualgap: interrupted; what is finished is kept, and --resume goes on from there", err=True)
        raise typer.Exit(130)


def _finish(asked: Asked, carried: running.Carried, folder: Path, console: Console, quiet: bool) -> Path:
    gathered = gathering.gather(running.belonging(asked.experiments(), carried.runs), carried.facts)
    claims = asked.claims()
    shown = content(
        claims, asked.figures(), gathered, left_out=carried.left_out, quick=asked.quick, command=asked.command()
    )
    page = write_page(shown, folder / PAGE)
    if not quiet:
        if claims:
            _verdicts(console, claims, judged(claims, gathered))
        for name, sentence in carried.left_out.items():
            console.print(f"Left out: {name}: {sentence}", soft_wrap=True, markup=False)
    console.print(str(page) if quiet else f"Page: {page}", soft_wrap=True, markup=False)
    return page


def _verdicts(console: Console, claims: Sequence[Claim], verdicts: dict[str, Verdict | str]) -> None:
    grid = Grid(box=None, pad_edge=False)
    for name in ("claim", "verdict", "by these numbers"):
        grid.add_column(name, overflow="fold")
    for claim in claims:
        found = verdicts[claim.id]
        if isinstance(found, Verdict):
            grid.add_row(claim.id, f"[{STYLES[found.outcome]}]{found.outcome.value}[/]", _plain(found.sentence))
        else:
            grid.add_row(claim.id, "not measured", _plain(found))
    show(console, grid)


def _plain(text: str) -> str:
    return text.replace("[", "\\[")


def _kept(folder: Path, asked: Asked) -> Asked:
    """What a folder was begun with; names typed again are added to it, and another size is refused."""
    file = folder / SETTINGS
    if not file.exists():
        if (folder / store.FILE).exists():
            raise ValueError(f"{str(folder)!r} holds no {SETTINGS}, so it is no replication; choose its folder with -o")
        return asked
    kept = _settings(file)
    if asked.quick and not kept["quick"]:
        raise ValueError(f"{str(folder)!r} was begun in full size; leave --quick out, or choose another folder with -o")
    names = tuple(dict.fromkeys((*kept["names"], *asked.names))) if kept["names"] else ()
    return Asked(names, bool(kept["quick"]), asked.figure or kept.get("figure"))


def _settings(file: Path) -> dict[str, Any]:
    """What a replication has written down of itself."""
    try:
        kept = parsed_json(source(file).read_bytes())
    except ValueError as error:
        raise ValueError(f"{str(file)!r} cannot be read: {error}; choose another folder with -o") from None
    fits = (
        isinstance(kept, dict)
        and isinstance(kept.get("names"), list)
        and all(isinstance(name, str) for name in kept["names"])
        and isinstance(kept.get("quick"), bool)
        and isinstance(kept.get("figure"), str | None)
        and isinstance(kept.get("seconds", 0.0), int | float)
    )
    if not fits:
        raise ValueError(
            f"{str(file)!r} holds something else than dualgap writes; it was edited, so choose another folder with -o"
        )
    return dict(kept)


def _keep(folder: Path, asked: Asked, seconds: float) -> None:
    """Write down what is asked for, and how long it has taken so far."""
    kept = asdict(asked) | {"seconds": round(seconds, 1)}
    write_text(folder / SETTINGS, json.dumps(kept) + "\n")


def _seconds(folder: Path) -> float:
    file = folder / SETTINGS
    return float(_settings(file).get("seconds", 0.0)) if file.exists() else 0.0


def _claimed(folder: Path) -> Path:
    if (folder / gathering.FACTS).exists() or (folder / SETTINGS).exists():
        raise ValueError(
            f"{str(folder)!r} already holds a replication, and nothing is overwritten; choose another folder, or pass "
            "--resume to go on there"
        )
    return store.claim_folder(folder)


@contextmanager
def _view(console: Console, runs: int, quiet: bool) -> Iterator[running.Observer]:
    """A bar over all runs on a terminal, a line per experiment in a pipe, nothing where quiet is asked for."""
    if quiet:
        yield running.Observer()
    elif console.is_terminal:
        columns = (MofNCompleteColumn(), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
        with Progress(*columns, console=console, transient=True) as bar:
            yield _Bar(bar, runs)
    else:
        yield _Lines(console, runs)


class _Bar(running.Observer):
    def __init__(self, bar: Progress, runs: int) -> None:
        self.bar, self.task, self.name = bar, bar.add_task("", total=max(runs, 1)), ""

    def experiment(self, experiment: Experiment, runs: int) -> None:
        self.name = experiment.name
        self.bar.update(self.task, description=self.name)

    def fact(self, name: str) -> None:
        self.bar.update(self.task, description=name)

    def recorded(self, run: Run, record: Record) -> None:
        self.bar.update(self.task, description=f"{self.name}: {run.solver}")

    def finished(self, run: Run, finished: store.FinishedRun) -> None:
        self.bar.advance(self.task)


class _Lines(running.Observer):
    def __init__(self, console: Console, runs: int) -> None:
        self.console, self.runs, self.done = console, runs, 0

    def experiment(self, experiment: Experiment, runs: int) -> None:
        said = f"{experiment.name}: {runs} run{'' if runs == 1 else 's'} to do, {self.done} of {self.runs} done"
        self.console.print(said, markup=False, soft_wrap=True)

    def left_out(self, experiment: str, sentence: str) -> None:
        self.console.print(f"{experiment}: left out: {sentence}", markup=False, soft_wrap=True)

    def finished(self, run: Run, finished: store.FinishedRun) -> None:
        self.done += 1
