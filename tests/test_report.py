"""The report: a page from files alone, whatever state they are in, and nothing of them that could act in it."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dualgap as dg
from dualgap.cli.report import report
from dualgap.workbench import store
from dualgap.workbench.plan import Plan
from dualgap.workbench.report import page, write_page
from dualgap.workbench.report.cards import CARDS, card_of
from dualgap.workbench.report.content import content
from dualgap.workbench.report.packing import Pool
from dualgap.workbench.report.reading import read_all
from dualgap.workbench.runner import race
from pages import BETA, made_rival, made_run, many_runs, written


def data_of(text: str) -> dict[str, Any]:
    """What the scripts of a page read."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def notes_of(text: str) -> str:
    found = re.search(r'id="notes".*?</div>', text, re.DOTALL)
    return html.unescape(found[0]) if found else ""


def test_a_page_is_made_from_the_file_alone(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    plan = Plan(data=("simulated(n=60, d=4)",), solvers=("sdca", "pegasos"), epochs=8.0, repeats=2)
    race(plan, results)
    text = write_page([results], tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Which algorithm is first to reach a relative gap of 1e-06 on simulated(n=60, d=4)?" in text
    assert "dualgap race &#39;simulated(n=60, d=4)&#39; -s sdca -s pegasos" in text
    (heat,) = data_of(text)["heats"]
    assert heat["rows"][0]["solver"] == "sdca"
    assert sorted(tmp_path.iterdir()) == [tmp_path / "page.html", results], "no temporary file is left"


def test_files_merge_and_a_run_twice_is_taken_once(tmp_path: Path) -> None:
    one = written(tmp_path, many_runs(("sdca",), 2), "one.jsonl")
    two = written(tmp_path, many_runs(("sdca", "sgd"), 2), "two.jsonl")
    runs, notes = read_all([one, two])
    assert len(runs) == len({run.run for run in runs}) == 4
    assert notes == ["2 runs were found more than once and taken once"]


def test_a_command_given_is_shown_as_it_is() -> None:
    assert "dualgap race --some &lt;thing&gt;" in page([made_run()], command="dualgap race --some <thing>")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("not json", "line 3 of results.jsonl is not JSON and was left out"),
        ("[1, 2]", "line 3 of results.jsonl is not a run of dualgap and was left out"),
        ('{"format": 1, "run": "a"}', "line 3 of results.jsonl has no proper 'settings', and the run was left out"),
        ('{"format": 1, "run": "a", "settings": {}, "strength": NaN, "status": "x"}', "no finite strength"),
    ],
)
def test_bad_lines_are_left_out_with_a_note(tmp_path: Path, line: str, words: str, caplog: Any) -> None:
    path = written(tmp_path, many_runs(("sdca", "sgd"), 1))
    with path.open("a") as file:
        file.write(line + "\n")
    text = write_page([path], tmp_path / "page.html").read_text(encoding="utf-8")
    assert words in notes_of(text)
    assert words in caplog.text
    assert len(data_of(text)["heats"][0]["rows"]) == 2


