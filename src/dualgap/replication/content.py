"""The content of the replication's page: verdicts, figures and optima as plain values, computed from what was gathered."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dualgap.replication import settings
from dualgap.replication.beyond import Problem, problems
from dualgap.replication.claims import Claim
from dualgap.replication.errata import ERRATA
from dualgap.replication.figures import FIGURES
from dualgap.replication.frames import Missing
from dualgap.replication.gathering import Gathered
from dualgap.replication.margins import MARGINS
from dualgap.replication.panels import Figure, Panel, Pictures, Table
from dualgap.replication.reading import GLOSSARY, JUDGING
from dualgap.replication.reports import REPORTS
from dualgap.replication.table import experiments
from dualgap.replication.verdicts import Outcome, Part, Verdict, proven
from dualgap.workbench import looks
from dualgap.workbench.report import provenance
from dualgap.workbench.report.packing import Pool

CLASSES = {Outcome.HOLDS: "holds", Outcome.PARTLY: "partly", Outcome.FAILS: "fails", Outcome.UNDECIDED: "open"}
WORDS = {
    Outcome.HOLDS: ("holds", "hold"),
    Outcome.PARTLY: ("holds in part", "hold in part"),
    Outcome.FAILS: ("does not hold", "do not hold"),
    Outcome.UNDECIDED: ("is undecided", "are undecided"),
}
# What a part's state looks like: a class, a sign, and words.
STATES = {True: ("yes", "✓", "holds"), False: ("no", "✗", "does not hold"), None: ("open", "?", "undecided")}


def judged(claims: Sequence[Claim], gathered: Gathered) -> dict[str, Verdict | str]:
    """The verdict on each claim, or what is missing for one."""
    found: dict[str, Verdict | str] = {}
    for claim in claims:
        try:
            found[claim.id] = claim.rule(gathered.frame)
        except Missing as missing:
            found[claim.id] = str(missing)
    return found


def content(
    claims: Sequence[Claim],
    figures: Sequence[Figure],
    gathered: Gathered,
    *,
    left_out: Mapping[str, str],
    quick: bool,
    command: str,
) -> dict[str, Any]:
    """What the template shows by itself, and under `data` what the page's scripts draw."""
    verdicts = judged(claims, gathered)
    pool = Pool()
    panels: list[Panel] = []
    drawn: dict[str, str] = {}
    says = {one.name: one.says for one in experiments(quick)}

    def shown(figure: Figure, where: str) -> dict[str, Any]:
        if figure.id in drawn:
            return {"id": figure.id, "at": drawn[figure.id]}
        drawn[figure.id] = where
        entry: dict[str, Any] = {"id": figure.id, "name": figure.name, "says": figure.says, "parts": []}
        entry["setting"] = _once(says[name] for name in figure.experiments if name in says)
        try:
            made = figure.make(gathered)
        except Missing as missing:
            return entry | {"missing": str(missing)}
        for part in made:
            if isinstance(part, Panel):
                entry["parts"].append({"kind": "panel", "place": len(panels), "title": part.title})
                panels.append(part)
            elif isinstance(part, Table):
                entry["parts"].append({"kind": "table", "title": part.title, "head": part.head, "rows": part.rows})
            elif isinstance(part, Pictures):
                entry["parts"].append({"kind": "pictures", "images": dict(part.images)})
        return entry

    chosen_ids = {figure.id for figure in figures}
    reports = []
    for report in dict.fromkeys([*(claim.report for claim in claims), *(figure.report for figure in figures)]):
        about = REPORTS[report]
        message = [shown(FIGURES[about.figure], report)] if about.figure in chosen_ids else []
        cards = []
        for claim in (one for one in claims if one.report == report):
            parts = [shown(FIGURES[name], claim.id) for name in claim.figures if name in chosen_ids]
            cards.append(_card(claim, verdicts[claim.id], parts))
        others = [shown(figure, report) for figure in figures if figure.report == report and figure.id not in drawn]
        reports.append(
            {
                "id": report,
                "title": about.title,
                "byline": f"{about.authors}, {about.date}",
                "about": about.about,
                "message": message,
                "claims": cards,
                "others": others,
                "errata": [one for one in ERRATA if one.report == report],
            }
        )
    counted = {
        outcome: sum(getattr(one, "outcome", None) is outcome for one in verdicts.values()) for outcome in Outcome
    }
    return {
        "quick": quick,
        "reports": reports,
        "counts": [(outcome.value, CLASSES[outcome], counted[outcome]) for outcome in Outcome],
        "unmeasured": sum(isinstance(one, str) for one in verdicts.values()),
        "answer": answer(verdicts, quick),
        "left_out": dict(left_out),
        "problems": [_line(problem) for problem in problems(gathered)],
        "provenance": provenance.facts(gathered.runs) if gathered.runs else [],
        "command": command,
        "settings": {"head": settings.HEAD, "rows": settings.table(experiments(quick))},
        "glossary": GLOSSARY,
        "judging": JUDGING,
        "margins": [(f"{one.value:g} {one.unit}", one.reason) for one in MARGINS.values()],
        "data": {
            "panels": [_packed(panel, pool) for panel in panels],
            "styles": _styled(panels),
            "pool": pool.texts,
        },
    }


