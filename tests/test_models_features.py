"""Model files with a feature map: fitted, saved, applied and certified for every map, and damaged ones refused."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from commands import ended, refused
from dualgap.features import choose_map
from dualgap.fitted_features import BLOCK_ROWS
from dualgap.models.digests import digest
from dualgap.models.fitting import fit
from small_models import ROWS, SIGNS, TARGETS, WORDS, loss_of, saved
from test_models_files import edited, members

SPECS = {
    "polynomial": "polynomial(degree=2, bias=true)",
    "gaussian": "gaussian(centers=12, width=3, seed=5)",
    "rbf": "rbf(components=15, width=4)",
    "nystroem": "nystroem(components=9, width=4)",
}
FORMS: dict[str, Callable[[Any], Any]] = {"dense": np.asarray, "sparse": sp.csr_matrix}


def small(text: str, form: str = "dense", loss: str = "squared_hinge", y: Any = SIGNS, **options: Any) -> dg.Model:
    return fit(FORMS[form](ROWS), y, loss_of(loss), 0.01, features=text, **options)


def by_hand(text: str, X: Any, rows: Any = None) -> Any:
    """The features that scikit-learn's own transformer gives."""
    made = dg.feature_map(text).fit(X)
    return made.transform(X if rows is None else rows)


def test_every_map_of_the_table_is_tried() -> None:
    assert set(SPECS) == set(dg.FEATURES)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SPECS)
def test_a_model_of_features_is_saved_loaded_and_certified(name: str, form: str, tmp_path: Path) -> None:
    model = small(SPECS[name], form)
    assert model.status is dg.Status.CERTIFIED
    assert model.data == digest(ROWS, SIGNS), "the digest is that of the rows as they were given"
    back = dg.load(saved(model, tmp_path / "one.dg"))
    assert saved(back, tmp_path / "two.dg").read_bytes() == (tmp_path / "one.dg").read_bytes()
    assert model.features is not None
    assert back.features is not None
    assert (back.features.spec, back.features.is_sparse) == (model.features.spec, form == "sparse")
    assert choose_map(back.features.spec) == choose_map(SPECS[name])
    new = np.random.default_rng(8).normal(size=(23, 4))
    for X in (ROWS, new):
        assert (
            model.scores(X).tobytes() == back.scores(sp.csr_matrix(X)).tobytes() == model.scores(X.tolist()).tobytes()
        )
    given = FORMS[form](ROWS)
    features = by_hand(SPECS[name], given, FORMS[form](new))
    assert np.allclose(model.scores(new), features @ model.weights + model.intercept, rtol=1e-13, atol=1e-13)
    assert np.array_equal(back.predict(new), np.where(features @ model.weights + model.intercept > 0, 1, -1))
    for X in FORMS.values():
        verdict = back.certify(X(ROWS), SIGNS)
        assert verdict.holds, verdict
    moved = ROWS.copy()
    moved[3, 1] += 0.1
    assert "the rows are not those of the fit" in back.certify(moved, SIGNS).differences
    with pytest.raises(ValueError, match="4 columns as in training, got 3"):
        back.predict(ROWS[:, :3])


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize(("loss", "y"), [("hinge", WORDS), ("logistic", WORDS), ("huber", TARGETS)])
def test_every_kind_of_model_may_have_features(name: str, loss: str, y: Any, tmp_path: Path) -> None:
    model = dg.load(saved(small(SPECS[name], loss=loss, y=y, duals=True), tmp_path / "m.dg"))
    assert model.data == digest(ROWS, y)
    verdict = model.certify(ROWS, y)
    assert verdict.holds, verdict


