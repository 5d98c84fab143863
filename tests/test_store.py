"""Plans, the runner and results on disk: stable ids, fair turns, lines that survive a crash."""

from __future__ import annotations

import gzip
import json
import logging
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from dualgap.workbench import store
from dualgap.workbench.plan import Plan, Run, strength_of
from dualgap.workbench.runner import Watcher, race
from dualgap.workbench.store import FinishedRun

SMALL = Plan(data=("simulated(n=80, d=3)",), solvers=("sdca", "pegasos"), epochs=4.0, tol=1e-12, repeats=2)


def some_run(seed: int = 0, **changes: object) -> FinishedRun:
    run = Run("digits", "hinge", "0.01", "sdca", 10.0, None, 1e-6, 0.2, seed, 0)
    fields = {
        "run": run.id,
        "settings": run.settings,
        "data": {"name": "digits", "rows": 3},
        "strength": 0.01,
        "status": "CERTIFIED",
        "sentence": "the duality gap reached tol",
        "reason": "",
        "certificate": {"primal": 0.3, "dual": 0.1 + 0.2, "gap": 0.0, "relative_gap": 0.0},
        "records": {"epoch": [0.0, 1.0], "gap": [1.0, 1e-300], "test_score": [None, 0.5]},
    }
    return FinishedRun(**(fields | changes))


def test_equal_settings_have_equal_ids_and_others_differ() -> None:
    ids = [run.id for heat in SMALL.heats() for run in heat.runs]
    assert ids == [run.id for heat in SMALL.heats() for run in heat.runs]
    assert len(set(ids)) == len(ids) == 4
    # Written out, because results on disk carry it: a change of the hash makes old results strangers.
    assert Run("digits", "hinge", "0.01", "sdca", 10.0, None, 1e-6, 0.2, 0, 0).id == "fdbd26d7a519"


def test_spelling_does_not_change_an_id() -> None:
    one = Plan(strengths=("1e-2",), epochs=10, tol=0, solvers=("sdca",))
    other = Plan(strengths=(" 0.010",), epochs=10.0, tol=0.0, solvers=("sdca",))
    assert [heat.runs[0].id for heat in one.heats()] == [heat.runs[0].id for heat in other.heats()]


def test_what_is_asked_for_twice_is_run_once() -> None:
    plan = Plan(data=("digits", "digits"), strengths=("0.01", "1e-2", "1/n", "1.0/n"), solvers=("sdca", "sgd", "sdca"))
    ids = [run.id for heat in plan.heats() for run in heat.runs]
    assert (plan.strengths, plan.solvers, len(ids)) == (("0.01", "1/n"), ("sdca", "sgd"), 12)
    assert len(set(ids)) == len(ids)


def test_every_solver_has_its_turn_before_any_has_a_second() -> None:
    plan = Plan(data=("digits", "simulated"), strengths=("0.1", "1/n"), solvers=("sdca", "sgd"), repeats=2, seed=5)
    heats = list(plan.heats())
    assert [(heat.data, heat.strength) for heat in heats] == [
        ("digits", "0.1"),
        ("digits", "1/n"),
        ("simulated", "0.1"),
        ("simulated", "1/n"),
    ]
    assert [(run.solver, run.seed) for run in heats[0].runs] == [("sdca", 5), ("sgd", 5), ("sdca", 6), ("sgd", 6)]
    assert {run.split_seed for heat in heats for run in heat.runs} == {5}


@pytest.mark.parametrize(("text", "strength"), [("0.5", 0.5), ("1e-3", 1e-3), ("1/n", 0.01), ("10 / n", 0.1)])
def test_strengths_are_numbers_or_multiples_of_one_over_n(text: str, strength: float) -> None:
    assert strength_of(text, rows=100) == pytest.approx(strength)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "n", "1/m", "1/2", "", "much"])
def test_other_strengths_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a strength is a number above 0 or a multiple of 1/n"):
        strength_of(text, rows=100)


@pytest.mark.parametrize(
    "changes",
    [
        {"solvers": ()},
        {"epochs": None},
        {"epochs": 0},
        {"seconds": math.inf},
        {"tol": -1},
        {"test_size": 1},
        {"repeats": 0},
        {"seed": -1},
        {"strengths": ("0",)},
    ],
)
def test_impossible_plans_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Plan(**changes)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / store.FILE
    runs = [some_run(0), some_run(1, records={"epoch": [0.0], "gap": [1 / 3], "test_score": [None]})]
    for finished in runs:
        store.append(path, finished)
    assert store.read(path) == runs
    packed = tmp_path / "results.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert store.read(packed) == runs


