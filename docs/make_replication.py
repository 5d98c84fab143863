"""Writes docs/replication.md and docs/errata.md from the committed results of a full replication alone.

`python docs/make_replication.py FOLDER` takes the results of a finished `dualgap replicate` into docs/replication/ first,
packed, with five digits a number (nine of an epoch) and without records that nothing reads; without FOLDER the page is written from what is there.
`--html FILE` writes the page with all figures but pictures of the data from the same results. `dualgap replicate --resume` goes on
from the unpacked results. tests/test_replication_docs.py holds the page current.
"""

from __future__ import annotations

import argparse
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from replication_changes import section as changes_section
from replication_claims import folded, section, summary
from replication_pictures import draw, picture_of
from replication_quick import section as quick_section

from dualgap.replication import gathering, running
from dualgap.replication import settings as settings_table
from dualgap.replication.beyond import problems
from dualgap.replication.claims import CLAIMS
from dualgap.replication.content import answer, content, judged, percent_above
from dualgap.replication.errata import ERRATA
from dualgap.replication.figures import FIGURES
from dualgap.replication.margins import MARGINS
from dualgap.replication.page import write_page
from dualgap.replication.reading import GLOSSARY, JUDGING
from dualgap.replication.reports import REPORTS
from dualgap.replication.table import experiments
from dualgap.workbench import store
from dualgap.workbench.report import provenance

DOCS = Path(__file__).parent
PAGE, ERRATA_PAGE = DOCS / "replication.md", DOCS / "errata.md"
FOLDER = DOCS / "replication"
RESULTS = FOLDER / f"{store.FILE}.gz"
SETTINGS = FOLDER / "replication.json"
# Intervals are far wider than the fifth digit, and no rule or figure reads wall seconds: CPU seconds are kept.
DIGITS = 5
# An update of R0's skin data is the 245,057th part of an epoch: rows touched are whole numbers again.
EPOCH_DIGITS = 9
LEFT_OUT = ("seconds",)
# Of these rules and figures read more than the last record only in the experiments whose names begin so.
READ_IN = {"dual": (), "relative_gap": (), "gap": ("R1.", "R4.st"), "cpu_seconds": ("R1.", "R4.steps")}
# Facts that show the data itself, which is not this repository's to give away: every run measures them, and none is kept.
PICTURES = ("R1.pictures/examples", "R1.pictures/cropping", "R1.pictures/cropped", "R1.components/reduced")
HEAD = """# Five reports, repeated

`dualgap replicate` repeats the experiments of five student reports on SDCA, Pegasos and SGD, and judges what they claim.
This page is written by `python docs/make_replication.py` from [the results](replication/results.jsonl.gz) of a full run;
`python docs/make_replication.py --html FILE` makes the page with all figures from the same results, but for pictures of blood
cells, which only a run with the data set can show. [Errata](errata.md) lists what the reports printed wrong.
"""
HISTORY = """The rules and margins were written before the runs of this version and after a first full run, whose verdicts rested partly on
first records, on curves cut to the shortest run, and on medians without any interval. Margins follow from the words and
figures of the reports, with a reason for each in the table below.

Some choices were made after results of earlier full runs were seen. They are these.

Repeats were raised where intervals were too wide to decide: R2 on breast cancer data (20 to 100) and on simulated data (20 to 60),
the three methods of R3 (20 to 100), the draws of R0's table 2 (40 to 160), the splits of R4's validation (5 to 20), R0 on skin
data (10 to 20), and of R1's readings of the pictures the one that is judged (25 to 100, as in the report), while the others, which
fit worse, got fewer (25 to 5).

Rules were mended. Three read more out of runs than is in them: an error at epoch 2 is not read off a record of epoch 0; the value
with the best mean over a few splits is not certain to be the best (R4.5); one order for all epochs is not compared with
permutations in the first epoch, where both are the same run (R0.3). One declined where it need not: a median over repeats is known
within bounds where a few of them have no value (R3.1). A lead in speed is no longer called refuted because it is smaller than a
quarter: a claim of 1.2 times (1 to 1.2) was called so (R2.1). And a slight difference of accuracies (R2.3) got a least difference,
one row of the test part, without which no result could have said that there is none. After this run an interval that does not
hold its own estimate decides nothing, which left every part as it was.

Other work went on beside this run, on the same two cores: its wall time says little. CPU times are those of the updates alone.
The revision named below was moved onto later ones since; in this history it is the commit "Judge leads in speed without a margin,
and know facts by settings".
"""


