"""How a race is repeated: the shell command that its finished runs come from, or the Python call where no shell can do it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dualgap.workbench import columns
from dualgap.workbench.arrays import Arrays
from dualgap.workbench.plan import IN_MEMORY, SHARED

Settings = Mapping[str, Any]
# The options of a command that are typed with a value.
VALUED = (
    "loss",
    "epochs",
    "seconds",
    "tol",
    "gap_tol",
    "test_size",
    "features",
    "target",
    "impute",
    "encoding",
    "decimal",
)


def command_of(runs: Iterable[Any]) -> str:
    """What repeats these finished runs, refusals among them; a line for each race where they come from several."""
    races: dict[str, list[dict[str, Any]]] = {}
    for finished in runs:
        threads = (getattr(finished, "machine", None) or {}).get("threads", 1)
        name = (getattr(finished, "data", None) or {}).get("name")
        settings = {**finished.settings, "threads": threads, "name": name}
        in_memory = _is_array(settings) and settings["data"]
        shared = json.dumps([*(settings.get(key) for key in SHARED), in_memory])
        races.setdefault(shared, []).append(settings)
    return "\n".join(_call(some) if any(map(_needs_python, some)) else _command(some) for some in races.values())


def _is_array(settings: Settings) -> bool:
    return str(settings["data"]).startswith(f"{Arrays.name}(hash=")


def _needs_python(settings: Settings) -> bool:
    """Whether the rows or a contender were in the memory of a program, where no shell finds them."""
    return _is_array(settings) or settings.get("code") == IN_MEMORY


def _is_rival(settings: Settings) -> bool:
    return settings.get("kind") == "rival"


def _call(settings: Sequence[Settings]) -> str:
    first = settings[0]
    asked = [one for one in settings if not _is_rival(one)]
    solvers = dict.fromkeys(
        str(one["solver"]) if one.get("code") == IN_MEMORY else repr(str(one["solver"])) for one in asked
    )
    options = {
        "strengths": list(dict.fromkeys(one["strength"] for one in settings)),
        **{name: first.get(name) for name in ("loss", "epochs", "seconds", "tol", "gap_tol", "features")},
        **{name: first.get(name) for name in ("test_size", "intercept", "standardize", "target")},
        "positive": list(first.get("positive") or []),
        **{name: first.get(name) for name in columns.NAMES},
        "repeats": _repeats(settings),
        "seed": first.get("split_seed", 0),
        "rivals": len(asked) < len(settings),
    }
    data = repr(list(dict.fromkeys(str(one["data"]) for one in settings)))
    if _is_array(first):
        data, options["name"] = "X, y", first["name"]
    # What is None or empty is so without being said; so is what is False, but for `standardize`.
    said = [
        f"{name}={value!r}"
        for name, value in options.items()
        if value not in (None, []) and (value is not False or name == "standardize")
    ]
    listed = f"solvers=[{', '.join(solvers)}]"
    return f"dualgap.race({', '.join([data, listed, *said])})"


def _command(settings: Sequence[Settings]) -> str:
    """One race as it is typed; every number is written out, so that other defaults of a later version change nothing."""
    first = settings[0]
    asked = [one for one in settings if not _is_rival(one)]
    words = ["dualgap", "race", *dict.fromkeys(str(one["data"]) for one in settings)]
    for name, values in (
        ("-s", [one["solver"] for one in asked]),
        ("--strength", [one["strength"] for one in settings]),
        ("--positive", first.get("positive") or []),
        ("--category", first.get("category") or []),
        ("--drop", first.get("drop") or []),
    ):
        for value in dict.fromkeys(values):
            words += [name, str(value)]
    for name in VALUED:
        if first.get(name) is not None:
            words += [f"--{name.replace('_', '-')}", _typed(first[name])]
    words += ["--repeats", str(_repeats(settings)), "--seed", str(first.get("split_seed", 0))]
    words += [f"--{name}" for name in ("intercept", "onehot") if first.get(name)]
    if first.get("standardize") is not None:
        words.append("--standardize" if first["standardize"] else "--no-standardize")
    words += ["--threads", str(first["threads"])] if first["threads"] != 1 else []
    words += ["--rivals"] if len(asked) < len(settings) else []
    return shlex.join(words)


def _repeats(settings: Sequence[Settings]) -> int:
    return len({one.get("seed") for one in settings})


def _typed(value: Any) -> str:
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
