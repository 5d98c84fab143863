"""A mutation fuzzer of files: valid files are damaged, and the command line and the Python readers are driven with them.

    python tests/fuzz/files.py --cases 5000 --seed 1

Cases run in worker processes with a limit on memory and on time. Counted are stack traces, executed pickles, exit codes
other than 0, 1 and 2, and model files whose claim is false and of which `certify` says that it holds.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import io
import json
import logging
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

MEMORY = 4 << 30  # bytes of address space of a worker
SECONDS = 20  # of a case
PATIENCE = 90.0  # seconds without a word after which a worker is killed: code that hears no signal
BAD = ("trace", "canary", "exit code", "false claim", "died", "no sentence")


class TimeUp(BaseException):
    """The time of a case is over."""


@contextlib.contextmanager
def captured() -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Both output streams as bytes."""
    streams = io.BytesIO(), io.BytesIO()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (io.TextIOWrapper(stream, encoding="utf-8", write_through=True) for stream in streams)
    try:
        yield streams
    finally:
        sys.stdout.detach(), sys.stderr.detach()
        sys.stdout, sys.stderr = before


def run_command(words: list[str]) -> tuple[str, str]:
    """How a command line ended: its exit code or what went wrong, and what it said last."""
    from dualgap.cli.app import main

    for handler in logging.getLogger().handlers[:]:
        logging.getLogger().removeHandler(handler)
    with captured() as (out, err):
        try:
            main(words)
            code: Any = "no exit"
        except SystemExit as ended:
            code = ended.code
        except TimeUp:
            code = "time"
        except BaseException:
            return "trace", traceback.format_exc()[-1500:]
    said = err.getvalue().decode("utf-8", "replace")
    if "Traceback" in said or "Traceback" in out.getvalue().decode("utf-8", "replace"):
        return "trace", said[-1500:]
    if code == 2 and not said.splitlines()[-1:][0].startswith("dualgap: "):
        return "no sentence", said[-500:]
    if code == "time" or code in (0, 1, 2, 3):
        return str(code), said[-300:]
    return "exit code", f"{code}: {said[-500:]}"


def read_in_python(reader: str, path: Path) -> tuple[str, str]:
    """How the Python reader of a file ended; ValueError and OSError are its refusals."""
    import dualgap as dg
    from dualgap.data.files import parsed_json
    from dualgap.datasets import load
    from dualgap.workbench import config

    readers: dict[str, Any] = {
        "model": dg.load,
        "data": lambda path: load(str(path)),
        "race": lambda path: repr(dg.Race.load(path)) + dg.Race.load(path)._html(),
        "config": config.read,
        "json": lambda path: parsed_json(path.read_bytes()),
        "parquet blocks": lambda path: fit_blocks(dg.Blocks(str(path), target="target")),
        "npy blocks": lambda path: fit_blocks(dg.Blocks(str(path), np.arange(60) % 2)),
    }
    with captured():
        try:
            readers[reader](path)
        except (ValueError, OSError) as error:
            return ("2", "") if len(str(error).splitlines()) == 1 else ("no sentence", repr(error)[:500])
        except TimeUp:
            return "time", ""
        except BaseException:
            return "trace", traceback.format_exc()[-1500:]
    return "0", ""


def fit_blocks(blocks: Any) -> None:
    """A short fit on row blocks."""
    import dualgap as dg

    dg.solve(dg.Problem(blocks, loss="hinge", strength=0.05), max_epochs=3, max_seconds=1.0)


def same_data(path: Path, seed: Any) -> bool:
    """Whether a data file still holds the values it was made with."""
    from dualgap.datasets import load

    found = load(str(path))
    X = found.X.toarray() if hasattr(found.X, "toarray") else found.X
    return np.array_equal(X, seed.truth["X"]) and np.array_equal(found.y, seed.truth["y"])


