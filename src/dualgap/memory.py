"""How much memory a program may still take on this machine."""

from __future__ import annotations

import os
from pathlib import Path


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
