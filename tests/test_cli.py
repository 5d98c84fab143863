"""The command line as a person meets it: on a terminal, in a pipe, with mistakes, and with Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dualgap as dg
from dualgap.cli.app import main
from dualgap.datasets import DATASETS
from dualgap.losses import LOSSES
from dualgap.solvers import SOLVERS
from dualgap.workbench import store
from dualgap.workbench.plan import DEFAULT_SOLVERS

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOR = re.compile(r"\x1b\[(?:[0-9]+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[0-9;]*m")
QUICK = ["simulated(n=60, d=3)", "--repeats", "1", "--epochs", "5"]


def run(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`python -m dualgap` in a process of its own, in a pipe."""
    return subprocess.run(
        [sys.executable, "-m", "dualgap", *arguments],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )


def run_in_terminal(*arguments: str, folder: Path, columns: int = 80, **environment: str) -> tuple[int, str]:
    """A command on a pseudo-terminal of `columns` columns: its exit code, and all that was drawn."""
    if sys.platform == "win32":
        pytest.skip("pseudo-terminals need POSIX")
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "dualgap", *arguments],
        cwd=folder,
        env=plain | {"TERM": "xterm-256color", "LANG": "C.UTF-8"} | environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    drawn = b""
    while True:
        try:
            received = os.read(ours, 4096)
        except OSError:  # how Linux says that the other side has closed
            break
        if not received:
            break
        drawn += received
    os.close(ours)
    return process.wait(), drawn.decode()


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The command line inside this process: exit code, output, errors."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    shown = capsys.readouterr()
    return int(ended.value.code or 0), shown.out, shown.err


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_race_without_arguments_races_ten_solvers_and_writes_a_page(tmp_path: Path) -> None:
    shown = run("race", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert "\x1b" not in shown.stdout
    for solver in DEFAULT_SOLVERS:
        rows = [line for line in lines if line.startswith(f"{solver} ") and " wins" not in line]
        assert len(rows) == 4, "three runs and a row of the table"
        assert len(rows[-1]) <= 80
    # These two get there; on a busy machine the clock may put either first.
    assert any(re.match(r"(auto|newton) wins: it reached a relative gap of 1e-06", line) for line in lines)
    assert lines[-2] == f"Results: {Path('dualgap-race-001') / 'results.jsonl'}"
    assert lines[-1] == f"Page: {Path('dualgap-race-001') / 'race.html'}"
    page = (tmp_path / "dualgap-race-001" / "race.html").read_text(encoding="utf-8")
    assert "<html" in page[:500]
    assert len(page) < 2_000_000
    bundle = dg.Race.load(tmp_path / "dualgap-race-001")._repr_mimebundle_()
    assert len(json.dumps(bundle)) < 50_000, "what a notebook keeps of a race"
    finished = store.read(tmp_path / "dualgap-race-001" / "results.jsonl")
    assert len(finished) == 3 * len(DEFAULT_SOLVERS)
    assert {one.data["name"] for one in finished} == {"breast_cancer"}
    assert {(one.data["rows"], one.data["test_rows"]) for one in finished} == {(455, 114)}
    assert all(one.certificate["dual"] <= one.certificate["primal"] for one in finished)
    assert shown.stderr == ""


def test_a_terminal_of_80_columns_shows_the_race_live(tmp_path: Path) -> None:
    code, drawn = run_in_terminal("race", "--repeats", "1", "--epochs", "50", folder=tmp_path)
    assert code == 0
    assert COLOR.search(drawn)
    text = ESCAPE.sub("", drawn)
    assert "gap closed" in text
    for solver in DEFAULT_SOLVERS:
        assert solver in text
    assert max(len(line) for line in re.split(r"[\r\n]+", text)) <= 80
    assert "Results:" in text


def test_no_color_is_obeyed(tmp_path: Path) -> None:
    code, drawn = run_in_terminal("race", *QUICK, "-s", "sdca", folder=tmp_path, NO_COLOR="1")
    assert code == 0
    assert "gap closed" in ESCAPE.sub("", drawn)
    assert not COLOR.search(drawn)


def test_a_terminal_without_greek_letters_ends_no_race(tmp_path: Path) -> None:
    shown = run("losses", folder=tmp_path, PYTHONIOENCODING="ascii")
    assert shown.returncode == 0
    assert "hinge" in shown.stdout


def hears_ctrl_c() -> None:
    """A shell starts background jobs with SIGINT ignored, and children inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process on Windows")
def test_ctrl_c_keeps_what_was_finished(tmp_path: Path) -> None:
    # SDCA is there in a moment; the gap of Pegasos falls as 1/t and would take hours.
    arguments = ["race", "digits", "-s", "sdca", "-s", "pegasos", "--epochs", "1e9", "--tol", "1e-5", "--repeats", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "dualgap", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        preexec_fn=hears_ctrl_c,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("sdca 1/2"):
                process.send_signal(signal.SIGINT)
                break
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert errors.strip() == "dualgap: interrupted; 1 finished run is kept"
    (finished,) = store.read(tmp_path / "dualgap-race-001" / "results.jsonl")
    assert finished.settings["solver"] == "sdca"


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to a group of processes on Windows")
def test_ctrl_c_ends_all_workers(tmp_path: Path) -> None:
    arguments = ["race", "digits", "-s", "sdca", "-s", "pegasos", "--epochs", "1e9", "--tol", "1e-5", "--jobs", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "dualgap", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        preexec_fn=hears_ctrl_c,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("sdca 1/3"):
                os.killpg(process.pid, signal.SIGINT)
                break
        # Workers hold the same pipes: were one left, this would wait for it.
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert re.fullmatch(r"dualgap: interrupted; \d+ finished runs? (is|are) kept", errors.strip()), errors
    assert {run.settings["solver"] for run in store.read(tmp_path / "dualgap-race-001" / "results.jsonl")} == {"sdca"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["race", "digit"], "did you mean 'digits'"),
        (["race", "nope.csv"], "there is no file 'nope.csv'"),
        (["race", "simulated(rows=5)"], "its options are n, d, noise, seed"),
        (["race", "-s", "sdac"], "there is no solver 'sdac'; did you mean 'sdca'?"),
        (["race", "-s", "sdca(speed=9)"], "has no option 'speed'"),
        (["race", "--loss", "hinges"], "did you mean 'hinge'"),
        (["race", "--strength", "0"], "a strength is a number above 0"),
        (["race", "--epochs", "0"], "epochs must be a finite number above 0"),
        (["race", "--epochs", "many"], "--epochs"),
        (["race", "--repeats", "0"], "at least one repeat"),
        (["race", "--test-size", "1.5"], "at least 0 and below 1"),
        (["race", "--tol", "nan"], "tol must be a finite number"),
        (["race", "--nonsense"], "No such option"),
        (["race", "--jobs", "0"], "at least one job"),
        (["race", "--threads", "-1"], "at least one job and one thread, got -1"),
        (["race", "--positive", "7"], "its labels are -1, 1"),
        (["race", "-s", "box_ascent", "--intercept"], "no solver can do this: box_ascent cannot fit a free intercept"),
        (["raec"], "Did you mean 'race'"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], words: str
) -> None:
    code, _, errors = called(capsys, *arguments)
    assert code == 2
    assert words in errors
    assert errors.startswith("dualgap: ")
    assert errors.count("\n") == 1
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


def test_no_stack_trace_in_a_real_process(tmp_path: Path) -> None:
    (tmp_path / "text.csv").write_text("age,job,y\n1,nurse,0\n2,cook,1\n")
    shown = run("race", "text.csv", folder=tmp_path)
    assert shown.returncode == 2
    assert "Traceback" not in shown.stderr
    assert "text in column job" in shown.stderr
    assert shown.stdout == ""


def test_labels_and_losses_are_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.arange(60) % 3
    np.savez(tmp_path / "three.npz", X=X, y=y)
    np.savez(tmp_path / "houses.npz", X=X, y=X @ [1.0, 2.0, 3.0])
    code, _, errors = called(capsys, "race", "three.npz")
    assert (code, "3 labels (0, 1, 2); pass --positive LABEL" in errors) == (2, True)
    code, _, errors = called(capsys, "race", "houses.npz")
    assert (code, "looks like a regression; pass --loss" in errors) == (2, True)
    quick = ["-s", "sdca", "--repeats", "1", "--epochs", "20"]
    assert called(capsys, "race", "three.npz", "--positive", "0", "--positive", "2", *quick)[0] == 0
    code, shown, _ = called(capsys, "race", "houses.npz", "--loss", "squared", *quick)
    assert code == 0
    assert "test R²" in shown


def test_a_refusal_is_shown_and_the_others_race(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown, _ = called(capsys, "race", *QUICK, "-s", "sdca", "-s", "box_ascent", "--intercept")
    assert code == 0
    assert "box_ascent: refused: box_ascent cannot fit a free intercept" in shown
    assert re.search(r"^box_ascent .* refused$", shown, re.MULTILINE)


def test_out_is_made_and_never_overwritten(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert called(capsys, "race", *QUICK, "-s", "sdca", "-o", "a/b")[0] == 0
    before = (tmp_path / "a" / "b" / "results.jsonl").read_bytes()
    code, _, errors = called(capsys, "race", *QUICK, "-s", "sdca", "-o", "a/b")
    assert code == 2
    assert "nothing is overwritten" in errors
    assert (tmp_path / "a" / "b" / "results.jsonl").read_bytes() == before


def test_quiet_prints_the_results_file_and_each_race_has_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    for number, arguments in enumerate((["-q", "race"], ["race", "-q"]), start=1):
        code, shown, errors = called(capsys, *arguments, *QUICK, "-s", "sdca")
        assert (code, errors) == (0, "")
        assert Path(shown.strip()) == Path(f"dualgap-race-00{number}") / "results.jsonl"
        assert Path(shown.strip()).exists()


def test_several_data_sets_and_strengths_have_a_table_each(capsys: pytest.CaptureFixture[str]) -> None:
    heats = ["simulated(n=60, d=3)", "gaussians(n=60, d=3)", "--strength", "0.1", "--strength", "1/n"]
    code, shown, _ = called(capsys, "race", *heats, "-s", "sdca", "--repeats", "1", "--epochs", "5")
    assert code == 0
    assert shown.count("rel gap ") == 4
    assert "strength 1/n = 0.02083" in shown, "1/n of 48 training rows"


def test_parquet_and_svg_files_are_written_when_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    arguments = ["race", *QUICK, "-s", "sdca", "-s", "pegasos", "--parquet", "--svg", "race.svg", "-o", "here"]
    assert called(capsys, *arguments)[0] == 0
    frame = pandas.read_parquet(tmp_path / "here" / "results.parquet")
    assert set(frame["solver"]) == {"sdca", "pegasos"}
    picture = (tmp_path / "race.svg").read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert "pegasos" in picture
    arguments[-1] = "there"
    code, _, errors = called(capsys, *arguments)
    assert (code, "'race.svg' exists already" in errors) == (2, True)


def test_parquet_without_its_packages_is_refused_before_the_race(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, errors = called(capsys, "race", *QUICK, "--parquet")
    assert (code, "dualgap[io]" in errors) == (2, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "table"),
    [("solvers", SOLVERS), ("losses", LOSSES), ("datasets", DATASETS)],
    ids=lambda value: str(value)[:8],
)
def test_lists_name_everything_uncut(capsys: pytest.CaptureFixture[str], command: str, table: dict[str, type]) -> None:
    code, shown, _ = called(capsys, command)
    assert code == 0
    assert "…" not in shown
    rows = [line.split()[0] for line in shown.splitlines()[2:]]
    assert rows == list(table)
    if command == "solvers":
        assert "sampling=permutation" in shown
        assert "projection=false" in shown


def test_lists_fit_a_terminal(tmp_path: Path) -> None:
    for command, word in (("solvers", "projected_ascent"), ("datasets", "california_housing")):
        code, drawn = run_in_terminal(command, folder=tmp_path)
        assert code == 0
        text = ESCAPE.sub("", drawn)
        assert max(len(line) for line in text.splitlines()) <= 80
        assert word in text


@pytest.mark.parametrize("command", ["race", "solvers", "losses", "datasets", "info"])
def test_every_help_has_an_example(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, shown, _ = called(capsys, command, "--help")
    assert code == 0
    assert "Example" in shown
    assert f"dualgap {command}" in shown or "dualgap race" in shown


def test_version_info_and_no_command_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert re.fullmatch(r"dualgap \S+\n", run("--version", folder=tmp_path).stdout)
    for arguments, words in (
        (["info"], ["numba", "processor", "kernel cache", "compiled kernels"]),
        ([], ["race", "solvers", "losses", "datasets", "info"]),
    ):
        code, shown, _ = called(capsys, *arguments)
        assert code == 0
        assert [word for word in words if word not in shown] == []


def test_help_and_refusals_do_not_wait_for_numba_or_scikit_learn() -> None:
    code = "import sys, dualgap.cli.app; print({'numba', 'sklearn', 'scipy', 'pandas'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"


def test_rivals_are_raced_and_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown, _ = called(capsys, "race", *QUICK, "-s", "sdca", "--loss", "logistic", "--rivals")
    assert code == 0
    assert re.search(r"^scikit-learn LogisticRegression +\d\.\de-\d\d", shown, re.MULTILINE)
    assert re.search(r"^zeros +\d\.\de-01", shown, re.MULTILINE)
    assert "scikit-learn LinearSVC: refused: scikit-learn LinearSVC does hinge, squared_hinge only" in shown
    assert "scikit-learn LogisticRegression: certified, gap" in shown


def test_a_terminal_shows_long_names_whole(tmp_path: Path) -> None:
    code, drawn = run_in_terminal("race", *QUICK, "-s", "sdca", "--rivals", "--loss", "logistic", folder=tmp_path)
    text = ESCAPE.sub("", drawn)
    assert code == 0
    assert "scikit-learn LogisticRegression" in text
    assert max(len(line) for line in re.split(r"[\r\n]+", text)) <= 80


def test_open_shows_the_page_in_the_browser(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert called(capsys, "race", *QUICK, "-s", "sdca", "-o", "here", "--open")[0] == 0
    assert opened == [(tmp_path / "here" / "race.html").resolve().as_uri()]
