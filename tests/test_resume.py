"""Races that are killed and go on: nothing finished is lost or run twice, and the end is that of an undisturbed race."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from dualgap.cli.app import main
from dualgap.workbench import config, store
from dualgap.workbench.plan import Plan
from dualgap.workbench.runner import Watcher, race

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL needs POSIX")

SETTINGS = ["simulated(n=300, d=8)", "-s", "sdca", "-s", "pegasos", "-s", "sgd(batch_size=4)", "-s", "subgradient"]
SETTINGS += ["--epochs", "60", "--tol", "1e-14", "--test-size", "0.3"]
TIMES = ("seconds", "cpu_seconds", "call_seconds")


def numbers(path: Path) -> dict[str, Any]:
    """All that must not depend on when a race was killed, by run; a run id that stands twice is an error."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        assert run["run"] not in found, "a run id stands twice"
        records = {name: column for name, column in run["records"].items() if name not in TIMES}
        kept = ("settings", "data", "strength", "status", "certificate", "weights", "intercept")
        found[run["run"]] = {name: run[name] for name in kept} | {"records": records}
    return found


def started(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dualgap", "race", "-q", "-o", str(folder), "--resume", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def lines_in(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_until_killed(process: subprocess.Popen[bytes], path: Path, lines: int, delay: float) -> bool:
    """Kill the process `delay` seconds after the file has grown by `lines` lines; False where the process ended before."""
    goal, patience = lines_in(path) + lines, time.monotonic() + 60
    while lines_in(path) < goal and process.poll() is None and time.monotonic() < patience:
        time.sleep(0.002)
    time.sleep(delay)
    process.kill()
    _, errors = process.communicate(timeout=60)
    assert process.returncode in (-signal.SIGKILL, 0), errors.decode()
    return process.returncode != 0


def kill_again_and_again(folder: Path, kills: int, repeats: int, seed: int, jobs: int) -> None:
    moments = random.Random(seed)
    undisturbed = folder / "undisturbed"
    settings = [*SETTINGS, "--repeats", str(repeats)]
    process = started(undisturbed, *settings)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors.decode()
    killed, path = 0, folder / "killed" / store.FILE
    for number in range(kills):
        # Later attempts leave the settings to the folder, which has kept them.
        again = settings if number % 2 == 0 or not path.exists() else []
        process = started(path.parent, *again, "--jobs", str(jobs))
        # Every fourth is hit at any moment of its first seconds, the others while runs end.
        lines = 0 if number % 4 == 3 else moments.randint(1, max(1, 2 * repeats // kills))
        killed += wait_until_killed(process, path, lines, moments.uniform(0.0, 2.0 if lines == 0 else 0.06))
    assert killed > kills // 2, "the race was over before it could be killed; make it longer"
    assert 0 < lines_in(path) <= 4 * repeats
    process = started(path.parent, *settings)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors.decode()
    expected = numbers(undisturbed / store.FILE)
    assert len(expected) == 4 * repeats
    assert numbers(path) == expected
    assert (path.parent / "race.html").exists()


def test_a_race_killed_a_few_times_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path, kills=3, repeats=8, seed=3, jobs=1)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_race_killed_twenty_times_ends_like_an_undisturbed_one(tmp_path: Path, jobs: int) -> None:
    kill_again_and_again(tmp_path, kills=20, repeats=60, seed=20, jobs=jobs)


def children(pid: int) -> list[int]:
    """The processes whose parent is `pid`."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_workers_do_not_outlive_a_killed_race(tmp_path: Path) -> None:
    path = tmp_path / "here" / store.FILE
    process = started(path.parent, *SETTINGS, "--repeats", "500", "--jobs", "2")
    patience = time.monotonic() + 60
    while lines_in(path) < 2 and process.poll() is None and time.monotonic() < patience:
        time.sleep(0.01)
    workers = children(process.pid)
    assert len(workers) >= 2
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    patience = time.monotonic() + 20
    while any(map(is_alive, workers)) and time.monotonic() < patience:
        time.sleep(0.05)
    assert not [pid for pid in workers if is_alive(pid)]


SMALL = Plan(data=("simulated(n=60, d=3)",), solvers=("sdca", "pegasos"), epochs=5.0, tol=1e-14, repeats=3)


class Ears(Watcher):
    """Counts what is run and what was there."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.found: list[str] = []

    def started(self, run: Any) -> None:
        self.ran.append(run.id)

    def already(self, run: Any, finished: store.FinishedRun) -> None:
        self.found.append(run.id)


def test_a_file_cut_anywhere_goes_on_to_the_same_end(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    race(SMALL, whole)
    content, expected = whole.read_bytes(), numbers(whole)
    ends = [place + 1 for place, letter in enumerate(content) if letter == 10]
    cuts = [*random.Random(1).sample(range(len(content)), 12), 0, *ends[:2], ends[0] - 1, ends[1] - 1]
    for cut in cuts:
        path, ears = tmp_path / f"{cut}.jsonl", Ears()
        path.write_bytes(content[:cut])
        done = store.resume(path)
        outcome = race(SMALL, path, ears, done=done)
        # A line that lost nothing but its end is whole.
        assert len(done) == sum(end - 1 <= cut for end in ends)
        assert (len(ears.found), len(ears.ran)) == (len(done), 6 - len(done))
        assert numbers(path) == expected
        assert [run.run for run in outcome.runs] == [run.id for heat in SMALL.heats() for run in heat.runs]


def called(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["race", *arguments])
    return int(ended.value.code or 0)


QUICK = ["simulated(n=60, d=3)", "-s", "sdca", "--epochs", "5", "--tol", "1e-14", "--repeats", "2"]


def test_resume_takes_the_newest_folder_and_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert called(*QUICK) == called(*QUICK, "--strength", "1/n") == 0
    older, newer = (tmp_path / f"dualgap-race-00{n}" / store.FILE for n in (1, 2))
    before, first = older.read_bytes(), newer.read_bytes().split(b"\n")[0] + b"\n"
    newer.write_bytes(first + b'{"torn')
    assert called("--resume") == 0
    assert "1 finished run found and kept" in capsys.readouterr().out
    assert older.read_bytes() == before
    assert newer.read_bytes().startswith(first)
    assert {run["settings"]["strength"] for run in numbers(newer).values()} == {"1/n"}
    assert len(numbers(newer)) == 2
    whole = newer.read_bytes()
    assert called("--resume", "--jobs", "1") == 0
    assert newer.read_bytes() == whole, "a race that is over is left as it is"
    assert called("--resume", "--repeats", "3", "-s", "sdca", "-s", "sgd") == 0
    assert newer.read_bytes().startswith(whole)
    assert len(numbers(newer)) == 6


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (["--tol", "1e-3"], "the finished runs have tol 1e-14, got 0.001"),
        (["--seed", "5"], "have seed 0, got 5"),
        (["--loss", "logistic"], "have loss hinge, got logistic"),
        (["--seconds", "3"], "have seconds None, got 3.0"),
    ],
)
def test_other_settings_are_refused_on_resuming(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], other: list[str], words: str
) -> None:
    path = tmp_path / "here" / store.FILE
    assert called(*QUICK, "-o", str(path.parent)) == 0
    before, kept = path.read_bytes(), (path.parent / config.FILE).read_bytes()
    capsys.readouterr()
    assert called(*QUICK, *other, "--resume", "-o", str(path.parent)) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert (path.read_bytes(), (path.parent / config.FILE).read_bytes()) == (before, kept)


def test_there_must_be_something_to_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert called("--resume") == 2
    assert "there is no folder dualgap-race-001 or later here to resume" in capsys.readouterr().err
    (tmp_path / "file").touch()
    assert called("--resume", "-o", "file") == 2
    assert "'file' is a file" in capsys.readouterr().err
    # A race killed before its first run ended has left a folder without results.
    assert called(*QUICK, "--resume", "-o", "new") == 0
    assert len(numbers(tmp_path / "new" / store.FILE)) == 2
