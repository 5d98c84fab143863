"""The blood-cell pictures, lymphocytes against neutrophils, each cropped around its nucleus and turned into a negative."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from dualgap.datasets.albums import TEST, TRAIN, read_album
from dualgap.datasets.dataset import Dataset, against_rest
from dualgap.datasets.images import SIDE, cropped

KINDS = ("LYMPHOCYTE", "NEUTROPHIL")
SUMMARY = f"lymphocytes against neutrophils: grey negatives of {SIDE} × {SIDE} pixels around the nucleus"
SOURCE = "Kaggle paultimothymooney/blood-cells (dataset2-master/images), from BCCD"


class Cells(NamedTuple):
    """The data set, its pictures' names, and why each picture that is missing was skipped."""

    dataset: Dataset
    names: tuple[str, ...]  # of the rows of the training part
    names_test: tuple[str, ...]
    skipped: dict[str, str]


def blood_cells(
    path: str | Path, *, plain: bool = False, n_jobs: int | None = 2, progress: Callable[[int, int], None] | None = None
) -> Cells:
    """The pictures of a folder or zip as rows of 14,400 bytes, with labels −1 for lymphocytes and +1 for neutrophils.

    Its folders TRAIN and TEST become the training and the test part. `plain` crops keep the black frame and lie inside the
    picture, so not every nucleus is in the middle; `progress(done, total)` is called as pictures are done.
    """
    album = read_album(path, partial(cropped, plain=plain), labels=KINDS, n_jobs=n_jobs, progress=progress)
    for part in (TRAIN, TEST):
        present = set() if part not in album.parts else set(album.parts[part].y.tolist())
        for kind in KINDS:
            if kind not in present:
                raise ValueError(f"{str(path)!r} has no usable picture in {part}/{kind}; give a folder or zip that has")
    dataset = against_rest(album.dataset("blood_cells", SOURCE, SUMMARY), [KINDS[1]])
    return Cells(dataset, album.parts[TRAIN].names, album.parts[TEST].names, album.skipped)
