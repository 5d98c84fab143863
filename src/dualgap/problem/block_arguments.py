"""The arguments of a problem in memory as those of one on row blocks, which carry y and sample_weight themselves."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from dualgap.data.blocks import Blocks
from dualgap.data.blocks.on_dask import is_on_dask


def are_blocks(X: Any) -> bool:
    """Whether rows come as row blocks or on Dask."""
    return isinstance(X, Blocks) or is_on_dask(X)


def block_arguments(
    init: Callable[..., None], X: Any, arguments: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Blocks, dict[str, Any]]:
    """The blocks, and what else was given by name or in the places of `init`, with options that only row blocks have."""
    known = signature(init)
    extra = {name: value for name, value in options.items() if name not in known.parameters}
    named = {name: value for name, value in options.items() if name not in extra}
    given = dict(known.bind_partial(None, X, *arguments, **named).arguments)
    del given["self"], given["X"]
    y, sample_weight = given.pop("y", None), given.pop("sample_weight", None)
    if not isinstance(X, Blocks):
        return Blocks(X, y, sample_weight), given | extra
    for name, value in (("y", y), ("sample_weight", sample_weight)):
        if value is not None:
            raise ValueError(
                f"Blocks hold y and sample_weight themselves, got {name} apart; "
                "pass it to Blocks, and the other arguments by name"
            )
    return X, given | extra
