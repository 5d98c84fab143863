"""What fits show of themselves in text and HTML, their plots, and progress in pipes."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dualgap as dg
from dualgap.certificate import Certificate

X, Y = load_breast_cancer(return_X_y=True)
FLOWERS, SPECIES = load_iris(return_X_y=True)


def test_fitted_estimator_prints_status_gap_solver_and_time() -> None:
    model = dg.LinearSVC(C=0.1)
    assert str(model) == repr(model) == "LinearSVC(C=0.1)"
    lines = str(model.fit(X, Y)).splitlines()
    assert lines[0] == repr(model) == "LinearSVC(C=0.1)"
    assert lines[1] == "  status: CERTIFIED, the duality gap reached tol"
    assert lines[2] == f"  relative gap: {model.certificate_.relative_gap:.3g} (tol 0.0001)"
    assert lines[3] == f"  solver: {model.reason_}"
    assert lines[4].startswith("  time: ")
    assert lines[4].endswith(" epochs")
    assert model._repr_mimebundle_()["text/plain"] == str(model)


def test_several_problems_are_counted() -> None:
    shown = str(dg.LinearSVC().fit(FLOWERS, SPECIES))
    assert "status: CERTIFIED (3 problems)" in shown
    assert "largest relative gap: " in shown


def test_an_ending_names_the_estimator_s_own_limit() -> None:
    model = dg.LinearSVC(solver="sdca", max_iter=1)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, Y)
    assert "status: EPOCHS_EXHAUSTED, max_iter was reached first; raise max_iter or tol" in str(model)


def test_verbose_says_which_of_several_problems_runs(capsys: pytest.CaptureFixture[str]) -> None:
    dg.LinearSVC(verbose=1).fit(FLOWERS, SPECIES)
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if line.startswith("problem")] == [f"problem {k} of 3" for k in (1, 2, 3)]


def test_stream_shows_its_last_batch() -> None:
    shown = str(dg.LinearSVC(solver="pegasos", strength=1.0).partial_fit(FLOWERS[:100], SPECIES[:100], classes=[0, 1]))
    assert "on the last batch of 100 rows" in shown


@pytest.mark.parametrize(
    "model", [dg.LogisticRegression().fit(X, Y), dg.LinearSVC().fit(FLOWERS, SPECIES), dg.HuberRegressor().fit(X, Y)]
)
def test_html_has_scikit_learns_diagram_and_the_certificate(model: Any) -> None:
    html = model._repr_html_()
    assert "Certificate" in model._repr_mimebundle_()["text/html"]
    for words in (type(model).__name__, "sk-", "Certificate", "CERTIFIED", "relative gap", "newton", "s of updates"):
        assert words in html
    assert html.count("<table") == html.count("</table>")
    assert "s of updates" not in type(model)()._repr_html_()
    assert type(model).__name__ in make_pipeline(StandardScaler(), model)._repr_html_()


def test_result_certificate_and_trace_have_tables() -> None:
    result = dg.solve(dg.Problem(X, Y, "hinge", strength=0.1), "sdca", max_epochs=30, tol=0.0, record_every=1)
    assert f"{result.trace[-1].seconds:.3g} s)" in repr(result)
    html = result._repr_html_()
    assert "EPOCHS_EXHAUSTED" in html
    assert f"{result.certificate.relative_gap:.3g}" in html
    assert "rounding" in result.certificate._repr_html_()
    table = result.trace._repr_html_()
    assert table.count("<tr") == 1 + 5 + 1 + 5
    assert "…" in table
    assert f"{result.trace[-1].seconds:.3g} s" in repr(result.trace)


def test_plot_draws_the_gap_on_a_logarithmic_axis() -> None:
    pytest.importorskip("matplotlib")
    trace = dg.solve(dg.Problem(X, Y, "hinge", strength=0.1), "sdca", max_epochs=5, tol=0.0).trace
    axes = trace.plot(x="epoch")
    (line,) = axes.lines
    np.testing.assert_array_equal(line.get_xdata(), [record.epoch for record in trace])
    np.testing.assert_array_equal(line.get_ydata(), [record.relative_gap for record in trace])
    assert axes.get_yscale() == "log"
    assert trace.plot(ax=axes) is axes
    with pytest.raises(ValueError, match="plot needs x to be one of seconds, cpu_seconds, epoch, updates, got 'time'"):
        trace.plot(x="time")


def test_relative_gap_is_never_nan() -> None:
    broken = Certificate(np.nan, np.nan, np.inf, np.inf, np.nan, np.nan, 1e-12)
    assert broken.relative_gap == np.inf
    assert not broken.proves(1.0)
    assert "nan)" not in str(broken)


def test_verbose_in_a_pipe_writes_plain_lines() -> None:
    code = (
        "import numpy as np, dualgap as dg\n"
        "X = np.arange(40.0).reshape(20, 2) % 7\n"
        "dg.LinearSVC(solver='newton', loss='hinge', verbose=1).fit(X, X[:, 0] > 3)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) >= 2
    assert all(line.startswith("epoch ") and "relative gap" in line for line in lines)
    assert "nan" not in done.stderr
    assert not {"\r", "\x1b"} & set(done.stderr)
