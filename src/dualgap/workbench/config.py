"""The options of a race by their names: made into a plan, read from TOML with care, and written so that they are read again."""

from __future__ import annotations

import difflib
import json
import re
import reprlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dualgap import spec
from dualgap.data.files import source, write_text
from dualgap.datasets import title
from dualgap.features import choose_map
from dualgap.losses import LOSSES
from dualgap.workbench import columns, contenders
from dualgap.workbench.columns import Columns
from dualgap.workbench.plan import (
    DEFAULT_DATA,
    DEFAULT_EPOCHS,
    DEFAULT_SECONDS,
    DEFAULT_SOLVERS,
    DEFAULT_STRENGTH,
    Plan,
)
from dualgap.workbench.rivals import installed

FILE = "race.toml"
LARGEST = 1 << 20  # bytes; a file of options has some hundred

MAX_DOTS = 1000  # in a line, outside of quotes; options have no dotted keys, and a list of numbers has fewer
QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')

# What each option takes; a value where a list is possible may stand alone.
OPTIONS: dict[str, str] = {
    "data": "texts",
    "solver": "texts",
    "loss": "text",
    "strength": "strengths",
    "epochs": "number",
    "seconds": "number",
    "tol": "number",
    "gap_tol": "number",
    "test_size": "number",
    "repeats": "whole",
    "seed": "whole",
    "rivals": "flag",
    "jobs": "whole",
    "threads": "whole",
    "out": "text",
    "target": "text",
    "positive": "labels",
    "intercept": "flag",
    "standardize": "flag",
    "onehot": "flag",
    "category": "labels",
    "impute": "text",
    "drop": "labels",
    "encoding": "text",
    "decimal": "text",
    "features": "text",
    "parquet": "flag",
    "keep_iterates": "flag",
    "svg": "text",
    "open": "flag",
}
NEEDED = {
    "texts": "text or a list of texts",
    "text": "text",
    "strengths": 'a number, text such as "1/n", or a list of them',
    "labels": "a label or a list of labels",
    "number": "a number",
    "whole": "a whole number",
    "flag": "true or false",
}


def read(path: Path) -> dict[str, Any]:
    """The options in a file, with `-` and `_` as the same; what is unknown or of another type is refused."""
    if source(path).stat().st_size > LARGEST:
        raise ValueError(f"{str(path)!r} has more than the {LARGEST:,} bytes of any list of options; name another file")
    try:
        text = path.read_text(encoding="utf-8")
        _refuse_deep_keys(text)
        content = tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"{str(path)!r} is not TOML that can be read: it is nested too deeply") from None
    except ValueError as error:  # of TOML, of UTF-8, or of a number with thousands of digits
        raise ValueError(f"{str(path)!r} is not TOML: {' '.join(str(error).split())}") from None
    found: dict[str, Any] = {}
    for written, value in content.items():
        name = written.replace("-", "_")
        if name not in OPTIONS:
            near = difflib.get_close_matches(name, OPTIONS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(OPTIONS)}"
            raise ValueError(f"{str(path)!r}: there is no option {written!r}; {hint}")
        if name in found:
            raise ValueError(f"{str(path)!r}: the option {name!r} stands twice, with - and with _; write it once")
        try:
            found[name] = _converted(OPTIONS[name], value)
        except (ValueError, OverflowError):
            got = reprlib.repr(value)
            raise ValueError(f"{str(path)!r}: {written} needs {NEEDED[OPTIONS[name]]}, got {got}") from None
    return found


def _refuse_deep_keys(text: str) -> None:
    """Keys such as a.b.c: Python's reader keeps every part of a key with all parts before it, the square of its length."""
    if any(line.count(".") > MAX_DOTS for line in QUOTED.sub("", text).splitlines()):
        raise RecursionError


def write(path: Path, options: Mapping[str, Any]) -> None:
    """The options that have a value, in the order of the table."""
    lines = [f"{name} = {_toml(options[name])}\n" for name in OPTIONS if options.get(name) not in (None, (), [])]
    write_text(path, "".join(lines))


def _converted(kind: str, value: Any) -> Any:
    if kind in ("texts", "strengths", "labels"):
        alone = {"texts": "text", "strengths": "strength", "labels": "label"}[kind]
        many = value if isinstance(value, list) else [value]
        if not many:
            raise ValueError
        return [_converted(alone, one) for one in many]
    # To Python true and false are numbers, to a reader they are not.
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "number" and number:
        return float(value)
    if (kind == "strength" and number) or (kind == "label" and number):
        return repr(value).removesuffix(".0")
    fits = {"whole": number and isinstance(value, int), "flag": isinstance(value, bool)}
    if not fits.get(kind, kind in ("text", "strength", "label") and isinstance(value, str)):
        raise ValueError
    return value


def _toml(value: Any) -> str:
    """JSON's texts, numbers, lists, true and false are TOML's too."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def plan_of(options: Mapping[str, Any]) -> Plan:
    """The plan that options mean, on the command line and in Python; None stands for the default."""
    epochs, seconds = options["epochs"], options["seconds"]
    if epochs is None and seconds is None:
        epochs, seconds = DEFAULT_EPOCHS, DEFAULT_SECONDS
    return Plan(
        data=tuple(map(title, _given(options["data"], [DEFAULT_DATA]))),
        loss=spec.text_of(spec.build(options["loss"], LOSSES, "loss")),
        strengths=tuple(_given(options["strength"], [DEFAULT_STRENGTH])),
        **contenders.asked_for(_given(options["solver"], DEFAULT_SOLVERS))._asdict(),
        epochs=epochs,
        seconds=seconds,
        **{
            name: options[name]
            for name in ("tol", "gap_tol", "test_size", "repeats", "seed", "intercept", "standardize", "target")
        },
        positive=tuple(options["positive"] or ()),
        columns=Columns(**{name: _frozen(options[name]) for name in columns.NAMES if options[name] is not None}),
        features=_map_text(options["features"], options["seed"]),
        rivals=tuple(installed()) if options["rivals"] else (),
    )


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _given(value: Any, default: Any) -> Any:
    return default if value is None else value


def _map_text(features: Any, seed: int) -> str | None:
    """The spec of a feature map with its seed, so that all runs of a race see the same features."""
    return None if features is None else spec.full_text(choose_map(features, seed))