def answer(verdicts: Mapping[str, Verdict | str], quick: bool) -> str:
    """How the claims fared, in a sentence."""
    found = [one.outcome for one in verdicts.values() if isinstance(one, Verdict)]
    if not found:
        return "No claim was measured."
    counts = [(found.count(outcome), WORDS[outcome]) for outcome in Outcome]
    parts = [f"{count} {words[count != 1]}" for count, words in counts if count]
    listed = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    size = " These are quick sizes; the full ones are the reports' own." if quick else ""
    return f"Of {len(found)} claims {listed}.{size}"


def _card(claim: Claim, found: Verdict | str, figures: Sequence[dict[str, Any]]) -> dict[str, Any]:
    card: dict[str, Any] = {"id": claim.id, "says": claim.says, "settings": claim.settings, "figures": figures}
    if isinstance(found, str):
        return card | {
            "verdict": "not measured",
            "class": "missing",
            "short": found,
            "counted": "",
            "why": "",
            "parts": [],
        }
    return card | {
        "verdict": found.outcome.value,
        "class": CLASSES[found.outcome],
        "short": found.in_short,
        "counted": found.counted,
        "why": found.why,
        "parts": _parts(found.parts),
        "beside": [
            {
                "setting": setting,
                "verdict": other.outcome.value,
                "class": CLASSES[other.outcome],
                "parts": _parts(one for one in other.parts if one not in found.parts),
            }
            for setting, other in found.beside.items()
        ],
    }


def _parts(parts: Iterable[Part]) -> list[dict[str, str]]:
    """Parts as the page shows them; beside a verdict stand only those that differ from its own."""
    shown = []
    for one in parts:
        kind, sign, words = STATES[one.holds]
        shown.append(
            {"says": one.says, "brief": one.brief, "numbers": one.numbers, "class": kind, "sign": sign, "words": words}
        )
    return shown


def _once(texts: Iterable[str]) -> str:
    """Several texts as one, in which no sentence comes twice."""
    return " ".join(dict.fromkeys(sentence for text in texts for sentence in re.split(r"(?<=\.) ", text)))


def _packed(panel: Panel, pool: Pool) -> dict[str, Any]:
    lines = []
    for line in panel.lines:
        lists = [line.x, line.y] + ([line.low, line.high] if line.low is not None and line.high is not None else [])
        lines.append([line.name, line.marked, *(pool.add(values) for values in lists)])
    levels = [[words, level] for words, level in panel.levels.items() if math.isfinite(level)]
    known = panel.top is not None and math.isfinite(panel.top)
    return {
        "x": panel.x_label,
        "y": panel.y_label,
        "log": [panel.log_x, panel.log_y],
        "lines": lines,
        "levels": levels,
        "top": panel.top if known else None,
    }


def _styled(panels: Iterable[Panel]) -> dict[str, list[str]]:
    """A color, dash and symbol for each name, the same in all panels; two names in one panel differ in color."""
    company: dict[str, set[str]] = {}
    for panel in panels:
        names = [line.name for line in panel.lines]
        for name in names:
            company.setdefault(name, set()).update(names)
    places: dict[str, int] = {}
    for name, others in company.items():
        taken = {places[other] for other in others if other in places}
        places[name] = next(place for place in itertools.count() if place not in taken)
    styles = list(looks.styles(map(str, range(max(places.values(), default=0) + 1))).values())
    return {name: list(styles[place]) for name, place in places.items()}


def _line(problem: Problem) -> dict[str, Any]:
    return {
        "experiment": problem.experiment,
        "data": problem.data,
        "shape": problem.shape,
        "strength": f"{problem.strength:.4g}",
        "optimum": f"{problem.dual:.7g} to {problem.primal:.7g}",
        "gap": proven(problem.relative_gap),
        "score": "" if problem.score is None else f"{problem.score:.3f}",
        "draws": problem.draws,
        "endings": [
            {
                "solver": ending.solver,
                "excess": percent_above(ending.excess),
                "score": "" if ending.score is None else f"{ending.score:.3f}",
            }
            for ending in problem.endings
        ],
    }


def percent_above(fraction: float) -> str:
    """How far above an optimum, in percent; what rounding puts below it is 0."""
    if math.isnan(fraction):
        return "–"
    value = 100.0 * fraction
    return f"+{value:,.0f} %" if value >= 100 else f"+{max(value, 0.0):.2g} %"
