"""Blocks on Dask: each stays where its worker holds it, and functions of (block, message) travel there.

Tasks are plain and stateless: none is tied to a worker, and a block that is lost with one is made again from its source by Dask.
"""

from __future__ import annotations

from asyncio import run_coroutine_threadsafe
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualgap.data.blocks.block import Block, Coding
from dualgap.data.blocks.homes import BlockFunction, Home, HomeLost, Message, Out
from dualgap.linalg.parallel import RunOver, checkpoint, use_threads

# How often a round is repeated where workers die in the middle of it, before the run ends.
ROUND_RETRIES = 5
# While Dask computes, a run looks this often whether it is over.
CHECK_SECONDS = 0.2
NEEDS_DASK = "row blocks on Dask need dask and distributed; python -m pip install 'dualgap[dask]'"


def is_on_dask(values: Any) -> bool:
    """Whether an object is a Dask collection, or a list of delayed ones; Dask itself is not imported."""
    if isinstance(values, list | tuple):
        return bool(values) and all(is_on_dask(value) for value in values)
    return hasattr(type(values), "__dask_graph__")


@dataclass(frozen=True)
class OnDask(Home):
    """Blocks that Dask holds: persisted, under the current client or Dask's own scheduler."""

    blocks: Sequence[Any]
    """Delayed blocks, with labels and weights as given."""
    checksums: Sequence[int]
    """The checksum of each block in the first pass; one that is made again, where a worker was lost, has to have it too."""
    coding: Coding | None = None

    @property
    def count(self) -> int:
        return len(self.blocks)

    def map(self, function: BlockFunction[Message, Out], message: Message) -> Iterator[Out]:
        return iter(_computed(*self._calls(function, message)))

    def sum(self, function: BlockFunction[Message, Out], message: Message, plus: Callable[[Out, Out], Out]) -> Out:
        from dask import delayed

        level, join = self._calls(function, message), delayed(plus, pure=False)
        while len(level) > 1:
            pairs = [join(level[k], level[k + 1]) for k in range(0, len(level) - 1, 2)]
            level = pairs + (level[-1:] if len(level) % 2 else [])
        found: Out = _computed(level[0])[0]
        return found

    def coded(self, coding: Coding) -> Home:
        return replace(self, coding=coding)

    def _calls(self, function: Any, message: Any) -> list[Any]:
        """The delayed calls, each where its block is; the message is a task of its own, so that it travels once and can be made again."""
        from dask import delayed

        sent = delayed((message, self.coding), traverse=False)
        call = delayed(_call, pure=False)
        places = _places(self.blocks)
        return [
            _near(places.get(block.key, ()), call, function, block, checksum, sent)
            for block, checksum in zip(self.blocks, self.checksums, strict=True)
        ]


def _call(function: Any, block: Block, checksum: int, sent: tuple[Any, Coding | None]) -> Any:
    """The function of a block, which is coded anew in every round: blocks with codes would be held beside those without."""
    block.check_unchanged(checksum)
    message, coding = sent
    with use_threads(1):
        return function(block if coding is None else coding.coded(block), message)


def home_of(X: Any, y: Any, sample_weight: Any) -> OnDask:
    """The blocks of Dask collections, persisted; empty ones are left out."""
    try:
        from dask import delayed
    except ImportError:
        raise ImportError(NEEDS_DASK) from None
    blocks = _persisted(_made_near(_numbered_parts(X, y, sample_weight)))
    checksums = _computed(*[delayed(_checksum, pure=False)(block) for block in blocks])
    known = [checksum for checksum in checksums if checksum is not None]
    if not known:
        raise ValueError("X needs at least one row, got only empty chunks; check the selection that made it")
    if len(known) < len(blocks):
        number = delayed(_numbered, pure=False)
        kept = [block for block, checksum in zip(blocks, checksums, strict=True) if checksum is not None]
        blocks = _persisted([number(block, k) for k, block in enumerate(kept)])
    return OnDask(blocks, known)


