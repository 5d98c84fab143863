"""Published data sets: the table is sound, places are searched in order, and what is loaded is what the table says."""

from __future__ import annotations

import gzip
import importlib.util
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from dualgap.cli.app import main
from dualgap.datasets import DATASETS, for_task, load, locations, place_of, preparing, published, title
from dualgap.datasets.published import PUBLISHED, Published


def stored(name: str) -> None:
    """Skip where the files of a data set are not here."""
    if locations.find(PUBLISHED[name].files) is None:
        pytest.skip(f"DUALGAP_DATA has no {PUBLISHED[name].files[0]}; point it at the folder of data sets")


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache and no folder; the path has room for some."""
    monkeypatch.delenv("DUALGAP_DATA", raising=False)
    monkeypatch.setenv("DUALGAP_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Published:
    """`heart` shrunk to four rows, so that copies of it can be written."""
    row = Published("heart", ("heart_scale.npz",), (4, 2), "four rows", "a test", counts=(1, 3))
    monkeypatch.setattr(DATASETS["heart"], "row", row)
    return row


def write_tiny(folder: Path, scale: float = 1.0, labels: tuple[int, ...] = (-1, 1, 1, 1)) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "heart_scale.npz", X=scale * np.arange(8.0).reshape(4, 2), y=np.array(labels, dtype=np.int8))
    return folder


@pytest.mark.parametrize("row", PUBLISHED.values(), ids=list(PUBLISHED))
def test_a_line_of_the_table_is_sound(row: Published) -> None:
    assert hasattr(preparing, row.prepare)
    assert (sum(row.counts) == row.shape[0]) != (row.mean is not None), "counts of labels, or the mean of a target"
    assert len(row.counts) == 0 or len(row.counts) == 2 or row.positive
    assert 0 < len(row.summary) <= 78
    assert 0 < len(row.source) <= 31
    assert row.name in DATASETS
    assert row.name == title(row.name.replace("_", "-"))


# Its pictures are cropped one by one, which takes a minute.
SLOW = {"blood_cells"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in PUBLISHED]
)
def test_every_set_that_is_here_is_what_the_table_says(name: str) -> None:
    stored(name)
    row = PUBLISHED[name]
    dataset = load(name)  # refuses another size, other counts or another mean
    assert dataset.shape == row.shape == DATASETS[name]().shape
    assert (dataset.name, dataset.description, dataset.source) == (name, row.summary, row.source)
    task = for_task(dataset, "classification" if row.counts else "regression")
    if row.counts:
        assert sorted(np.unique(task.y)) == [-1, 1]
    if row.test_rows:
        assert task.X_test.shape == (row.test_rows, row.shape[1])
        assert task.y_test is not None
    values = dataset.X.data if sparse.issparse(dataset.X) else dataset.X
    assert np.isfinite(values.sum(dtype=np.float64))


def test_adult_has_a_column_for_each_category_and_scaled_numbers() -> None:
    stored("adult")
    adult = load("adult")
    X, names = adult.X.toarray(), np.array(adult.feature_names)
    assert names[:2].tolist() == ["age", "fnlwgt"]
    assert "native-country=?" in names
    np.testing.assert_allclose(X[:, :6].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X[:, :6].std(axis=0), 1, atol=1e-12)
    assert np.array_equal(np.unique(X[:, 6:]), [0, 1])
    assert (X[:, 6:].sum(axis=1) == 8).all()
    first = names[np.flatnonzero(X[0, 6:]) + 6].tolist()
    assert first[:3] == ["workclass=State-gov", "education=Bachelors", "marital-status=Never-married"]
    assert (adult.y_test == 1).sum() == 3846


def test_adult_codes_are_those_of_pandas_as_the_report_had_them() -> None:
    stored("adult_codes")
    pandas = pytest.importorskip("pandas")
    path = locations.find(PUBLISHED["adult"].files)[1][0]
    frame = pandas.read_csv(path).drop(columns="income")
    for column in frame.columns:
        if column not in preparing.NUMBERS_OF_ADULT:
            frame[column] = pandas.Categorical(frame[column]).codes
    dataset = load("adult-codes")
    assert np.array_equal(dataset.X, frame.to_numpy(dtype=float))
    assert dataset.standardize
    assert dataset.feature_names == tuple(frame.columns)


def test_gaps_of_arrhythmia_are_means_and_normal_is_positive() -> None:
    stored("arrhythmia")
    dataset = load("arrhythmia")
    path = locations.find(PUBLISHED["arrhythmia"].files)[1][0]
    raw = np.genfromtxt(path, delimiter=",", missing_values="?", filling_values=np.nan)
    assert np.isnan(raw).sum() == 408
    known = ~np.isnan(raw[:, :-1])
    assert np.array_equal(dataset.X[known], raw[:, :-1][known])
    assert len(np.unique(dataset.X[~known[:, 13], 13])) == 1
    assert dataset.X[~known[:, 13], 13][0] == pytest.approx(np.nanmean(raw[:, 13]))
    assert np.array_equal(dataset.y == 1, raw[:, -1] == 1)


def test_newsgroups_are_weighted_by_the_training_part() -> None:
    stored("newsgroups")
    dataset = load("newsgroups")
    with np.load(locations.find(PUBLISHED["newsgroups"].files)[1][0]) as parts:
        counts = {name: parts[name] for name in ("data", "indices", "indptr", "data_test", "indices_test")}
    idf = 1 + np.log((1 + 11314) / (1 + np.bincount(counts["indices"], minlength=130107)))
    for ending, X in (("", dataset.X), ("_test", dataset.X_test)):
        stop = X.indptr[1]
        weights = (1 + np.log(counts["data" + ending][:stop])) * idf[counts["indices" + ending][:stop]]
        row = np.zeros(130107)
        row[counts["indices" + ending][:stop]] = weights / np.linalg.norm(weights)
        np.testing.assert_allclose(X[0].toarray()[0], row, atol=1e-12)
    assert for_task(dataset, "classification").y.tolist().count(1) == 5309


def test_many_classes_stay_reachable_behind_the_task_of_two() -> None:
    stored("letter")
    dataset = load("letter")
    assert len(dataset.labels) == 26
    assert (for_task(dataset, "classification").y == 1).sum() == sum(PUBLISHED["letter"].counts[:13])
    assert (load("letter", positive=["25"]).y == 1).sum() == 734


@pytest.mark.parametrize("stand_in", published.Genomic.STAND_INS)
def test_the_genomic_set_names_its_stand_in(stand_in: str) -> None:
    stored(stand_in)
    dataset = load(f"genomic(stand-in={stand_in})")
    assert dataset.shape == PUBLISHED[stand_in].shape
    assert f"stand-in for the genomic data of report R0: {stand_in}" in dataset.description
    assert title("genomic(stand_in=prostate)") == "genomic"


def test_an_unknown_stand_in_is_refused() -> None:
    with pytest.raises(ValueError, match="genomic needs stand_in to be prostate or golub"):
        load("genomic(stand_in=mouse)")


def test_blood_cells_are_cropped_in_two_ways(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cv2 = pytest.importorskip("cv2")
    monkeypatch.setenv("DUALGAP_DATA", str(nowhere))
    row = replace(PUBLISHED["blood_cells"], shape=(2, 14400), counts=(1, 1), test_rows=2)
    monkeypatch.setattr(DATASETS["blood_cells"], "row", row)
    with zipfile.ZipFile(nowhere / row.files[0], "w") as archive:
        for part in ("TRAIN", "TEST"):
            for kind in ("LYMPHOCYTE", "NEUTROPHIL"):
                picture = np.full((160, 200, 3), 220, np.uint8)
                cv2.circle(picture, (20, 80), 15, (90, 60, 90), -1)
                archive.writestr(f"{part}/{kind}/1.png", cv2.imencode(".png", picture)[1].tobytes())
    cells, plain = load("blood-cells"), load("blood-cells(plain=true)")
    assert cells.y.tolist() == plain.y.tolist() == [-1, 1]
    assert cells.X_test.shape == plain.X_test.shape == (2, 14400)
    # The cell lies near the edge: in the middle of the one crop, at the side of the other.
    bright = [np.flatnonzero(data.X[0].reshape(120, 120)[60] > 100).mean() for data in (cells, plain)]
    assert bright[0] == pytest.approx(60, abs=3)
    assert bright[1] < 30
    assert title("blood-cells(plain=true)") == "blood_cells(plain=True)"
    with pytest.raises(ValueError, match="plain to be true or false, got 3"):
        load("blood-cells(plain=3)")


def test_folders_come_first_in_their_order_and_the_cache_last(
    nowhere: Path, tiny: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tiny(nowhere / "cache", scale=3.0)
    assert (place_of(DATASETS["heart"]()), load("heart").X[0, 1]) == ("cache", 3.0)
    write_tiny(nowhere / "second", scale=2.0)
    empty = nowhere / "first"
    empty.mkdir()
    monkeypatch.setenv("DUALGAP_DATA", os.pathsep.join(map(str, (empty, nowhere / "second"))))
    assert (place_of(DATASETS["heart"]()), load("heart").X[0, 1]) == ("folder", 2.0)
    write_tiny(empty, scale=1.0)
    assert load("heart").X[0, 1] == 1.0


def test_a_set_that_is_not_here_says_what_to_put_where(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sentence(name: str) -> str:
        with pytest.raises(FileNotFoundError) as caught:
            load(name)
        return str(caught.value)

    assert sentence("golub") == ("golub is not here; put golub_allaml.npz into a folder and let DUALGAP_DATA name it")
    assert "adult_train.csv.gz and adult_test.csv.gz" in sentence("adult")
    assert sentence("skin").endswith("or run: dualgap datasets skin --download")
    monkeypatch.setenv("DUALGAP_DATA", str(nowhere))
    assert f"into '{nowhere}' or another folder that DUALGAP_DATA names" in sentence("golub")
    assert place_of(DATASETS["golub"]()) == "no"
    assert place_of(DATASETS["skin"]()) == "download"
    assert list(nowhere.iterdir()) == []


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ((-1, -1, 1, 1), "has 2 + 2 rows of each label where 1 + 3 are known"),
        ((1, 1, 1, 1), "has 4 rows of each label where 1 + 3"),
    ],
)
def test_another_file_of_that_name_is_refused(
    nowhere: Path, tiny: Published, monkeypatch: pytest.MonkeyPatch, labels: tuple[int, ...], words: str
) -> None:
    monkeypatch.setenv("DUALGAP_DATA", str(write_tiny(nowhere / "data", labels=labels)))
    with pytest.raises(ValueError) as caught:
        load("heart")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_sizes_and_other_targets_are_refused(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUALGAP_DATA", str(write_tiny(nowhere / "data")))
    with pytest.raises(ValueError, match="is not heart: it has 4 × 2 rows × columns where 270 × 13 are known"):
        load("heart")
    np.savez(nowhere / "data" / "bodyfat.npz", X=np.zeros((252, 14)), y=np.zeros(252))
    with pytest.raises(ValueError, match=r"0\.0 as mean of the target where 19\.150794"):
        load("bodyfat")
    np.savez(nowhere / "data" / "vert_breast_relapse_partial.npz", X=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="is not breast_relapse: it lacks"):
        load("breast-relapse")


def test_a_name_is_all_that_the_command_line_needs(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    y = np.repeat(np.array([-1, 1], dtype=np.int8), [150, 120])
    X = np.random.default_rng(0).standard_normal((270, 13)) + y[:, None]
    np.savez(nowhere / "heart_scale.npz", X=X, y=y)
    monkeypatch.setenv("DUALGAP_DATA", str(nowhere))
    monkeypatch.chdir(nowhere)
    with pytest.raises(SystemExit) as ended:
        main(["fit", "Heart", "-o", "heart.dg"])
    assert ended.value.code == 0
    assert "heart: 270 rows × 13 columns" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main(["fit", "skin", "-o", "skin.dg"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("dualgap: skin is not here; put skin_nonskin.npz into")
    assert sorted(path.name for path in nowhere.iterdir()) == ["heart.dg", "heart_scale.npz"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("arrhythmia", gzip.compress(b"1,2,3\n" * 500)[:-9], "damaged"),
        ("arrhythmia", gzip.compress(b"1,2,3\n4,5\n"), "line 2 of arrhythmia.csv.gz has 2 cells, the first 3"),
        ("arrhythmia", gzip.compress(b"1,x,3\n"), "is not arrhythmia: could not convert string to float"),
        ("arrhythmia", gzip.compress(b""), "arrhythmia.csv.gz is empty"),
        ("adult", gzip.compress(b"a,b\n1,2\n"), "is not adult: 'age' is not in list"),
        ("breast_relapse", b"PK", "damaged"),
        ("heart", b"no archive", "not an npz archive"),
        ("blood_cells", b"no archive", "neither a folder nor a whole zip of pictures"),
    ],
    ids=[
        "cut gzip",
        "short line",
        "bad number",
        "empty",
        "wrong columns",
        "cut archive",
        "no archive",
        "no pictures",
    ],
)
def test_a_damaged_copy_is_refused_in_one_sentence(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, words: str
) -> None:
    monkeypatch.setenv("DUALGAP_DATA", str(nowhere))
    for file in PUBLISHED[name].files:
        (nowhere / file).write_bytes(content)
    with pytest.raises(ValueError) as caught:
        load(name)
    assert words in str(caught.value)
    assert PUBLISHED[name].files[0] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_page_of_data_sets_is_current() -> None:
    path = Path(__file__).resolve().parent.parent / "docs" / "make_datasets.py"
    spec = importlib.util.spec_from_file_location("make_datasets", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), "stale; run python docs/make_datasets.py"
