"""One sentence for what a reader of Parquet files raises on damaged ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def refusing_damage(named: str) -> Iterator[None]:
    """A ValueError that names the files for what pyarrow refuses to read; its own words may take several lines."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, ValueError, OSError, KeyError, NotImplementedError, OverflowError) as error:
        raise ValueError(f"{named} is damaged or not parquet: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
