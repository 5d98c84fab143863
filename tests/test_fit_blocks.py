"""The command `fit` on row blocks: Parquet files within a memory limit, and on Dask's workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dualgap as dg
from commands import ended, refused

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
    assert "3,000 rows × 9 columns" in capsys.readouterr().out
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


def test_three_labels_make_a_softmax_model(folder: Any, tmp_path: Path) -> None:
    words = ["fit", str(folder[0]), "--target", "three", "--loss", "logistic", "--memory-limit", "1GB", "--quiet"]
    assert ended(*words, "-o", str(tmp_path / "m.dg")) == 0
    model = dg.load(tmp_path / "m.dg")
    assert (model.kind, model.status) == ("multinomial", dg.Status.CERTIFIED)
    dense = pandas.get_dummies(folder[1][["a", "b", "c", "kind", "clicked"]]).to_numpy(float)
    known = dg.solve(dg.MultinomialProblem(dense, folder[1]["three"], 1 / 3000, intercept=True))
    assert model.certificate.primal == pytest.approx(known.certificate.primal, rel=2e-6)
    assert (model.predict(dense) == known.predict(dense)).mean() > 0.999


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
