"""The command `fit` on row blocks: Parquet files within a memory limit, and on Dask's workers."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.status import Status

import dualgap as dg
from commands import ended, refused
from dualgap.cli.console import bytes_words
from dualgap.cli.fit_blocks import _progress

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("parquet")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    frame["kind"] = np.array(["x", "y", "z"])[rng.integers(0, 3, size=3000)]
    frame["clicked"] = np.where(X[:, 0] + rng.normal(size=3000) > 0.0, "yes", "no")
    frame["three"] = np.array(["p", "q", "r"])[np.argmax(X, axis=1)]
    for k in range(3):
        frame[1000 * k : 1000 * (k + 1)].to_parquet(folder / f"part-{k}.parquet", row_group_size=400)
    return folder, frame


def test_parquet_files_within_a_memory_limit(folder: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files, frame = [str(path) for path in sorted(folder[0].glob("*.parquet"))], folder[1]
    assert (
        ended(
            "fit",
            *files,
            "--target",
            "clicked",
            "--loss",
            "logistic",
            "--memory-limit",
            "256MiB",
            "-o",
            str(tmp_path / "m.dg"),
        )
        == 0
    )
    said = capsys.readouterr().out
    assert "3,000 rows × 9 columns" in said
    assert re.search(r"passes +\d+ over [\d.]+ kB", said)
    model = dg.load(tmp_path / "m.dg")
    assert model.status is dg.Status.CERTIFIED
    assert model.feature_names is not None
    assert model.feature_names[:4] == ("a", "b", "c", "kind=x")
    dense = pandas.get_dummies(frame[["a", "b", "c", "kind", "three"]]).to_numpy(float)
    known = dg.solve(dg.Problem(dense, frame["clicked"], "logistic", 1 / 3000, intercept=True))
    assert model.certificate.primal == pytest.approx(known.certificate.primal, rel=2e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_two_workers_and_three_labels(folder: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed")
    words = ["fit", str(folder[0]), "--target", "three", "--loss", "hinge", "--tol", "1e-3", "--quiet"]
    assert ended(*words, "--workers", "2", "-o", str(tmp_path / "there.dg")) == 0
    there = dg.load(tmp_path / "there.dg")
    assert there.classes is not None
    assert there.classes.tolist() == ["p", "q", "r"]
    assert all(certificate.relative_gap <= 1e-3 for certificate in there.certificates)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_empty_files_and_scaled_columns_on_workers(folder: Any, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    data = tmp_path / "data"
    data.mkdir()
    folder[1].to_parquet(data / "a.parquet", row_group_size=1000)
    folder[1][:0].to_parquet(data / "b.parquet")
    words = (
        "fit",
        str(data),
        "--target",
        "clicked",
        "--loss",
        "logistic",
        "--standardize",
        "--drop",
        "three",
        "--quiet",
    )
    assert ended(*words, "--workers", "2", "-o", str(tmp_path / "there.dg")) == 0
    assert ended(*words, "--memory-limit", "64MiB", "-o", str(tmp_path / "here.dg")) == 0
    there, here = dg.load(tmp_path / "there.dg"), dg.load(tmp_path / "here.dg")
    assert there.certificate.primal == pytest.approx(here.certificate.primal, rel=2e-6)
    assert there.predict(folder[1]).tolist() == here.predict(dg.Blocks(data)).tolist()
    assert ended("certify", str(tmp_path / "there.dg"), str(data)) == 0


def test_three_labels_make_a_softmax_model(folder: Any, tmp_path: Path) -> None:
    words = ["fit", str(folder[0]), "--target", "three", "--loss", "logistic", "--memory-limit", "1GB", "--quiet"]
    assert ended(*words, "-o", str(tmp_path / "m.dg")) == 0
    model = dg.load(tmp_path / "m.dg")
    assert (model.kind, model.status) == ("multinomial", dg.Status.CERTIFIED)
    dense = pandas.get_dummies(folder[1][["a", "b", "c", "kind", "clicked"]]).to_numpy(float)
    known = dg.solve(dg.MultinomialProblem(dense, folder[1]["three"], 1 / 3000, intercept=True))
    assert model.certificate.primal == pytest.approx(known.certificate.primal, rel=2e-6)
    assert (model.predict(folder[1]) == known.predict(dense)).mean() > 0.999


def test_refusals(folder: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, out = str(folder[0]), ("-o", str(tmp_path / "m.dg"))
    limit = ("--memory-limit", "1GB")
    assert "row blocks need --target" in refused(capsys, "fit", data, *limit, *out)
    assert "--duals needs rows in memory" in refused(capsys, "fit", data, *limit, "--target", "a", "--duals", *out)
    assert "memory_limit needs at least 64 MiB" in refused(
        capsys, "fit", data, "--memory-limit", "1MB", "--target", "a", *out
    )
    assert "--weight needs row blocks" in refused(capsys, "fit", "iris", "--weight", "s", *out)
    assert "needs --dask or --workers" in refused(
        capsys, "fit", data, "--target", "a", "--dask", "tcp://x", "--workers", "2", *out
    )
    assert not (tmp_path / "m.dg").exists()


@pytest.fixture(scope="module")
def fitted(folder: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file of the folder, whose column of text makes three columns, without the column `three`."""
    path = tmp_path_factory.mktemp("model") / "m.dg"
    words = ("fit", str(folder[0]), "--target", "clicked", "--loss", "logistic", "--drop", "three", "--quiet")
    assert ended(*words, "--memory-limit", "256MiB", "-o", str(path)) == 0
    return path


