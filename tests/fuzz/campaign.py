"""A campaign: many random cases over worker processes, each fit checked in exact arithmetic.

python tests/fuzz/campaign.py --cases 100000 --jobs 2 --out FILE.json       runs seeds 0 … 99999
python tests/fuzz/campaign.py --seed 17                                    shows one case
python tests/fuzz/campaign.py --compare BEFORE.jsonl AFTER.jsonl           compares two campaigns seed by seed
python tests/fuzz/campaign.py --counts PART.jsonl …                        counts a campaign that was run in parts, with --first

FILE.json has the counts and every failing seed; FILE.jsonl, next to it, one line for each case.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from counting import Counts, compare, counted, described
from workers import outcomes, prepare

# Seconds beyond which a case is a hang; the first use of a kernel compiles it within them.
LIMIT = 90.0
# Seconds between two lines of progress.
PROGRESS = 5.0


def campaign(seeds: range, jobs: int, limit: float, out: Path | None, is_quiet: bool = False) -> Counts:
    """Run all seeds; Ctrl-C ends the campaign and keeps what there is."""
    counts, begin, shown = Counts(), time.monotonic(), 0.0
    records = None if out is None else out.with_suffix(".jsonl").open("w", encoding="utf-8")
    running = outcomes(iter(seeds), jobs, limit)
    try:
        for outcome in running:
            found = counts.add(outcome)
            if records is not None:
                records.write(json.dumps(outcome, ensure_ascii=False) + "\n")
            if found and not is_quiet:
                sys.stderr.write("\r" + described(outcome)[:300] + "\n")
            if time.monotonic() - shown > PROGRESS:
                shown = time.monotonic()
                show_progress(counts, len(seeds), shown - begin)
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped by Ctrl-C\n")
    finally:
        running.close()
        if records is not None:
            records.close()
    if out is not None:
        out.write_text(json.dumps(counts.summary(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return counts


def show_progress(counts: Counts, total: int, seconds: float) -> None:
    """One line that is written over by the next."""
    left = seconds / max(counts.total, 1) * (total - counts.total)
    failures = ", ".join(f"{kind} {count}" for kind, count in counts.failures.most_common()) or "no failures"
    sys.stderr.write(f"\r{counts.total}/{total} cases, {seconds:.0f} s, about {left:.0f} s left; {failures}   ")
    sys.stderr.flush()


def show_seed(seed: int) -> None:
    """One case and its outcome, in this process."""
    prepare()
    from running import run_seed

    sys.stdout.write(json.dumps(run_seed(seed).as_dict(), indent=1, ensure_ascii=False) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000, help="how many seeds")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for one case")
    parser.add_argument("--out", type=Path, help="the file of counts; outcomes go next to it, as .jsonl")
    parser.add_argument("--quiet", action="store_true", help="do not print failing cases as they come")
    parser.add_argument("--seed", type=int, help="run this seed alone and show its outcome")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"), help="two .jsonl files")
    parser.add_argument("--counts", type=Path, nargs="+", metavar="PART", help="the .jsonl files of parts")
    given = parser.parse_args()
    if given.counts:
        sys.stdout.write(counted(given.counts).markdown() + "\n")
        return 0
    if given.compare:
        sys.stdout.write(compare(*given.compare) + "\n")
        return 0
    if given.seed is not None:
        show_seed(given.seed)
        return 0
    counts = campaign(range(given.first, given.first + given.cases), given.jobs, given.limit, given.out, given.quiet)
    sys.stderr.write("\n")
    sys.stdout.write(counts.markdown() + "\n")
    return 1 if counts.failures else 0


if __name__ == "__main__":
    sys.exit(main())
