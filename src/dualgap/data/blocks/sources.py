"""What a source of row blocks says of itself: the paths of its Parquet files, and the names of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from dualgap.data.unseen import some


def parquet_paths(source: Any) -> list[str] | None:
    """The paths of Parquet files that a source names; None where it is something else."""
    several = isinstance(source, list | tuple) and bool(source) and all(isinstance(s, str | PathLike) for s in source)
    if not several and not isinstance(source, str | PathLike):
        return None
    found: list[str] = []
    for given in source if several else [source]:
        path = fspath(given)
        if "*" in path:
            anchor = Path(path).anchor
            found += sorted(map(str, Path(anchor).glob(path.removeprefix(anchor))))
        elif Path(path).is_dir():
            found += sorted(map(str, Path(path).rglob("*.parquet")))
        else:
            found.append(path)
    if not found:
        raise ValueError(
            f"a source needs files, got none at {fspath(source) if not several else source!r}; check the path"
        )
    if not all(path.endswith(".parquet") for path in found):
        if several or len(found) > 1:
            raise ValueError(f"a list of files needs names that end in .parquet, got {found[0]!r}; name Parquet files")
        return None
    return found


def common_names(parts: Sequence[Any]) -> list[str] | None:
    """The names of the columns of frames, which are the same in all blocks; None where the first block has none."""
    names = _names_of(parts[0])
    for number, part in enumerate(parts):
        own = _names_of(part)
        if names is not None and own is not None and own != names:
            raise ValueError(
                f"block {number}: X needs the columns {some(names)} in the order of block 0, got {some(own)}; select the same columns"
            )
    return names


def _names_of(part: Any) -> list[str] | None:
    names = getattr(part[0], "columns", None)
    return None if names is None else [str(name) for name in names]


def refuse_other_names(names: list[str] | None, fitted: list[str]) -> None:
    """A refusal of columns whose names are not those of the fit in their order; blocks without names go by place."""
    if names is None or names == fitted:
        return
    missing = [repr(name) for name in fitted if name not in names]
    if missing:
        raise ValueError(
            f"the model needs column {some(missing)}, which the blocks lack; add it, or fit again without it"
        )
    raise ValueError(
        f"the model needs its {len(fitted)} columns in the order of the fit, {some(fitted)}, got {some(names)}; select them in that order"
    )
