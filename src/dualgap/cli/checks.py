"""What a command is given, checked before anything is read or computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dualgap.data.files import destination, refuse_unwritable, source, unused

if TYPE_CHECKING:
    from dualgap.losses import Loss
    from dualgap.models.training import ColumnChoices


@dataclass(frozen=True)
class CheckedOptions:
    """The options of a fit that stand for objects."""

    loss: Loss
    features: Any
    choices: ColumnChoices


def checked_output(path: Path, overwrite: bool) -> Path:
    """A file that may be written, in a folder that lets it."""
    if not overwrite:
        unused(path, "; choose another name, or pass --overwrite")
    refuse_unwritable(destination(path))
    return path


def checked_iterates(iterates: Path, model: Path) -> Path:
    """A new .npz file that is not the model's."""
    if iterates.suffix != ".npz":
        raise ValueError(f"iterates are written to a file that ends in .npz, got {str(iterates)!r}; name such a file")
    if iterates.resolve() == model.resolve():
        raise ValueError(f"the model and its iterates need two files, got {str(model)!r} for both; name another")
    refuse_unwritable(unused(iterates))
    return iterates


def checked_data(text: str) -> None:
    """A refusal of a name that is no data set, and of a file that is not there."""
    from dualgap.datasets.catalog import source_of

    if source_of(text) is None and not Path(text).is_dir():
        source(Path(text))


def checked_options(options: Mapping[str, Any]) -> CheckedOptions:
    """Everything that can be wrong about the options of a fit before its data is known."""
    from dualgap.datasets.text import checked_encoding
    from dualgap.features import choose_map
    from dualgap.limits import Limits
    from dualgap.losses import LOSSES
    from dualgap.models.training import ColumnChoices, text_options
    from dualgap.solvers import SOLVERS
    from dualgap.spec import build

    loss = build(options["loss"], LOSSES, "loss")
    build(options["solver"], SOLVERS, "solver")
    for name in ("epochs", "seconds", "gap_tol", "C"):
        value = options[name]
        if value is not None and not (math.isfinite(value) and value > 0):
            raise ValueError(f"--{name.replace('_', '-')} needs a finite number above 0, got {value:g}")
    Limits.of(options["tol"], options["epochs"], options["seconds"], None, None, options["gap_tol"])
    strength_of(options["strength"], options["C"], 1)
    if not 0 <= options["test_size"] < 1:
        raise ValueError(f"--test-size needs a fraction from 0 to below 1, got {options['test_size']:g}; 0.2 is common")
    if options["seed"] < 0:
        raise ValueError(f"--seed needs a whole number of at least 0, got {options['seed']}")
    choices = ColumnChoices(
        options["onehot"], tuple(options["category"] or ()), options["impute"], options["standardize"]
    )
    checked_encoding(options["encoding"])
    text_options(options)
    features = None if options["features"] is None else choose_map(options["features"], options["seed"])
    checked_data(options["data"])
    return CheckedOptions(loss, features, choices)


def strength_of(strength: str | None, C: float | None, rows: int) -> float:
    """λ from --strength or --C, which is 1/(λ·rows)."""
    from dualgap.workbench.plan import strength_of as meant_by

    if strength is not None and C is not None:
        raise ValueError("a fit needs --strength or --C, got both; they are the same setting, λ = 1/(C·n)")
    return meant_by(strength or "1/n", rows) if C is None else 1.0 / (C * rows)
