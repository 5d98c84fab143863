"""Memory: how much a program may still take on this machine, and that what it gives back is soon at hand again."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np

# Just below the largest block that glibc would learn from.
LEARNED_BYTES = (32 << 20) - (64 << 10)


def available_bytes() -> int:
    """Bytes the system could hand out now: Linux's own estimate, else the physical memory, else 8 GiB."""
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


@cache
def keep_at_hand() -> None:
    """Let the C library keep freed vectors for the next ones instead of returning their pages to the system.

    A solver makes and drops vectors of one number a row, and fresh pages cost more than filling them. glibc returns every
    block larger than the largest it has seen freed, up to 32 MiB; so one such block, never touched, is shown to it.
    """
    np.empty(LEARNED_BYTES, dtype=np.uint8)