def test_the_file_is_strict_json_whatever_the_numbers_are(tmp_path: Path) -> None:
    path = tmp_path / store.FILE
    odd = {
        "epoch": [np.float64(1.0)],
        "gap": [math.inf],
        "dual": [-math.inf],
        "support": [np.int64(3)],
        "x": np.array([np.nan]),
    }
    store.append(path, some_run(records=odd))

    def no_constants(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    content = json.loads(path.read_text(), parse_constant=no_constants)
    assert content["format"] == store.FORMAT
    assert content["records"] == {"epoch": [1.0], "gap": [None], "dual": [None], "support": [3], "x": [None]}


@pytest.mark.parametrize("kept", [1, 20, -2])
def test_a_torn_last_line_is_dropped_and_logged(tmp_path: Path, kept: int, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / store.FILE
    store.append(path, some_run(0))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:kept])
    with caplog.at_level(logging.WARNING, "dualgap"):
        assert store.read(path) == [some_run(0)]
    assert "torn" in caplog.text
    store.append(path, some_run(1))
    assert store.read(path) == [some_run(0), some_run(1)]
    assert path.read_bytes().startswith(whole)


def test_a_torn_archive_gives_its_complete_lines(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "results.jsonl.gz"
    for seed in range(3):
        store.append(tmp_path / store.FILE, some_run(seed))
    lines = (tmp_path / store.FILE).read_bytes()
    rng = np.random.default_rng(0)
    noise = json.dumps({"format": 1, "noise": rng.random(20_000).tolist()}).encode()
    path.write_bytes(gzip.compress(lines + noise)[:-5_000])
    assert store.read(path) == [some_run(0), some_run(1), some_run(2)]
    assert "is cut short" in caplog.text
    path.write_bytes(gzip.compress(lines)[:8])
    with pytest.raises(ValueError, match="holds no finished run"):
        store.read(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "holds no finished run"),
        ("\n\n", "holds no finished run"),
        ("not json\n", "line 1 of .* is not JSON"),
        ('{"half": ', "holds no finished run"),
        ("[1, 2]\n", "is not a run of dualgap"),
        ('{"format": 99, "anything": 1}\n', "newer dualgap"),
        ('{"format": 1, "anything": 1}\n', "is not a run of dualgap, or not a whole one: it lacks run, settings"),
    ],
)
def test_other_files_are_refused_in_one_sentence(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / store.FILE
    path.write_text(content)
    with pytest.raises(ValueError, match=words) as refusal:
        store.read(path)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", store.REQUIRED)
def test_a_run_that_lacks_a_field_says_which(tmp_path: Path, name: str) -> None:
    path = tmp_path / store.FILE
    store.append(path, some_run(0))
    content = json.loads(path.read_text())
    del content[name]
    path.write_text(path.read_text() + json.dumps(content) + "\n")
    with pytest.raises(ValueError, match=f"line 2 of .* is not a run of dualgap, or not a whole one: it lacks {name}$"):
        store.read(path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"settings": []},
        {"settings": {}},
        {"records": {"epoch": [1.0, 2.0], "gap": [1.0]}},
        {"records": {"epoch": 3}},
        {"records": None},
        {"certificate": "good"},
        {"status": None},
    ],
)
def test_a_run_with_something_else_in_a_field_says_where(tmp_path: Path, wrong: dict[str, object]) -> None:
    path = tmp_path / store.FILE
    store.append(path, some_run(0))
    path.write_text(json.dumps(json.loads(path.read_text()) | wrong) + "\n")
    with pytest.raises(ValueError, match=f"holds something else than dualgap writes in {next(iter(wrong))}; it was"):
        store.read(path)


def test_lines_of_older_and_later_versions_are_read(tmp_path: Path) -> None:
    path = tmp_path / store.FILE
    store.append(path, some_run(0, weights=[1.0], intercept=0.5))
    content = json.loads(path.read_text())
    assert store.read(path)[0].weights == [1.0]
    for name in ("weights", "intercept", "started", "machine", "versions"):
        del content[name]
    del content["settings"]["kind"]
    path.write_text(json.dumps(content | {"a field of tomorrow": 1}) + "\n")
    (finished,) = store.read(path)
    assert (finished.weights, finished.intercept, finished.machine) == (None, None, {})


def test_a_line_that_lost_only_its_end_is_kept(tmp_path: Path) -> None:
    path = tmp_path / store.FILE
    store.append(path, some_run(0))
    path.write_bytes(path.read_bytes()[:-1])
    assert store.read(path) == [some_run(0)]
    store.append(path, some_run(1))
    assert store.read(path) == [some_run(0), some_run(1)]


def test_resuming_drops_a_torn_last_line(tmp_path: Path) -> None:
    path = tmp_path / store.FILE
    assert store.resume(path) == []
    path.touch()
    assert store.resume(path) == []
    path.write_text('{"format": 1, "ru')
    assert store.resume(path) == []
    assert path.read_bytes() == b""
    store.append(path, some_run(0))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:30])
    assert store.resume(path) == [some_run(0)]
    assert path.read_bytes() == whole
    path.write_bytes(b"not json\n" + whole)
    with pytest.raises(ValueError, match=r"line 1 of .* is not JSON"):
        store.resume(path)


def test_the_newest_folder_is_that_of_the_highest_number(tmp_path: Path) -> None:
    for name in ("dualgap-race-002", "dualgap-race-010", "dualgap-race-1000", "dualgap-race-notes"):
        (tmp_path / name).mkdir()
    (tmp_path / "dualgap-race-2000").touch()
    assert store.newest_folder(tmp_path).name == "dualgap-race-1000"


