"""What a result should say about where it came from: the machine and the versions of what computed it."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

import dualgap

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


@functools.cache
def machine() -> dict[str, str | int]:
    """System, processor and cores."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
    }


@functools.cache
def versions() -> dict[str, str]:
    """Python and the packages that take part in the arithmetic, read from their metadata without importing them."""
    found = {"dualgap": dualgap.__version__} | revision() | {"python": platform.python_version()}
    for package in PACKAGES:
        found |= version_of(package)
    return found


def revision() -> dict[str, str]:
    """The commit of the source tree that the package is imported from; nothing of an installed one."""
    root = Path(dualgap.__file__).parents[2]
    if not (root / ".git").exists():
        return {}
    asked = ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return {}  # no git here, or a folder that is not its own
    return {"revision": told}


@functools.cache
def version_of(package: str) -> dict[str, str]:
    """A package and its version, or the word that it is not installed."""
    try:
        return {package: metadata.version(package)}
    except metadata.PackageNotFoundError:
        return {package: "not installed"}


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # only Linux has this file
    return platform.processor() or platform.machine()