def predictions(model: Path, *words: str) -> Any:
    out = model.with_name("out.csv")
    assert ended("predict", str(model), *words, "-o", str(out), "--overwrite") == 0
    return pandas.read_csv(out)


def test_predict_streams_the_files_of_the_fit_and_others(
    folder: Any, fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files, frame = [str(path) for path in sorted(folder[0].glob("*.parquet"))], folder[1]
    streamed = predictions(fitted, str(folder[0]))
    said = capsys.readouterr().out
    assert "3,000 predictions" in said
    accuracy = (streamed["prediction"] == frame["clicked"]).mean()
    assert f"accuracy {accuracy:.3f}" in said
    pandas.testing.assert_frame_equal(predictions(fitted, *files), streamed)
    pandas.testing.assert_frame_equal(predictions(fitted, str(folder[0] / "*.parquet")), streamed)
    alone = predictions(fitted, files[1])
    pandas.testing.assert_frame_equal(alone, streamed[1000:2000].reset_index(drop=True))
    kept = predictions(fitted, files[1], "--memory-limit", "64MiB", "--keep", "three")
    assert kept["three"].tolist() == frame["three"][1000:2000].tolist()
    pandas.testing.assert_frame_equal(kept.drop(columns="three"), alone)

    other = frame.assign(kind=frame["kind"].replace("y", "w"))[["kind", "c", "b", "a"]]
    other.to_parquet(tmp_path / "other.parquet", row_group_size=400)
    capsys.readouterr()
    for limit in ((), ("--memory-limit", "64MiB")):
        found = predictions(fitted, str(tmp_path / "other.parquet"), *limit)
        known = dg.load(fitted).predict(other)
        assert found["prediction"].tolist() == known.tolist()
        count = int((other["kind"] == "w").sum())
        assert capsys.readouterr().out.count(f"column kind has 'w' in {count:,} rows, which the fit did not see") == 1
        words = ("predict", str(fitted), str(tmp_path / "other.parquet"), *limit)
        assert "'w'" in refused(capsys, *words, "--strict")
    other.drop(columns="b").to_parquet(tmp_path / "lacking.parquet")
    assert "the model needs column 'b'" in refused(
        capsys, "predict", str(fitted), str(tmp_path / "lacking.parquet"), "--memory-limit", "64MiB"
    )


def test_certify_and_show_know_a_model_of_blocks(
    folder: Any, fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("certify", str(fitted), str(folder[0])) == 0
    assert "The claim is true" in capsys.readouterr().out
    assert ended("show", str(fitted)) == 0
    said = capsys.readouterr().out
    assert "kind=x" in said
    assert "left out   three" in said
    assert ended("certify", str(fitted), str(folder[0] / "part-0.parquet")) == 1
    frame = folder[1].assign(s=np.linspace(0.1, 2.0, 3000)).drop(columns="three")
    frame.to_parquet(tmp_path / "weighted.parquet")
    words = (
        "fit",
        str(tmp_path / "weighted.parquet"),
        "--memory-limit",
        "64MiB",
        "--target",
        "clicked",
        "--weight",
        "s",
    )
    assert ended(*words, "--loss", "squared_hinge", "--quiet", "-o", str(tmp_path / "w.dg")) == 0
    assert ended("certify", str(tmp_path / "w.dg"), str(tmp_path / "weighted.parquet")) == 0
    frame.assign(s=1.0).to_parquet(tmp_path / "weighted.parquet")
    assert ended("certify", str(tmp_path / "w.dg"), str(tmp_path / "weighted.parquet")) == 1


def test_npy_files_are_fitted_and_predicted(folder: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = folder[1][["a", "b", "c"]].to_numpy(), np.where(folder[1]["clicked"] == "yes", 1, 0)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    model = tmp_path / "m.dg"
    words = ("fit", str(tmp_path / "X.npy"), "--target", str(tmp_path / "y.npy"), "--loss", "logistic", "--quiet")
    assert ended(*words, "-o", str(model)) == 0
    known = dg.solve(dg.Problem(X, y, "logistic", 1 / 3000, intercept=True))
    assert dg.load(model).certificate.primal == pytest.approx(known.certificate.primal, rel=2e-6)
    assert "dualgap.load(path).certify(X, y)" in refused(capsys, "certify", str(model), str(tmp_path / "X.npy"))
    assert predictions(model, str(tmp_path / "X.npy"))["prediction"].tolist() == known.predict(X).tolist()
    assert "pass one label a row" in refused(
        capsys, "fit", str(tmp_path / "X.npy"), "--target", str(tmp_path / "X.npy"), "-o", str(tmp_path / "n.dg")
    )


def test_the_metrics_of_a_regression_are_those_of_all_rows(
    folder: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [str(path) for path in sorted(folder[0].glob("*.parquet"))]
    words = ("fit", *files, "--target", "a", "--loss", "squared", "--drop", "three", "--quiet")
    assert ended(*words, "-o", str(tmp_path / "m.dg")) == 0
    capsys.readouterr()
    found = predictions(tmp_path / "m.dg", *files)["prediction"]
    said = capsys.readouterr().out
    y = folder[1]["a"]
    assert f"R² {1 - ((y - found) ** 2).sum() / ((y - y.mean()) ** 2).sum():.3f}" in said
    assert f"mean absolute error {(y - found).abs().mean():.3f}" in said


def test_empty_files_and_dates_are_refused_or_left_out(
    folder: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = folder[1]
    data = tmp_path / "data"
    data.mkdir()
    frame.to_parquet(data / "a.parquet")
    frame[:0].to_parquet(data / "b.parquet")
    words = ("--target", "clicked", "--loss", "logistic", "--drop", "three", "--quiet", "--tol", "1e-3")
    assert ended("fit", str(data), "--memory-limit", "64MiB", *words, "-o", str(tmp_path / "m.dg")) == 0
    assert len(predictions(tmp_path / "m.dg", str(data))) == 3000
    frame.assign(when=pandas.Timestamp("2020-01-01")).to_parquet(tmp_path / "dates.parquet")
    dates = ("fit", str(tmp_path / "dates.parquet"), "--memory-limit", "64MiB", *words)
    assert "days since a fixed day" in refused(capsys, *dates, "-o", str(tmp_path / "n.dg"))
    assert ended(*dates, "--drop", "when", "-o", str(tmp_path / "n.dg")) == 0


@pytest.mark.parametrize(("size", "words"), [(12, "12 bytes"), (48.1e6, "48.1 MB"), (2e12, "2 TB")])
def test_bytes_are_told_with_a_unit(size: float, words: str) -> None:
    assert bytes_words(size) == words


def test_progress_tells_passes_bytes_gap_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(Status, "update", lambda self, text: shown.append(text))
    record = SimpleNamespace(epoch=1.0, relative_gap=1e-1, seconds=1.0)
    with _progress(True, 1e-6, 48_100_000) as tell:
        tell(record)  # type: ignore[arg-type]
        tell(SimpleNamespace(epoch=3.0, relative_gap=1e-3, seconds=3.0))  # type: ignore[arg-type]
    assert shown[-1] == "pass 3 over 48.1 MB: relative gap 1.0e-03 → 1e-06, about 3 s left"
