"""Hostile and damaged model files are refused in one sentence, and a write leaves a whole file or the old one."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dualgap as dg
from dualgap.models.digests import digest
from small_models import ROWS, SIGNS, model_for, saved


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(path: Path, parts: dict[str, bytes], packing: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def edited(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    parts = members(path)
    record = json.loads(parts["model.json"])
    change(record)
    packed(path, parts | {"model.json": json.dumps(record).encode()})


def array_bytes(values: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, values, **options)
    return file.getvalue()


def with_array(name: str, data: bytes) -> Callable[[Path], None]:
    return lambda path: packed(path, members(path) | {f"{name}.npy": data})


def with_record(**changes: Any) -> Callable[[Path], None]:
    return lambda path: edited(path, lambda record: record.update(changes))


def lying_header(path: Path) -> None:
    """An array that says it is huge, in a record that says so too."""
    good = array_bytes(np.zeros(4))
    edited(path, lambda record: record["arrays"].update(weights=[10**12]))
    packed(
        path, members(path) | {"weights.npy": good.replace(b"(4,), ", b"(1000000000000,), ").replace(b" " * 12, b"", 1)}
    )


def twice(path: Path) -> None:
    parts = members(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name in ["model.json", "weights.npy", "model.json"]:
            archive.writestr(name, parts[name])


def bomb(path: Path) -> None:
    """Ten megabytes of zeros in ten kilobytes, with the shapes to match."""
    edited(path, lambda record: record["arrays"].update(weights=[1_250_000]))
    packed(path, members(path) | {"weights.npy": array_bytes(np.zeros(1_250_000))}, zipfile.ZIP_DEFLATED)


def certificate_with(**changes: Any) -> Callable[[Path], None]:
    return lambda path: edited(path, lambda record: record["certificates"][0].update(changes))


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "text": (lambda path: path.write_text("weights: 1, 2, 3"), "not a model file, or it is damaged"),
    "empty": (lambda path: path.write_bytes(b""), "not a model file, or it is damaged"),
    "cut": (lambda path: path.write_bytes(path.read_bytes()[:-40]), "not a model file, or it is damaged"),
    "a bit": (lambda path: flip(path, b"\x93NUMPY", 140), "damaged (Bad CRC-32 for file 'weights.npy'"),
    "no record": (lambda path: packed(path, {"weights.npy": b""}), "it holds model.json not at all"),
    "no array": (lambda path: packed(path, {"model.json": members(path)["model.json"]}), "weights.npy not at all"),
    "twice": (twice, "it holds model.json twice"),
    "broken JSON": (lambda path: packed(path, members(path) | {"model.json": b'{"format": 1,'}), "is not JSON"),
    "not UTF-8": (lambda path: packed(path, members(path) | {"model.json": b'{"format": "\xff"}'}), "is not JSON"),
    "deep JSON": (lambda path: packed(path, members(path) | {"model.json": b"[" * 10**6}), "is not JSON"),
    "a list": (lambda path: packed(path, members(path) | {"model.json": b"[1]"}), "one object, and holds a list"),
    "a long number": (lambda path: packed(path, {"model.json": b"9" * 10**5}), "cannot be trusted|can be trusted"),
    "NaN in JSON": (with_record(strengths=[float("nan")]), "NaN is no number of JSON"),
    "newer": (with_record(format=4, kind="quantum"), "was made by a newer dualgap (format 4, this one reads 3)"),
    "no format": (with_record(format=None), "names no format version, got None"),
    "format as text": (with_record(format="1"), "names no format version, got '1'"),
    "format true": (with_record(format=True), "names no format version, got True"),
    "kind": (with_record(kind="tree"), "the kind of a model is one of"),
    "kind of another shape": (with_record(kind="one_vs_rest"), "needs weights in 2 dimensions"),
    "loss": (with_record(loss="os.system(x=1)"), "a spec is a name"),
    "another task": (with_record(loss="poisson"), "for regression, which the model is not"),
    "loss as number": (with_record(loss=3), "'loss' should be of type str, got int"),
    "negative strength": (with_record(strengths=[-1.0]), "a strength needs to be a finite number > 0"),
    "huge strength": (with_record(strengths=[10**400]), "number of float64, got one too large"),
    "two strengths": (with_record(strengths=[1.0, 1.0]), "needs 1 certificates, endings and strengths"),
    "intercept as text": (with_record(intercept="0"), "'intercept' should be a number, got str"),
    "two intercepts": (with_record(intercept=[1.0, 2.0]), "the intercept needs one finite number"),
    "forbidden intercept": (with_record(free_intercept=False, intercept=2.0), "has intercept 0, got another"),
    "one class": (with_record(classes={"type": "<i8", "values": [1]}), "needs 2 ascending classes, got 1"),
    "falling classes": (with_record(classes={"type": "<i8", "values": [1, 0]}), "needs 2 ascending classes"),
    "no classes": (with_record(classes=None), "a binary model needs classes"),
    "class objects": (with_record(classes={"type": "|O", "values": [0, 1]}), "numbers or text of the type they name"),
    "class of another type": (with_record(classes={"type": "<i8", "values": ["a", "b"]}), "of the type they name"),
    "class overflow": (with_record(classes={"type": "|i1", "values": [0, 999]}), "do not fit their type"),
    "structured classes": (with_record(classes={"type": ",i8,i8", "values": [0, 1]}), "of the type they name"),
    "names": (with_record(feature_names=["a"]), "4 columns need as many feature names, got 1"),
    "names as numbers": (with_record(feature_names=[1, 2, 3, 4]), "should be a list of text"),
    "no certificate": (with_record(certificates=[]), "needs 1 certificates, endings and strengths"),
    "certificate as text": (certificate_with(primal="0.1"), "'primal' should be a number, got str"),
    "status": (certificate_with(status="PERFECT"), "'PERFECT' is no ending of a run"),
    "data": (with_record(data={"rows": 60}), "'data' has no 'columns'"),
    "data of another width": (with_record(data=vars(digest(ROWS[:, :3], SIGNS))), "cannot come from data of 3 columns"),
    "reading": (with_record(reading={"target": 7, "seed": 0, "test_size": 0, "positive": []}), "'target' should be of"),
    "class factors": (with_record(class_factors=[[1.0]]), "class factors need to be 1 × 2 finite numbers"),
    "parameters": (with_record(parameters=3), "'parameters' should be of type dict"),
    "arrays": (with_record(arrays={}), "it has no weights"),
    "shape as text": (with_record(arrays={"weights": ["4"]}), "should be whole numbers"),
    "another shape": (
        with_record(arrays={"weights": [5]}),
        "float64 numbers of shape (5,), and says float64 of shape (4,)",
    ),
    "NaN weights": (with_array("weights", array_bytes(np.array([1.0, np.nan, 0.0, 0.0]))), "finite float64 numbers"),
    "float32": (with_array("weights", array_bytes(np.zeros(4, np.float32))), "and says float32"),
    "objects": (with_array("weights", array_bytes(np.array([{}] * 4), allow_pickle=True)), "holds Python objects"),
    "no npy": (with_array("weights", b"12345678" * 4), "malformed header"),
    "short npy": (with_array("weights", array_bytes(np.zeros(4))[:-8]), "should hold 4 numbers, and holds 24 bytes"),
    "lying header": (lying_header, "should hold 1,000,000,000,000 numbers"),
    "a bomb": (bomb, "weights.npy is compressed|model.json is compressed"),
}


def flip(path: Path, after: bytes, distance: int) -> None:
    data = bytearray(path.read_bytes())
    data[data.index(after) + distance] ^= 1
    path.write_bytes(data)


@pytest.fixture(scope="module")
def good() -> dg.Model:
    return model_for("hinge")


@pytest.mark.filterwarnings("ignore:Duplicate name")  # Python's own word about the file that holds a name twice
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_one_sentence(name: str, good: dg.Model, tmp_path: Path) -> None:
    path = saved(good, tmp_path / "m.dg")
    spoil, words = HOSTILE[name]
    spoil(path)
    with pytest.raises(ValueError) as refused:
        dg.load(path)
    sentence = str(refused.value)
    assert any(part in sentence for part in words.split("|")), sentence
    assert sentence.startswith(repr(str(path)))
    assert "\n" not in sentence
    assert type(refused.value) is ValueError


def test_paths_inside_the_zip_write_nothing(good: dg.Model, tmp_path: Path) -> None:
    path = saved(good, tmp_path / "deep.dg")
    packed(path, members(path) | {"../../evil.npy": b"x", "/evil": b"x", "__init__.py": b"raise SystemExit"})
    assert np.array_equal(dg.load(path).weights, good.weights)
    assert [entry.name for entry in tmp_path.iterdir()] == ["deep.dg"]


def test_any_damage_is_a_refusal_or_harmless(good: dg.Model, tmp_path: Path) -> None:
    """Bytes changed at random places: never another exception than ValueError, and never other weights."""
    path = saved(good, tmp_path / "m.dg")
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(1500):
        data = bytearray(whole)
        # The directory at the end decides how the rest is read, so that half of the damage is done there.
        low = 0 if rng.random() < 0.5 else len(whole) - 200
        for place in rng.integers(low, len(whole), rng.integers(1, 4)):
            data[place] = rng.integers(256)
        path.write_bytes(data[: rng.integers(1, len(data))] if rng.random() < 0.1 else data)
        try:
            back = dg.load(path)
        except ValueError:
            refused += 1
        else:
            assert np.array_equal(back.weights, good.weights)
    assert refused > 1000


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file"):
        dg.load(tmp_path / "nothing.dg")
    with pytest.raises(ValueError, match=r"only a regular file can be read, and .* is a folder"):
        dg.load(tmp_path)


# Whole or not at all


def test_a_file_is_replaced_whole(good: dg.Model, tmp_path: Path) -> None:
    path = saved(model_for("squared"), tmp_path / "m.dg")
    good.save(str(path))
    assert dg.load(path).loss == "hinge"
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.dg"]
    for place, words in ((tmp_path, "is a folder"), (tmp_path / "no" / "m.dg", "there is no folder")):
        with pytest.raises(ValueError, match=words):
            good.save(place)


def test_a_failed_write_leaves_the_old_file(good: dg.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(good, tmp_path / "m.dg")
    before = path.read_bytes()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        model_for("squared").save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.dg"]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL needs POSIX")
@pytest.mark.parametrize("moment", ["np.lib.format.write_array", "os.fsync", "os.replace"])
def test_a_killed_write_leaves_the_old_file(moment: str, good: dg.Model, tmp_path: Path) -> None:
    path = saved(good, tmp_path / "m.dg")
    before = path.read_bytes()
    code = f"""
import os, signal, numpy as np, dualgap as dg
from dataclasses import replace
model = dg.load({str(path)!r})
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
{moment} = die
replace(model, weights=2.0 * model.weights).save({str(path)!r})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 2, "the part that was written has a name of its own"
    assert np.array_equal(dg.load(path).weights, good.weights)
