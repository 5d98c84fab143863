"""One program at a time writes to a results folder: a lock that the system frees when its owner ends, however it ends.

The lock is `flock` on the folder itself, so that nothing is left behind. It belongs to the open descriptor. Programs that
the owner starts do not inherit the descriptor, and a forked child closes its copy: the lock ends with the owner.
Where the system has no `flock`, as on Windows, or the file system refuses it, as some network drives do, folders are not
locked, and the log says so at level INFO; there it is up to the user to resume a folder once.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

log = logging.getLogger("dualgap")

# The descriptors whose locks this process owns; a forked child must not keep them.
_OWNED: set[int] = set()


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Hold the lock of an existing folder; a ValueError where another program holds it."""
    if fcntl is None:
        log.info("this system cannot lock %s; see that no other program writes there", folder)
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    _OWNED.add(descriptor)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise ValueError(
                    f"a results folder takes one program at a time, and another one is writing to {str(folder)!r}; "
                    "wait for its end, or choose another folder with -o"
                ) from None
            log.info("%s cannot be locked (%s); see that no other program writes there", folder, error.strerror)
        yield
    finally:
        _OWNED.discard(descriptor)
        os.close(descriptor)


def _close_in_child() -> None:
    for descriptor in _OWNED:
        os.close(descriptor)
    _OWNED.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)
