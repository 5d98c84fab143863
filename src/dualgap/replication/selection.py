"""What a replication repeats: reports, claims, a figure and the size, and the file in which a folder keeps them."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dualgap.data.files import parsed_json, source, write_text
from dualgap.replication import gathering
from dualgap.replication.claims import Claim, chosen
from dualgap.replication.experiments import Experiment
from dualgap.replication.figures import FIGURES, named
from dualgap.replication.panels import Figure
from dualgap.replication.reports import REPORTS
from dualgap.replication.table import experiments
from dualgap.workbench import store

STEM = "dualgap-replication"
SETTINGS = "replication.json"


@dataclass(frozen=True)
class Selection:
    """What is to be repeated: names of reports and claims, the size, perhaps one figure."""

    names: tuple[str, ...] = ()
    quick: bool = False
    figure: str | None = None

    def claims(self) -> list[Claim]:
        """The claims to judge; none where one figure is asked for."""
        found = chosen(self.names)
        return [] if self.figure is not None else found

    def figures(self) -> list[Figure]:
        """The figures to draw: those of whole reports, those of single claims, or the one that is asked for."""
        claims = chosen(self.names)
        if self.figure is not None:
            return named(self.figure, list(dict.fromkeys(claim.report for claim in claims)))
        whole = {name.upper() for name in self.names if name.upper() in REPORTS} if self.names else set(REPORTS)
        single = {name for claim in claims for name in claim.figures}
        return [figure for figure in FIGURES.values() if figure.report in whole or figure.id in single]

    def experiments(self) -> list[Experiment]:
        """Everything the claims and figures rest on."""
        needed = {name for claim in self.claims() for name in claim.experiments}
        needed |= {name for figure in self.figures() for name in figure.experiments}
        whole = {name.upper() for name in self.names if name.upper() in REPORTS} if self.names else set(REPORTS)
        if self.figure is not None:
            whole = set()
        every = experiments(self.quick)
        return [one for one in every if one.name in needed or one.report in whole]

    def command(self) -> str:
        """As it is typed."""
        words = ["dualgap", "replicate", *self.names]
        words += ["--quick"] if self.quick else []
        words += ["--figure", self.figure] if self.figure is not None else []
        return shlex.join(words)


def resumed(folder: Path, selection: Selection) -> Selection:
    """What a folder was started with; the names of `selection` are added to it, and another size is refused."""
    file = folder / SETTINGS
    if not file.exists():
        if (folder / store.FILE).exists():
            raise ValueError(f"{str(folder)!r} holds no {SETTINGS}, so it is no replication; choose its folder with -o")
        return selection
    kept = _settings(file)
    if selection.quick and not kept["quick"]:
        raise ValueError(
            f"{str(folder)!r} was started in full size; leave --quick out, or choose another folder with -o"
        )
    names = tuple(dict.fromkeys((*kept["names"], *selection.names))) if kept["names"] else ()
    return Selection(names, bool(kept["quick"]), selection.figure or kept.get("figure"))


def _settings(file: Path) -> dict[str, Any]:
    """What a replication has written down of itself."""
    try:
        kept = parsed_json(source(file).read_bytes())
    except ValueError as error:
        raise ValueError(f"{str(file)!r} cannot be read: {error}; choose another folder with -o") from None
    fits = (
        isinstance(kept, dict)
        and isinstance(kept.get("names"), list)
        and all(isinstance(name, str) for name in kept["names"])
        and isinstance(kept.get("quick"), bool)
        and isinstance(kept.get("figure"), str | None)
        and isinstance(kept.get("seconds", 0.0), int | float)
    )
    if not fits:
        raise ValueError(
            f"{str(file)!r} holds something else than dualgap writes; it was edited, so choose another folder with -o"
        )
    return dict(kept)


def keep(folder: Path, selection: Selection, seconds: float) -> None:
    """Write down what is repeated, and for how many seconds it has run so far."""
    kept = asdict(selection) | {"seconds": round(seconds, 1)}
    write_text(folder / SETTINGS, json.dumps(kept) + "\n")


def seconds_so_far(folder: Path) -> float:
    """For how many seconds the replication in a folder has run."""
    file = folder / SETTINGS
    return float(_settings(file).get("seconds", 0.0)) if file.exists() else 0.0


def claim_folder(folder: Path) -> Path:
    """Make `folder` if need be; refused where it already holds a replication or results."""
    if (folder / gathering.FACTS).exists() or (folder / SETTINGS).exists():
        raise ValueError(
            f"{str(folder)!r} already holds a replication, and nothing is overwritten; choose another folder, or pass "
            "--resume to go on there"
        )
    return store.claim_folder(folder)
