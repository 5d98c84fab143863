"""Contenders that are no part of dualgap: solvers, estimators and functions of the user's, by name while they race."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from dualgap import spec
from dualgap.solvers import SOLVERS, AnySolver, Auto, Solver
from dualgap.workbench.plan import IN_MEMORY
from dualgap.workbench.rivals import RIVALS, Rival, objectives
from dualgap.workbench.rivals.estimator import EstimatorRival, name_of_estimator
from dualgap.workbench.rivals.function import FunctionRival

FILE_MARK = ".py:"  # my_file.py:MySolver, my_file.py:MySolver(step=0.5)
HELD: dict[str, AnySolver | Rival] = {}
WHAT = "an object of a Solver class, an estimator with fit, or a function (X, y, …) that returns weights"


def is_in_file(name: str) -> bool:
    """Whether a contender is named by the file that it is in."""
    return FILE_MARK in name


def find(name: str) -> AnySolver | Auto | Rival:
    """The contender of a name: one held now, one in a file, a rival, or a solver's spec."""
    if name in HELD:
        return HELD[name]
    if is_in_file(name):
        return _as_contender(_load(name), name)
    return RIVALS[name] if name in RIVALS else spec.build(name, SOLVERS, "solver")


class Asked(NamedTuple):
    """What races: solvers, others that are seen from outside through their weights, and where the user's own are from."""

    solvers: tuple[str, ...]
    own: tuple[str, ...]
    codes: tuple[tuple[str, str], ...]


def asked_for(solvers: Iterable[Any]) -> Asked:
    """The names of what is asked for; what is in a file is imported, so that a mistake in it is said before any work."""
    inside: list[str] = []
    outside: list[str] = []
    codes: dict[str, str] = {}
    for asked in solvers:
        if not (isinstance(asked, str) and (asked in HELD or is_in_file(asked))):
            inside.append(spec.text_of(spec.build(asked, SOLVERS, "solver")))
            continue
        (outside if isinstance(find(asked), Rival) else inside).append(asked)
        codes[asked] = IN_MEMORY if asked in HELD else _hash(_file_of(asked)[0])
    return Asked(tuple(inside), tuple(outside), tuple(codes.items()))


def _file_of(name: str) -> tuple[Path, str]:
    """The file of a contender, and what it is called in there."""
    file, _, inside = name.partition(FILE_MARK)
    return Path(file + FILE_MARK[:-1]), inside


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:10]


@contextmanager
def held(solvers: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """The solvers asked for, each of the user's own replaced by the name under which `find` knows it inside the `with` block."""
    names: list[Any] = []
    new: dict[str, AnySolver | Rival] = {}
    try:
        for asked in solvers:
            if isinstance(asked, (str, *SOLVERS.values())) or (
                isinstance(asked, type) and issubclass(asked, tuple(SOLVERS.values()))
            ):
                names.append(asked)
                continue
            name = _name_of(asked)
            if name in new or name in HELD:
                raise ValueError(
                    f"two contenders are called {name}; give one another name, or of estimators another parameter that a race does not set"
                )
            HELD[name] = new[name] = _as_contender(asked, name)
            names.append(name)
        yield tuple(names)
    finally:
        for name in new:
            HELD.pop(name, None)


def _name_of(asked: Any) -> str:
    if isinstance(asked, type):
        return asked.__name__
    if isinstance(asked, Solver):
        return spec.text_of(asked)
    if hasattr(asked, "fit"):
        return name_of_estimator(asked)
    return str(getattr(asked, "__name__", type(asked).__name__))


def _as_contender(asked: Any, name: str) -> AnySolver | Rival:
    """What races for an object; its class stands for one with its defaults."""
    thing = _made(asked, name, {}) if isinstance(asked, type) else asked
    if isinstance(thing, Solver):
        if isinstance(thing, tuple(SOLVERS.values())):
            raise ValueError(f"{name} is a solver of dualgap; race it by its spec, {spec.text_of(thing)!r}")
        if spec.canonical(str(getattr(thing, "name", ""))) in ("", *SOLVERS):
            raise ValueError(
                f"{name} needs a name of its own, got {getattr(thing, 'name', None)!r}; set `name` in its class"
            )
        return thing
    if hasattr(thing, "fit"):
        return EstimatorRival(thing, name)
    if callable(thing):
        return FunctionRival(thing, name)
    raise TypeError(f"a contender is a spec, {WHAT}; got {type(thing).__name__}")


def _made(kind: type, name: str, options: dict[str, Any]) -> Any:
    try:
        return kind(**options)
    except TypeError as error:
        options_advice = f"write its options, as in {kind.__name__}(step=0.5), or pass an object to dualgap.race"
        advice = "write these methods" if inspect.isabstract(kind) else options_advice
        raise ValueError(f"{name} cannot be made: {error}; {advice}") from None


@cache
def _module_of(path: Path) -> Any:
    described = importlib.util.spec_from_file_location(f"dualgap_contender_{path.stem}", path)
    assert described is not None
    assert described.loader is not None
    module = importlib.util.module_from_spec(described)
    # Dataclasses look their module up by its name.
    sys.modules[described.name] = module
    try:
        described.loader.exec_module(module)
    except Exception as error:
        del sys.modules[described.name]
        words = " ".join(str(error).split())
        raise ValueError(f"{str(path)!r} cannot be imported: {type(error).__name__}: {words}") from error
    return module


def _load(name: str) -> Any:
    path, inside = _file_of(name)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {str(path)!r}; a contender of your own is FILE.py:NAME")
    module = _module_of(path.resolve())
    called = inside.partition("(")[0].strip()
    if called not in vars(module):
        there = ", ".join(word for word, thing in vars(module).items() if _may_race(thing, module.__name__))
        raise ValueError(f"{str(path)!r} has no {called!r}; it has {there or 'no contender'}")
    options = spec.parse(inside)[1] if "(" in inside else {}
    found = vars(module)[called]
    if options and isinstance(found, type) and hasattr(found, "fit"):
        # Options of a spec are written in small letters.
        taken = {parameter.lower(): parameter for parameter in objectives.set_by_race(objectives.name_of_class(found))}
        if set_anyway := [taken[option] for option in options if option in taken]:
            raise ValueError(f"{name}: a race sets {' and '.join(set_anyway)} itself; leave it out of the name")
    if options and not isinstance(found, type):
        raise ValueError(f"{called!r} in {str(path)!r} is no class, so it takes no options; write {called} alone")
    return _made(found, name, options) if options else found


def _may_race(thing: Any, module: str) -> bool:
    """Whether a class or a function was written in the module itself, or an object looks like a contender."""
    if callable(thing):
        return getattr(thing, "__module__", None) == module
    return isinstance(thing, Solver) or hasattr(thing, "fit")
