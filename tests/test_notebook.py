"""The notebook of the documentation runs from top to bottom in a kernel of this environment, and shows what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

NOTEBOOK = Path(__file__).resolve().parent.parent / "docs" / "race.ipynb"
PLOTLY = "application/vnd.plotly.v1+json"
LARGEST_OUTPUT = 200_000


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The code cells with their outputs; whatever Jupyter keeps goes to a temporary folder."""
    folder = tmp_path_factory.mktemp("jupyter")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(folder / name))
        patch.delenv("JUPYTER_PATH", raising=False)
        # The kernel python3 of an environment is the Python that asks for it.
        client = nbclient.NotebookClient(
            notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
        )
        client.execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(cell: Any, mime: str) -> list[Any]:
    return [output["data"][mime] for output in cell.outputs if mime in output.get("data", {})]


def cell_with(cells: list[Any], text: str) -> Any:
    return next(cell for cell in cells if text in cell.source)


def test_no_cell_fails_or_complains(executed: list[Any]) -> None:
    for cell in executed:
        assert cell.execution_count is not None, cell.source
        for output in cell.outputs:
            assert output.output_type != "error", output
            assert output.get("name") != "stderr", output


def test_the_race_shows_its_table_and_its_chart(executed: list[Any]) -> None:
    cell = cell_with(executed, "race = dg.race(")
    table, instead = outputs(cell, "text/html")
    assert "cannot be drawn here" in instead
    assert table.count("<tr>") == 5
    assert "Proven: the optimum lies between" in table
    (chart,) = outputs(cell, PLOTLY)
    assert [trace["name"] for trace in chart["data"] if "name" in trace] == ["sdca", "pegasos", "sgd", "box_ascent"]


def test_figures_are_charts_and_plots_are_pictures(executed: list[Any]) -> None:
    for text in ('race.figure("gap"', 'wine.figure("gap"'):
        assert outputs(cell_with(executed, text), PLOTLY), text
    assert outputs(cell_with(executed, 'race.plot("accuracy"'), "image/png")


def test_the_notebook_has_its_sentences(executed: list[Any]) -> None:
    (wine,) = outputs(cell_with(executed, "wine.winner"), "text/plain")
    assert wine.count("wins: it reached a relative gap of 1e-06") == 2
    (answer,) = outputs(cell_with(executed, "best_dual"), "text/plain")
    own, shared = (float(percent) for percent in re.findall(r"([\d.]+)%", answer))
    assert 0 <= shared < own
    kept = outputs(cell_with(executed, "race.save(folder)"), "text/plain")
    assert kept == ["(['gap.pdf', 'race.html', 'results.jsonl'], True)"]


def test_no_output_carries_a_library(executed: list[Any]) -> None:
    for cell in executed:
        for output in cell.outputs:
            assert len(json.dumps(output)) < LARGEST_OUTPUT, cell.source


def test_the_notebook_is_kept_without_outputs() -> None:
    content = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert all(not cell.get("outputs") for cell in content["cells"])
    assert all(cell.get("execution_count") is None for cell in content["cells"])
