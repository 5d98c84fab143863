"""A feature map in a model file: a part of the record, and members whose names begin with `features.`.

Drawn rows that are sparse are three members, the parts of a CSR matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from dualgap.features import FeatureMap, choose_map
from dualgap.fitted_features import FittedMap
from dualgap.models.fields import Part

FLOATS, WHOLE = np.dtype("<f8"), np.dtype("<i8")
CSR_PARTS = {"data": FLOATS, "indices": WHOLE, "indptr": WHOLE}

Read = Callable[[str, "np.dtype[Any]"], "NDArray[Any]"]


def plain(features: FittedMap | None) -> dict[str, Any]:
    """The map as JSON knows it, its arrays apart; nothing where there is none, as in files of format 1."""
    if features is None:
        return {}
    told = {"spec": features.spec, "columns": features.columns, "count": features.count, "sparse": features.is_sparse}
    return {"features": told}


def arrays_of(features: FittedMap | None) -> dict[str, NDArray[Any]]:
    """The arrays of the map by the names of their members."""
    found: dict[str, NDArray[Any]] = {}
    for name, values in {} if features is None else features.arrays.items():
        if sp.issparse(values):
            for part, kind in CSR_PARTS.items():
                found[f"features.{name}.{part}"] = getattr(values, part).astype(kind)
        else:
            found[f"features.{name}"] = np.ascontiguousarray(values, FLOATS)
    return found


def features_of(root: Part, read: Read) -> FittedMap | None:
    """The map that a record describes, its arrays by `read(name, type)`; refused where its parts contradict each other."""
    if root.values.get("features") is None:
        return None
    part = root.part("features")
    options = choose_map(part.of("spec", str))
    columns, count, is_sparse = part.of("columns", int), part.of("count", int), part.of("sparse", bool)
    arrays = {name: _array(name, options, columns, is_sparse, read) for name in options.fitted}
    return FittedMap(options, columns, count, arrays, is_sparse)


def _array(name: str, options: FeatureMap, columns: int, is_sparse: bool, read: Read) -> Any:
    if not (is_sparse and name == options.drawn_rows):
        return read(f"features.{name}", FLOATS)
    data, indices, indptr = (read(f"features.{name}.{part}", kind) for part, kind in CSR_PARTS.items())
    fits = data.ndim == indices.ndim == indptr.ndim == 1 and data.size == indices.size and indptr.size > 1
    fits = fits and indptr[0] == 0 and indptr[-1] == data.size and bool((indptr[1:] >= indptr[:-1]).all())
    if not (fits and columns > 0 and bool(((indices >= 0) & (indices < columns)).all())):
        raise ValueError(f"the parts of features.{name} are no sparse matrix of {columns} columns")
    return sp.csr_matrix((data, indices, indptr), shape=(indptr.size - 1, columns))
