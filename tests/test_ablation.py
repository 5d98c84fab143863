"""The ablation can be repeated: every number that a trick replaces is in the working tree, and is read where it is replaced."""

from __future__ import annotations

import importlib
import sys
from dataclasses import is_dataclass
from pathlib import Path

import pytest

from conftest import SOURCE

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import ablation  # noqa: E402
from ablation_tricks import CLASSES, MORE, TRICKS, Trick, replaced, with_constants  # noqa: E402
from rival_problems import PROBLEMS  # noqa: E402


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.name)
def test_trick_replaces_numbers_of_the_working_tree(trick: Trick) -> None:
    changes = replaced(trick, importlib.import_module)
    assert changes is not None, f"{trick.name}: the tree has no {', '.join(trick.numbers)}"
    for owner, name, value in changes:
        assert getattr(owner, name) != value, f"{trick.name}: {name} is {value} already"
    assert set(trick.classes) <= set(CLASSES)
    for path, value in trick.kernel_numbers.items():
        module, _, name = path.partition(":")
        text = (SOURCE / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
        assert f"{name} = {value!r}" in with_constants(text, {name: value}).splitlines()


def test_problems_of_the_classes_exist() -> None:
    assert {name for names in CLASSES.values() for name in names} <= set(PROBLEMS) | set(MORE)


def test_numbers_are_put_and_put_back() -> None:
    changes = replaced(next(trick for trick in TRICKS if trick.name == "working sets"), importlib.import_module)
    assert changes is not None
    ((settings, name, value),) = changes
    assert is_dataclass(settings)
    before = getattr(settings, name)
    ablation.put(changes)
    assert getattr(settings, name) == value
    ablation.put([(settings, name, before)])
    assert getattr(settings, name) == before


def test_missing_number_leaves_the_trick_out() -> None:
    assert replaced(Trick("gone", ("L1",), {"solvers.auto:Auto.settings.gone": 1}), importlib.import_module) is None
    with pytest.raises(ValueError, match="one line GONE = …, got 0"):
        with_constants("A = 1\n", {"GONE": 2})
