"""`dualgap fit`, `predict` and `certify` as a person meets them: files, exit codes, refusals, Ctrl-C."""

from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import dualgap as dg
from test_cli import ESCAPE, called, hears_ctrl_c, run, run_in_terminal

LABELS = ("blue", "green", "red")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, header: list[str], rows: list[list[object]]) -> None:
    with open(name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows] if header else rows)


@pytest.fixture
def table() -> np.ndarray:
    """colors.csv with a target of words in the middle, and prices.csv with a measured one at the end."""
    X = np.random.default_rng(0).normal(size=(90, 3))
    colors = np.digitize(X[:, 0], [-0.4, 0.4])
    write(
        "colors.csv", ["a", "b", "color", "c"], [[x, y, LABELS[k], z] for (x, y, z), k in zip(X, colors, strict=True)]
    )
    write("prices.csv", ["a", "b", "c", "price"], [[*row, 2 * row[0] - row[1] + 5] for row in X])
    return X


def predicted(name: str) -> list[dict[str, str]]:
    with open(name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_fit_certify_and_predict_in_processes_of_their_own(tmp_path: Path) -> None:
    shown = run("fit", "breast_cancer", "-o", "cancer.dg", folder=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "CERTIFIED: the duality gap reached tol" in shown.stdout
    assert shown.stdout.splitlines()[-1] == "Model: cancer.dg"
    checked = run("certify", "cancer.dg", "breast_cancer", folder=tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert "The claim is true: CERTIFIED" in checked.stdout
    made = run("predict", "cancer.dg", "breast_cancer", "-o", "out.csv", folder=tmp_path)
    assert made.returncode == 0
    assert re.fullmatch(
        r"569 predictions: out.csv\nAgainst the target in the data: accuracy 0\.\d+, AUC 0\.\d+\.\n", made.stdout
    )
    model = dg.load("cancer.dg")
    dataset = __import__("dualgap.datasets", fromlist=["load"]).load("breast_cancer")
    rows = predicted("out.csv")
    assert [int(row["prediction"]) for row in rows] == model.predict(dataset.X).tolist()
    assert np.allclose([float(row["score"]) for row in rows], model.scores(dataset.X), rtol=1e-12)
    with zipfile.ZipFile("cancer.dg") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    weights = bytearray(parts["weights.npy"])
    weights[-1] ^= 1
    with zipfile.ZipFile("cancer.dg", "w") as archive:
        for name, data in (parts | {"weights.npy": bytes(weights)}).items():
            archive.writestr(name, data)
    refuted = run("certify", "cancer.dg", "breast_cancer", folder=tmp_path)
    assert refuted.returncode == 1
    assert "Differs: primal: the file says" in refuted.stdout
    assert refuted.stdout.splitlines()[-1] == "The claim does not hold for this data."


def test_words_as_labels_are_each_fitted_against_the_rest(
    capsys: pytest.CaptureFixture[str], table: np.ndarray
) -> None:
    code, out, _ = called(capsys, "fit", "colors.csv", "--target", "color", "-o", "m.dg", "--test-size", "0.2")
    assert code == 0
    assert "test" in out
    assert all(f" {label} " in out for label in LABELS)
    assert len(dg.load("m.dg").certificates) == 3
    code, out, _ = called(capsys, "certify", "m.dg", "colors.csv")
    assert (code, out.splitlines()[-1][:28]) == (0, "The claim is true, 3 times: ")
    # Columns in another order, one of text that the fit did not have, and no target.
    write("new.csv", ["id", "c", "b", "a"], [["x", z, y, x] for x, y, z in table])
    assert called(capsys, "predict", "m.dg", "new.csv", "-o", "p.csv")[0] == 0
    assert called(capsys, "predict", "m.dg", "colors.csv", "-o", "q.csv")[0] == 0
    assert Path("p.csv").read_text() == Path("q.csv").read_text()
    assert list(predicted("p.csv")[0]) == ["prediction", "score_blue", "score_green", "score_red"]
    assert [row["prediction"] for row in predicted("p.csv")] == dg.load("m.dg").predict(table).tolist()
    write("less.csv", ["a", "c"], [[1, 2]])
    code, _, error = called(capsys, "predict", "m.dg", "less.csv")
    assert (code, error) == (
        2,
        "dualgap: the model needs column 'b', which the data lacks; add it, or fit again without it\n",
    )


def test_logistic_models_write_probabilities(capsys: pytest.CaptureFixture[str], table: np.ndarray) -> None:
    options = ["colors.csv", "--target", "color", "--loss", "logistic", "--positive", "red", "--C", "10", "-o", "m.dg"]
    assert called(capsys, "fit", *options)[0] == 0
    model = dg.load("m.dg")
    assert model.strength == pytest.approx(1 / (10 * 90), rel=1e-15)
    code, out, _ = called(capsys, "predict", "m.dg", "colors.csv")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "prediction,score,probability_-1,probability_1"
    probabilities = np.array([[float(cell) for cell in line.split(",")[2:]] for line in lines[1:]])
    assert np.allclose(probabilities, model.probabilities(model.scores(table)), rtol=1e-12)
    assert called(capsys, "certify", "m.dg", "colors.csv")[0] == 0
    softmax = ["colors.csv", "--target", "color", "--loss", "logistic", "-o", "s.dg"]
    assert called(capsys, "fit", *softmax)[0] == 0
    code, out, _ = called(capsys, "predict", "s.dg", "colors.csv")
    assert out.startswith(
        "prediction,score_blue,score_green,score_red,probability_blue,probability_green,probability_red\n"
    )
    assert called(capsys, "certify", "s.dg", "colors.csv")[0] == 0


def test_columns_without_names_are_matched_by_position(capsys: pytest.CaptureFixture[str], table: np.ndarray) -> None:
    targets = (table @ [2.0, -1.0, 0.0] + 5.0).tolist()
    write("plain.csv", [], [[y, *row] for y, row in zip(targets, table.tolist(), strict=True)])
    assert called(capsys, "fit", "plain.csv", "--target", "0", "--loss", "squared", "-o", "m.dg")[0] == 0
    write("bare.csv", [], table.tolist())
    np.savez("bare.npz", X=table)
    expected = dg.load("m.dg").predict(table)
    for name in ("plain.csv", "bare.csv", "bare.npz"):
        code, out, _ = called(capsys, "predict", "m.dg", name)
        assert code == 0
        assert np.allclose([float(line) for line in out.splitlines()[1:]], expected, rtol=1e-12)
    with open("last.svm", "w") as file:
        file.write("0 1:1.5\n0 1:2.5 2:1\n")
    code, out, _ = called(capsys, "predict", "m.dg", "last.svm")
    assert code == 0
    assert np.allclose(
        [float(line) for line in out.splitlines()[1:]], dg.load("m.dg").predict([[1.5, 0, 0], [2.5, 1, 0]])
    )
    assert called(capsys, "certify", "m.dg", "plain.csv")[0] == 0


def test_other_data_is_refuted(capsys: pytest.CaptureFixture[str], table: np.ndarray) -> None:
    assert called(capsys, "fit", "prices.csv", "--loss", "huber", "--duals", "-o", "m.dg")[0] == 0
    assert called(capsys, "certify", "m.dg", "prices.csv")[0] == 0
    write("other.csv", ["a", "b", "c", "price"], [[*row, 1 - row[0]] for row in table])
    code, out, _ = called(capsys, "certify", "m.dg", "other.csv")
    assert code == 1
    assert "Differs: the labels are not those of the fit." in out
    assert "Differs: primal" in out
    write("moved.csv", ["price", "c", "b", "a"], [[2 * a - b + 5, c, b, a] for a, b, c in table])
    assert called(capsys, "certify", "m.dg", "moved.csv", "--target", "price")[0] == 0


def test_a_fit_that_is_not_certified_says_so(capsys: pytest.CaptureFixture[str], table: np.ndarray) -> None:
    options = ["colors.csv", "--target", "color", "--positive", "red", "-s", "sgd", "--epochs", "1", "-o", "m.dg"]
    code, out, _ = called(capsys, "fit", *options)
    assert code == 1
    assert "EPOCHS_EXHAUSTED: --epochs was reached first; raise --epochs or --tol" in out
    assert dg.load("m.dg").status is dg.Status.EPOCHS_EXHAUSTED
    code, out, _ = called(capsys, "certify", "m.dg", "colors.csv")
    assert (code, out.splitlines()[-1][:36]) == (0, "The claim is true: EPOCHS_EXHAUSTED,")


def test_nothing_is_overwritten_unless_asked(capsys: pytest.CaptureFixture[str], table: np.ndarray) -> None:
    fit = ["-q", "fit", "prices.csv", "--loss", "squared"]
    assert called(capsys, *fit)[1] == "model.dg\n"
    assert called(capsys, *fit)[1] == "model-002.dg\n"
    before = Path("model.dg").read_bytes()
    code, _, error = called(capsys, *fit, "--loss", "huber", "-o", "model.dg")
    assert (code, error) == (2, "dualgap: 'model.dg' exists already; choose another name, or pass --overwrite\n")
    assert Path("model.dg").read_bytes() == before
    assert called(capsys, *fit, "--loss", "huber", "-o", "model.dg", "--overwrite")[0] == 0
    assert dg.load("model.dg").loss == "huber(delta=1.35)"
    Path("p.csv").write_text("mine")
    assert called(capsys, "predict", "model.dg", "prices.csv", "-o", "p.csv")[0] == 2
    assert Path("p.csv").read_text() == "mine"
    assert sorted(path.name for path in Path().iterdir() if path.suffix != ".csv") == ["model-002.dg", "model.dg"]


REFUSALS = {
    "no data": (["fit", "nothing.csv"], "there is no file 'nothing.csv'"),
    "no name": (["fit", "breast_cancr"], "did you mean 'breast_cancer'?"),
    "a measured target": (["fit", "prices.csv"], "looks like a regression"),
    "words for a regression": (["fit", "colors.csv", "--target", "color", "--loss", "squared"], "needs numbers"),
    "a column that is not there": (["fit", "colors.csv", "--target", "colour"], "did you mean 'color'?"),
    "both strengths": (["fit", "breast_cancer", "--C", "1", "--strength", "1"], "--strength or --C, got both"),
    "a negative C": (["fit", "breast_cancer", "--C", "-1"], "--C needs a finite number above 0, got -1"),
    "a strength of words": (["fit", "breast_cancer", "--strength", "much"], "a strength is a number above 0"),
    "no loss": (["fit", "breast_cancer", "--loss", "hing"], "did you mean 'hinge'?"),
    "no solver": (["fit", "breast_cancer", "-s", "sdka"], "did you mean 'sdca'?"),
    "a folder": (["fit", "breast_cancer", "-o", "."], "is a folder"),
    "no folder": (["fit", "breast_cancer", "-o", "no/m.dg"], "there is no folder 'no'"),
    "no model": (["predict", "nothing.dg", "prices.csv"], "there is no file 'nothing.dg'"),
    "no model file": (["predict", "prices.csv", "prices.csv"], "'prices.csv' is not a model file"),
    "no model file to certify": (["certify", "prices.csv", "prices.csv"], "'prices.csv' is not a model file"),
    "no time": (["certify", "prices.csv", "prices.csv", "--seconds", "0"], "--seconds needs a number above 0"),
    "no argument": (["certify"], "Missing argument 'MODEL'"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_bad_input_is_one_sentence_and_exit_code_2(
    name: str, capsys: pytest.CaptureFixture[str], table: np.ndarray
) -> None:
    arguments, words = REFUSALS[name]
    code, out, error = called(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in error
    assert error.startswith("dualgap: ")
    assert error.count("\n") == 1
    assert not list(Path().glob("*.dg"))


def test_a_model_with_sample_weights_is_refused_with_the_call_in_python(
    capsys: pytest.CaptureFixture[str], table: np.ndarray
) -> None:
    problem = dg.Problem(table, table @ [2.0, -1.0, 0.0] + 5.0, "squared", 0.1, np.arange(1.0, 91.0), intercept=True)
    dg.Model.of(dg.solve(problem), problem).save("m.dg")
    code, _, error = called(capsys, "certify", "m.dg", "prices.csv")
    assert code == 2
    assert "was fitted with sample weights" in error
    assert dg.load("m.dg").certify(table, problem.labels, problem.given_weight).holds


def test_a_newer_file_is_said_to_be_newer(capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile("m.dg", "w") as archive:
        archive.writestr("model.json", json.dumps({"format": 99}))
    code, _, error = called(capsys, "predict", "m.dg", "breast_cancer")
    assert code == 2
    assert "made by a newer dualgap (format 99, this one reads 3)" in error


SAYS_WHEN_UNDER_WAY = """
import sys
from dualgap.loop import Loop
check = Loop.check
def told(loop, tell):
    print("under way", flush=True)
    return check(loop, tell)
Loop.check = told
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process on Windows")
@pytest.mark.parametrize("partial", [False, True])
def test_ctrl_c_writes_nothing_unless_asked(partial: bool, tmp_path: Path) -> None:
    # The gap of Pegasos falls as 1/t: this would take hours.
    arguments = ["fit", "digits", "-s", "pegasos", "--epochs", "1e9", "-o", "m.dg", *(["--partial"] if partial else [])]
    code = SAYS_WHEN_UNDER_WAY + "from dualgap.cli.app import main\nmain(sys.argv[1:])"
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        preexec_fn=hears_ctrl_c,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "under way\n"
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert Path("m.dg").exists() == partial
    if partial:
        assert "INTERRUPTED: stopped by Ctrl-C" in out
        assert dg.load("m.dg").status is dg.Status.INTERRUPTED
    else:
        assert errors.strip() == "dualgap: interrupted; nothing was written"
        assert not list(tmp_path.iterdir())


def test_tables_fit_a_terminal_of_80_columns(tmp_path: Path) -> None:
    for arguments in (["fit", "breast_cancer", "-o", "m.dg"], ["certify", "m.dg", "breast_cancer"]):
        code, drawn = run_in_terminal(*arguments, folder=tmp_path)
        assert code == 0
        text = ESCAPE.sub("", drawn)
        assert max(len(line) for line in text.replace("\r", "\n").split("\n")) <= 80
        assert "relative" in text


@pytest.mark.skipif(sys.platform == "win32", reason="head is a program of POSIX")
def test_a_pipe_closed_by_its_reader_is_no_error(tmp_path: Path) -> None:
    assert run("fit", "simulated(n=60000, d=3)", "-o", "m.dg", "-q", folder=tmp_path).returncode == 0
    command = f"{sys.executable} -m dualgap predict m.dg 'simulated(n=60000, d=3)' | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("prediction,score\n", "")


@pytest.mark.parametrize("command", ["fit", "predict", "certify"])
def test_every_help_has_an_example(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, out, _ = called(capsys, command, "--help")
    assert code == 0
    assert f"dualgap {command} " in out
    assert "Exit codes" in " ".join(out.split())
