"""Memory: the bytes that a process may still take, and freed vectors that the C library keeps for the next ones."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np

CONTAINER = Path("/sys/fs/cgroup")

# Amounts below this are taken without asking the system: one MiB.
ALWAYS_FREE = 1 << 20

# Just below the largest block that glibc would learn from.
LEARNED_BYTES = (32 << 20) - (64 << 10)


def available_bytes() -> int:
    """Bytes this process could still take: what the system has, within the limits of its container and of its own."""
    limits = (_system_bytes(), _container_bytes(), _process_bytes())
    return max(0, min(limit for limit in limits if limit is not None))


def refuse_beyond_memory(needed: int, what: str, advice: str = "take a part of the rows or columns") -> None:
    """A ValueError where `what` needs more bytes than are available; called before anything is allocated for it."""
    if needed <= ALWAYS_FREE:
        return
    available = available_bytes()
    if needed > available:
        raise ValueError(f"{what} needs {_gigabytes(needed)} of memory, and {_gigabytes(available)} are free; {advice}")


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:,.2f} GB" if count < 10**21 else "more than 10^12 GB"


def _system_bytes() -> int:
    """Linux's own estimate of what it could hand out, else the physical memory, else 8 GiB."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return 8 * 2**30


def _container_bytes() -> int | None:
    """What a control group of Linux leaves; None where there is no limit."""
    try:
        limit = int((CONTAINER / "memory.max").read_text())
        used = int((CONTAINER / "memory.current").read_text())
        entries = dict(line.split() for line in (CONTAINER / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):  # no such files, or the word "max"
        return None
    # Pages of files that were read count as used, and are given up when memory is asked for.
    return limit - used + int(entries.get("active_file", 0)) + int(entries.get("inactive_file", 0))


def _process_bytes() -> int | None:
    """What RLIMIT_AS leaves of this process's address space; None where there is no limit."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return limit - pages * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError):
        return None


@cache
def keep_freed_memory() -> None:
    """Let the C library keep freed vectors for the next ones instead of returning their pages to the system.

    A solver makes and drops vectors of one number a row, and fresh pages cost more than filling them. glibc returns every
    block larger than the largest it has seen freed, up to 32 MiB; so one such block, never touched, is shown to it.
    """
    np.empty(LEARNED_BYTES, dtype=np.uint8)
