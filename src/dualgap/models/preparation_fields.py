"""A preparation of columns in a model file: a part of the record, and members whose names begin with `preparation.`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.data.preparation import Preparation
from dualgap.models.feature_fields import FLOATS, Read
from dualgap.models.fields import Part

NUMBERS = ("fills", "means", "scales")


def plain(preparation: Preparation | None) -> dict[str, Any]:
    """The preparation as JSON knows it, its numbers apart; nothing where there is none."""
    if preparation is None:
        return {}
    told = {
        "names": list(preparation.names),
        "has_names": preparation.has_names,
        "categories": {str(place): list(values) for place, values in sorted(preparation.categories.items())},
    }
    return {"preparation": told}


def arrays_of(preparation: Preparation | None) -> dict[str, NDArray[Any]]:
    """The numbers of the preparation by the names of their members."""
    if preparation is None:
        return {}
    return {f"preparation.{name}": np.ascontiguousarray(getattr(preparation, name), FLOATS) for name in NUMBERS}


def preparation_of(root: Part, read: Read) -> Preparation | None:
    """The preparation that a record describes, its numbers by `read(name, type)`; refused where its parts contradict."""
    if root.values.get("preparation") is None:
        return None
    part = root.part("preparation")
    categories = part.part("categories")
    found = {}
    for place in categories.values:
        if not (place.isascii() and place.isdigit() and str(int(place[:9])) == place):
            raise ValueError(f"categories belong to a column by its place, got {place[:20]!r}")
        found[int(place)] = categories.texts(place)
    numbers = {name: read(f"preparation.{name}", FLOATS) for name in NUMBERS}
    return Preparation(part.texts("names"), part.of("has_names", bool), categories=found, **numbers)
