"""Races from Python: `race` runs one, and a `Race` holds its runs and shows them."""

from __future__ import annotations

import html
import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dualgap.data.files import destination, unused
from dualgap.trace import Record
from dualgap.workbench import arrays, config, contenders, extras, figures, plots, runner, store, summary
from dualgap.workbench.leaderboard import Leaderboard, leaderboard
from dualgap.workbench.plan import Plan, Run
from dualgap.workbench.results_schema import is_number
from dualgap.workbench.verdict import verdict
from dualgap.workbench.watcher import Watcher

if TYPE_CHECKING:
    import plotly.graph_objects as go  # type: ignore[import-untyped]
    from matplotlib.figure import Figure

log = logging.getLogger("dualgap")

# A chart in a notebook is as fine as its pixels; results files and figures keep every record.
NOTEBOOK_POINTS = 60
PLOTLY = "application/vnd.plotly.v1+json"
NO_CHART = 'Charts of plotly cannot be drawn here; race.page("race.html") writes a page that opens in any browser.'


def race(
    data: Any = "breast_cancer",
    y: Any = None,
    solvers: Any = None,
    loss: Any = "hinge",
    strengths: Any = "1/n",
    *,
    epochs: float | None = None,
    seconds: float | None = None,
    tol: float = 1e-6,
    gap_tol: float | None = None,
    test_size: float = 0.2,
    repeats: int = 3,
    seed: int = 0,
    intercept: bool = False,
    standardize: bool | None = None,
    features: object = None,
    target: str | None = None,
    positive: Any = (),
    onehot: bool = False,
    category: Any = None,
    impute: str | None = None,
    drop: Any = None,
    encoding: str | None = None,
    decimal: str | None = None,
    rivals: bool = False,
    jobs: int = 1,
    threads: int = 1,
    keep_iterates: bool = False,
    name: str = "arrays",
    progress: bool = False,
) -> Race:
    """Race solvers on the same problem, each judged by the same certificate.

    Ctrl-C ends the race with what is finished.

    Parameters
    ----------
    data : str, list of str or array, default "breast_cancer"
        A name, a spec or a file as on the command line, or a list of them; or rows X, with targets `y`.
    y : array, optional
        The targets of rows in memory.
    solvers : str, object or list of them, optional
        Specs of solvers; without them `auto`, `newton` and eight more race. Beside them may be contenders of your own: objects of a class
        derived from `dg.Solver`, estimators with scikit-learn's `fit`, and functions (X, y, …) that return weights.
    loss : str or Loss, default "hinge"
        The loss.
    strengths : number, str or list of them, default "1/n"
        The regularization λ, as a number or in terms of the number of rows, such as "1/n".
    epochs, seconds : float, optional
        The epochs or seconds after which a run ends.
    tol : float, default 1e-6
        A run ends once its relative gap is proven to be `tol`,
    gap_tol : float, optional
        or its gap `gap_tol`.
    test_size : float, default 0.2
        The fraction of the rows that test errors are measured on.
    repeats : int, default 3
        Runs of each solver, each with a seed of its own.
    seed : int, default 0
        What splits and runs are drawn from.
    intercept : bool, default False
        Whether the models have a free intercept.
    standardize : bool, optional
        Whether columns are given mean 0 and deviation 1. Without it the data set decides; arrays stay as they are.
    features : str or feature map, optional
        A feature map, fitted to the training part after that; all solvers race on its features.
    target : str, optional
        The column of a file that holds the targets.
    positive : str or list of str, optional
        Labels that are set against all others.
    onehot : bool, default False
        Makes columns of 0 and 1 of the text in a file.
    category : str or list of str, optional
        Columns of a file that are categories whatever they hold.
    impute : {"mean", "median"}, optional
        What fills missing numbers of a file.
    drop : str or list of str, optional
        Columns of a file that are left out.
    encoding, decimal : str, optional
        The encoding and the decimal mark of a csv file, where it does not tell.
    rivals : bool, default False
        Puts the other packages that are installed beside the solvers.
    jobs : int, default 1
        Processes. Above 1 a race is over sooner, and its clocks disturb each other.
    threads : int, default 1
        What each run may use for matrix products.
    keep_iterates : bool, default False
        Leaves weights, intercept and duals of every record in the runs (`race.runs[0].iterates`, by the names of
        `Trace.iterates`), and `save` writes them beside the results.
    name : str, default "arrays"
        What rows in memory are called.
    progress : bool, default False
        Shows a bar on the terminal.

    Returns
    -------
    Race
        The runs, with `leaderboard`, `winner`, `plot`, `page` and `save`.

    Examples
    --------
    >>> import dualgap as dg
    >>> race = dg.race("breast_cancer", solvers=["sdca", "pegasos"], epochs=5, repeats=1)
    >>> race.leaderboard()[0]["solver"]
    'sdca'
    """
    extras.require("a race")
    in_memory = y is not None
    if not in_memory and not _are_texts(data):
        raise TypeError(f"a race on rows needs their targets too, race(X, y); got {type(data).__name__} alone")
    if in_memory and _are_texts(data):
        raise TypeError("y belongs to rows in memory, race(X, y); a name, spec or file brings its own targets")
    if in_memory and jobs > 1:
        raise ValueError(
            f"arrays are in the memory of this process, and {jobs} others cannot see them; leave jobs at 1"
        )
    asked = [] if solvers is None else list(_several(solvers))
    if jobs > 1 and any(callable(one) or hasattr(one, "fit") for one in asked):
        raise ValueError(
            f"contenders of your own are in the memory of this process, and {jobs} others cannot see them; leave jobs at 1"
        )
    with arrays.held(data, y, name) if in_memory else nullcontext() as held, contenders.held(asked) as names:
        plan = config.plan_of(
            {
                "data": [held] if held is not None else [str(text) for text in _several(data)],
                "loss": loss,
                "strength": [_strength(strength) for strength in _several(strengths)],
                "solver": None if solvers is None else names,
                "epochs": epochs,
                "seconds": seconds,
                "tol": tol,
                "gap_tol": gap_tol,
                "test_size": test_size,
                "repeats": repeats,
                "seed": seed,
                "intercept": intercept,
                "standardize": standardize,
                "features": features,
                "target": target,
                **{
                    name: [str(one) for one in _several(given or ())]
                    for name, given in (("positive", positive), ("category", category), ("drop", drop))
                },
                "onehot": onehot,
                "impute": impute,
                "encoding": encoding,
                "decimal": decimal,
                "rivals": rivals,
            }
        )
        runner.check_data(plan)
        with _bar(plan) if progress else nullcontext() as watcher:
            outcome = runner.race(plan, watcher=watcher, jobs=jobs, threads=threads, keep_iterates=keep_iterates)
    if not outcome.runs and outcome.refused and not outcome.interrupted:
        raise ValueError(f"no solver can do this: {outcome.refused[0].sentence}")
    return Race(tuple(outcome.runs), tuple(outcome.refused), outcome.interrupted)