def delayed_blocks(X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """The blocks of Dask collections, None for empty ones, with nothing computed."""
    from dask import delayed

    make = delayed(_made, pure=False)
    return [make(*part) for part in _numbered_parts(X, y, sample_weight)]


def _numbered_parts(X: Any, y: Any, sample_weight: Any) -> list[tuple[Any, ...]]:
    """Each block's number, and the delayed parts that it is made of."""
    parts = _parts(X, "X") or []
    labels, weights = (
        _beside(values, name, X, len(parts)) for values, name in ((y, "y"), (sample_weight, "sample_weight"))
    )
    return [(k, part, labels[k], weights[k]) for k, part in enumerate(parts)]


def _made_near(parts: list[tuple[Any, ...]]) -> list[Any]:
    """Delayed blocks, neighbours on one worker where that moves nothing, so that most of a sum is added there.

    Parts that a worker holds already stay there.
    """
    from dask import delayed

    client, make = _client(parts), delayed(_made, pure=False)
    workers = sorted(_retried(client, client.nthreads)) if client is not None else []
    if not workers or _futures(parts):
        return [make(*part) for part in parts]
    return [_near([workers[k * len(workers) // len(parts)]], make, *part) for k, part in enumerate(parts)]


def _near(workers: Sequence[str], call: Any, *arguments: Any) -> Any:
    """A delayed call that prefers some workers; another one takes it where those are gone."""
    import dask

    if not workers:
        return call(*arguments)
    with dask.annotate(workers=list(workers), allow_other_workers=True):
        return call(*arguments)


def _places(blocks: Sequence[Any]) -> dict[Any, Sequence[str]]:
    """The workers that hold each block, by its key; Dask alone would move a block to a worker that has less to do."""
    client = _client(blocks)
    return {} if client is None else dict(_retried(client, lambda: client.who_has(_futures(blocks))))


def _client(parts: Any) -> Any:
    """The client that holds parts, or the current one; None under Dask's own scheduler."""
    held = _futures(parts)
    if held:
        return held[0].client
    try:
        from distributed import default_client
    except ImportError:
        return None
    try:
        return default_client()
    except ValueError:
        return None


def _futures(values: Any) -> list[Any]:
    """The futures that collections stand for; none of what is yet to be computed."""
    try:
        from distributed import futures_of
    except ImportError:
        return []
    return list(futures_of(values))


def _beside(values: Any, name: str, like: Any, count: int) -> list[Any]:
    """As many delayed parts as the rows have."""
    found = _parts(values, name, like)
    if found is None:
        return [None] * count
    if len(found) != count:
        raise ValueError(f"{name} needs as many chunks as X ({count}), got {len(found)}; rechunk {name}")
    return found


def _parts(values: Any, name: str, like: Any = None) -> list[Any] | None:
    """Delayed parts of a collection, each with all columns."""
    if values is None:
        return None
    if isinstance(values, list | tuple):
        return list(values)
    if not is_on_dask(values):
        raise TypeError(f"{name} needs to be on Dask as X is, got {type(values).__name__}; make it with da.from_array")
    if hasattr(values, "numblocks"):
        if len(values.numblocks) == 2 and values.numblocks[1] > 1:
            values = values.rechunk({1: -1})
        sizes, own = getattr(like, "chunks", [()])[0], values.chunks[0]
        is_known = bool(sizes) and not np.isnan([*sizes, *own]).any()
        if is_known and own != sizes and sum(own) == sum(sizes):
            values = values.rechunk({0: sizes})
        return list(values.to_delayed().reshape(-1))
    if hasattr(values, "to_delayed"):
        return list(values.to_delayed())
    return [values]


def _made(number: int, X: Any, y: Any, sample_weight: Any) -> Block | None:
    """The block of a part, which may be (X, y[, sample_weight]) itself; None for an empty one."""
    if y is None and isinstance(X, tuple | list) and len(X) in (2, 3):
        X, y, sample_weight = (*X, None)[:3]
    if X.shape[0] == 0:
        return None
    return Block.of(number, X, y, sample_weight)


def _checksum(block: Block | None) -> int | None:
    return None if block is None else block.checksum


def _numbered(block: Block, number: int) -> Block:
    return Block(number, block.rows, block.labels, block.weights)


def _persisted(parts: list[Any]) -> list[Any]:
    from dask import persist

    return list(_retried(_client(parts), lambda: persist(*parts)))


def _computed(*parts: Any) -> Any:
    """What delayed parts become; a run that is over leaves the wait, and Dask drops what is no longer waited for."""
    client = _client(parts)
    if client is None:
        from dask import compute

        checkpoint()
        return compute(*parts, optimize_graph=False)
    return _retried(client, lambda: _waited_for(client, parts))


def _waited_for(client: Any, parts: Sequence[Any]) -> Sequence[Any]:
    """What parts become, with a checkpoint every CHECK_SECONDS until they are computed and fetched."""
    # Graphs are as small as they can be, and a fused block would be computed again in every round.
    futures = client.compute(list(parts), optimize_graph=False)
    fetching = run_coroutine_threadsafe(client.gather(futures, asynchronous=True), client.loop.asyncio_loop)
    try:
        while True:
            checkpoint()
            if wait([fetching], CHECK_SECONDS).done:
                found: Sequence[Any] = fetching.result()
                return found
    finally:
        fetching.cancel()
        for future in futures:
            future.release()


def _retried(client: Any, work: Callable[[], Any]) -> Any:
    """The result of work that is tried again after a worker died; HomeLost where the scheduler is gone.

    A scheduler that comes back does not know the blocks, so that a client which has to connect again has lost them.
    """
    if client is None:
        return work()
    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError

    for attempt in range(ROUND_RETRIES + 1):
        if client.status != "running":
            raise HomeLost(f"Dask's scheduler does not answer (the client is {client.status})")
        try:
            return work()
        except KilledWorker:
            if attempt == ROUND_RETRIES:
                raise
        except RunOver:
            raise
        except (CommClosedError, CancelledError) as error:
            raise HomeLost(f"Dask's scheduler does not answer ({type(error).__name__})") from error
        except Exception as error:
            if client.status == "running":
                raise
            raise HomeLost(f"Dask's scheduler does not answer ({type(error).__name__})") from error
    raise AssertionError
