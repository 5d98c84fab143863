"""The command `info`: versions, machine, and where compiled kernels are kept."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path

from rich.table import Table
from rich.text import Text

from dualgap.cli.console import make_console, show

EPILOG = "Example:  dualgap info > about-my-machine.txt"


def info() -> None:
    """Show versions, the machine, and whether kernels are compiled and kept; paste it into a bug report."""
    from dualgap.workbench import machine

    table = Table.grid(padding=(0, 3, 0, 0))
    for name, value in (machine.versions() | machine.machine()).items():
        table.add_row(Text(str(name), style="bold"), Text(str(value)))
    folders = _cache_folders()
    kept = sum(len(list(folder.glob("*.nbc"))) for folder in folders)
    table.add_row(Text("kernel cache", style="bold"), Text("\n".join(map(str, folders)) or "none can be written"))
    words = f"{kept} kept" if kept else "none yet; the first race compiles them, once"
    table.add_row(Text("compiled kernels", style="bold"), Text(words))
    show(make_console(), table)


def _cache_folders() -> list[Path]:
    """The folders Numba keeps the kernels in, as the kernels themselves say."""
    import dualgap.kernels

    folders: set[Path] = set()
    for module in pkgutil.iter_modules(dualgap.kernels.__path__):
        for thing in vars(import_module(f"dualgap.kernels.{module.name}")).values():
            place = getattr(getattr(thing, "stats", None), "cache_path", None)
            if isinstance(place, str):
                folders.add(Path(place))
    return sorted(folders)