@dataclass(frozen=True, repr=False)
class Race:
    """The finished runs of a race, or of several: the winner, the figures, and the files made of them."""

    runs: tuple[store.FinishedRun, ...]
    refused: tuple[store.FinishedRun, ...] = ()
    """A line for each solver and heat that it could not do."""
    interrupted: bool = False

    @property
    def refusals(self) -> dict[str, str]:
        """What a solver said that could not do the problem, by its name."""
        return {summary.solver_of(finished): finished.sentence for finished in self.refused}

    @classmethod
    def load(cls, *paths: str | Path) -> Race:
        """The runs of results files, or of the folders that hold them; a run that stands in several counts once."""
        from dualgap.workbench.report.reading import read_all

        if not paths:
            raise ValueError(f"Race.load needs the names of results files, such as dualgap-race-001/{store.FILE}")
        files = [Path(path) / store.FILE if Path(path).is_dir() else Path(path) for path in paths]
        runs, notes = read_all(files)
        for note in notes:
            log.warning("%s", note)
        finished = tuple(run for run in runs if not run.is_refused)
        return cls(finished, tuple(run for run in runs if run.is_refused))

    def leaderboard(self) -> Leaderboard:
        """A row per solver and heat, best first: a list of dictionaries, or a frame by `to_frame()`."""
        return leaderboard(self.runs)

    @property
    def winner(self) -> str:
        """The winner and how sure that is, in one sentence; a line per heat where there are several."""
        return self._per_heat(_verdict)

    @property
    def bounds(self) -> str:
        """Between which values the optimum is proven to lie; a line per heat where there are several."""
        return self._per_heat(summary.bounds)

    def _per_heat(self, sentence: Callable[[Sequence[store.FinishedRun]], str]) -> str:
        heats = self._heats()
        if len(heats) < 2:
            return sentence(self.runs)
        return "\n".join(f"{figures.title(heat)} – {sentence(heat)}" for heat in heats)

    def _heats(self) -> list[list[store.FinishedRun]]:
        return list(summary.groups(self.runs).values())

    def figure(
        self,
        kind: str = "gap",
        x: str = "epochs",
        *,
        data: str | None = None,
        strength: str | float | None = None,
        loss: str | None = None,
        log_x: bool = False,
        log_y: bool | None = None,
        points: int = 200,
    ) -> go.Figure:
        """A plotly figure of one heat, the first where none is chosen: medians with 5–95 % bands over repeats.

        `kind` is gap, suboptimality, primal, accuracy or support; `x` is epochs, updates, seconds (of the whole call),
        update_seconds or cpu_seconds.
        """
        heat = figures.choose(self.runs, data, strength, loss)
        return figures.figure(figures.picture(heat, kind, x, points=points, log_x=log_x, log_y=log_y))

    def plot(
        self,
        kind: str = "gap",
        x: str = "epochs",
        *,
        data: str | None = None,
        strength: str | float | None = None,
        loss: str | None = None,
        log_x: bool = False,
        log_y: bool | None = None,
        path: str | Path | None = None,
        width: float = plots.WIDTH,
        height: float = plots.HEIGHT,
    ) -> Figure:
        """The same as a matplotlib figure for a paper, one column wide (inches); `path` saves it, as PDF by default."""
        heat = figures.choose(self.runs, data, strength, loss)
        return plots.plot(figures.picture(heat, kind, x, log_x=log_x, log_y=log_y), path, width, height)

    def save(self, path: str | Path) -> Path:
        """Write the runs to a new results file, whole or not at all; a name without .jsonl is a folder for it."""
        path = Path(path)
        file = path if path.suffix == ".jsonl" else path / store.FILE
        if file.parent.is_dir():
            unused(file)
        if not self.runs:
            raise ValueError("no run was finished, so there is nothing to save")
        file.parent.mkdir(parents=True, exist_ok=True)
        file = destination(file)
        with tempfile.TemporaryDirectory(prefix=".race-", dir=file.parent) as folder:
            whole = Path(folder) / store.FILE
            for finished in (*self.runs, *self.refused):
                store.write_iterates(file, finished)
                store.append(whole, finished)
            try:
                # A link is refused where a file of that name has come into being; a move would overwrite it.
                os.link(whole, file)
            except FileExistsError:
                raise ValueError(f"{str(file)!r} exists already, and nothing is overwritten") from None
            except OSError:  # a file system without links
                whole.rename(file)
        return file

    def page(self, path: str | Path) -> Path:
        """Write the report: one HTML page that opens offline."""
        from dualgap.workbench.report import write_page

        unused(Path(path))
        with tempfile.TemporaryDirectory() as folder:
            without = replace(self, runs=tuple(replace(run, iterates=None) for run in self.runs))
            return write_page([without.save(folder)], Path(path))

    def __repr__(self) -> str:
        heats = [f"{leaderboard(heat)!r}\n{_verdict(heat)}\n{summary.bounds(heat)}" for heat in self._heats()]
        return "\n\n".join([*heats, *self._remarks()])

    def _html(self) -> str:
        """The same for a notebook."""
        parts = []
        for heat in self._heats():
            parts += [leaderboard(heat)._repr_html_(), _paragraph(f"{_verdict(heat)} {summary.bounds(heat)}")]
        return "".join([*parts, *map(_paragraph, self._remarks())])

    def _remarks(self) -> list[str]:
        """What no table shows: that there is none, which solvers refused and why, and whether the race was cut short."""
        empty = [] if self.runs else [_verdict(())]
        refused = [f"{solver} refused: {sentence}" for solver, sentence in self.refusals.items()]
        return empty + refused + (["The race was interrupted; its finished runs are kept."] if self.interrupted else [])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The leaderboard as HTML and text, and the gap chart of the first heat as what plotly draws."""
        bundle: dict[str, Any] = {"text/plain": repr(self), "text/html": self._html()}
        if self.runs:
            shown = figures.picture(figures.choose(self.runs), "gap", "epochs", points=NOTEBOOK_POINTS)
            bundle[PLOTLY] = figures.small_bundle(shown)
        return bundle

    def _ipython_display_(self) -> None:
        """Show both table and chart: of one bundle a notebook would show only the part it likes best."""
        display: Any = import_module("IPython.display").display  # present wherever this is called
        bundle = self._repr_mimebundle_()
        chart = bundle.pop(PLOTLY, None)
        display(bundle, raw=True)
        if chart is not None:
            display({PLOTLY: chart, "text/html": _paragraph(NO_CHART)}, raw=True)


def _verdict(heat: Sequence[store.FinishedRun]) -> str:
    tol = heat[0].settings.get("tol") if heat else None
    return verdict(heat, float(tol) if tol is not None and is_number(tol) else 0.0)


def _paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>"


def _are_texts(data: Any) -> bool:
    several = data if isinstance(data, (list, tuple)) else [data]
    return all(isinstance(text, (str, Path)) for text in several)


def _several(given: Any) -> Iterable[Any]:
    """One thing or many as many."""
    return [given] if isinstance(given, (str, Path)) or not isinstance(given, Iterable) else given


def _strength(given: Any) -> str:
    return given if isinstance(given, str) else repr(float(given))


@contextmanager
def _bar(plan: Plan) -> Iterator[Watcher]:
    """A progress bar over all runs, on standard error, with the solver and the gap of the moment."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (MofNCompleteColumn(), BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=sum(len(heat.runs) for heat in plan.heats()))

        class Bar(Watcher):
            """Draws what it hears."""

            def recorded(self, run: Run, record: Record) -> None:
                """The gap of the run that is on its way."""
                bar.update(task, description=f"{run.solver}: relative gap {record.relative_gap:.1e}")

            def finished(self, run: Run, finished: store.FinishedRun) -> None:
                """One run more."""
                bar.advance(task)

        yield Bar()
