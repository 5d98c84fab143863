"""The fields of a model record out of JSON, each of the type it should be; a field that is not is named and refused."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate import Certificate
from dualgap.models.digests import DataDigest
from dualgap.models.metrics import BASELINE, TEST, TRAIN
from dualgap.result import Status

KINDS_OF_CLASSES: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "U": str}
HISTORY = ("epoch", "seconds", "primal", "dual", "gap")
CERTIFICATE = ("primal", "dual", "gap", "rounding", "primal_error", "dual_error", "reference")


class EstimatedCertificate(Certificate):
    """A certificate of an older file, whose gap is P − D as computed: rounding was estimated then, and not bounded."""


def fields_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a Model is made of, its arrays apart."""
    root = Part(record, "it")
    certificates = [Part(entry, "a certificate") for entry in root.of("certificates", list)]
    return {
        **{name: root.of(name, str) for name in ("kind", "loss", "solver", "reason")},
        "strengths": tuple(_float("strengths", value) for value in root.of("strengths", list)),
        "free_intercept": root.of("free_intercept", bool),
        "intercept": _intercept(root),
        "classes": None if root.values.get("classes") is None else _classes(root.part("classes")),
        "feature_names": root.texts("feature_names") if root.values.get("feature_names") is not None else None,
        "tol": None if root.values.get("tol") is None else root.number("tol"),
        "gap_tol": None if root.values.get("gap_tol") is None else root.number("gap_tol"),
        "l1_ratio": 0.0 if root.values.get("l1_ratio") is None else root.number("l1_ratio"),
        "certificates": tuple(_certificate(one) for one in certificates),
        "statuses": tuple(_status(one.of("status", str)) for one in certificates),
        "data": None if root.values.get("data") is None else _digest(root.part("data")),
        "class_factors": None if root.values.get("class_factors") is None else _factors(root.of("class_factors", list)),
        "reading": _reading(root.part("reading")),
        "metrics": _metrics(root),
        "history": _histories(root),
        "estimator": None if root.values.get("estimator") is None else root.of("estimator", str),
        "parameters": dict(root.part("parameters").values),
        "versions": {name: root.part("versions").of(name, str) for name in root.part("versions").values},
    }


def _certificate(one: Part) -> Certificate:
    """A certificate whose own numbers do not divide by zero."""
    if "rounding" in one.values:
        certificate = Certificate(*(one.number(name) for name in CERTIFICATE))
    else:
        primal, dual, alarm, reference = (one.number(name) for name in ("primal", "dual", "alarm", "reference"))
        certificate = EstimatedCertificate(primal, dual, max(primal - dual, 0.0), 0.0, 0.0, alarm, reference)
    try:
        float(certificate.relative_gap)
    except ArithmeticError:
        raise ValueError("a certificate has numbers that give no relative gap") from None
    return certificate


@dataclass(frozen=True)
class Part:
    """An object of JSON whose members are asked for by name and type; `name` is what a refusal calls it."""

    values: Mapping[str, Any]
    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.values, dict):
            raise ValueError(f"{self.name} should be an object, got {type(self.values).__name__}")

    def of(self, name: str, kind: type) -> Any:
        """A member of exactly this type."""
        if name not in self.values:
            raise ValueError(f"{self.name} has no {name!r}")
        value = self.values[name]
        if type(value) is not kind:
            raise ValueError(f"{name!r} should be of type {kind.__name__}, got {type(value).__name__}")
        return value

    def part(self, name: str) -> Part:
        return Part(self.of(name, dict), repr(name))

    def number(self, name: str) -> float:
        """A number, or the name of one that JSON does not have."""
        return _named_float(name, self.values.get(name))

    def numbers(self, name: str) -> tuple[int, ...]:
        """A shape: whole numbers ≥ 0."""
        values = self.of(name, list)
        if not all(type(value) is int and value >= 0 for value in values):
            raise ValueError(f"the shape of {name!r} should be whole numbers, got others")
        return tuple(values)

    def texts(self, name: str) -> tuple[str, ...]:
        values = self.of(name, list)
        if not all(type(value) is str for value in values):
            raise ValueError(f"{name!r} should be a list of text, got others")
        return tuple(values)


