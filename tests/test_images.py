"""Pictures of cells: each step does what it says, albums skip what is broken and name it, and the real set comes out whole."""

from __future__ import annotations

import base64
import logging
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dualgap.datasets import blood_cells as crops
from dualgap.datasets import images
from dualgap.datasets.blood_cells import KINDS, blood_cells
from dualgap.datasets.picture_folders import read_album
from dualgap.progress import counting

cv2 = pytest.importorskip("cv2", reason="the extra `images` is not installed")

HEIGHT, WIDTH = 240, 320
NUCLEUS, CELL, GROUND = (150, 60, 90), (140, 150, 200), (205, 210, 205)  # blue, green, red
ZIP = "blood_cells_lymphocyte_neutrophil.zip"


def made_cell(row: int, column: int, radius: int = 20, frame: int = 30, shade: float = 1.0) -> np.ndarray:
    """A nucleus among red cells, in a picture whose left edge and upper right corner are black."""
    image = np.full((HEIGHT, WIDTH, 3), GROUND, np.uint8)
    for x in range(40, WIDTH, 70):
        cv2.circle(image, (x, 200), 25, CELL, -1)
    cv2.circle(image, (295, 65), 4, NUCLEUS, -1)  # a speck
    cv2.circle(image, (column, row), radius, NUCLEUS, -1)
    image = np.round(image * shade).astype(np.uint8)
    image[:, :frame] = 0
    cv2.fillPoly(image, [np.array([[WIDTH, 0], [WIDTH - 2 * frame, 0], [WIDTH, frame]])], (0, 0, 0))
    return image


def encoded(image: np.ndarray, suffix: str = ".jpeg") -> bytes:
    return cv2.imencode(suffix, image)[1].tobytes()


