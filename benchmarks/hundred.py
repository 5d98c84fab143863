"""The default race, a hundred repeats, breast cancer: how long the whole `race` takes, and how large what it leaves is.

python benchmarks/hundred.py [--jobs 2] [--repeats 100]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOAL_SECONDS = 180.0
MEGABYTE = 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "race"
        command = [sys.executable, "-m", "dualgap", "race", "-q", "-o", str(folder)]
        command += ["--jobs", str(options.jobs), "--repeats", str(options.repeats)]
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - began
        # On a machine that others use too, the processor's time says more than the clock on the wall.
        spent = os.times().children_user + os.times().children_system
        with (folder / "results.jsonl").open("rb") as file:
            runs = sum(1 for _ in file)
        sizes = {name: (folder / name).stat().st_size / MEGABYTE for name in ("results.jsonl", "race.html")}
    print(
        f"{runs} runs with {options.jobs} jobs: {seconds:.1f} s (goal at 100 repeats: {GOAL_SECONDS:.0f} s), "
        f"{spent:.0f} CPU seconds, results {sizes['results.jsonl']:.1f} MB, page {sizes['race.html']:.2f} MB"
    )


if __name__ == "__main__":
    main()
