"""The table of data sets, and `load`: a name, a spec or a file becomes a Dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from dualgap import spec
from dualgap.datasets import locations
from dualgap.datasets.dataset import Dataset, against_rest
from dualgap.datasets.embedded import BreastCancer, Digits
from dualgap.datasets.layout import AS_IT_IS, TextOptions
from dualgap.datasets.published import STORED, Stored
from dualgap.datasets.readers import SUFFIXES, for_tables_only, read
from dualgap.datasets.simulated import Classification, Gaussians, Simulated


class Source(Protocol):
    """What a row of the table offers: options as fields, a description, and `load`."""

    name: ClassVar[str]
    summary: ClassVar[str]
    source: ClassVar[str]
    loss: ClassVar[str]  # the loss it is usually fitted with

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def load(self) -> Dataset:
        """The data set itself."""


_SOURCES: tuple[Any, ...] = (BreastCancer, Digits, Simulated, Gaussians, Classification, *STORED)
DATASETS: dict[str, type[Source]] = {source.name: source for source in _SOURCES}


def load(
    text: str,
    target: str | int | None = None,
    positive: Sequence[str] = (),
    *,
    options: TextOptions = AS_IT_IS,
    download: bool = False,
    tell: Callable[[int], object] | None = None,
) -> Dataset:
    """The data set that `text` stands for: a name of the table, a spec such as `simulated(n=500, seed=3)`, or a file.

    `target` names the target column of a csv or parquet file, `options` say what a text file does not; the labels in `positive` are set against the rest. A
    published set that is not here is fetched into the cache with `download`, and never without; `tell` is called with
    the bytes that have come.
    """
    source = source_of(text)
    if source is None:
        dataset = read(Path(text), target, options)
    else:
        for_tables_only(target, options, f"{text!r} is a data set of the table")
        if download:
            fetch_missing(source, tell)
        dataset = source.load()
    return against_rest(dataset, positive) if positive else dataset


def fetch_missing(source: Source, tell: Callable[[int], object] | None = None) -> bool:
    """Download what a published set needs and is not here; whether anything was."""
    if not isinstance(source, Stored) or locations.find(source.row.files) is not None:
        return False
    from dualgap.datasets import cache

    cache.fetch(source.row, tell)
    return True


def place_of(source: Source) -> str:
    """Where a data set of the table is: built in, in a folder of DUALGAP_DATA or the cache, or to be downloaded, or no."""
    if not isinstance(source, Stored):
        return "built in"
    found = locations.find(source.row.files)
    away = "download" if source.row.download else "no"
    return away if found is None else found[0]


def title(text: str) -> str:
    """The shortest text that means the same data: the canonical spec, or the path as it was given."""
    source = source_of(text)
    return text if source is None else spec.text_of(source)


def source_of(text: str) -> Source | None:
    """The table's entry that `text` means, None where it means a file, else a refusal with the nearest name."""
    if not text.strip():
        raise ValueError(f"a data set needs a name; there are: {', '.join(DATASETS)}, or a file")
    if "\0" in text:
        raise ValueError(f"a data set is a name, a spec or a path without NUL bytes, got {text!r}; correct the name")
    path = Path(text)
    looks_like_a_file = len(path.parts) > 1 or path.name.lower().endswith(SUFFIXES)
    name = spec.canonical(text.partition("(")[0])
    if name not in DATASETS and (path.exists() or looks_like_a_file):
        return None
    spec.known(name, DATASETS, "data set")
    source: Source = spec.build(text, DATASETS, "data set")
    return source