@pytest.mark.parametrize("name", ["certificate", "records", "data", "sentence", "reason"])
def test_a_run_that_lacks_a_field_is_shown_as_far_as_it_goes(tmp_path: Path, name: str) -> None:
    path = tmp_path / "results.jsonl"
    lines = [json.loads(line) for line in written(tmp_path, many_runs(("sdca", "sgd"), 1)).read_text().splitlines()]
    del lines[0][name]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    text = write_page([path], tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"line 1 of results.jsonl lacks {name}; the rest of the run is shown" in notes_of(text)
    rows = [row["solver"] for heat in data_of(text)["heats"] for row in heat["rows"]]
    assert sorted(rows) == ["sdca", "sgd"]


def test_a_thousand_fields_are_ignored_in_one_note(tmp_path: Path) -> None:
    path = written(tmp_path, [made_run()])
    line = json.loads(path.read_text()) | {f"field {i}": i for i in range(1000)}
    line["records"] |= {f"column {i}": [0.0] for i in range(1000)}
    path.write_text(json.dumps(line) + "\n")
    text = write_page([path], tmp_path / "page.html").read_text(encoding="utf-8")
    assert "has fields unknown here, which are ignored: field 0, field 1, field 2 and 997 more" in notes_of(text)
    assert data_of(text)["heats"][0]["curves"]["epoch"]["relative_gap"]


def test_a_thousand_solvers_are_all_in_the_table_and_the_best_in_the_charts() -> None:
    runs = [made_run(f"sgd(step={i})", rate=0.5 / (1 + i), length=20) for i in range(1000)]
    text = page(runs)
    shown = data_of(text)
    assert len(shown["heats"][0]["rows"]) == 1000
    assert len(shown["styles"]) == 32
    assert "curves show the best 32 solvers of each problem" in notes_of(text)
    assert len(text) < 2e6


ODD = [None, "x", [], [[1, 2]], {}, {"a": 1}, True, -1, 1e308, ["x"]]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_odd_values_anywhere_spoil_at_most_their_run(tmp_path: Path, odd: Any) -> None:
    good, other = made_run("sgd"), made_run("sdca")
    whole = {"format": 1, **other.__dict__, "weights": [1.0] * 6} | {"data": other.data | {"beta": BETA.tolist()}}
    path = tmp_path / "results.jsonl"
    for name, value in whole.items():
        spoiled = [whole | {name: odd}] if name != "format" else []
        if isinstance(value, dict):
            spoiled += [whole | {name: value | {inner: odd}} for inner in value]
        for line in spoiled:
            path.write_text(json.dumps(line) + "\n")
            written(tmp_path, [good])
            runs, notes = read_all([path])
            shown = content(runs, notes)
            assert "sgd" in {row["solver"] for heat in shown["heats"] for row in heat["rows"]}
            json.dumps(shown["data"], allow_nan=False)


@pytest.mark.parametrize("kept", [1, 40, -2])
def test_a_torn_last_line_is_left_out_with_a_note(tmp_path: Path, kept: int) -> None:
    path = written(tmp_path, [made_run()])
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:kept])
    runs, notes = read_all([path])
    assert len(runs) == 1
    assert notes == ["line 2 of results.jsonl is torn and was left out"]


def test_an_archive_is_read_and_one_cut_short_as_far_as_it_goes(tmp_path: Path) -> None:
    lines = written(tmp_path, many_runs(("sdca",), 3)).read_bytes()
    packed = tmp_path / "results.jsonl.gz"
    packed.write_bytes(gzip.compress(lines))
    assert read_all([packed])[1] == []
    noise = json.dumps({"format": 1, "noise": np.random.default_rng(0).random(20_000).tolist()}).encode()
    packed.write_bytes(gzip.compress(lines + noise)[:-5_000])
    runs, notes = read_all([packed])
    assert len(runs) == 3
    assert notes[0] == "the archive results.jsonl.gz is cut short; what stands before the cut is shown"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "holds no finished run"),
        (b"\n\n", "holds no finished run"),
        (b"not json\n", "holds no finished run"),
        (b"\x00\xff\xfe binary", "holds no finished run"),
        (b'{"format": 99}\n', "newer dualgap; upgrade"),
        (b"[" * 100_000, "holds no finished run"),
    ],
)
def test_files_without_any_run_are_refused_in_one_sentence(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words) as refusal:
        write_page([path], tmp_path / "page.html")
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "page.html").exists()


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_text("plain")
    with pytest.raises(ValueError, match="not a gzip file"):
        read_all([tmp_path / "a.jsonl.gz"])
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_all([tmp_path / "nothing.jsonl"])
    with pytest.raises(ValueError, match="at least one finished run"):
        page([])


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \"quotes\" 'too' {{ 7 * 7 }}"


def test_names_stay_names_whatever_they_contain() -> None:
    text = page([made_run(HOSTILE, data=HOSTILE, versions={"numpy": HOSTILE})], notes=[HOSTILE])
    quiet = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert "<script>alert" not in text
    assert "<img" not in quiet
    assert "{{ 7 * 7 }}" in quiet
    assert data_of(text)["heats"][0]["data"] == HOSTILE
    assert len(re.findall(r"<script\b", quiet)) == 1, "only the data is left when the page's own scripts are taken out"


def test_only_scripts_named_by_their_hash_may_run_and_nothing_may_be_fetched() -> None:
    text = page([made_run()])
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert policy[1].count("'sha256-") == 1
    assert "script-src 'unsafe" not in policy[1]


def test_every_solver_has_a_card() -> None:
    for name in dg.SOLVERS:
        assert card_of(f"{name}(some=option)") is CARDS[name]
    assert all(all(vars(card).values()) for card in CARDS.values())