def take(folder: Path) -> None:
    """Keep the results of a folder, packed; the same results give the same bytes."""
    FOLDER.mkdir(exist_ok=True)
    runs = gathering.thinned(gathering.read(folder)[0])
    text = "\n".join(json.dumps(_line(run), ensure_ascii=False) for run in runs) + "\n"
    RESULTS.write_bytes(gzip.compress(text.encode(), mtime=0))
    facts = gathering.read_facts(folder).items()
    kept = {name: fact._replace(value=_short(fact.value)) for name, fact in facts if name not in PICTURES}
    gathering.write_facts(FOLDER, kept)
    SETTINGS.write_text((folder / "replication.json").read_text(encoding="utf-8"), encoding="utf-8")


def kept() -> gathering.Gathered:
    """The committed results."""
    return gathering.gather(store.read(RESULTS), gathering.read_facts(FOLDER))


def page(gathered: gathering.Gathered | None = None) -> str:
    """The whole page as Markdown."""
    gathered = gathered or kept()
    settings = json.loads(SETTINGS.read_text(encoding="utf-8"))
    verdicts = judged(list(CLAIMS.values()), gathered)
    parts = [HEAD, "## Verdicts", "", answer(verdicts, bool(settings["quick"])), "", *summary(verdicts)]
    parts += ["", *folded("The words of this page", [f"- **{word}**: {meaning}." for word, meaning in GLOSSARY])[:-1]]
    for report, about in REPORTS.items():
        parts += ["", f"## {report}: {about.title}", "", f"*{about.authors}, {about.date}.* {about.about}", ""]
        parts += [f"![{about.figure}: {FIGURES[about.figure].says}]({picture_of(report)})"]
        for claim in (one for one in CLAIMS.values() if one.report == report):
            parts += ["", *section(claim, verdicts[claim.id])]
    parts += ["", "## How a claim is judged", "", *(f"{text}\n" for text in JUDGING), HISTORY]
    parts += ["## The results of this page", "", *_how(gathered, settings), *_stale(bool(settings["quick"]))]
    parts += [*folded("Settings of every experiment, in full size", _settings())]
    parts += [*folded("Margins, with the reason for each", _margins())]
    parts += changes_section(verdicts)
    parts += quick_section(verdicts)
    parts += ["", "## Beyond the reports", "", *_beyond(gathered)]
    return "\n".join(parts).rstrip() + "\n"


def _how(gathered: gathering.Gathered, settings: dict[str, Any]) -> list[str]:
    seconds = settings.get("seconds")
    took = [f"- Took: {seconds / 60:,.0f} min of wall time"] if seconds else []
    facts = [
        f"- {name}: {'; '.join(values[:3])}" for name, values in provenance.facts(gathered.runs) if name != "Data from"
    ]
    return [*facts, *took, f"- CPU times are compared within one machine: {_timed(gathered)}", ""]


def _timed(gathered: gathering.Gathered) -> str:
    """On how many machines the experiments ran whose CPU times are compared."""
    read = READ_IN["cpu_seconds"]
    found = {
        name: {json.dumps(run.machine, sort_keys=True) for run in gathered.of(name)}
        for name in sorted({str(run.settings["experiment"]) for run in gathered.runs})
        if name.startswith(read)
    }
    return ", ".join(f"{name} on {len(machines)}" for name, machines in found.items())


def _stale(quick: bool) -> list[str]:
    """Which experiments want runs or facts that are not among the results; nothing where all are there."""
    wanted = [
        replace(one, facts=tuple(fact for fact in one.facts if fact.name not in PICTURES)) for one in experiments(quick)
    ]
    lacking = running.lacking(wanted, store.read(RESULTS), gathering.read_facts(FOLDER))
    if not lacking:
        return []
    return [
        "**These results are older than the experiments. Runs and facts that are missing, without which a part is undecided, not "
        f"measured, or judged by the settings of before:** {', '.join(f'{name} ({count:,})' for name, count in lacking.items())}.",
        "",
    ]