def run_case(seed: int, number: int, seeds: list[Any], folder: Path) -> dict[str, Any]:
    """One mutated file, one command line, one reader."""
    from file_claims import false_claim
    from file_mutations import mutated

    rng = np.random.default_rng((seed, number))
    chosen = seeds[number % len(seeds)]
    others = [one.files[one.mutated] for one in seeds]
    how, content = mutated(chosen.files[chosen.mutated], chosen.mutated, rng, others)
    for name, data in chosen.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if name == chosen.mutated else data)
    words = chosen.commands[rng.integers(len(chosen.commands))]
    case = {"number": number, "kind": chosen.kind, "how": how, "command": words}
    read, trace = read_in_python(chosen.reader, folder / chosen.mutated)
    outcome, said = run_command(words) if read not in (*BAD, "time") else (read, trace)
    if outcome == "0" and words[0] == "certify":
        try:
            if chosen.kind.startswith("model"):
                said = false_claim(content, chosen.files["model.dg"], chosen.truth["X"], chosen.truth["y"])
            else:
                said = "" if same_data(folder / chosen.mutated, chosen) else "the data differs"
        except Exception:
            said = "not recomputed: " + traceback.format_exc()[-800:]
        outcome = "false claim" if said else "claim holds"
    if (folder / "canary").exists():
        outcome = "canary"
    return case | {"outcome": outcome} | ({"said": said} if outcome in BAD else {})


def work(seed: int, numbers: range) -> None:
    """Carry out cases, a line of JSON for each, with limits on memory and time."""
    import webbrowser

    from file_seeds import all_seeds

    webbrowser.open = lambda *_, **__: True  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as scratch:
        seeds = all_seeds(Path(scratch))
    import cvxpy  # noqa: F401 - loaded before the limit

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def ring(*_: Any) -> None:
        raise TimeUp

    signal.signal(signal.SIGALRM, ring)
    home = os.getcwd()
    for number in numbers:
        folder = Path(tempfile.mkdtemp(prefix="dualgap-fuzz-"))
        os.chdir(folder)
        signal.alarm(SECONDS)
        try:
            case = run_case(seed, number, seeds, folder)
        except TimeUp:
            case = {"number": number, "kind": seeds[number % len(seeds)].kind, "how": "", "outcome": "time"}
        finally:
            signal.alarm(0)
            os.chdir(home)
            shutil.rmtree(folder, ignore_errors=True)
        sys.stdout.write(json.dumps(case) + "\n")
        sys.stdout.flush()


def campaign(cases: int, seed: int) -> list[dict[str, Any]]:
    """All cases; a worker that dies is noted with the case it died of, and another one goes on behind it."""
    done: list[dict[str, Any]] = []
    source = str(HERE.parents[1] / "src")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    while len(done) < cases:
        command = [sys.executable, "-W", "ignore", __file__, "--work", str(len(done)), str(cases), "--seed", str(seed)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as worker:
            done += _heard(worker)
            worker.kill()
            errors = b"" if worker.stderr is None else worker.stderr.read()
        if len(done) < cases:
            said = f"code {worker.returncode}: {errors.decode('utf-8', 'replace')[-1500:]}"
            done.append({"number": len(done), "kind": "?", "how": "?", "outcome": "died", "said": said})
    return done


def _heard(worker: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    """The cases a worker tells, until it ends or falls silent for too long."""
    import selectors

    assert worker.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(worker.stdout, selectors.EVENT_READ)
        rest = b""
        while selector.select(PATIENCE):
            chunk = os.read(worker.stdout.fileno(), 1 << 16)
            if not chunk:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            yield from map(json.loads, lines)


def table_of(cases: list[dict[str, Any]]) -> str:
    """Counts by kind of file and outcome, as a table of Markdown."""
    outcomes = ["0", "claim holds", "1", "2", "time", *BAD]
    counts: dict[str, collections.Counter[str]] = {}
    for case in cases:
        counts.setdefault(case["kind"], collections.Counter())[case["outcome"]] += 1
    counts = dict(sorted(counts.items())) | {"all": collections.Counter(case["outcome"] for case in cases)}
    lines = [f"| file | cases | {' | '.join(outcomes)} |", "|---|" + "---:|" * (len(outcomes) + 1)]
    for kind, found in counts.items():
        lines.append(f"| {kind} | {sum(found.values())} | {' | '.join(str(found[name]) for name in outcomes)} |")
    return "\n".join(lines)


def main() -> None:
    """Run a campaign, or be one of its workers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=int, nargs=2)
    parser.add_argument("--log", type=Path)
    asked = parser.parse_args()
    if asked.work is not None:
        work(asked.seed, range(*asked.work))
        return
    cases = campaign(asked.cases, asked.seed)
    if asked.log is not None:
        asked.log.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    for case in cases:
        if case["outcome"] in BAD:
            sys.stdout.write(f"{json.dumps(case)[:3000]}\n")
    sys.stdout.write(table_of(cases) + "\n")


if __name__ == "__main__":
    main()