def test_a_problem_of_features_is_recorded_in_python() -> None:
    features = dg.FittedMap.fit("gaussian(centers=10, width=2)", ROWS)
    problem = dg.Problem(features.transform(ROWS), SIGNS, "hinge", 0.01)
    model = dg.Model.of(dg.solve(problem), problem, tol=1e-6, features=features, X=ROWS)
    assert model.certify(ROWS, SIGNS).holds
    with pytest.raises(ValueError, match="needs the map and the rows X"):
        dg.Model.of(dg.solve(problem), problem, features=features)
    with pytest.raises(ValueError, match="cannot come from a map to 10 features"):
        replace(model, weights=model.weights[:-1])


@pytest.mark.parametrize("name", SPECS)
def test_a_row_has_the_same_features_alone_and_among_others(name: str) -> None:
    X = np.random.default_rng(2).normal(size=(2 * BLOCK_ROWS + 5, 3)).astype(np.float32)
    features = dg.FittedMap.fit(SPECS[name], X)
    whole = features.transform(X)
    assert whole.tobytes() == features.transform(X.astype(np.float64)).tobytes()
    assert whole[:BLOCK_ROWS].tobytes() == features.transform(X[:BLOCK_ROWS]).tobytes()
    assert np.allclose(whole, by_hand(SPECS[name], X.astype(np.float64)), rtol=1e-10, atol=1e-12)


def test_features_beyond_float64_or_memory_are_refused() -> None:
    with pytest.raises(ValueError, match="the features of rows 0 to 59 are beyond float64; scale the columns down"):
        dg.FittedMap.fit("polynomial(degree=3)", 1e120 * ROWS).transform(1e120 * ROWS)
    for text in ("polynomial(degree=1000000000)", "rbf(components=1000000000000)"):
        with pytest.raises(ValueError, match=r"needs .* of memory, and .* are free; choose fewer features"):
            dg.FittedMap.fit(text, ROWS)


def test_a_map_of_more_drawn_rows_than_there_are_takes_all() -> None:
    assert dg.FittedMap.fit("nystroem(components=500)", ROWS).count == len(ROWS)
    assert dg.FittedMap.fit("gaussian(centers=500)", ROWS).count == len(ROWS)


# Files


def with_features(**values: Any) -> Callable[[dict[str, Any]], object]:
    return lambda record: record["features"].update(values)


