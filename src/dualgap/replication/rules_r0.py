"""The rules of R0's claims about speed: pure functions of a frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dualgap.replication.frames import Frame, Trial
from dualgap.replication.heights import UNITS, as_fast, faster
from dualgap.replication.intervals import is_above_zero, is_inside, mean_interval
from dualgap.replication.margins import CLOSE_SPEED, SAME_LIMIT
from dualgap.replication.measures import differences, end, end_left, roughness
from dualgap.replication.verdicts import Finding, Part, Verdict, all_of, part, verdict

SDCA, PERMUTATION, CYCLIC = "SDCA", "SDCA permutation", "SDCA cyclic"
PEGASOS, PROJECTED = "Pegasos", "Pegasos projected"
MINI, MINI_PROJECTED = "mini-batch Pegasos", "mini-batch Pegasos projected"
ASDCA = "ASDCA"
SETS = ("simulated", "genomic", "skin")


@dataclass(frozen=True)
class Setting:
    """What a claim is judged under: the experiment of genomic data, that of its strengths, ASDCA's θ, and what is counted."""

    genomic: str = "R0.genomic, standardized"
    strengths: str = "R0.strengths, standardized"
    asdca: str = "ASDCA 1x"
    x: str = "updates"

    def of(self, frame: Frame, data: str, solver: str) -> Sequence[Trial]:
        """The trials of a solver on a data set."""
        name = self.asdca if solver == ASDCA else solver
        return frame.of(self.genomic if data == "genomic" else f"R0.{data}", name)


# The verdict comes from the first, a real problem with the θ of ASDCA's paper; the others stand beside it.
JUDGED = Setting()
LIKELY = "With rows of length at most 1 and λ = 1/n on genomic data, the report's likely setting"
OTHERS = {LIKELY: Setting("R0.genomic", "R0.strengths")}
THETAS = {f"With {number} times the paper's θ": Setting(asdca=f"ASDCA {number}x") for number in (4, 16)}
ROWS = {"Counted in rows touched, of which a batch touches as many as it has": Setting(x="rows")}
GENOMIC_WHY = "On genomic data the verdict comes from standardized columns, rows of length at most 1 and λ = 0.1/n."
THETA_WHY = "ASDCA has the θ of its paper."


def _judged(
    make: Callable[[Setting], Sequence[Part]], why: str = "", others: Mapping[str, Setting] = OTHERS
) -> Verdict:
    """The verdict under the judged setting, with the other settings beside it."""
    return verdict(make(JUDGED), why, beside={words: make(setting) for words, setting in others.items()})


def _faster(frame: Frame, setting: Setting, data: str, quick: Iterable[str], slow: Iterable[str]) -> Finding:
    """Each of `quick` is faster than each of `slow`, in updates or in rows touched."""
    slow = tuple(slow)
    return all_of(
        [
            faster(frame, setting.of(frame, data, one), setting.of(frame, data, other), setting.x)
            for one in quick
            for other in slow
            if one != other
        ]
    )


def slowest(frame: Frame) -> Verdict:
    """R0.1: on each data set Pegasos takes more updates than each of the other three."""

    def make(setting: Setting) -> list[Part]:
        return [
            part(
                f"Pegasos is the slowest on {data} data", _faster, frame, setting, data, (SDCA, ASDCA, MINI), (PEGASOS,)
            )
            for data in SETS
        ]

    return _judged(make, f"{GENOMIC_WHY} {THETA_WHY}", OTHERS | THETAS | ROWS)


def fastest(frame: Frame) -> Verdict:
    """R0.2: the fastest on each data set, in updates; close means at most twice as many."""

    def close(setting: Setting) -> Finding:
        first, second = (setting.of(frame, "simulated", name) for name in (ASDCA, SDCA))
        others = _faster(frame, setting, "simulated", (ASDCA,), (SDCA, MINI, PEGASOS))
        return all_of([others, as_fast(frame, first, second, CLOSE_SPEED.value, setting.x)])

    def make(setting: Setting) -> list[Part]:
        return [
            part(
                "mini-batch Pegasos is the fastest on genomic data",
                *(_faster, frame, setting, "genomic", (MINI,), (SDCA, ASDCA, PEGASOS)),
            ),
            part(
                "SDCA and ASDCA beat mini-batch Pegasos on simulated data",
                *(_faster, frame, setting, "simulated", (SDCA, ASDCA), (MINI,)),
            ),
            part(
                "SDCA and ASDCA beat mini-batch Pegasos on skin data",
                *(_faster, frame, setting, "skin", (SDCA, ASDCA), (MINI,)),
            ),
            part("on simulated data ASDCA is the fastest and SDCA close to it", close, setting),
        ]

    return _judged(make, f"{GENOMIC_WHY} {THETA_WHY}", OTHERS | THETAS | ROWS)


