"""Examples in the docstrings of public names run as they are written, and every public class and function has one."""

from __future__ import annotations

import doctest
import inspect

import pytest

import dualgap as dg

# Public names without an example of their own: tables, base classes, and what other examples show.
WITHOUT = {
    "FEATURES",
    "LOSSES",
    "PENALTIES",
    "SOLVERS",
    "Loss",
    "Penalty",
    "Solver",
    "Status",
    "Record",
    "Trace",
    "Path",
    "Model",
    "Race",
}

PUBLIC = sorted(name for name in dg.__all__ if not name.startswith("_"))


def examples_of(name: str) -> list[doctest.DocTest]:
    """The examples in the docstring of a public name and, for a class, of its methods."""
    thing = getattr(dg, name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    return [test for test in finder.find(thing, name) if test.examples]


def has_example(name: str) -> bool:
    thing = getattr(dg, name)
    return bool(doctest.DocTestParser().get_examples(thing.__doc__ or ""))


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_run_as_written(name: str) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for test in examples_of(name):
        said: list[str] = []
        failed, _ = runner.run(test, out=said.append)
        assert not failed, "".join(said)


@pytest.mark.parametrize("name", PUBLIC)
def test_public_class_or_function_has_an_example(name: str) -> None:
    thing = getattr(dg, name)
    if name in WITHOUT or not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return
    assert has_example(name), f"{name} has no example in its docstring"
