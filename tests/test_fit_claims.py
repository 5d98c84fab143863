"""What `dualgap fit`, `certify` and `show` check and claim beyond the certificate: inputs, order of rows, metrics."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import dualgap as dg
from test_cli import called
from test_fit import LABELS, _in_a_folder_of_its_own, table

__all__ = ["_in_a_folder_of_its_own", "table"]  # fixtures

UNWRITABLE = ["fit", "digits", "-o", "/proc/m.dg"]
BEFORE_WORK = {
    "an unwritable folder": (UNWRITABLE, "no file can be written to the folder '/proc'"),
    "unwritable iterates": (["fit", "digits", "--keep-iterates", "/proc/i.npz"], "no file can be written"),
    "a solver": (["fit", "digits", "-s", "sdka"], "did you mean 'sdca'?"),
    "an option of a solver": (["fit", "digits", "-s", "sdca(speed=1)"], "has no option 'speed'"),
    "epochs": (["fit", "digits", "--epochs", "0"], "--epochs needs a finite number above 0, got 0"),
    "seconds": (["fit", "digits", "--seconds", "nan"], "--seconds needs a finite number above 0, got nan"),
    "a gap": (["fit", "digits", "--gap-tol", "-1"], "--gap-tol needs a finite number above 0, got -1"),
    "a tolerance": (["fit", "digits", "--tol", "nan"], "tol needs to be a number"),
    "a strength": (["fit", "digits", "--strength", "1/m"], "a strength is a number above 0"),
    "a test size": (["fit", "digits", "--test-size", "1"], "--test-size needs a fraction"),
    "a seed": (["fit", "digits", "--seed", "-1"], "--seed needs a whole number"),
    "an encoding": (["fit", "digits", "--encoding", "nope"], "there is no text encoding 'nope'"),
    "a decimal mark": (["fit", "digits", "--decimal", ":"], "a decimal mark is . or ,"),
    "data to predict": (["predict", "m.dg", "nope.csv"], "there is no file 'nope.csv'"),
    "predictions": (["predict", "m.dg", "digits", "-o", "/proc/p.csv"], "no file can be written"),
    "data to certify": (["certify", "m.dg", "nope.csv"], "there is no file 'nope.csv'"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="/proc is a folder of Linux that takes no files")
@pytest.mark.parametrize("name", BEFORE_WORK)
def test_everything_is_checked_before_data_is_read(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object, **__: object) -> None:
        raise AssertionError("data or a model was read")

    monkeypatch.setattr("dualgap.models.training.training_part", read)
    monkeypatch.setattr("dualgap.models.reading.load", read)
    arguments, words = BEFORE_WORK[name]
    if arguments[0] == "predict" and "/proc" in str(arguments) and not Path("/proc").exists():
        pytest.skip("no /proc")
    code, out, error = called(capsys, *arguments)
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert words in error
    assert not list(Path().iterdir())


def shuffled(name: str, new: str) -> None:
    header, *lines = Path(name).read_text().splitlines()
    order = np.random.default_rng(3).permutation(len(lines))
    Path(new).write_text("\n".join([header, *(lines[place] for place in order)]) + "\n")


@pytest.mark.parametrize("options", [["--duals"], [], ["--test-size", "0.2"]])
def test_rows_in_another_order_are_not_refuted(
    capsys: pytest.CaptureFixture[str], table: np.ndarray, options: list[str]
) -> None:
    assert called(capsys, "fit", "prices.csv", "--loss", "huber", *options, "-o", "m.dg")[0] == 0
    shuffled("prices.csv", "moved.csv")
    code, out, error = called(capsys, "certify", "m.dg", "moved.csv")
    assert (code, error.count("\n")) == (2, 1)
    assert "the rows are in another order than at the fit" in error
    assert "Differs" not in out
    lines = Path("moved.csv").read_text().splitlines()
    cells = lines[5].split(",")
    lines[5] = ",".join([str(float(cells[0]) + 1.0), *cells[1:]])
    Path("moved.csv").write_text("\n".join(lines) + "\n")
    assert called(capsys, "certify", "m.dg", "moved.csv")[0] == 1


def test_another_order_is_told_in_python(table: np.ndarray) -> None:
    y = table @ [2.0, -1.0, 0.0] + 5.0
    problem = dg.Problem(table, y, "absolute", 0.1, intercept=True)
    model = dg.Model.of(dg.solve(problem), problem, tol=1e-6, duals=True)
    order = np.random.default_rng(0).permutation(len(y))
    verdict = model.certify(table[order], y[order])
    assert (verdict.differences, verdict.holds) == ((), False)
    assert "another order" in verdict.order
    assert verdict.certificates[0].relative_gap <= 1e-6
    assert model.certify(table[order], y).differences, "labels that no longer belong to their rows are other data"


def test_metrics_are_claims_that_certify_checks(capsys: pytest.CaptureFixture[str], table: np.ndarray) -> None:
    assert called(capsys, "fit", "colors.csv", "--target", "color", "--test-size", "0.3", "-o", "m.dg")[0] == 0
    model = dg.load("m.dg")
    assert set(model.metrics) == {"train", "test", "baseline"}
    assert model.metrics["test"]["accuracy"] > model.metrics["baseline"]["accuracy"]
    for part in ("train", "test"):
        better = {**model.metrics, part: {"accuracy": 1.5}}
        __import__("dataclasses").replace(model, metrics=better).save("lie.dg")
        code, out, _ = called(capsys, "certify", "lie.dg", "colors.csv")
        assert code == 1
        assert f"Differs: {part} accuracy: the file says 1.5, and it is " in out


def test_metrics_are_those_of_scikit_learn(capsys: pytest.CaptureFixture[str], table: np.ndarray) -> None:
    from sklearn import metrics

    options = ["colors.csv", "--target", "color", "--positive", "red", "--loss", "logistic", "-o", "m.dg"]
    assert called(capsys, "fit", *options)[0] == 0
    model, y = dg.load("m.dg"), np.where(np.digitize(table[:, 0], [-0.4, 0.4]) == 2, 1, -1)
    scores, found = model.scores(table), model.metrics["train"]
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(y, model.predict(table)))
    assert found["AUC"] == pytest.approx(metrics.roc_auc_score(y, scores))
    assert found["log loss"] == pytest.approx(metrics.log_loss(y, model.probabilities(scores)))
    assert called(capsys, "fit", "prices.csv", "--loss", "absolute", "-o", "r.dg")[0] == 0
    model, prices = dg.load("r.dg"), table @ [2.0, -1.0, 0.0] + 5.0
    assert model.metrics["train"]["R²"] == pytest.approx(metrics.r2_score(prices, model.predict(table)))
    assert model.metrics["baseline"]["mean absolute error"] == pytest.approx(np.abs(prices - np.median(prices)).mean())


def test_show_prints_the_model(capsys: pytest.CaptureFixture[str], table: np.ndarray) -> None:
    assert called(capsys, "fit", "prices.csv", "--loss", "squared", "-o", "m.dg")[0] == 0
    code, out, _ = called(capsys, "show", "m.dg", "--history")
    assert code == 0
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.strip()}
    model = dg.load("m.dg")
    assert float(rows["a"][0]) == pytest.approx(model.weights[0], rel=1e-5)
    assert float(rows["(intercept)"][0]) == pytest.approx(float(np.asarray(model.intercept)), rel=1e-5)
    assert rows["status"][0] == "CERTIFIED:"
    assert rows["primal"][0] == f"{model.certificate.primal:.12g}"
    for words in ("R²", "mean absolute error", "baseline", "epoch"):
        assert words in out
    assert called(capsys, "fit", "colors.csv", "--target", "color", "-o", "s.dg")[0] == 0
    out = called(capsys, "show", "s.dg")[1]
    for label in LABELS:
        assert label in out


def test_solve_of_arrays_says_that_a_problem_comes_first(table: np.ndarray) -> None:
    with pytest.raises(TypeError, match=r"make a Problem first: dg.solve\(dg.Problem\(X, y\)\)"):
        dg.solve(table, np.ones(90))  # type: ignore[arg-type]
