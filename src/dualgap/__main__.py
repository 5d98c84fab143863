"""The command line, for `dualgap` and `python -m dualgap`; without the extra `race`, one sentence that says what to install."""

from __future__ import annotations

import sys

from dualgap.workbench.extras import what_is_missing

REFUSED = 2  # the exit code of everything that a command refuses


def main() -> None:
    """Run the command line, or leave with exit code 2 where its packages are missing."""
    if sentence := what_is_missing("the command line"):
        sys.stderr.write(f"dualgap: {sentence}\n")
        sys.exit(REFUSED)
    from dualgap.cli.app import main as run

    run()


if __name__ == "__main__":
    main()
