"""Where files are written: regular files only, links followed, whole or not at all; and what is never read."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dualgap.cli.app import main
from dualgap.data import files
from dualgap.workbench import config, races, store
from small_models import model_for
from test_store import some_run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="devices, FIFOs and links need POSIX")


def fifo(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    """A link to a device: to make one takes root."""
    path.symlink_to("/dev/null")


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def folder(path: Path) -> None:
    path.mkdir()


STRANGE: dict[str, Callable[[Path], None]] = {
    "a FIFO": fifo,
    "a device": device,
    "a socket": listening,
    "a folder": folder,
}


def code_of(*arguments: str) -> object:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return ended.value.code


@pytest.mark.parametrize("kind", STRANGE)
def test_what_is_no_regular_file_is_neither_written_nor_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "strange"
    STRANGE[kind](path)
    before = os.lstat(path)
    for act in (files.destination, files.source, lambda path: files.write_text(path, "x")):
        with pytest.raises(ValueError, match=kind):
            act(path)
    assert os.lstat(path).st_ino == before.st_ino
    assert [entry.name for entry in tmp_path.iterdir()] == ["strange"]


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize(
    "words",
    [
        ["fit", "breast_cancer", "--overwrite", "-o"],
        ["predict", "model.dg", "breast_cancer", "--overwrite", "-o"],
        ["race", "simulated(n=30, d=2)", "-s", "sdca", "--epochs", "1", "-o", "new", "--svg"],
        ["certify"],
        ["race", "--config"],
        ["report"],
    ],
    ids=lambda words: " ".join(words[:1] + words[-1:]),
)
def test_commands_refuse_special_files_before_any_work(
    kind: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    STRANGE[kind](tmp_path / "strange")
    before = os.lstat("strange")
    assert code_of(*words, "strange", *(["breast_cancer"] if words == ["certify"] else [])) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("dualgap: ")
    assert len(said.err.splitlines()) == 1
    assert kind in said.err or (words == ["report"] and kind == "a folder")
    assert os.lstat("strange").st_ino == before.st_ino
    assert [entry.name for entry in tmp_path.iterdir()] == ["strange"]


@pytest.mark.skipif(not hasattr(os, "mknod") or os.geteuid() != 0, reason="only root makes devices")
def test_writing_never_replaces_a_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "null"
    try:
        os.mknod(path, 0o20666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("this container makes no devices")
    assert code_of("fit", "breast_cancer", "-o", str(path), "--overwrite") == 2
    assert "is a device" in capsys.readouterr().err
    assert path.is_char_device()


WRITERS: dict[str, Callable[[Path], object]] = {
    "model": lambda path: model_for("squared").save(path),
    "text": lambda path: files.write_text(path, "new"),
    "config": lambda path: config.write(path, {"loss": "hinge"}),
    "parquet": lambda path: store.write_parquet(path, [some_run(0)], overwrite=True),
    "results line": lambda path: store.append(path, some_run(1)),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_its_target_is_written(name: str, exists: bool, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "target", tmp_path / "link"
    if exists:
        target.write_bytes(b"old\n")
    link.symlink_to(target)
    (tmp_path / "second").symlink_to(link)
    WRITERS[name](tmp_path / "second")
    assert link.is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert not target.is_symlink()
    assert target.stat().st_size > 0
    assert target.read_bytes() != b"old\n"
    assert [entry.name for entry in (tmp_path / "elsewhere").iterdir()] == ["target"]


def test_new_files_of_a_race_go_where_a_dangling_link_leads(tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "runs")
    (tmp_path / "link.html").symlink_to(tmp_path / "page")
    race = races.Race((some_run(0),))
    race.save(tmp_path / "link.jsonl")
    race.page(tmp_path / "link.html")
    assert store.read(tmp_path / "runs")
    assert "<html" in (tmp_path / "page").read_text()
    assert all((tmp_path / name).is_symlink() for name in ("link.jsonl", "link.html"))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path / "a\0b", "NUL byte"),
        (lambda path: path / "no" / "file", "there is no folder"),
        (lambda path: path / ("n" * 300), "cannot be looked up"),
        (lambda path: path / "file" / "inside", "as if it were a folder"),
        (lambda path: path / "circle", "cannot be looked up"),
    ],
)
def test_paths_that_lead_nowhere_are_refused(make: Callable[[Path], Path], words: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    with pytest.raises(ValueError, match=words):
        files.write_text(make(tmp_path), "x")


@pytest.mark.parametrize("text", ["[" * 10**6, '{"a":' * 10**6, "\x00", "{", b"\xff\xfe\x00"])
def test_json_is_read_or_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):
        files.parsed_json(text)


def test_a_replaced_file_keeps_no_temporary_name(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from dualgap.data import files; files.write_text(Path(sys.argv[1]), 'x')"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a")], check=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]
