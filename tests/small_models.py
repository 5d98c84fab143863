"""Small models of every loss and kind, and the rows they are fitted to: what the tests of model files start from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import dualgap as dg
from dualgap.models.fitting import fit
from dualgap.spec import build

ROWS = np.random.default_rng(3).normal(size=(60, 4))
ROWS[7] = 0.0  # an empty row
ROWS[9] = ROWS[8]  # a repeated one
SIGNS = np.where(ROWS[:, 0] + 0.3 * ROWS[:, 1] ** 2 > 0.2, 1, -1)
WORDS = np.array(["blue", "green", "red"])[np.digitize(ROWS[:, 0], [-0.4, 0.4])]
TARGETS = ROWS @ [1.0, -2.0, 0.5, 0.0] + 3.0


def loss_of(text: str) -> Any:
    return build(text, dg.LOSSES, "loss")


def targets_of(loss: Any) -> Any:
    """Labels −1/+1, real targets or targets ≥ 0, as the loss wants them."""
    if loss.task == "classification":
        return SIGNS
    return TARGETS if loss.smallest_label < 0.0 else np.abs(TARGETS)


def model_for(text: str, **options: Any) -> dg.Model:
    loss = loss_of(text)
    return fit(ROWS, targets_of(loss), loss, 0.01, **options)


KINDS: dict[str, Callable[[], dg.Model]] = {
    **{name: lambda name=name: model_for(name) for name in dg.LOSSES},
    "with duals": lambda: model_for("hinge", duals=True),
    "no intercept": lambda: model_for("smoothed_hinge(gamma=0.3)", intercept=False),
    "named columns": lambda: model_for("epsilon_insensitive(epsilon=0.25)", feature_names=["a", "b", "ü", "d e"]),
    "words": lambda: fit(ROWS, np.where(SIGNS > 0, "yes", "no"), loss_of("logistic"), 0.01),
    "truth": lambda: fit(ROWS, SIGNS > 0, loss_of("logistic"), 0.01),
    "one against the rest": lambda: fit(ROWS, WORDS, loss_of("hinge"), 0.01, duals=True),
    "softmax": lambda: fit(ROWS, WORDS, loss_of("logistic"), 0.01, duals=True),
    "not certified": lambda: model_for("hinge", solver="sgd", max_epochs=2),
}


def saved(model: dg.Model, path: Path) -> Path:
    model.save(path)
    return path
