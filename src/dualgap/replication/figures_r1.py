"""The figures of R1."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dualgap.replication.frames import Missing
from dualgap.replication.gathering import Gathered
from dualgap.replication.panels import Figure, Line, Panel, Pictures, curves
from dualgap.replication.rules_r1 import RAW, REDUCED, SDCA, SGD_FIRST, fitting, in_words

PICTURES, COMPONENTS = ("R1.pictures",), ("R1.components",)


NOT_KEPT = "pictures of blood cells are not kept with results that are passed on; dualgap replicate R1 draws them where the data set is"


def _pictures(fact: str) -> Callable[[Gathered], Sequence[Pictures]]:
    def make(gathered: Gathered) -> Sequence[Pictures]:
        if fact not in gathered.facts:
            raise Missing(NOT_KEPT)
        return [Pictures("", gathered.frame.fact(fact))]

    return make


def _comparison(experiment: str) -> Callable[[Gathered], Sequence[Panel]]:
    def make(gathered: Gathered) -> Sequence[Panel]:
        data = fitting(gathered.frame, experiment)
        return [
            curves(gathered, experiment, "primal", "cpu_seconds", title=f"(a) loss, {in_words(data)}", data=data),
            curves(gathered, experiment, "test_error", "epoch", title=f"(b) test error, {in_words(data)}", data=data),
            *(
                curves(gathered, experiment, "test_error", "epoch", title=f"test error, {in_words(other)}", data=other)
                for other in gathered.frame.data(experiment)
                if other != data
            ),
        ]

    return make


def gaps(gathered: Gathered) -> Sequence[Panel]:
    """Figure 6: the duality gap after each epoch of SDCA."""
    data = fitting(gathered.frame)
    return [curves(gathered, RAW, "gap", "epoch", title=in_words(data), solvers=(SDCA, SGD_FIRST), data=data)]


def singular_values(gathered: Gathered) -> Sequence[Panel]:
    """Figure 8: the singular values in order."""
    values = gathered.frame.fact("R1.components/singular values")
    line = Line("singular values", list(range(1, len(values) + 1)), values)
    return [Panel("", "place", "singular value (pixels 0–1)", (line,), {}, log_y=True)]


FIGURES = (
    Figure("R1 figure 1", "examples", "Pictures of each kind.", PICTURES, _pictures("R1.pictures/examples")),
    Figure("R1 figure 2", "raw", "Raw images: loss against CPU time, test error per epoch.", (RAW,), _comparison(RAW)),
    Figure(
        "R1 figure 3",
        "reduced",
        "After PCA to 40 columns: loss against CPU time, test error per epoch.",
        (REDUCED,),
        _comparison(REDUCED),
    ),
    Figure("R1 figure 4", "cropping", "Each step of the cropping.", PICTURES, _pictures("R1.pictures/cropping")),
    Figure(
        "R1 figure 5",
        "cropped",
        "Cropped pictures of both kinds, as negatives.",
        PICTURES,
        _pictures("R1.pictures/cropped"),
    ),
    Figure("R1 figure 6", "gaps", "The duality gap of SDCA per epoch.", (RAW,), gaps),
    Figure(
        "R1 figure 7",
        "components",
        "What 40 components leave of a picture.",
        COMPONENTS,
        _pictures("R1.components/reduced"),
    ),
    Figure("R1 figure 8", "singular-values", "The largest singular values.", COMPONENTS, singular_values),
)
