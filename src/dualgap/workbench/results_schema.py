"""Whether a line of a results file holds what dualgap writes: the type of every field that is computed with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], bool]


def is_number(value: Any) -> bool:
    """A finite number of float64; JSON has whole numbers beyond."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return is_number(value) and isinstance(value, int) and value >= 0


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _is_certificate(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_or_none(is_number), value.values()))


def _are_records(value: Any) -> bool:
    """Columns of numbers and gaps, all of one length."""
    if not isinstance(value, dict) or not all(map(_list_of(_or_none(is_number)), value.values())):
        return False
    return len({len(column) for column in value.values()}) <= 1


FIELDS: Mapping[str, Check] = {
    "run": _is_text,
    "settings": _is_object,
    "data": _is_object,
    "strength": is_number,
    "status": _is_text,
    "sentence": _is_text,
    "reason": _is_text,
    "certificate": _is_certificate,
    "records": _are_records,
    "started": _is_text,
    "machine": _is_object,
    "versions": _is_object,
    "weights": _or_none(_list_of(is_number)),
    "intercept": _or_none(is_number),
    "update_seconds": _or_none(is_number),
}
SETTINGS: Mapping[str, Check] = {
    "data": _is_text,
    "loss": _is_text,
    "strength": _is_text,
    "solver": _is_text,
    "epochs": _or_none(is_number),
    "seconds": _or_none(is_number),
    "tol": is_number,
    "gap_tol": _or_none(is_number),
    "test_size": is_number,
    "seed": _is_count,
    "split_seed": _is_count,
    "intercept": _is_flag,
    "standardize": _or_none(_is_flag),
    "features": _or_none(_is_text),
    "onehot": _is_flag,
    "category": _list_of(_is_text),
    "impute": _is_text,
    "drop": _list_of(_is_text),
    "encoding": _is_text,
    "decimal": _is_text,
    "target": _or_none(_is_text),
    "positive": _list_of(_is_text),
    "kind": _is_text,
    "every": _or_none(is_number),
    "experiment": _or_none(_is_text),
    "code": _or_none(_is_text),
}
NEEDED = ("data", "loss", "strength", "solver")
DATA: Mapping[str, Check] = {
    "name": _is_text,
    "task": _is_text,
    "rows": _is_count,
    "columns": _is_count,
    "test_rows": _is_count,
    "sparse": _is_flag,
    "source": _is_text,
    "centered": _is_flag,
    "beta": _list_of(is_number),
}


def strange_field(content: Mapping[str, Any]) -> str | None:
    """The first field that holds something else than dualgap writes there; None where all are as they should be."""
    for name, check in FIELDS.items():
        if name in content and not check(content[name]):
            return name
    if any(name not in content["settings"] for name in NEEDED):
        return "settings"
    for name, checks in (("settings", SETTINGS), ("data", DATA)):
        for inner, check in checks.items():
            if inner in content[name] and not check(content[name][inner]):
                return name
    return None
