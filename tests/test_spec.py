"""Specs: `name(option=value, …)` builds what it says, and what is built says its spec."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import dualgap as dg
from dualgap.spec import build, canonical, known, parse, text_of

TABLES = {"solver": dg.SOLVERS, "loss": dg.LOSSES}
EVERYTHING = [(kind, name) for kind, table in TABLES.items() for name in table]
every_name = pytest.mark.parametrize(("kind", "name"), EVERYTHING)

# A value other than the default for each option; an option missing here is tested at its default alone.
OTHER: dict[str, tuple[Any, ...]] = {
    "output": ("average", "random"),
    "average_from": (0.25, 0.0),
    "sampling": ("cyclic", "stored"),
    "first_epoch": ("sgd",),
    "shrinking": (True,),
    "logistic_step": ("closed_form",),
    "batch_size": (3, 100),
    "projection": (True,),
    "theta": ("16x", 0.125, "2.5x"),
    "gamma": (0.1, 1e-3),
    "step": (0.01, 1e-7),
    "schedule": ("sqrt", "constant"),
    "epsilon": (0.0, 0.3),
    "tau": (0.9,),
    "delta": (1e-2,),
}


def variants(kind: str, name: str) -> list[Any]:
    """The thing itself, once with each option changed, and once with all of them."""
    cls = TABLES[kind][name]
    options = [o for o in inspect.signature(cls).parameters if o in OTHER]
    found = [cls()] + [cls(**{option: value}) for option in options for value in OTHER[option]]
    return [*found, cls(**{option: OTHER[option][0] for option in options})]


@every_name
def test_a_name_alone_is_the_thing_with_its_defaults(kind: str, name: str) -> None:
    table = TABLES[kind]
    for spelling in (name, name.replace("_", "-"), name.upper(), f"  {name} ", f"{name}()", f"{name}( )"):
        assert build(spelling, table, kind) == table[name]()
    assert build(table[name], table, kind) == table[name]()


@every_name
def test_a_thing_says_the_spec_that_builds_it_again(kind: str, name: str) -> None:
    for thing in variants(kind, name):
        text = text_of(thing)
        assert build(text, TABLES[kind], kind) == thing
        assert text.startswith(name)
        assert build(thing, TABLES[kind], kind) is thing
    assert text_of(TABLES[kind][name]()) == name


def test_the_shortest_spec_names_only_what_differs() -> None:
    assert text_of(dg.SDCA(sampling="permutation", output="average")) == "sdca(output=average)"
    assert text_of(dg.ASDCA(theta="16x", batch_size=8)) == "asdca(theta=16x)"
    assert text_of(dg.Huber(delta=2)) == "huber(delta=2)"


def test_the_designs_own_example() -> None:
    by_hand = dg.SDCA(sampling="permutation", first_epoch="sgd", output="average", average_from=0.5)
    text = "sdca(sampling=permutation, first_epoch=sgd, output=average, average_from=0.5)"
    assert build(text, dg.SOLVERS, "solver") == by_hand


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("pegasos", "pegasos", {}),
        ("Box-Ascent", "box_ascent", {}),
        ("pegasos(batch_size=8)", "pegasos", {"batch_size": 8}),
        ("a( b = 1 ,c=2.5,)", "a", {"b": 1, "c": 2.5}),
        ("a(b=1e-3, c=-2)", "a", {"b": 1e-3, "c": -2}),
        ("a(b=true, c=False, d=none)", "a", {"b": True, "c": False, "d": None}),
        ("a(b='16x', c=\"16x\", d=16x)", "a", {"b": "16x", "c": "16x", "d": "16x"}),
        ("a(B=1)", "a", {"b": 1}),
        ("a(\n  b=1,\n  c=2\n)", "a", {"b": 1, "c": 2}),
    ],
)
def test_a_spec_is_read_into_a_name_and_options(text: str, name: str, options: dict[str, Any]) -> None:
    found = parse(text)
    assert found == (name, options)
    assert [type(value) for value in found[1].values()] == [type(value) for value in options.values()]


@pytest.mark.parametrize("text", ["", "  ", "3", "(a=1)", "sdca(", "sdca)", "sdca(output=last) and more", "a b", "_a"])
def test_what_is_no_spec_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"a spec is a name or name\(option=value, …\)"):
        parse(text)


@pytest.mark.parametrize("text", ["sdca(random)", "sdca(output)", "sdca(=3)", "sdca(2=3)", "sdca(a b=3)"])
def test_what_is_no_option_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="an option is written option=value"):
        parse(text)


@pytest.mark.parametrize(
    ("kind", "text", "sentence"),
    [
        ("solver", "sdac", "there is no solver 'sdac'; did you mean 'sdca'?"),
        ("solver", "liblinear", "there is no solver 'liblinear'; there are: sdca, asdca, "),
        ("loss", "hing", "there is no loss 'hing'; did you mean 'hinge'?"),
        ("loss", "zero-one", "there is no loss 'zero_one'; there are: hinge, "),
        ("loss", "hinge(gamma=1)", "loss 'hinge' has no option 'gamma'; it has no options"),
        ("loss", "huber(gamma=1)", "loss 'huber' has no option 'gamma'; its options are delta"),
        ("solver", "sdca(step=1)", "solver 'sdca' has no option 'step'; its options are output, average_from, "),
        ("solver", "auto(tol=1)", "solver 'auto' has no option 'tol'; it has no options"),
        ("solver", "sdca(output=last, output=average)", "option 'output' stands twice"),
        (
            "solver",
            "sdca(sampling=shuffled)",
            "sampling to be one of random, permutation, cyclic, stored, got 'shuffled'",
        ),
        ("solver", "sdca(shrinking=maybe)", "sdca needs shrinking to be true or false, got 'maybe'"),
        ("solver", "sdca(average_from=1)", "sdca needs 0 ≤ average_from < 1, got 1"),
        ("solver", "pegasos(batch_size=0)", "pegasos needs a whole batch_size ≥ 1, got 0"),
        ("solver", "pegasos(batch_size=2.5)", "pegasos needs a whole batch_size ≥ 1, got 2.5"),
        ("solver", "pegasos(projection=1)", "pegasos needs projection to be true or false, got 1"),
        ("solver", "asdca(theta=2)", "asdca needs theta in (0, 1] or a factor like '16x', got 2"),
        ("solver", "asdca(theta=x16)", "asdca needs theta in (0, 1] or a factor like '16x', got 'x16'"),
        ("solver", "sgd(step=-1)", "sgd needs step > 0, got -1"),
        ("solver", "sgd(step=nan)", "sgd needs step > 0, got nan"),
        ("solver", "subgradient(schedule=log)", "schedule to be one of constant, inverse, sqrt, got 'log'"),
        ("loss", "quantile(tau=1)", "quantile needs 0 < tau < 1, got 1"),
        ("loss", "epsilon_insensitive(epsilon=wide)", "epsilon_insensitive needs epsilon ≥ 0, got 'wide'"),
    ],
)
def test_refusals_are_one_sentence_that_names_what_exists(kind: str, text: str, sentence: str) -> None:
    with pytest.raises(ValueError) as refusal:
        build(text, TABLES[kind], kind)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("thing", [None, 3, ["sdca"], dg.Hinge(), dg.Hinge])
def test_another_kind_of_thing_is_refused(thing: object) -> None:
    with pytest.raises(TypeError, match=r"a solver is a name, a spec or an object of dualgap, got .*; try 'sdca'"):
        build(thing, dg.SOLVERS, "solver")


def test_names_have_one_spelling() -> None:
    assert canonical(" Smoothed-Hinge ") == "smoothed_hinge"
    assert known("SMOOTHED-HINGE", dg.LOSSES, "loss") == "smoothed_hinge"
    for table in TABLES.values():
        assert all(canonical(name) == name for name in table)


@pytest.mark.parametrize("text", ["sdca(first-epoch=sgd)", "sdca(logistic_step=closed-form)"])
def test_hyphens_are_underscores_in_options_and_choices_too(text: str) -> None:
    assert isinstance(build(text, dg.SOLVERS, "solver"), dg.SDCA)


@every_name
def test_every_row_of_a_table_introduces_itself(kind: str, name: str) -> None:
    cls = TABLES[kind][name]
    assert cls.name == name
    assert cls.__doc__
    assert cls.summary if kind == "solver" else cls.formula