def test_missing_and_wrongly_named_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file"):
        store.read(tmp_path / "nope.jsonl")
    (tmp_path / "a.jsonl.gz").write_text("plain")
    with pytest.raises(ValueError, match="not a gzip file"):
        store.read(tmp_path / "a.jsonl.gz")


def test_new_folders_are_numbered_and_nothing_is_overwritten(tmp_path: Path) -> None:
    first, second = store.new_folder(tmp_path), store.new_folder(tmp_path)
    assert (first.name, second.name) == ("dualgap-race-001", "dualgap-race-002")
    claimed = store.claim_folder(tmp_path / "deep" / "down")
    assert claimed.is_dir()
    assert store.claim_folder(claimed) == claimed
    store.append(claimed / store.FILE, some_run())
    with pytest.raises(ValueError, match="nothing is overwritten"):
        store.claim_folder(claimed)
    with pytest.raises(ValueError, match="is a file"):
        store.claim_folder(claimed / store.FILE)


def test_parquet_holds_one_row_per_record(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "results.parquet"
    store.write_parquet(path, [some_run(0), some_run(1)])
    frame = pandas.read_parquet(path)
    assert len(frame) == 4
    assert frame["seed"].tolist() == [0, 0, 1, 1]
    assert frame["gap"].tolist() == [1.0, 1e-300] * 2
    assert [entry.name for entry in tmp_path.iterdir()] == ["results.parquet"]
    with pytest.raises(ValueError, match="nothing is overwritten"):
        store.write_parquet(path, [some_run(0)])


def test_parquet_without_its_packages_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'dualgap\[io\]'"):
        store.check_parquet()


class Ears(Watcher):
    """Writes down what it hears."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.records = 0

    def loaded(self, heat, data, strength) -> None:
        self.heard.append(f"loaded {data['rows']}+{data['test_rows']}")

    def preparing(self, solver) -> None:
        self.heard.append(f"preparing {solver}")

    def refused(self, solver, sentence) -> None:
        self.heard.append(f"refused {solver}")

    def started(self, run) -> None:
        self.heard.append(f"started {run.solver}")

    def recorded(self, run, record) -> None:
        self.records += 1

    def finished(self, run, finished) -> None:
        self.heard.append(f"finished {finished.status}")


def test_a_race_tells_its_watcher_and_writes_every_finished_run(tmp_path: Path) -> None:
    path, ears = tmp_path / store.FILE, Ears()
    outcome = race(SMALL, path, ears)
    turn = ["started sdca", "finished EPOCHS_EXHAUSTED", "started pegasos", "finished EPOCHS_EXHAUSTED"]
    assert ears.heard == ["loaded 64+16", "preparing sdca", "preparing pegasos", *turn, *turn]
    assert ears.records == sum(len(finished.records["epoch"]) for finished in outcome.runs)
    assert store.read(path) == outcome.runs
    assert not outcome.interrupted
    for finished in outcome.runs:
        assert finished.records["epoch"][-1] == 4
        assert finished.certificate["gap"] == finished.last("gap") >= 0
        assert finished.certificate["primal"] - finished.certificate["dual"] == pytest.approx(
            finished.certificate["gap"]
        )
        assert finished.versions["numpy"] == np.__version__
        assert finished.machine["cores"] >= 1


def test_the_same_plan_gives_the_same_numbers() -> None:
    timeless = [name for name in race(SMALL).runs[0].records if not name.endswith("seconds")]
    one, other = race(SMALL).runs, race(SMALL).runs
    for first, second in zip(one, other, strict=True):
        assert [first.records[name] for name in timeless] == [second.records[name] for name in timeless]
    assert one[0].records["primal"] != one[2].records["primal"], "another seed, another run"


def test_a_solver_that_refuses_is_left_out_with_its_sentence(tmp_path: Path) -> None:
    ears = Ears()
    plan = Plan(data=("simulated(n=50)",), solvers=("sdca", "box_ascent"), epochs=2.0, repeats=1, intercept=True)
    outcome = race(plan, tmp_path / store.FILE, ears)
    assert list(outcome.heats[0].refusals) == ["box_ascent"]
    assert "intercept" in outcome.heats[0].refusals["box_ascent"]
    assert "refused box_ascent" in ears.heard
    assert [finished.settings["solver"] for finished in outcome.runs] == ["sdca"]


def test_an_interruption_keeps_what_was_finished(tmp_path: Path) -> None:
    class Impatient(Ears):
        def started(self, run) -> None:
            super().started(run)
            if len(self.heard) > 6:
                raise KeyboardInterrupt

    outcome = race(SMALL, tmp_path / store.FILE, Impatient())
    assert outcome.interrupted
    assert store.read(tmp_path / store.FILE) == outcome.runs
    assert 1 <= len(outcome.runs) < 4


def test_regressions_are_raced_too() -> None:
    plan = Plan(data=("breast_cancer",), loss="squared", strengths=("0.1",), solvers=("sdca",), epochs=50.0, repeats=1)
    finished = race(plan).runs[0]
    assert finished.data["task"] == "regression"
    assert finished.last("test_score") < 1