def _named_float(name: str, value: Any) -> float:
    return float(value) if isinstance(value, str) and value in ("inf", "-inf", "nan") else _float(name, value)


def _float(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name!r} should be a number, got {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name!r} should be a number of float64, got one too large") from None


def _intercept(root: Part) -> float | NDArray[np.float64]:
    value = root.values.get("intercept")
    if isinstance(value, list):
        return np.array([_float("intercept", one) for one in value], dtype=np.float64)
    return _float("intercept", value)


def _classes(part: Part) -> NDArray[Any]:
    """Numbers, truth values or text, in the type they had."""
    name, values = part.of("type", str), part.of("values", list)
    expected = KINDS_OF_CLASSES.get(name[1:2]) if re.fullmatch(r"[<>|][biufU]\d{1,9}", name) else None
    if expected is None or not all(type(value) is expected for value in values):
        raise ValueError(f"the classes should be numbers or text of the type they name, {name!r}, got others")
    if expected is float and not all(map(math.isfinite, values)):
        raise ValueError("the classes should be finite numbers, got others")
    try:
        # The length of text follows from the text: a type that names another could ask for any amount of memory.
        classes = np.array(values, dtype=np.str_ if expected is str else np.dtype(name))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"the classes do not fit their type {name!r}: {error}") from None
    return classes


def _factors(groups: list[Any]) -> tuple[tuple[float, ...], ...]:
    if not all(type(group) is list for group in groups):
        raise ValueError("'class_factors' should be lists of numbers, got others")
    return tuple(tuple(_float("class_factors", factor) for factor in group) for group in groups)


def _reading(part: Part) -> dict[str, Any]:
    """How the data was read; empty where it came from memory."""
    if not part.values:
        return {}
    target, seed = part.values.get("target"), part.of("seed", int)
    test_size = part.number("test_size")
    if not 0.0 <= test_size < 1.0 or seed < 0:
        raise ValueError("'reading' should have a test_size from 0 to below 1 and a seed of at least 0, got others")
    return {
        "target": None if target is None else part.of("target", str),
        "positive": list(part.texts("positive")),
        "test_size": test_size,
        "seed": seed,
        **({} if part.values.get("drop") is None else {"drop": list(part.texts("drop"))}),
        **{
            name: part.of(name, str)
            for name in ("encoding", "decimal", "lines", "weight")
            if part.values.get(name) is not None
        },
    }


def _metrics(root: Part) -> dict[str, dict[str, float]]:
    if root.values.get("metrics") is None:
        return {}
    parts = root.part("metrics")
    if not parts.values.keys() <= {TRAIN, TEST, BASELINE}:
        raise ValueError(f"'metrics' are of {TRAIN}, {TEST} and {BASELINE}, got others")
    return {part: {name: parts.part(part).number(name) for name in parts.part(part).values} for part in parts.values}


def _histories(root: Part) -> tuple[dict[str, tuple[float, ...]], ...]:
    if root.values.get("history") is None:
        return ()
    found = []
    for entry in root.of("history", list):
        part = Part(entry, "a history")
        found.append({name: tuple(_named_float(name, value) for value in part.of(name, list)) for name in HISTORY})
        if len({len(values) for values in found[-1].values()}) > 1:
            raise ValueError("the columns of a history have one length, and here not so")
    return tuple(found)


def _status(name: str) -> Status:
    if name not in Status.__members__:
        raise ValueError(f"{name!r} is no ending of a run; there are {', '.join(Status.__members__)}")
    return Status[name]


def _digest(part: Part) -> DataDigest:
    counts = {}
    for name in ("rows", "columns"):
        counts[name] = part.of(name, int)
    weights = part.values.get("sample_weight")
    return DataDigest(
        **counts,
        X=part.of("X", str),
        y=part.of("y", str),
        sample_weight=None if weights is None else part.of("sample_weight", str),
    )
