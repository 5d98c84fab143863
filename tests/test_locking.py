"""Two programs and one results folder: the second is refused, and the lock ends with its owner, however that ends."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dualgap.cli.app import main
from dualgap.workbench import locking, store
from dualgap.workbench.locking import sole_writer
from test_store import some_run

pytestmark = pytest.mark.skipif(locking.fcntl is None, reason="the lock is flock")

OWNER = """
import os, sys, time
from pathlib import Path
from dualgap.workbench.locking import sole_writer
with sole_writer(Path(sys.argv[1])):
    if "fork" not in sys.argv:
        print(-1, flush=True)
    elif os.fork() == 0:
        print(os.getpid(), flush=True)  # by the child: its copy of the lock is closed when fork returns there
    time.sleep(60)
"""


def owner_of(folder: Path, *words: str) -> tuple[subprocess.Popen[str], int]:
    """A process that holds the folder, and its forked child where one is asked for."""
    process = subprocess.Popen([sys.executable, "-c", OWNER, str(folder), *words], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def is_free(folder: Path) -> bool:
    try:
        with sole_writer(folder):
            return True
    except ValueError:
        return False


def test_a_folder_has_one_writer(tmp_path: Path) -> None:
    with sole_writer(tmp_path):
        with pytest.raises(ValueError, match="takes one program at a time, and another one is writing"):
            sole_writer(tmp_path).__enter__()
        assert not is_free(tmp_path)
    assert is_free(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [(), ("fork",)])
def test_a_killed_owner_frees_it_and_a_forked_child_does_not_keep_it(words: tuple[str, ...], tmp_path: Path) -> None:
    process, child = owner_of(tmp_path, *words)
    try:
        assert not is_free(tmp_path)
        process.kill()
        process.wait(timeout=60)
        assert is_free(tmp_path)
    finally:
        process.kill()
        if child > 0:
            os.kill(child, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize(
    "words",
    [
        ["race", "simulated(n=30, d=2)", "--epochs", "1", "--resume"],
        ["race", "--resume"],
        ["replicate", "R4.2", "--quick", "--resume"],
    ],
)
def test_the_second_program_is_refused_in_one_sentence(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store.append(tmp_path / store.FILE, some_run(0))
    with (tmp_path / store.FILE).open("ab") as file:
        file.write(b'{"torn')  # the line that the first program is writing
    before = (tmp_path / store.FILE).read_bytes()
    with sole_writer(tmp_path), pytest.raises(SystemExit) as ended:
        main([*words, "-o", str(tmp_path)])
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert "another one is writing" in said.err
    assert len(said.err.splitlines()) == 1
    assert (tmp_path / store.FILE).read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [store.FILE]


def test_a_new_race_in_a_folder_just_claimed_by_another_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with sole_writer(tmp_path), pytest.raises(SystemExit) as ended:
        main(["race", "simulated(n=30, d=2)", "-s", "sdca", "--epochs", "1", "-o", str(tmp_path)])
    assert (ended.value.code, "another one is writing" in capsys.readouterr().err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_systems_and_drives_without_locks_go_unlocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locking.fcntl, "flock", refuse)
    with sole_writer(tmp_path), sole_writer(tmp_path):
        pass
    monkeypatch.setattr(locking, "fcntl", None)
    with sole_writer(tmp_path), sole_writer(tmp_path):
        pass