def samplings(frame: Frame) -> Verdict:
    """R0.3: three ways to draw rows, on genomic and on skin data."""
    names = (SDCA, PERMUTATION, CYCLIC)

    def make(setting: Setting) -> list[Part]:
        def alike() -> Finding:
            trials = [setting.of(frame, "genomic", name) for name in names]
            return all_of([as_fast(frame, trials[a], trials[b]) for a, b in ((0, 1), (0, 2), (1, 2))])

        return [
            part("on genomic data all three are alike", alike),
            part(
                "on genomic data permutation is the slowest",
                *(_faster, frame, setting, "genomic", (SDCA, CYCLIC), (PERMUTATION,)),
            ),
            part(
                "on skin data cyclic is slower",
                *(_faster, frame, setting, "skin", (SDCA, PERMUTATION), (CYCLIC,)),
            ),
            part(
                "on skin data permutation is as fast as random",
                lambda: as_fast(frame, setting.of(frame, "skin", SDCA), setting.of(frame, "skin", PERMUTATION)),
            ),
            part(
                "on skin data permutation varies more than random",
                lambda: _rougher(frame, setting.of(frame, "skin", PERMUTATION), setting.of(frame, "skin", SDCA)),
            ),
        ]

    return _judged(make, GENOMIC_WHY)


def _rougher(frame: Frame, first: Sequence[Trial], second: Sequence[Trial]) -> Finding:
    """The first's curves jump further between records, as a fraction of the way."""
    found = mean_interval(differences(first, second, lambda trial: roughness(frame, trial)))
    before = f"mean jump of {first[0].solver} minus that of {second[0].solver}, as a fraction of the way: "
    return is_above_zero(found, 0.0, "{:+.2g}".format, before)


def projection_curves(frame: Frame) -> Verdict:
    """R0.5: with and without projection on genomic data: limit, speed, smoothness."""

    def make(setting: Setting) -> list[Part]:
        def both() -> tuple[Sequence[Trial], Sequence[Trial]]:
            return setting.of(frame, "genomic", PEGASOS), setting.of(frame, "genomic", PROJECTED)

        def limit() -> Finding:
            plain, projected = both()
            found = mean_interval(differences(projected, plain, lambda trial: end_left(frame, trial)))
            margin = SAME_LIMIT.value
            return is_inside(found, -margin, margin, "{:+.4f}".format, "difference of the way left at the end: ")

        return [
            part("both end at the same value", limit),
            part("both are equally fast", lambda: as_fast(frame, *both())),
            part("projection makes the curve smoother", lambda: _rougher(frame, *both())),
        ]

    return _judged(make, GENOMIC_WHY)


def strengths(frame: Frame) -> Verdict:
    """R0.6: from each λ to the next larger one, fewer updates at every height, and a larger final P.

    Heights are fractions of each λ's own way from P(0) to P*, so that a curve never begins below one.
    """
    names = (SDCA, PEGASOS, JUDGED.asdca, MINI)

    def steps(experiment: str, name: str) -> list[tuple[Sequence[Trial], Sequence[Trial]]]:
        every = [frame.of(experiment, name, strength=one) for one in frame.strengths(experiment)]
        return list(pairwise(every))

    def larger(experiment: str, name: str) -> Finding:
        return all_of(
            [
                is_above_zero(
                    mean_interval(differences(second, first, lambda trial: end(trial, "primal"))),
                    0.0,
                    "{:+.3g}".format,
                    f"{_by_rows(first)} to {_by_rows(second)}: P changes by ",
                )
                for first, second in steps(experiment, name)
            ]
        )

    def quicker(experiment: str, name: str) -> Finding:
        return all_of(
            [
                faster(frame, second, first, names=(_by_rows(second), _by_rows(first)))
                for first, second in steps(experiment, name)
            ]
        )

    def make(setting: Setting) -> list[Part]:
        experiment = setting.strengths
        made = []
        for name in names:
            made += [
                part(f"{name} is faster with a larger λ", quicker, experiment, name),
                part(f"{name} ends at a larger P with a larger λ", larger, experiment, name),
            ]
        return made

    return _judged(make, f"{GENOMIC_WHY} λ goes from 0.01/n to 10/n there too. {THETA_WHY}")


def _by_rows(trials: Sequence[Trial]) -> str:
    """The strength of some trials in units of 1/n, as experiments have it."""
    return f"λ = {trials[0].strength * trials[0].rows:.2g}/n"


def always_faster(frame: Frame) -> Verdict:
    """R0.7: on each data set SDCA takes fewer updates than Pegasos."""

    def make(setting: Setting) -> list[Part]:
        return [
            part(f"SDCA is faster than Pegasos on {data} data", _faster, frame, setting, data, (SDCA,), (PEGASOS,))
            for data in SETS
        ]

    return _judged(make, GENOMIC_WHY, OTHERS | ROWS)


def shapes(frame: Frame) -> Verdict:
    """R0.8: the best of the four, in updates, by the shape of the data."""
    names = (SDCA, PEGASOS, MINI, ASDCA)

    def make(setting: Setting) -> list[Part]:
        return [
            part(f"{best} does best on {data} data ({shape})", _faster, frame, setting, data, (best,), names)
            for data, best, shape in (
                ("simulated", ASDCA, "n > d"),
                ("skin", ASDCA, "n > d"),
                ("genomic", MINI, "d > n"),
            )
        ]

    return _judged(make, f"{GENOMIC_WHY} {THETA_WHY}", OTHERS | THETAS | ROWS)


def skin_rates(frame: Frame) -> Verdict:
    """R0.9: SDCA and ASDCA on skin data, in updates, the report's axis; rows touched are shown beside."""

    def make(setting: Setting) -> list[Part]:
        def same() -> Finding:
            return as_fast(frame, setting.of(frame, "skin", ASDCA), setting.of(frame, "skin", SDCA), x=setting.x)

        return [part(f"the same rate in {UNITS[setting.x]}", same)]

    return _judged(make, THETA_WHY, ROWS | THETAS)
