"""Lazy values: computed once, kept under their own name, and free of locks."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np

import dualgap as dg
from dualgap.lazy import lazy

SOURCE = Path(dg.__file__).parent


class Counted:
    def __init__(self) -> None:
        self.computed = 0

    @lazy
    def value(self) -> int:
        """What is counted."""
        self.computed += 1
        return 7


def test_value_is_computed_once_and_kept_in_the_instance() -> None:
    counted = Counted()
    assert "value" not in counted.__dict__
    assert [counted.value, counted.value] == [7, 7]
    assert counted.computed == 1
    assert counted.__dict__["value"] == 7
    assert Counted.value.__doc__ == "What is counted."


def test_first_of_two_threads_decides() -> None:
    """A thread that computed the value too late gets the one that is kept."""

    class Slow:
        @lazy
        def value(self) -> object:
            self.__dict__["value"] = "theirs"  # another thread was quicker
            return "ours"

    slow = Slow()
    assert slow.value == "theirs"


def test_known_values_are_used() -> None:
    problem = dg.Problem(np.eye(3), [1, -1, 1])
    assert "squared_norms" not in problem.rows.__dict__
    assert problem.rows.squared_norms is problem.rows.__dict__["squared_norms"]


def test_objects_shared_by_threads_have_no_locked_properties() -> None:
    """functools.cached_property of Python 3.11 has a lock, which a forked process may inherit as held."""
    for path in sorted(SOURCE.rglob("*.py")):
        names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
        assert "cached_property" not in names, path
