"""How many numbers decide something in the numeric core, by room.

    python benchmarks/count_numbers.py [REVISION] [--list]

Without a revision the working tree is read. The core is losses, penalties, data, linalg, solvers, kernels, loop, rounds, certificate
and problem, and what these were called before. Counted are:

- a module-level constant (an upper-case name) whose value is made of numbers, once for each number of a tuple or an array;
- a field with a number as default in a class named …Settings;
- a number inside a function that is compared, or bounds something: in a comparison, in the condition of if, while and
  conditional expressions, and in a call of min, max, minimum, maximum or clip; as the default of a parameter too.

0, 1, 2, −1, ½ and their float forms are not counted inside functions. Not counted either: options of losses and solvers, which
a user sets; places of an array (a range); the length that something has to have (`len(part) == 3`); and FACTS, which decide nothing:
they follow from float64, from an algorithm's identity or from a format, bound what is proven, or refuse input in a sentence. --list
shows every number that is counted, and the facts.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
ROOMS = {
    "losses": ("losses/",),
    "penalties": ("penalties/",),
    "data": ("data/", "rows.py", "intake.py", "validation.py"),
    "linalg": ("linalg/", "threads.py", "minimize.py", "doubled.py", "spectrum.py"),
    "solvers": ("solvers/",),
    "kernels": ("kernels/",),
    "loop": ("loop.py", "schedule.py", "stalling.py", "outputs.py", "limits.py", "examiner.py"),
    "rounds": ("rounds/",),
    "certificate": ("certificate/", "certificate.py"),
    "problem": ("problem/", "problem.py"),
}
PLAIN = {0, 1, 2, -1, 0.5}
BOUNDS = {"min", "max", "minimum", "maximum", "clip"}
FACTS = {
    "float64 and integers": ("UNIT", "TINY", "SPLITTER", "BITS", "UNDERFLOW", "LOG_MAX", "MANY_ROUNDINGS", "PAGE_BYTES"),
    "proven bounds on rounding, docs/certificate.md": ("LOSS_OPERATIONS", "SLACK", "PARAMETER_ROUNDING"),
    "an algorithm's identity": ("NOBODY", "NONE", "NO_ROW", "LISTS", "EVERY", "SMOOTHNESS"),
    "defaults of a user's options": ("DEFAULT_EPOCHS", "DEFAULT_STRENGTH"),
    "places in an answer": ("NUMBERS",),
    "the most that is accepted or listed before a sentence refuses": (
        "MAX_CLASSES", "MAX_CATEGORIES", "SMALLEST_LIMIT", "SHOWN",
    ),
}  # fmt: skip
NAMES = {name for names in FACTS.values() for name in names}


class Number(NamedTuple):
    """One number, and where it is."""

    room: str
    file: str
    line: int
    text: str


def sources(revision: str | None) -> Iterator[tuple[str, str]]:
    """Path under src/dualgap and text of every Python file."""
    if revision is None:
        base = ROOT / "src/dualgap"
        for file in sorted(base.rglob("*.py")):
            yield str(file.relative_to(base)), file.read_text()
        return
    names = _git("ls-tree", "-r", "--name-only", revision, "src/dualgap").split()
    for name in names:
        if name.endswith(".py"):
            yield name.removeprefix("src/dualgap/"), _git("show", f"{revision}:{name}")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def room_of(path: str) -> str | None:
    for room, places in ROOMS.items():
        if any(path.startswith(place) if place.endswith("/") else path == place for place in places):
            return room
    return None


def is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def is_made_of_numbers(node: ast.AST) -> bool:
    """Whether an expression holds a number and no text, range or container other than a tuple."""
    kinds = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.Name, ast.expr_context)
    parts = list(ast.walk(node))
    is_plain = all(
        isinstance(part, kinds) and not (isinstance(part, ast.Constant) and not is_number(part)) for part in parts
    )
    return is_plain and any(is_number(part) for part in parts)


def members_of(value: ast.expr) -> list[ast.expr]:
    """The values of a tuple or of np.array([…]), or the value itself."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "np.array":
        value = value.args[0]
    return value.elts if isinstance(value, ast.Tuple | ast.List) else [value]


def is_length(node: ast.AST) -> bool:
    """Whether a comparison says how many members something has to have."""
    sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
    has_len = any(isinstance(side, ast.Call) and ast.unparse(side.func) == "len" for side in sides)
    return has_len and all(isinstance(operator, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for operator in node.ops)


def in_module(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Constants of a module."""
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            both = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            names = target.elts if both else [target]
            values = node.value.elts if both else [node.value]
            for name, value in zip(names, values, strict=True):
                if isinstance(name, ast.Name) and name.id.isupper() and name.id not in NAMES:
                    members = members_of(value)
                    yield from ((node.lineno, name.id) for member in members if is_made_of_numbers(member))


def in_settings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Fields of settings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name.endswith("Settings"):
            for part in node.body:
                if isinstance(part, ast.AnnAssign) and part.value is not None and is_made_of_numbers(part.value):
                    yield part.lineno, ast.unparse(part.target)


def in_functions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Bare numbers that are compared, bound something or are defaults."""
    seen: set[int] = set()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.Lambda):
            continue
        given = [*function.args.defaults, *(value for value in function.args.kw_defaults if value is not None)]
        places: list[ast.AST] = list(given)
        for node in ast.walk(function):
            if isinstance(node, ast.Compare):
                places.append(node)
            elif isinstance(node, ast.If | ast.While | ast.IfExp):
                places.append(node.test)
            elif isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                places.extend(node.args if name in BOUNDS else [])
        lengths = {id(part) for node in ast.walk(function) if is_length(node) for part in ast.walk(node)}
        for place in places:
            for part in ast.walk(place):
                if id(part) in lengths:
                    continue
                if is_number(part) and part.value not in PLAIN and id(part) not in seen:
                    seen.add(id(part))
                    yield part.lineno, f"{part.value!r} in {ast.unparse(place)[:70]}"


def count(revision: str | None) -> list[Number]:
    found = []
    for path, text in sources(revision):
        room = room_of(path)
        if room is None:
            continue
        tree = ast.parse(text)
        for rule in (in_module, in_settings, in_functions):
            found.extend(Number(room, path, line, words) for line, words in rule(tree))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", nargs="?")
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    found = count(asked.revision)
    if asked.list:
        for number in found:
            print(f"{number.file}:{number.line}: {number.text}")
        for reason, names in FACTS.items():
            print(f"not counted, {reason}: {', '.join(names)}")
    rooms = Counter(number.room for number in found)
    print(*(f"{room} {rooms[room]}" for room in ROOMS), sep=", ")
    print(f"{len(found)} numbers decide something")


if __name__ == "__main__":
    main()