def _settings() -> list[str]:
    head = f"| {' | '.join(settings_table.HEAD)} |"
    rows = [f"| {' | '.join(row)} |" for row in settings_table.table(experiments(quick=False))]
    return [head, "|---" * len(settings_table.HEAD) + "|", *rows]


def _margins() -> list[str]:
    return [
        "| margin | reason |",
        "|---|---|",
        *(f"| {one.value:g} {one.unit} | {one.reason} |" for one in MARGINS.values()),
    ]


def errata() -> str:
    """The page of errata as Markdown."""
    parts = [
        "# Errata of the five reports",
        "",
        "The experiments are repeated, the mistakes are not. Each slip was found by deriving the formula, by reading the code, or",
        "by computing the number. Written by `python docs/make_replication.py` from `src/dualgap/replication/errata.py`; what the",
        "reports claim, and how it fared, is in [replication.md](replication.md).",
    ]
    for report, about in REPORTS.items():
        parts += ["", f"## {report}: {about.title}", "", f"{about.authors}, {about.date}.", ""]
        parts += ["| where | printed | corrected | found | changes |", "|---|---|---|---|---|"]
        for one in (one for one in ERRATA if one.report == report):
            cells = (one.where, one.printed, one.corrected, one.found, one.changes)
            parts.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(parts) + "\n"


def _beyond(gathered: gathering.Gathered) -> list[str]:
    lines = [
        "| experiment | data | λ | P* proven between | test accuracy at P* | ended above P* |",
        "|---|---|---|---|---|---|",
    ]
    for one in problems(gathered):
        ended = ", ".join(f"{ending.solver} {percent_above(ending.excess)}" for ending in one.endings)
        score = "" if one.score is None else f"{one.score:.3f}"
        proven = f"{one.dual:.7g} and {one.primal:.7g}"
        lines.append(f"| {one.experiment} | {one.data} | {one.strength:.3g} | {proven} | {score} | {ended} |")
    said = "No report had a certificate. Here the optimum of every problem is proven."
    return [said, "", *folded("Every optimum, the test accuracy there, and how far above it each setting ended", lines)]


def _line(run: store.FinishedRun) -> dict[str, Any]:
    """A run as it is kept: five digits a number, and no record that neither a rule nor a figure reads."""
    kept = {name: getattr(run, name) for name in store.KNOWN}
    records = {
        name: _short(values, EPOCH_DIGITS if name == "epoch" else DIGITS)
        for name, values in run.records.items()
        if name not in LEFT_OUT
    }
    for name, readers in READ_IN.items():
        if str(run.settings.get("experiment")).startswith(readers):
            continue
        records[name] = [*([None] * (len(records[name]) - 1)), *records[name][-1:]]
    short = {name: value if name == "certificate" else _short(value) for name, value in kept.items()}
    return {"format": store.FORMAT} | short | {"records": records}


def _short(value: Any, digits: int = DIGITS) -> Any:
    """The same with its floats rounded to `digits` digits."""
    if isinstance(value, dict):
        return {name: _short(item, digits) for name, item in value.items()}
    if isinstance(value, list):
        return [_short(item, digits) for item in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def html(gathered: gathering.Gathered, path: Path) -> None:
    """The page with all figures."""
    quick = bool(json.loads(SETTINGS.read_text(encoding="utf-8"))["quick"])
    command = "dualgap replicate --quick" if quick else "dualgap replicate"
    shown = content(list(CLAIMS.values()), list(FIGURES.values()), gathered, left_out={}, quick=quick, command=command)
    write_page(shown, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="of a finished replication, whose results are taken over")
    parser.add_argument("--html", type=Path, help="also write the page with all figures to this file")
    options = parser.parse_args()
    if options.folder is not None:
        take(options.folder)
    results = kept()
    if options.folder is not None:
        draw(results)
    PAGE.write_text(page(results), encoding="utf-8", newline="\n")
    ERRATA_PAGE.write_text(errata(), encoding="utf-8", newline="\n")
    if options.html is not None:
        html(results, options.html)
