"""Lines of code of src/dualgap, by room: without docstrings, comments and blank lines.

    python benchmarks/count_lines.py [REVISION]

Without a revision the working tree is read. A line counts where a token of code stands on it; a string that stands alone is
documentation. Below the rooms stand the sum without replication and datasets, and the longest and the median file in lines of
any kind.
"""

from __future__ import annotations

import argparse
import ast
import io
import statistics
import tokenize
from collections import Counter

from count_numbers import sources

APART = ("replication", "datasets")
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(text: str) -> int:
    """Lines that hold code."""
    documentation: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            documentation.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - documentation)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", nargs="?")
    asked = parser.parse_args()
    rooms: Counter[str] = Counter()
    lengths = {}
    for path, text in sources(asked.revision):
        folders = path.split("/")
        rooms[next((room for room in APART if room in folders), folders[0])] += code_lines(text)
        lengths[path] = text.count("\n")
    for room, count in rooms.most_common():
        print(f"{count:6,} {room}")
    longest = max(lengths, key=lambda path: lengths[path])
    print(f"{sum(count for room, count in rooms.items() if room not in APART):6,} without {' and '.join(APART)}")
    print(f"longest file {lengths[longest]} lines ({longest}), median {statistics.median(lengths.values()):g}")


if __name__ == "__main__":
    main()