def made_files() -> dict[str, bytes]:
    """Two pictures of each kind in each part, and around them what people's folders hold."""
    files = {
        f"{part}/{kind}/{number}.jpeg": encoded(made_cell(100 + 10 * number, 75, 15 + 10 * which))
        for part in ("TRAIN", "TEST")
        for which, kind in enumerate(KINDS)
        for number in (1, 2)
    }
    extra = {
        "TRAIN/EOSINOPHIL/1.jpeg": files["TRAIN/LYMPHOCYTE/1.jpeg"],
        "TRAIN/Thumbs.db": b"",
        "readme.txt": b"hello",
    }
    return files | extra | {"__MACOSX/TRAIN/LYMPHOCYTE/._1.jpeg": b"resource", "TRAIN/LYMPHOCYTE/.hidden.jpeg": b""}


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def unpacked(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.mark.parametrize(("row", "column"), [(120, 160), (60, 100), (150, 270)])
@pytest.mark.parametrize("shade", [0.8, 1.0])
def test_the_nucleus_is_found_wherever_and_however_bright_it_is(row: int, column: int, shade: float) -> None:
    found = crops.steps(made_cell(row, column, shade=shade))
    assert found.center == pytest.approx((row, column), abs=1.5)
    assert found.negative.shape == (120, 120)
    assert found.negative.dtype == np.uint8
    assert np.array_equal(found.negative, 255 - found.crop)
    # Bright in its middle, as far as the nucleus reaches, and dark at the edge of the crop.
    assert found.negative[48:73, 48:73].min() > found.negative[:10].max()


def test_each_step_does_what_it_says() -> None:
    image = made_cell(120, 160)
    found = crops.steps(image)
    assert found.original is image
    assert found.grey.min() == 0
    assert found.blurred.std() < image.std()
    # The frame is gone and the rest untouched.
    assert found.neutral[:, 0].min() > 150
    inside = (slice(40, 240), slice(60, 250))
    assert np.array_equal(found.neutral[inside], found.grey[inside])
    filled = int(found.neutral[0, 0])
    assert filled == pytest.approx(found.grey[crops.black_frame(images.grey(image), 9) == 0].mean(), abs=0.5)
    # The threshold keeps the speck, too, and opening does not.
    assert not found.nucleus[200].any()
    assert found.nucleus[65, 295]
    assert not found.opened[65, 295]
    assert found.opened[120, 160]
    assert np.all(found.nucleus | ~found.opened)
    disc = np.zeros((60, 60), bool)
    disc[20:45, 20:45] = True
    specked = disc.copy()
    specked[5:8, 5:8] = True
    opened = crops.opening(specked)
    assert not opened[:10].any()
    assert opened[25:40, 25:40].all()


def test_a_mask_of_nothing_but_specks_stays() -> None:
    specks = np.zeros((50, 50), bool)
    specks[3, 4] = specks[5, 8] = True
    assert np.array_equal(crops.opening(specks), specks)
    assert crops.center_of(specks) == (4.0, 6.0)


def test_a_crop_at_the_edge_keeps_the_nucleus_in_its_middle() -> None:
    found = crops.steps(made_cell(8, 160, radius=18))
    assert found.negative.shape == (120, 120)
    brightest = found.negative >= 150
    assert crops.center_of(brightest)[1] == pytest.approx(60, abs=1.5)
    assert brightest[60, 60]
    assert len(np.unique(found.negative[:40])) == 1  # the mean, beyond the edge


def test_a_plain_crop_keeps_the_frame_and_stays_inside() -> None:
    image = made_cell(8, 50, radius=18)
    found = crops.steps(image, plain=True)
    assert np.array_equal(found.crop, images.grey(image)[:120, :120])
    assert np.array_equal(crops.cropped(image, plain=True), 255 - found.crop)
    assert found.negative[:, :30].min() == 255
    assert crops.crop_inside(images.grey(image), (239.0, 319.0)).shape == (120, 120)


@pytest.mark.parametrize(
    ("image", "sentence"),
    [
        (np.full((119, 320, 3), 99, np.uint8), "it has 320 × 119 pixels, and a crop needs 120 × 120"),
        (np.zeros((240, 320, 3), np.uint8), "it is black all over"),
        (np.full((240, 320, 3), 130, np.uint8), "all of it has the same brightness"),
    ],
)
def test_pictures_without_a_nucleus_are_refused(image: np.ndarray, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        crops.cropped(image)


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_an_album_becomes_a_data_set(form: str, tmp_path: Path) -> None:
    files = made_files()
    path = zipped(tmp_path / "cells.zip", files) if form == "zip" else unpacked(tmp_path / "cells", files)
    seen: list[tuple[int, int]] = []
    cells = blood_cells(path, n_jobs=2, progress=lambda done, total: seen.append((done, total)))
    assert cells.dataset.X.shape == cells.dataset.X_test.shape == (4, 14_400)
    assert cells.dataset.X.dtype == np.uint8
    assert cells.dataset.y.tolist() == [-1, -1, 1, 1]
    assert cells.dataset.labels == ["-1", "1"]
    assert cells.names == tuple(f"TRAIN/{kind}/{number}.jpeg" for kind in KINDS for number in (1, 2))
    assert cells.skipped == {}
    assert seen[-1] == (8, 8)
    assert not np.array_equal(blood_cells(path, plain=True).dataset.X, cells.dataset.X)
    # A neutrophil's nucleus is made larger here.
    assert (cells.dataset.X[2:] > 150).sum() > (cells.dataset.X[:2] > 150).sum()


def test_a_bar_counts_the_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as in a terminal, where bars are drawn
    path = zipped(tmp_path / "cells.zip", made_files())
    for wanted in (False, True):
        with counting(wanted, "pictures") as progress:
            blood_cells(path, progress=progress)
        shown = capsys.readouterr()
        assert shown.out == ""
        assert bool(re.search("8/8.*pictures", re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", shown.err))) == wanted


def test_outer_folders_are_ignored_and_a_picture_packed_twice_counts_once(tmp_path: Path) -> None:
    files = {f"{top}/{name}": data for name, data in made_files().items() for top in ("images", "images/images")}
    assert blood_cells(zipped(tmp_path / "cells.zip", files)).dataset.X.shape == (4, 14_400)


def test_the_number_of_threads_changes_nothing(tmp_path: Path) -> None:
    files = {f"TRAIN/a/{n}.png": encoded(made_cell(60 + n, 100 + n), ".png") for n in range(40)}
    path = zipped(tmp_path / "cells.zip", files)
    one, two = (read_album(path, crops.cropped, n_jobs=jobs) for jobs in (1, 2))
    assert one.parts["TRAIN"].names == two.parts["TRAIN"].names
    assert np.array_equal(one.parts["TRAIN"].X, two.parts["TRAIN"].X)


def test_broken_and_tiny_pictures_are_named_and_skipped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = made_files()
    whole = files["TRAIN/LYMPHOCYTE/1.jpeg"]
    files |= {
        "TRAIN/LYMPHOCYTE/cut.jpeg": whole[: len(whole) // 2],
        "TRAIN/LYMPHOCYTE/empty.jpeg": b"",
        "TRAIN/LYMPHOCYTE/noise.png": b"no picture at all",
        "TRAIN/LYMPHOCYTE/tiny.png": encoded(made_cell(120, 160)[:50, :70], ".png"),
        "TEST/NEUTROPHIL/black.png": encoded(np.zeros((240, 320, 3), np.uint8), ".png"),
    }
    path = zipped(tmp_path / "cells.zip", files)
    # One member's bytes change after its checksum was taken.
    data = bytearray(path.read_bytes())
    start = data.index(files["TRAIN/LYMPHOCYTE/2.jpeg"])
    data[start + 2000] ^= 0xFF
    path.write_bytes(data)
    with caplog.at_level(logging.WARNING, "dualgap"):
        cells = blood_cells(path)
    assert {name: reason.split(" (")[0] for name, reason in cells.skipped.items()} == {
        "TRAIN/LYMPHOCYTE/cut.jpeg": "the file ends before the picture does",
        "TRAIN/LYMPHOCYTE/empty.jpeg": "it is not a picture that OpenCV can decode",
        "TRAIN/LYMPHOCYTE/noise.png": "it is not a picture that OpenCV can decode",
        "TRAIN/LYMPHOCYTE/tiny.png": "it has 70 × 50 pixels, and a crop needs 120 × 120",
        "TEST/NEUTROPHIL/black.png": "it is black all over",
        "TRAIN/LYMPHOCYTE/2.jpeg": "it cannot be read",
    }
    assert cells.dataset.X.shape == (3, 14_400)
    assert cells.dataset.X_test.shape == (4, 14_400)
    assert "skipped TRAIN/LYMPHOCYTE/tiny.png: it has 70 × 50 pixels" in caplog.text


@pytest.mark.parametrize(
    "stray", ["../out/1.jpeg", "TRAIN/../../1.jpeg", "/etc/1.jpeg", "C:\\cells\\1.jpeg", "TRAIN\\..\\..\\1.jpeg"]
)
def test_a_path_that_leaves_the_folder_is_refused(stray: str, tmp_path: Path) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    path = zipped(folder / "cells.zip", made_files() | {stray: b"x"})
    with pytest.raises(ValueError, match="which leads out of its folder; pack the pictures anew"):
        blood_cells(path)
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == ["cells.zip"]


def test_what_is_no_album_is_refused_in_one_sentence(tmp_path: Path) -> None:
    text = tmp_path / "cells.zip"
    text.write_text("no zip")
    with pytest.raises(ValueError, match="is neither a folder nor a whole zip of pictures"):
        blood_cells(text)
    with pytest.raises(FileNotFoundError, match="there is no file or folder"):
        blood_cells(tmp_path / "nowhere.zip")
    with pytest.raises(ValueError, match="holds no pictures labelled LYMPHOCYTE or NEUTROPHIL; put them into a folder"):
        blood_cells(zipped(tmp_path / "none.zip", {"readme.txt": b"x", "alone.png": b"x"}))
    files = {name: data for name, data in made_files().items() if name.startswith("TRAIN")}
    with pytest.raises(ValueError, match="has no usable picture in TEST/LYMPHOCYTE"):
        blood_cells(zipped(tmp_path / "train.zip", files))
    broken = {f"TRAIN/{kind}/1.jpeg": b"x" for kind in KINDS}
    with pytest.raises(
        ValueError, match=r"none of the 2 pictures in .* can be used; of the first: it is not a picture"
    ):
        blood_cells(zipped(tmp_path / "broken.zip", broken))
    # A zip that ends early has lost its list of files.
    whole = zipped(tmp_path / "whole.zip", made_files()).read_bytes()
    text.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="is neither a folder nor a whole zip"):
        blood_cells(text)


def test_any_album_of_grey_pictures_is_rows(tmp_path: Path) -> None:
    pictures = {f"pets/{label}/{n}.png": np.full((4, 6, 3), 10 * n, np.uint8) for label in "ab" for n in (1, 2)}
    files = {name: encoded(image, ".png") for name, image in pictures.items()}
    files["pets/a/wide.png"] = encoded(np.zeros((4, 9, 3), np.uint8), ".png")
    album = read_album(zipped(tmp_path / "pets.zip", files))
    dataset = album.dataset("pets", "here")
    assert album.shape == (4, 6)
    assert dataset.y.tolist() == ["a", "a", "b", "b"]
    assert dataset.X[:, 0].tolist() == [10, 20, 10, 20]
    assert dataset.X_test is None
    assert album.skipped == {"pets/a/wide.png": "it has 9 × 4 pixels, and the first has 6 × 4"}


def test_without_opencv_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "cells.zip", made_files())
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ImportError, match=r"pip install 'dualgap\[images\]'"):
        blood_cells(path)


def purple_center(image: np.ndarray) -> np.ndarray:
    """Where the nucleus is by its color, which the pipeline never looks at: the largest purple region and those near it."""
    soft = cv2.GaussianBlur(image, (9, 9), 0).astype(int)
    purple = (soft[..., 0] - soft[..., 1] > 45) & (soft[..., 0] - soft[..., 2] > 5)
    purple &= ~crops.black_frame(images.grey(image), 6)
    count, where, facts, centers = cv2.connectedComponentsWithStats(purple.astype(np.uint8))
    largest = 1 + int(np.argmax(facts[1:, cv2.CC_STAT_AREA]))
    near = [k for k in range(1, count) if np.hypot(*(centers[k] - centers[largest])) < 45 and facts[k, -1] > 60]
    return np.argwhere(np.isin(where, near)).mean(axis=0)


def test_some_of_the_real_pictures_are_read(data_folder: Path) -> None:
    """Every sixtieth picture; its nucleus, told by its color, lies in the middle of the crop."""
    if not (data_folder / ZIP).exists():
        pytest.skip(f"{ZIP} is not in the folder of data sets")
    with zipfile.ZipFile(data_folder / ZIP) as archive:
        pictures = [images.decode(archive.read(name)) for name in sorted(archive.namelist())[::60]]
    found = [crops.steps(picture) for picture in pictures]
    off = [np.hypot(*(purple_center(step.original) - step.center)) for step in found]
    assert len(off) == 105
    assert np.mean(np.array(off) < 20) > 0.9
    assert np.median(off) < 5
    # Black frames are in half of the pictures' corners, and in no crop.
    assert np.mean([(step.original[0, 0] < 20).all() for step in found]) > 0.3
    assert max(step.negative.max() for step in found) < 200


@pytest.mark.slow
def test_all_of_the_real_pictures_are_read(data_folder: Path) -> None:
    cells = blood_cells(data_folder / ZIP, n_jobs=2)
    assert cells.skipped == {}
    assert cells.dataset.X.shape == (4982, 14_400)
    assert cells.dataset.X_test.shape == (1244, 14_400)
    assert np.unique(cells.dataset.y, return_counts=True)[1].tolist() == [2483, 2499]
    assert np.unique(cells.dataset.y_test, return_counts=True)[1].tolist() == [620, 624]
    assert cells.dataset.X.max() < 200


def test_the_figures_show_every_step_and_every_cell() -> None:
    from dualgap.replication.cropping import PANELS, cropping_figure, sheet_figure

    made = crops.steps(made_cell(100, 200))
    shown = cropping_figure(made).to_plotly_json()
    sources = [trace["source"] for trace in shown["data"] if trace["type"] == "image"]
    assert len(set(sources)) == len(PANELS) == 8
    assert [text["text"] for text in shown["layout"]["annotations"]] == list(PANELS.values())
    (cross,) = [trace for trace in shown["data"] if trace["type"] == "scatter"]
    assert (cross["y"][0], cross["x"][0]) == made.center
    for trace, field in zip(sources, PANELS, strict=True):
        picture = images.decode(base64.b64decode(trace.partition(",")[2]))
        step = getattr(made, field)
        grey = np.where(step, 0, 255) if step.dtype == bool else step
        assert np.array_equal(picture if step.ndim == 3 else picture[..., 0], grey)
    rows = {"one": [made.negative.ravel(), made.negative], "other": [made.negative.astype(float) - 99]}
    shown = sheet_figure(rows).to_plotly_json()
    assert len(shown["data"]) == 3
    assert shown["data"][0]["source"] == shown["data"][1]["source"]
    assert [text["text"] for text in shown["layout"]["annotations"]] == ["one", "other"]