def test_eight_solvers_with_a_hundred_repeats_make_a_page_below_two_megabytes() -> None:
    runs = many_runs(repeats=100, length=200, tol=0.0)
    assert len(runs) == 800
    assert len(page(runs).encode()) < 2_000_000


def test_many_problems_share_the_room_of_the_page() -> None:
    runs = many_runs(repeats=3, data=[f"data {i}" for i in range(5)], strengths=[0.1, 0.01, 0.001], length=100)
    text = page(runs)
    assert len(text.encode()) < 2_000_000
    assert set(data_of(text)["profiles"]) >= {"call_seconds 0.01", "epoch 0.01"}
    assert re.search(r"wins \d+ of 15 problems", text)


def test_packed_numbers_keep_seven_digits_and_equal_lists_are_kept_once() -> None:
    pool = Pool()
    values = [0.0, 1 / 3, 1e-30, 1e300, 123456.7]
    assert pool.add(values) == pool.add(list(values)) == 0
    assert pool.add([1.0]) == 1
    opened = np.frombuffer(base64.b64decode(pool.texts[0]), "<f4")
    assert opened[:3].tolist() == pytest.approx(values[:3], rel=1e-6)
    assert np.isfinite(opened).all()


def test_coefficients_are_shown_where_the_truth_is_known() -> None:
    plain = made_run("sdca")
    assert content([plain])["has_coefficients"] is False
    known = dataclasses.replace(plain, data=plain.data | {"beta": BETA.tolist()}, weights=(3 * BETA).tolist())
    (heat,) = content([known])["heats"]
    assert heat["coefficients"]["solvers"][0][2] == pytest.approx(1.0)
    assert content([dataclasses.replace(known, weights=[1.0])])["has_coefficients"] is False


def test_rivals_and_zeros_are_told_apart() -> None:
    zeros = made_rival(0, "zeros")
    shown = content([made_run(), made_rival(), zeros])
    assert shown["data"]["rivals"] == ["scikit-learn LinearSVC", "zeros"]
    assert "zeros" not in shown["data"]["styles"]
    assert shown["heats"][0]["zeros"].keys() == {"primal", "relative_gap", "test_score"}
    assert [card["title"] for card in shown["cards"]] == [
        "Stochastic dual coordinate ascent",
        "Another package",
        "The zero vector",
    ]
    assert "--rivals" in shown["commands"][0]


def run_report(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    words = [sys.executable, "-m", "dualgap", "report", *arguments]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, encoding="utf-8")


def test_the_command_writes_a_page_and_overwrites_nothing(tmp_path: Path) -> None:
    written(tmp_path, [made_run()])
    first = run_report(str(tmp_path), folder=tmp_path)
    assert first.returncode == 0, first.stderr
    assert first.stdout.strip() == f"Page: {tmp_path / 'report.html'}"
    again = run_report("results.jsonl", folder=tmp_path)
    assert again.stdout.strip() == "Page: report-002.html"


class Loud:
    """The context of a command that was not asked to be quiet."""

    obj = None


@pytest.mark.parametrize(
    ("files", "out", "words"),
    [
        ("results.jsonl", "there.html", "nothing is overwritten"),
        ("results.jsonl", "no/folder.html", "there is no folder"),
        ("there.html", "new.html", "holds no finished run"),
        ("nowhere.jsonl", "new.html", "there is no file"),
    ],
)
def test_the_command_refuses_in_one_sentence(tmp_path: Path, files: str, out: str, words: str) -> None:
    written(tmp_path, [made_run()])
    (tmp_path / "there.html").write_text("mine")
    with pytest.raises((ValueError, OSError), match=words):
        report(Loud(), [tmp_path / files], tmp_path / out)  # type: ignore[arg-type]
    assert (tmp_path / "there.html").read_text() == "mine"
    assert not (tmp_path / "new.html").exists()


def test_bad_input_ends_with_2_and_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text("")
    outcome = run_report("results.jsonl", folder=tmp_path)
    assert outcome.returncode == 2
    assert outcome.stderr == "dualgap: 'results.jsonl' holds no finished run\n"


def test_a_failure_while_writing_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = written(tmp_path, [made_run()])

    def full(*_: object, **__: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space"):
        write_page([results], tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == [results]
    assert store.read(results)
