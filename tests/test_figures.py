"""Figures show what the summaries say: the right fields, bands, styles and axes, in plotly and in matplotlib."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dualgap.workbench import figures, looks, plots
from dualgap.workbench.store import FinishedRun

EPOCHS = [0.0, 1.0, 2.0, 4.0]


def made(solver: str, seed: int, factor: float = 1.0, **changes: object) -> FinishedRun:
    """A run whose numbers are known: the gap falls a hundredfold with each record."""
    gaps = [factor * 10.0 ** -(2 * place) for place in range(len(EPOCHS))]
    records = {
        "epoch": EPOCHS,
        "updates": [int(100 * epoch) for epoch in EPOCHS],
        "seconds": [0.01 * epoch for epoch in EPOCHS],
        "call_seconds": [0.03 + 0.01 * epoch for epoch in EPOCHS],
        "cpu_seconds": [0.02 * epoch for epoch in EPOCHS],
        "primal": [1.0 + gap for gap in gaps],
        "dual": [1.0 for _ in gaps],
        "gap": gaps,
        "relative_gap": gaps,
        "suboptimality": gaps,
        "support": [0, 30, 20, 10],
        "train_score": [0.5, 0.8, 0.9, 0.95],
        "test_score": [0.5, 0.7, 0.8, 0.9],
    }
    content = {
        "run": f"{solver}-{seed}",
        "settings": {"data": "toy", "loss": "hinge", "strength": "0.01", "solver": solver, "seed": seed, "tol": 1e-6},
        "data": {"name": "toy", "task": "classification"},
        "strength": 0.01,
        "status": "CERTIFIED",
        "sentence": "",
        "reason": "",
        "certificate": {"primal": 1.0 + gaps[-1], "dual": 1.0, "gap": gaps[-1], "relative_gap": gaps[-1]},
        "records": records,
    }
    return FinishedRun(**(content | changes))  # type: ignore[arg-type]


@pytest.fixture
def heat() -> list[FinishedRun]:
    return [made(solver, seed, 1.0 + seed) for seed in range(3) for solver in ("sdca", "sgd")]


FIELDS = {
    "gap": "relative_gap",
    "suboptimality": "suboptimality",
    "primal": "primal",
    "accuracy": "test_score",
    "support": "support",
}
PLACES = {
    "epochs": "epoch",
    "updates": "updates",
    "seconds": "call_seconds",
    "update_seconds": "seconds",
    "cpu_seconds": "cpu_seconds",
}


@pytest.mark.parametrize("x", figures.AXES)
@pytest.mark.parametrize("kind", figures.KINDS)
def test_a_figure_shows_the_medians_of_its_field(heat: list[FinishedRun], kind: str, x: str) -> None:
    shown = figures.picture(heat, kind, x)
    drawn = figures.figure(shown)
    field, place = FIELDS[kind], PLACES[x]
    lines = [trace for trace in drawn.data if trace.fill is None]
    assert [line.name for line in lines] == ["sdca", "sgd"]
    middle = heat[2].records  # seed 1, the middle of three
    for line in lines:
        assert list(line.x) == pytest.approx(middle[place])
        assert list(line.y) == pytest.approx(middle[field])
    assert drawn.layout.yaxis.type == ("log" if kind in ("gap", "suboptimality") else "linear")
    assert drawn.layout.xaxis.title.text == figures.AXES[x][1]
    assert drawn.layout.title.text == "toy: hinge, strength 0.01"


def test_bands_surround_the_line_and_need_repeats(heat: list[FinishedRun]) -> None:
    band, line = figures.figure(figures.picture(heat)).data[:2]
    count = len(EPOCHS)
    high, low = list(band.y[:count]), list(band.y[count:])[::-1]
    assert all(below < middle < above for below, middle, above in zip(low, line.y, high, strict=True))
    assert band.legendgroup == line.legendgroup == "sdca"
    once = figures.figure(figures.picture([run for run in heat if run.settings["seed"] == 0]))
    assert [trace.name for trace in once.data] == ["sdca", "sgd"]


def test_colors_and_dashes_are_those_of_the_summary(heat: list[FinishedRun]) -> None:
    styles = looks.styles(["sdca", "sgd"])
    for line in figures.figure(figures.picture(heat)).data[1::2]:
        assert (line.line.color, line.line.dash, line.marker.symbol) == styles[line.name]


def test_yellow_has_the_stand_in_of_the_page() -> None:
    solvers = [f"solver {number}" for number in range(len(looks.COLORS))]
    shown = figures.picture([made(solver, 0) for solver in solvers])
    ((yellow, stand_in),) = figures.ON_WHITE.items()
    assert {color for color, _, _ in shown.styles.values()} == {*looks.COLORS, stand_in} - {yellow}
    swatches = Path(figures.__file__).parent / "report" / "swatches.js"
    assert f'light: {{ "{yellow}": "{stand_in}" }}' in swatches.read_text(encoding="utf-8")


def test_matplotlib_knows_every_dash_and_symbol() -> None:
    assert set(plots.DASHES) == set(looks.DASHES)
    assert set(plots.MARKERS) == set(looks.SYMBOLS)


def test_a_gap_of_zero_stays_on_a_log_axis() -> None:
    perfect = made("sdca", 0)
    perfect.records["relative_gap"][-1] = 0.0
    line = figures.figure(figures.picture([perfect])).data[-1]
    assert min(line.y) == figures.FLOOR
    assert min(figures.figure(figures.picture([perfect], log_y=False)).data[-1].y) == 0.0


def test_a_log_axis_begins_after_the_start(heat: list[FinishedRun]) -> None:
    shown = figures.picture(heat, x="update_seconds", log_x=True)
    assert shown.curves[0].x == [0.01, 0.02, 0.04]
    assert {len(values) for values in (shown.curves[0].median, shown.curves[0].low, shown.curves[0].high)} == {3}
    assert figures.figure(shown).layout.xaxis.type == "log"


def test_levels_stand_where_they_belong(heat: list[FinishedRun]) -> None:
    gap = figures.figure(figures.picture(heat, "gap"))
    assert gap.layout.shapes[0].y0 == 1e-6
    assert gap.layout.annotations[0].y == pytest.approx(-6)
    primal = figures.picture(heat, "primal")
    assert primal.levels == {"best dual": 1.0, "best primal": 1.0 + 1e-6}
    assert figures.figure(primal).layout.annotations[0].y == 1.0


def test_the_score_is_that_of_the_test_where_there_is_one(heat: list[FinishedRun]) -> None:
    assert figures.picture(heat, "accuracy").y_label == "test accuracy"
    untested = [made("sdca", 0)]
    untested[0].records["test_score"] = [None] * len(EPOCHS)
    assert figures.picture(untested, "accuracy").y_label == "training accuracy"
    assert figures.picture(untested, "accuracy").curves[0].median[-1] == 0.95
    fitted = made("sdca", 0, data={"name": "toy", "task": "regression"})
    assert figures.picture([fitted], "accuracy").y_label == "test R²"


def test_rivals_have_every_fit_marked(heat: list[FinishedRun]) -> None:
    rival = made("LinearSVC", 0)
    rival.settings["kind"] = "rival"
    drawn = figures.figure(figures.picture([*heat, rival]))
    shown = {trace.name: trace.marker.maxdisplayed for trace in drawn.data if trace.name}
    assert shown["LinearSVC"] == 0  # plotly's word for all of them
    assert shown["sdca"] > 0


def test_a_heat_is_chosen_by_data_strength_and_loss(heat: list[FinishedRun]) -> None:
    other = made("sdca", 0, strength=0.5)
    other.settings.update(data="files/other.csv", strength="1/n")
    other.data.update(name="other.csv", source="files/other.csv")
    runs = [*heat, other]
    assert figures.choose(runs) == heat
    for wanted in ({"data": "other.csv"}, {"data": "files/other.csv"}, {"strength": "1/n"}, {"strength": 0.5}):
        assert figures.choose(runs, **wanted) == [other]  # type: ignore[arg-type]
    assert figures.choose(runs, loss="hinge", data="toy") == heat
    assert figures.title([other]) == "other.csv: hinge, strength 1/n = 0.5"
    with pytest.raises(ValueError, match=r"no run is of nothing, 2; there are: toy, hinge, 0\.01; files"):
        figures.choose(runs, "nothing", 2)
    with pytest.raises(ValueError, match="there are: none"):
        figures.choose([])


def test_unknown_words_are_refused(heat: list[FinishedRun]) -> None:
    with pytest.raises(
        ValueError, match="no kind of figure 'dual'; there are: gap, suboptimality, primal, accuracy, support"
    ):
        figures.picture(heat, "dual")
    with pytest.raises(ValueError, match="no axis 'hours'; there are: epochs"):
        figures.picture(heat, x="hours")
    with pytest.raises(ValueError, match="no run has recorded"):
        figures.picture([made("sdca", 0, records={})])


def test_the_small_bundle_is_plain_and_rounded(heat: list[FinishedRun]) -> None:
    heat[0].records["relative_gap"][1] = math.pi
    bundle = figures.small_bundle(figures.picture(heat[:1]))
    text = json.dumps(bundle, allow_nan=False)
    assert "3.142" in text
    assert "3.1415" not in text
    assert not re.search("bdata|<script", text)


def test_a_plot_is_a_vector_picture_one_column_wide(heat: list[FinishedRun], tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    file = tmp_path / "gap"
    drawn = plots.plot(figures.picture(heat), file)
    assert isinstance(drawn, Figure)
    assert drawn.get_size_inches()[0] == pytest.approx(3.4)
    axes = drawn.axes[0]
    assert axes.get_yscale() == "log"
    assert [line.get_label() for line in axes.lines[:2]] == ["sdca", "sgd"]
    assert list(axes.lines[0].get_ydata()) == pytest.approx(heat[2].records["relative_gap"])
    assert len(axes.collections) == 2, "a band for each"
    content = (tmp_path / "gap.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert b"/Subtype /Image" not in content
    assert b"CreationDate" not in content
    assert drawn._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="exists already, and nothing is overwritten"):
        plots.plot(figures.picture(heat), file)


def test_plots_follow_their_picture(heat: list[FinishedRun]) -> None:
    drawn = plots.plot(figures.picture(heat, "primal", "seconds", log_x=True), width=5)
    assert drawn.get_size_inches()[0] == 5
    assert drawn.axes[0].get_xscale() == "log"
    assert drawn.axes[0].get_yscale() == "linear"
    assert len(drawn.axes[0].lines) == 4, "two solvers, and the bounds of the optimum"


def test_a_plot_leaves_the_world_as_it_was(heat: list[FinishedRun]) -> None:
    import matplotlib

    with matplotlib.rc_context({"font.size": 11, "pdf.fonttype": 3}):
        before = dict(matplotlib.rcParams)
        plots.plot(figures.picture(heat))
        assert dict(matplotlib.rcParams) == before
    code = "import sys; from dualgap.workbench import plots, figures; sys.exit('matplotlib' in sys.modules or 'plotly' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_without_matplotlib_a_plot_says_what_to_install(
    heat: list[FinishedRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"^plot needs matplotlib, .*pip install 'dualgap\[plot\]'$"):
        plots.plot(figures.picture(heat))
