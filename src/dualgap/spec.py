"""Specs: `name(option=value, …)` read once, for solvers, losses and data sets, in Python and on the command line."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

T = TypeVar("T")

_SPEC = re.compile(r"^\s*([A-Za-z][\w-]*)\s*(?:\((.*)\))?\s*$", re.DOTALL)
_NAME = re.compile(r"^[A-Za-z][A-Za-z_-]*$")
_WORDS: dict[str, Any] = {"true": True, "false": False, "none": None}


def canonical(name: str) -> str:
    """The one spelling of a name: `-` and `_` are the same, and so are capitals."""
    return name.strip().lower().replace("-", "_")


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """Split `name(option=value, …)` into its canonical name and its options."""
    match = _SPEC.match(text)
    if match is None:
        raise ValueError(f"a spec is a name or name(option=value, …), got {text!r}")
    options: dict[str, Any] = {}
    for part in filter(None, (option.strip() for option in (match[2] or "").split(","))):
        key, equals, value = part.partition("=")
        if not equals or not canonical(key).isidentifier():
            raise ValueError(f"an option is written option=value, got {part!r} in {text!r}")
        if canonical(key) in options:
            raise ValueError(f"option {canonical(key)!r} stands twice in {text!r}; write it once")
        options[canonical(key)] = _value(value.strip())
    return canonical(match[1]), options


def _value(text: str) -> Any:
    """A number where the text is one, true/false/none, a name in its one spelling, else the text without its quotes."""
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    return canonical(text) if _NAME.match(text) else text.strip("'\"")


def build(spec: object, table: Mapping[str, type[T]], kind: str) -> T:
    """The object a spec, a class or an object of `table` stands for; anything else is refused with what exists."""
    if not isinstance(spec, str):
        classes = tuple(table.values())
        if isinstance(spec, classes):
            return spec
        if isinstance(spec, type) and issubclass(spec, classes):
            return spec()
        raise TypeError(
            f"a {kind} is a name, a spec or an object of dualgap, got {type(spec).__name__}; try {next(iter(table))!r}"
        )
    # A bare name in its one spelling, the usual case, needs no reading.
    name, options = (spec, {}) if spec in table else parse(spec)
    cls = table[known(name, table, kind)]
    for option in options:
        allowed = list(inspect.signature(cls).parameters)
        if option not in allowed:
            hint = f"its options are {', '.join(allowed)}" if allowed else "it has no options"
            raise ValueError(f"{kind} {name!r} has no option {option!r}; {hint}")
    return cls(**options)


def known(name: str, table: Mapping[str, object], kind: str) -> str:
    """`name` in its canonical spelling if the table has it, else a refusal that names the nearest."""
    spelled = canonical(name)
    if spelled in table:
        return spelled
    near = difflib.get_close_matches(spelled, table, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(table)}"
    raise ValueError(f"there is no {kind} {name!r}; {hint}")


def text_of(thing: object) -> str:
    """The shortest spec that builds `thing` again: its name and the options that differ from their defaults."""
    name = str(thing.name)  # type: ignore[attr-defined]
    chosen = []
    for parameter in inspect.signature(type(thing)).parameters.values():
        value = getattr(thing, parameter.name)
        if value != parameter.default:
            chosen.append(f"{parameter.name}={value}")
    return f"{name}({', '.join(chosen)})" if chosen else name


def full_text(thing: Any) -> str:
    """The spec of a loss or a feature map with all its options, so that another default of a later version changes nothing."""
    options = [(option.name, option.type) for option in fields(thing)] if is_dataclass(thing) else []
    texts = [f"{name}={_full_value(getattr(thing, name), kind)}" for name, kind in options]
    return f"{thing.name}({', '.join(texts)})" if texts else str(thing.name)


def _full_value(value: Any, kind: Any) -> str:
    """A value whose field is declared a float reads 2.0 for 2, any other as it is."""
    return repr(float(value)) if kind in (float, "float") else str(value)
