"""Words belong to rooms: the unambiguous ones of the style are held to theirs, and a stray line is named."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

from conftest import SOURCE

MODULES = sorted(SOURCE.rglob("*.py"))
PAGES = sorted(path for path in SOURCE.rglob("*") if path.suffix in {".py", ".js", ".css"})
LONGEST = 399


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


every_module = pytest.mark.parametrize("path", MODULES, ids=name_of)


def code_lines(text: str) -> list[str]:
    """The lines of a module with comments and strings blanked: what it does, not what it says."""
    lines = text.split("\n")
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        spoken = token.type in (tokenize.COMMENT, tokenize.STRING) or token.type == getattr(
            tokenize, "FSTRING_MIDDLE", -1
        )
        if not spoken:
            continue
        (first, begin), (last, end) = token.start, token.end
        if first == last:
            lines[first - 1] = lines[first - 1][:begin] + " " * (end - begin) + lines[first - 1][end:]
        else:
            lines[first - 1] = lines[first - 1][:begin]
            lines[last - 1] = " " * end + lines[last - 1][end:]
            for between in range(first, last - 1):
                lines[between] = ""
    return lines


def strays(text: str, word: str) -> list[int]:
    """The numbers of the lines whose code says the word."""
    return [number for number, line in enumerate(code_lines(text), 1) if re.search(word, line)]


# A word, as a pattern, and the files or folders that may say it.
ROOMS = {
    r"\bnumba\b|\bllvmlite\b": ("kernels/",),
    r"\bperf_counter\b|\bprocess_time\b": ("trace.py",),
    r"\bdefault_rng\b|\bRandomState\b|np\.random\.seed": (
        "loop.py",
        "datasets/simulated.py",
        "replication/intervals.py",
    ),
    r"\bfor (epoch|plan_number) in\b": ("loop.py",),
    r"\bprint\(": ("cli/",),
    r"\btyper\b": ("cli/",),
    r"\bduals\[\w+\] [-+]=": ("kernels/",),
}


@pytest.mark.parametrize("word", ROOMS)
def test_a_word_stays_in_its_room(word: str) -> None:
    at_home, abroad = 0, []
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        for number in strays(text, word):
            if name_of(path).startswith(ROOMS[word]):
                at_home += 1
            else:
                abroad.append(f"{path}:{number}: {text.splitlines()[number - 1].strip()}")
    assert not abroad, f"{word!r} belongs to {' or '.join(ROOMS[word])}; stray lines:\n" + "\n".join(abroad)
    assert at_home, f"no room says {word!r} any more: drop it from the list, or mend the pattern"


def test_strays_are_found_in_code_and_not_in_words() -> None:
    text = '"""numba is slow to\nimport numba"""\n# import numba\nimport numba  # here\nx = f"{print(1)} numba"\nconsole.print(x)\n'
    assert strays(text, r"\bnumba\b") == [4]
    assert strays('a = """\nfor epoch in x\n"""; print(1)\n', r"\bfor (epoch|plan_number) in\b|\bprint\(") == [3]
    assert strays("console.print(x)\nprint(x)\nreprint(x)\n", r"\bprint\(") == [1, 2]


@every_module
def test_a_module_starts_with_what_it_is(path: Path) -> None:
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert said, f"{path}:1: a module starts with a docstring"


def private_names(text: str) -> list[str]:
    """Names with a leading underscore that a module takes from another module of dualgap."""
    tree, found, modules = ast.parse(text), [], set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dualgap":
            modules.update(name.asname or name.name for name in node.names if name.name.islower())
            found += [name.name for name in node.names if name.name.startswith("_")]
    for node in ast.walk(tree):
        of_module = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules
        if of_module and node.attr.startswith("_") and not node.attr.startswith("__"):
            found.append(f"{node.value.id}.{node.attr}")
    return found


@every_module
def test_a_private_name_stays_in_its_module(path: Path) -> None:
    found = private_names(path.read_text(encoding="utf-8"))
    assert not found, f"{path} takes {', '.join(found)} from another module; a name that others use has no underscore"


def test_private_names_are_found() -> None:
    text = "from dualgap.a import _b, c\nfrom os import _exit\nc._d(), c.e(), self._f, c.__doc__\n"
    assert private_names(text) == ["_b", "c._d"]


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_file_is_no_longer_than_a_reader(path: Path) -> None:
    count = len(path.read_text(encoding="utf-8").splitlines())
    assert count <= LONGEST, f"{path} has {count} lines; files stay under {LONGEST + 1}"


HEAVY = ("numba", "sklearn", "scipy", "pandas", "typer", "rich", "matplotlib", "plotly", "dask", "pyarrow")


def loaded_by(code: str) -> set[str]:
    """Which heavy packages a fresh process has loaded after running the code."""
    code += f"; import sys; sys.stdout.write(' '.join(name for name in {HEAVY} if name in sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(shown.stdout.split())


def test_import_dualgap_is_light() -> None:
    assert loaded_by("import dualgap") == set()


def test_losses_and_problems_need_no_numba() -> None:
    loaded = loaded_by("import dualgap as dg; dg.Problem([[1.0], [2.0]], [0, 1]), dg.LOSSES, dg.certify")
    assert not loaded & {"numba", "sklearn", "pandas", "typer"}


def test_the_list_of_heavy_packages_can_be_wrong() -> None:
    assert loaded_by("import scipy") == {"scipy"}
