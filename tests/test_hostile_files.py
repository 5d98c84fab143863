"""Hostile files and arguments: one sentence and exit code 2 from the command line, ValueError from Python, no trace."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dualgap as dg
from commands import ended, refused
from dualgap.cli import app, replicate
from dualgap.datasets import load
from dualgap.datasets.columns import read_rows
from dualgap.replication import gathering, selection
from dualgap.workbench import config, store
from dualgap.workbench.plan import Plan
from small_models import model_for
from test_store import some_run

# Arrays


def npy(header: str, content: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + content


HEADERS = {
    "cut": npy("{'descr': '<f8', 'fortran_order': False, 'sha"),
    "unclosed": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4, 1"),
    "nested": npy("(" * 9000),
    "infinite": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1e999,), }\n"),
    "huge": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 4), }\n"),
    "negative": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-4,), }\n", b"\0" * 32),
    "truth": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (True, 4), }\n", b"\0" * 32),
    "objects": npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", b"cos\nsystem\n(S'touch canary'\ntR."),
    "no magic": b"12345678" * 9,
    "empty": b"",
    "short": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }\n", b"\0" * 31),
}


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize("member", ["X", "y"])
def test_malformed_headers_of_arrays_are_refused(
    name: str, member: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("good.npz", X=np.eye(4), y=np.arange(4) % 2)
    with zipfile.ZipFile("good.npz") as good, zipfile.ZipFile("bad.npz", "w") as bad:
        for info in good.infolist():
            bad.writestr(info.filename, HEADERS[name] if info.filename == f"{member}.npy" else good.read(info))
    model_for("hinge").save("model.dg")
    for words in (["fit", "bad.npz"], ["predict", "model.dg", "bad.npz"], ["certify", "model.dg", "bad.npz"]):
        assert "bad.npz" in refused(capsys, *words)
    with pytest.raises(ValueError, match=r"bad.npz"):
        load("bad.npz")
    assert not Path("canary").exists()


@pytest.mark.parametrize("name", HEADERS)
def test_malformed_headers_in_model_files_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.dg"
    model_for("hinge").save(path)
    with zipfile.ZipFile(path) as good:
        record = good.read("model.json")
    with zipfile.ZipFile(path, "w") as bad:
        bad.writestr("model.json", record)
        bad.writestr("weights.npy", HEADERS[name])
    with pytest.raises(ValueError, match=r"m.dg"):
        dg.load(path)


@pytest.mark.parametrize("shape", [np.array(4), np.array([4.0, np.inf]), np.array([4]), np.array([[4, 4]])])
@pytest.mark.parametrize("targets", [True, False])
def test_impossible_shapes_of_sparse_archives_are_refused(shape: Any, targets: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    parts = {"data": np.ones(4), "indices": np.arange(4), "indptr": np.arange(5), "shape": shape}
    np.savez(path, **parts, **({"y": np.arange(4) % 2} if targets else {}))
    with pytest.raises(ValueError, match=r"a.npz"):
        read_rows(str(path), None, 4)


@pytest.mark.parametrize(
    "parts", [{"X": np.array(1.0)}, {"shape": np.array([4, 4])}, {"X": np.eye(2), "y": np.array(1)}]
)
def test_archives_without_rows_are_refused(parts: dict[str, Any], tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **parts)
    with pytest.raises(ValueError, match=r"a.npz"):
        read_rows(str(tmp_path / "a.npz"), None, 2)


# Text


@pytest.mark.parametrize(
    "content",
    [
        b"seed = " + b"[" * 10**5,
        b"a" + b".a" * 10**5 + b" = 1",
        b"seed = " + b"9" * 5000,
        b"epochs = 1" + b"0" * 400,
        b"loss = '\xff'",
        b'loss = "\x00"',
        b"repeats = 10000000000",
        b"seed = 18446744073709551616",
        b'data = ["a\\u0000b.csv"]',
        b'data = ["breast_cancer"]\nloss = ["a", "b"]',
        b"#" * (config.LARGEST + 1),
    ],
    ids=lambda content: repr(content[:24]),
)
def test_malformed_settings_of_a_race_are_refused(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "race.toml").write_bytes(content)
    sentence = refused(capsys, "race", "--config", str(tmp_path / "race.toml"), "-o", str(tmp_path / "new"))
    assert len(sentence) < 1000
    assert not (tmp_path / "new").exists()


def test_a_race_has_a_limit_of_runs() -> None:
    with pytest.raises(ValueError, match="at most 1,000,000 runs, got 10,000,000,000"):
        Plan(repeats=10**9)


DEEP = b"[" * 10**6


def test_deeply_nested_results_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.jsonl"
    store.append(path, some_run(0))
    path.write_bytes(DEEP + b"\n" + path.read_bytes())
    with pytest.raises(ValueError, match=r"line 1 of .* is not JSON"):
        store.read(path)
    path.write_bytes(DEEP)
    assert "holds no finished run" in refused(capsys, "report", str(path)).splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("replication.json", DEEP),
        ("replication.json", b"[]"),
        ("replication.json", b'{"names": 3, "quick": true}'),
        ("replication.json", b'{"quick": true}'),
        ("replication.json", b"\xff"),
        ("facts.json", DEEP),
        ("facts.json", b"[1]"),
    ],
)
def test_malformed_files_of_a_replication_are_refused(
    name: str, content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "replication.json").write_text('{"names": ["R3.1"], "quick": true, "figure": null}')
    (tmp_path / name).write_bytes(content)
    assert name in refused(capsys, "replicate", "--resume", "-o", str(tmp_path), "-q")


def test_a_replication_whose_runs_lack_records(tmp_path: Path) -> None:
    store.append(tmp_path / store.FILE, some_run(0))
    with pytest.raises(ValueError, match="lacks records of updates, which the rules need"):
        gathering.read(tmp_path)


def test_settings_of_a_replication_without_a_figure(tmp_path: Path) -> None:
    (tmp_path / selection.SETTINGS).write_text('{"names": ["R3.1"], "quick": true}')
    # Facts that are none end it before anything is run.
    (tmp_path / "facts.json").write_text("[1]")
    with pytest.raises(ValueError, match=r"facts\.json"):
        replicate.carry_out(selection.Selection(), out=tmp_path, resume=True, open_page=False, quiet=True)


def edited_line(**changes: Any) -> bytes:
    file = io.BytesIO()
    run = {"format": 1} | some_run(0).__dict__ | changes
    file.write(json.dumps(run).encode() + b"\n")
    return file.getvalue()


@pytest.mark.parametrize(
    "changes",
    [
        {"strength": 10**400},
        {"strength": "1"},
        {"records": {"epoch": [10**400, 1.0]}},
        {"records": {"epoch": ["a", None]}},
        {"certificate": {"primal": "x"}},
        {"settings": some_run(0).settings | {"tol": []}},
        {"settings": some_run(0).settings | {"seed": -1}},
        {"settings": {"solver": "sdca"}},
        {"data": {"rows": 1e300}},
        {"weights": ["a"]},
        {"started": 5},
    ],
    ids=str,
)
def test_results_of_other_types_are_refused_where_they_go_on_and_shown_where_they_can_be(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "results.jsonl"
    path.write_bytes(edited_line(**changes))
    with pytest.raises(
        ValueError, match=f"line 1 of .* holds something else than dualgap writes in {next(iter(changes))}"
    ):
        store.read(path)
    path.write_bytes(edited_line() + edited_line(run="other", **changes))
    race = dg.Race.load(path)
    assert repr(race)
    race.page(tmp_path / "page.html")


def test_a_page_is_made_of_runs_without_a_start_time(tmp_path: Path) -> None:
    dg.Race((some_run(0),)).page(tmp_path / "page.html")


# Model files


@pytest.mark.parametrize(
    "changes",
    [
        {"primal": 0.0, "dual": -1.0, "reference": 0.0},
        {"primal": -1.0, "reference": 0.0},
        {"primal": "nan", "reference": 0.0},
        {"reference": 0.0, "primal": 0, "dual": -5e-324, "alarm": 0.0},
    ],
)
def test_certificates_that_divide_by_zero_are_refused(
    changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ended("fit", "breast_cancer", "-o", "m.dg") == 0
    with zipfile.ZipFile("m.dg") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    record = json.loads(parts["model.json"])
    known = {name: value for name, value in changes.items() if name in record["certificates"][0]}
    record["certificates"][0].update(known)
    with zipfile.ZipFile("m.dg", "w") as archive:
        for name, data in (parts | {"model.json": json.dumps(record).encode()}).items():
            archive.writestr(name, data)
    capsys.readouterr()
    assert ended("certify", "m.dg", "breast_cancer", "--seconds", "1") in (1, 2)
    assert "Traceback" not in capsys.readouterr().err


# The command line itself


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "more memory than there is"),
        (RecursionError("maximum recursion depth exceeded"), "nested too deeply"),
        (zipfile.BadZipFile("Bad CRC-32"), "Bad CRC-32"),
        (OverflowError("too large"), "too large"),
        (ValueError("two\nlines"), "two lines"),
        (ValueError(), "ValueError"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_foreseen_errors_are_one_sentence_and_exit_code_2(
    error: Exception, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("dualgap.models.reading.load", fail)
    assert words in refused(capsys, "certify", "m.dg", "breast_cancer")


def test_an_early_end_of_file_exits_with_2_and_not_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise EOFError("Compressed file ended")

    monkeypatch.setattr("dualgap.models.reading.load", fail)
    assert ended("certify", "m.dg", "breast_cancer") == 2
    assert capsys.readouterr().err.strip() == "dualgap: Compressed file ended"


def test_an_unforeseen_error_exits_with_70_and_not_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("a bug")

    monkeypatch.setattr("dualgap.models.reading.load", fail)
    assert ended("certify", "m.dg", "breast_cancer") == app.MISTAKE
    assert "please report" in capsys.readouterr().err


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: path.touch()], ids=["folder", "empty"])
@pytest.mark.parametrize(
    "name", ["a.csv", "a.svm", "a.npz", "a.parquet", "a.zip", "a.csv.gz", "a.dg", "a.toml", "a.jsonl"]
)
def test_folders_and_empty_files_in_place_of_files_are_refused(
    make: Callable[[Path], None],
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    model_for("hinge").save("model.dg")
    make(tmp_path / name)
    commands = {
        ".dg": [["certify", name, "breast_cancer"], ["predict", name, "breast_cancer"]],
        ".jsonl": [["report", name]],
    }
    commands[".toml"] = [["race", "--config", name, "-s", "sdca", "--epochs", "1", "-o", "new", "-q"]]
    data = [["fit", f"./{name}"], ["race", f"./{name}", "-s", "sdca"], ["predict", "model.dg", f"./{name}"]]
    if name.endswith(".toml") and (tmp_path / name).is_file():
        return  # an empty list of options is one
    for words in commands.get(Path(name).suffix, data):
        refused(capsys, *words)


# Row blocks


@pytest.mark.parametrize("name", HEADERS)
def test_malformed_arrays_are_refused_as_row_blocks(name: str, tmp_path: Path) -> None:
    (tmp_path / "rows.npy").write_bytes(HEADERS[name])
    with pytest.raises(ValueError) as refusal:
        dg.Blocks(tmp_path / "rows.npy", np.arange(4) % 2)
    assert len(str(refusal.value).splitlines()) == 1


def test_arrays_are_mapped_in_either_order(tmp_path: Path) -> None:
    X = np.arange(24.0).reshape(8, 3)
    for order in ("C", "F"):
        np.save(tmp_path / "rows.npy", np.array(X, order=order))
        blocks = dg.Blocks(tmp_path / "rows.npy")
        assert np.array_equal(np.concatenate(list(blocks.home.map(lambda block, _: block.rows.arrays[0], None))), X)


def test_damaged_parquet_files_are_refused_as_row_blocks_in_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow
    from pyarrow.parquet import write_table

    path = tmp_path / "rows.parquet"
    write_table(pyarrow.table({"x": np.arange(50.0), "y": np.arange(50.0)}), path)
    whole = path.read_bytes()
    # The header of the first page, and the length of the footer.
    for place in (4, len(whole) - 8):
        path.write_bytes(whole[:place] + b"\xff" * 8 + whole[place + 8 :])
        with pytest.raises(ValueError, match="is damaged or not parquet") as refusal:
            dg.Blocks(path, target="y").scanned(False)
        assert len(str(refusal.value).splitlines()) == 1
