"""The blood-cell pictures, lymphocytes against neutrophils, each cropped around its nucleus and turned into a negative.

blur → grey → black frame neutralized → threshold to the nucleus → opening → center → crop → negative

Each step is a function, and `steps` takes them all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.datasets.dataset import Dataset, against_rest
from dualgap.datasets.images import Picture, as_picture, grey, opencv
from dualgap.datasets.picture_folders import TEST, TRAIN, read_album

Mask = NDArray[np.bool_]

SIDE = 120  # pixels of a crop, each way
BLUR = 15  # pixels; red cells lose their contours to it, a nucleus is four times as wide
BLACK = 20  # the frame that rotating a picture leaves is darker than this, and no nucleus is
SMEAR = 2  # pixels by which JPEG smears the edge of a frame
# A nucleus ends where a third of the way from the darkest pixel to the mean of the picture is passed. Pictures differ in
# brightness: their darkest pixels lie between 84 and 150, so no fixed threshold fits them all.
NUCLEUS_FRACTION = 1 / 3
OPENING = 9  # pixels; what is narrower is no nucleus

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


class Steps(NamedTuple):
    """What each step makes of one picture, in order."""

    original: Picture
    blurred: Picture
    grey: Picture  # of the blurred picture
    neutral: Picture  # the same without the black frame
    nucleus: Mask  # what the threshold keeps
    opened: Mask
    center: tuple[float, float]  # row and column
    crop: Picture  # of the sharp grey picture
    negative: Picture


def steps(image: Picture, plain: bool = False) -> Steps:
    """Every step from a picture to the negative of its crop.

    The crop has no black frame, and keeps its center where it reaches over the edge; a `plain` one is cut from the picture
    as it is, frame and all, and moved inside it.
    """
    height, width = image.shape[:2]
    if min(height, width) < SIDE:
        raise ValueError(f"it has {width} × {height} pixels, and a crop needs {SIDE} × {SIDE}")
    sharp, blurred = grey(image), blur(image)
    soft = grey(blurred)
    neutral = neutralize(soft, black_frame(sharp, SMEAR + BLUR // 2))
    nucleus = darkest(neutral)
    opened = opening(nucleus)
    center = center_of(opened)
    crop = crop_inside(sharp, center) if plain else crop_around(neutralize(sharp, black_frame(sharp, SMEAR)), center)
    return Steps(image, blurred, soft, neutral, nucleus, opened, center, crop, negative(crop))


def cropped(image: Picture, plain: bool = False) -> Picture:
    """The last step: a negative of 120 × 120 pixels with the nucleus, bright, in its middle."""
    return steps(image, plain).negative


def blur(image: Picture) -> Picture:
    """Contours of the cells in the background vanish, the dark nucleus stays."""
    return as_picture(opencv().GaussianBlur(image, (BLUR, BLUR), 0))


def black_frame(sharp: Picture, reach: int) -> Mask:
    """Where a sharp grey picture is black, and `reach` pixels around: as far as JPEG, and blurring, carry the black."""
    black = (sharp < BLACK).astype(np.uint8)
    return np.asarray(opencv().dilate(black, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8)) > 0)


def neutralize(picture: Picture, frame: Mask) -> Picture:
    """The grey picture with the mean of the rest in place of its frame."""
    if frame.all():
        raise ValueError("it is black all over")
    return np.where(frame, np.uint8(np.round(picture[~frame].mean())), picture)


def darkest(neutral: Picture) -> Mask:
    """The nucleus: what lies in the darkest part of the way from the darkest pixel to the mean."""
    low, mean = float(neutral.min()), float(neutral.mean())
    if low >= mean:
        raise ValueError("all of it has the same brightness, so it shows no nucleus")
    return neutral <= low + NUCLEUS_FRACTION * (mean - low)


def opening(mask: Mask) -> Mask:
    """The mask without its specks; where it is nothing but specks, as it was."""
    cv2 = opencv()
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (OPENING, OPENING))
    opened = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, disc) > 0
    return np.asarray(opened if opened.any() else mask)


def center_of(mask: Mask) -> tuple[float, float]:
    """The mean row and the mean column of the pixels in a mask."""
    rows, columns = np.nonzero(mask)
    return float(rows.mean()), float(columns.mean())


def crop_around(picture: Picture, center: tuple[float, float]) -> Picture:
    """The window of 120 × 120 pixels around a center; beyond the edge of the picture lies its mean."""
    half = SIDE // 2
    wide = np.pad(picture, half, constant_values=np.uint8(np.round(picture.mean())))
    top, left = (round(place) for place in center)
    return wide[top : top + SIDE, left : left + SIDE]


def crop_inside(picture: Picture, center: tuple[float, float]) -> Picture:
    """The window of 120 × 120 pixels inside the picture that lies nearest to a center."""
    top, left = (
        min(max(round(place) - SIDE // 2, 0), size - SIDE) for place, size in zip(center, picture.shape, strict=True)
    )
    return picture[top : top + SIDE, left : left + SIDE]


def negative(picture: Picture) -> Picture:
    """Bright where the picture is dark, so that the pixels of the nucleus have the large values."""
    return 255 - picture
