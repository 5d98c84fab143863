"""The command line as a person meets it: on a terminal, in a pipe, with mistakes, and with Ctrl-C."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from dualgap.cli import views
from dualgap.cli.app import main
from dualgap.cli.pace import Pace, roughly
from dualgap.cli.screen import count, duration, make_console, score, small
from dualgap.cli.standings import bounds, standings, verdict
from dualgap.datasets import DATASETS
from dualgap.losses import LOSSES
from dualgap.solvers import SOLVERS
from dualgap.workbench import store
from dualgap.workbench.plan import DEFAULT_SOLVERS, Plan
from dualgap.workbench.runner import HeatResult, race

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
    """The same on a pseudo-terminal of so many columns; the exit code, and all that was drawn."""
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
            piece = os.read(ours, 4096)
        except OSError:  # how Linux says that the other side has closed
            break
        if not piece:
            break
        drawn += piece
    os.close(ours)
    return process.wait(), drawn.decode()


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The command line inside this process: exit code, output, errors."""
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    shown = capsys.readouterr()
    return int(left.value.code or 0), shown.out, shown.err


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_race_without_arguments(tmp_path: Path) -> None:
    shown = run("race", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert "\x1b" not in shown.stdout
    for solver in DEFAULT_SOLVERS:
        rows = [line for line in lines if line.startswith(f"{solver} ") and " wins" not in line]
        assert len(rows) == 4, "three runs and a row of the table"
        assert len(rows[-1]) <= 80
    assert any(line.startswith("sdca wins: it proved a relative gap of 1e-06") for line in lines)
    assert lines[-2] == f"Results: {Path('dualgap-race-001') / 'results.jsonl'}"
    assert lines[-1] == f"Page: {Path('dualgap-race-001') / 'race.html'}"
    assert "<html" in (tmp_path / "dualgap-race-001" / "race.html").read_text(encoding="utf-8")[:500]
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


def test_a_terminal_without_greek_is_forgiven(tmp_path: Path) -> None:
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
    assert "strength 0.02083" in shown, "1/n of 48 training rows"


def test_parquet_and_svg(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
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
    code, drawn = run_in_terminal("solvers", folder=tmp_path)
    assert code == 0
    text = ESCAPE.sub("", drawn)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "projected_ascent" in text


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


@pytest.mark.parametrize("view", [views.PlainView, views.LiveView])
def test_compilation_is_said_only_while_it_lasts(
    view: type, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "PATIENCE", 0.0)
    plan = Plan(data=("digits",), solvers=("sdca", "sgd"))
    watcher = view(make_console(), plan)
    heat = next(plan.heats())
    facts = {"rows": 9, "columns": 2, "test_rows": 0, "sparse": False}
    facts |= {"task": "classification", "name": "digits", "source": ""}
    watcher.loaded(heat, facts, 0.01)
    for solver in plan.solvers:
        watcher.preparing(solver)
        watcher._timer.join()
    paper = Console(file=io.StringIO(), width=80)
    if view is views.LiveView:
        paper.print(watcher.frame())
    watcher.started(heat.runs[0])
    watcher.close()
    shown = paper.file.getvalue() + capsys.readouterr().out
    assert shown.count("compiling kernels, once") == 1


def heat_of(repeats: int, **seconds: list[float]) -> HeatResult:
    """A heat whose solvers were all certified, after so many seconds in each repeat."""
    plan = Plan(data=("simulated(n=40, d=2)",), solvers=("sdca",), epochs=100.0, tol=1e-3, repeats=repeats)
    template = race(plan).heats[0]
    runs = []
    for solver, times in seconds.items():
        for done, time in zip(template.runs, times, strict=True):
            settings, records = done.settings | {"solver": solver}, done.records | {"seconds": [time]}
            runs.append(store.FinishedRun(**(done.__dict__ | {"settings": settings, "records": records})))
    return HeatResult(template.heat, template.data, template.strength, runs)


def test_the_verdict_says_who_won_and_how_sure_that_is() -> None:
    clear = heat_of(3, slow=[3.0, 3.0, 4.0], quick=[1.0, 1.1, 0.9])
    assert [standing.solver for standing in standings(clear.runs)] == ["quick", "slow"]
    sentence = verdict(clear, 1e-3)
    assert sentence.startswith("quick wins: it proved a relative gap of 0.001 after 1.00 s of updates")
    assert sentence.endswith("slow next with 3.0 times as much; ahead in all 3 repeats.")
    assert "ahead in 1 of 2 repeats, too close to be sure" in verdict(heat_of(2, a=[1.0, 2.0], b=[2.0, 1.1]), 1e-3)
    assert "let --repeats 5 confirm it" in verdict(heat_of(1, a=[1.0], b=[2.0]), 1e-3)
    assert verdict(heat_of(1, a=[1.0]), 1e-3).endswith("without a rival.")
    assert "Proven: the optimum lies between" in bounds(clear.runs)


def test_the_verdict_without_certificates_goes_by_the_gap() -> None:
    plan = Plan(data=("breast_cancer",), solvers=("sdca", "subgradient"), epochs=3.0, tol=1e-9, repeats=1)
    sentence = verdict(race(plan).heats[0], 1e-9)
    assert sentence.startswith("No solver proved a relative gap of 1e-09; sdca came closest with")


def test_numbers_as_a_person_reads_them() -> None:
    written = {
        4.2e-6: "4.20 µs",
        0.00123: "1.23 ms",
        0.0421: "42.1 ms",
        0.9: "900 ms",
        75.0: "75.0 s",
        4321.0: "4,321 s",
    }
    assert {seconds: duration(seconds) for seconds in written} == written
    assert (small(1.23e-7), score(0.98765)) == ("1.2e-07", "0.988")
    assert (count(3.0), count(0.5), count(12345.6)) == ("3", "0.5", "12,346")
    assert {duration(None), small(None), score(None), count(None)} == {"–"}


def test_the_live_table_follows_every_run() -> None:
    paper = Console(file=io.StringIO(), width=80, force_terminal=True)
    plan = Plan(data=("simulated(n=60)",), solvers=("sdca", "box_ascent"), epochs=9.0, repeats=1, intercept=True)
    view = views.LiveView(paper, plan)
    race(plan, watcher=view)
    view.close()
    assert [lane.state for lane in view.lanes.values()] == ["out of epochs", "refused"]
    assert (view.lanes["sdca"].epoch, view.lanes["sdca"].done) == (9, 1)
    shown = ESCAPE.sub("", paper.file.getvalue())
    assert "refused" in shown
    assert "1 of 1 runs" in shown


def test_rivals_are_raced_and_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown, _ = called(capsys, "race", *QUICK, "-s", "sdca", "--loss", "logistic", "--rivals")
    assert code == 0
    assert re.search(r"^scikit-learn LogisticRegression +0\.", shown, re.MULTILINE)
    assert re.search(r"^zeros +0\.693", shown, re.MULTILINE)
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


def test_many_runs_have_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    many = ["simulated(n=40, d=2)", "--epochs", "2", "--repeats", "50", "-s", "sdca", "-s", "sgd"]
    code, shown, _ = called(capsys, "race", *many)
    lines = [line for line in shown.splitlines() if " of 100 runs" in line]
    assert code == 0
    assert [line.split()[0] for line in lines if int(line.split()[0]) % 10 == 0] == [str(n) for n in range(10, 101, 10)]
    assert len(lines) <= 15
    assert re.match(r"50 of 100 runs, about \d+ s left; latest sgd 25/50: out of epochs, gap", lines[4])


def test_the_pace_knows_what_is_left() -> None:
    plan = Plan(data=("digits", "simulated"), solvers=("sdca", "sgd"), repeats=2)
    pace = Pace(plan, jobs=2)
    assert (pace.total, pace.each, pace.left()) == (8, 4, None)
    assert pace.words() == "0 of 8 runs"
    run = next(plan.heats()).runs[0]
    pace.start(run)
    pace.clock._created -= 10.0
    pace.finish(run)
    # Seven runs of ten seconds each, two at a time.
    assert pace.left() == pytest.approx(35.0, abs=0.5)
    assert pace.words() == "1 of 8 runs, about 35 s left"
    pace.drop("sgd")
    assert (pace.total, pace.left()) == (6, pytest.approx(25.0, abs=0.5))
    pace.drop("sgd")
    assert (pace.total, pace.left()) == (4, pytest.approx(15.0, abs=0.5))
    assert [roughly(seconds) for seconds in (0.1, 59.4, 61, 601, 7205, 9000)] == [
        "1 s",
        "59 s",
        "1 min 01 s",
        "10 min",
        "2.0 h",
        "2.5 h",
    ]