DAMAGED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no object": (lambda record: record.update(features=[1]), "'features' should be of type dict, got list"),
    "no spec": (lambda record: record["features"].pop("spec"), "'features' has no 'spec'"),
    "unknown map": (
        with_features(spec="os.system(x=1)"),
        "a feature map is one of polynomial, gaussian, rbf, nystroem",
    ),
    "another map": (with_features(spec="rbf"), "it holds features.random_weights.npy not at all"),
    "wrong option": (with_features(spec="gaussian(width=-1)"), "a Gaussian needs width > 0, got -1"),
    "fewer centers": (with_features(spec="gaussian(centers=5)"), "5 centers are not 12 features"),
    "columns as text": (with_features(columns="4"), "'columns' should be of type int, got str"),
    "no columns": (with_features(columns=0), "a feature map needs columns and features, got 0 and 12|no sparse matrix"),
    "more columns": (with_features(columns=10**15), "shape (12, 1000000000000000)|cannot come from data of 4 columns"),
    "another count": (with_features(count=11), "of shape (11, 4), got float64 of shape (12, 4)"),
    "polynomials without end": (
        with_features(spec="polynomial(degree=1000000000)", columns=10**9),
        "polynomials of degree 1000000000 in 1000000000 columns are not 12 features",
    ),
    "another form": (
        lambda record: record["features"].update(sparse=not record["features"]["sparse"]),
        ".npy not at all",
    ),
    "no map": (lambda record: record.pop("features"), "cannot come from data of 4 columns"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_map_is_refused_in_one_sentence(name: str, form: str, tmp_path: Path) -> None:
    path = saved(small(SPECS["gaussian"], form), tmp_path / "m.dg")
    change, words = DAMAGED[name]
    edited(path, change)
    with pytest.raises(ValueError) as error:
        dg.load(path)
    sentence = str(error.value)
    assert any(part in sentence for part in words.split("|")), sentence
    assert sentence.startswith(repr(str(path)))
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("member", "values", "words"),
    [
        ("indices", np.full(48, 4), "no sparse matrix of 4 columns"),
        ("indices", np.full(48, -1), "no sparse matrix of 4 columns"),
        ("indptr", np.arange(13) * 5, "no sparse matrix of 4 columns"),
        ("indptr", np.r_[0, np.full(11, 49), 48], "no sparse matrix of 4 columns"),
        ("indptr", np.arange(13) * 4.0, "should hold int64 numbers"),
        ("data", np.full(48, np.nan), "need to be finite numbers"),
    ],
)
def test_damaged_sparse_centers_are_refused(member: str, values: Any, words: str, tmp_path: Path) -> None:
    model = small(SPECS["gaussian"], "sparse")
    assert model.features is not None
    full = sp.csr_matrix(np.ones((12, 4)))
    path = saved(replace(model, features=replace(model.features, arrays={"centers": full})), tmp_path / "m.dg")
    parts = members(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            if name != f"features.centers.{member}.npy":
                archive.writestr(name, data)
        with archive.open(f"features.centers.{member}.npy", "w") as file:
            np.lib.format.write_array(file, values)
    with pytest.raises(ValueError, match=words):
        dg.load(path)


def test_files_without_a_map_are_of_the_first_format(tmp_path: Path) -> None:
    """Versions that know no feature maps read them, and refuse the others as newer."""
    plain = fit(ROWS, SIGNS, loss_of("hinge"), 0.01)
    for model, version in ((plain, 1), (small(SPECS["rbf"]), 2)):
        record = json.loads(members(saved(model, tmp_path / "m.dg"))["model.json"])
        assert (record["format"], "features" in record) == (version, version == 2)
    old = saved(plain, tmp_path / "old.dg")
    assert dg.load(old).features is None
    assert np.array_equal(dg.load(old).scores(ROWS), plain.scores(ROWS))


# The command line


@pytest.mark.parametrize("name", SPECS)
def test_the_commands_fit_predict_and_certify_features(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("rows.npz", X=ROWS, y=SIGNS)
    assert not ended("fit", "rows.npz", "--features", SPECS[name], "--test-size", "0.2", "--seed", "3", "-o", "m.dg")
    shown = capsys.readouterr().out
    model = dg.load("m.dg")
    assert model.features is not None
    assert f"{model.features.spec}: {model.features.count}" in shown
    assert not ended("certify", "m.dg", "rows.npz")
    assert "The claim is true" in capsys.readouterr().out
    assert not ended("predict", "m.dg", "rows.npz", "-o", "p.csv")
    lines = Path("p.csv").read_text().splitlines()[1:]
    assert [float(line.split(",")[1]) for line in lines] == model.scores(ROWS).tolist()


def test_a_map_without_a_seed_draws_by_that_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("rows.npz", X=ROWS, y=SIGNS)
    for text, seed in (("gaussian(centers=5)", 7), ("gaussian(centers=5, seed=2)", 2)):
        assert not ended("fit", "rows.npz", "--features", text, "--seed", "7", "-o", "m.dg", "--overwrite")
        fitted = dg.load("m.dg").features
        assert fitted is not None
        assert fitted.spec == f"gaussian(centers=5, width=1.0, seed={seed})"


WRONG = ("gausian", "gaussian(gamma=2)", "gaussian(width=0)", "gaussian(centers=x)", "rbf(components=0)", "a b", "")
WRONG += ("polynomial(degree=1.5)", "polynomial(bias=3)", "nystroem(seed=-1)")


@pytest.mark.parametrize("command", ["fit"])
@pytest.mark.parametrize("text", WRONG)
def test_wrong_maps_are_refused_before_any_work(
    command: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    sentence = refused(capsys, command, "no-such-file.csv", "--features", text)
    assert "a feature map is one of polynomial, gaussian, rbf, nystroem, with its options: " in sentence
    assert list(tmp_path.iterdir()) == []
