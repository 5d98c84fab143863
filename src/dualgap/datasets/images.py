"""The picture of one blood cell, cropped around its nucleus: each step a function, and `steps`, which takes them all.

blur → grey → black frame neutralized → threshold to the nucleus → opening → center → crop → negative

Pictures are arrays of bytes, height × width, with a third axis blue-green-red where they have color.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
Mask = NDArray[np.bool_]

MOST_PIXELS = 1 << 26  # of a picture: 8192 × 8192, 192 MiB in color; OpenCV refuses larger ones
SIDE = 120  # pixels of a crop, each way
BLUR = 15  # pixels; red cells lose their contours to it, a nucleus is four times as wide
BLACK = 20  # the frame that rotating a picture leaves is darker than this, and no nucleus is
SMEAR = 2  # pixels by which JPEG smears the edge of a frame
# A nucleus ends where a third of the way from the darkest pixel to the mean of the picture is passed. Pictures differ in
# brightness: their darkest pixels lie between 84 and 150, so no fixed threshold fits them all.
NUCLEUS_SHARE = 1 / 3
OPENING = 9  # pixels; what is narrower is no nucleus


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


def opencv() -> ModuleType:
    """The library that reads and filters pictures."""
    # OpenCV reads the limit when it is imported: a small file can claim a picture of any size.
    os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(MOST_PIXELS))
    # What is wrong with a picture is said once, by whoever skips it.
    os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")
    try:
        import cv2
    except ImportError:
        raise ImportError(
            "pictures need OpenCV, which is not installed; python -m pip install 'dualgap[images]'"
        ) from None
    module: ModuleType = cv2
    return module


def decode(data: bytes) -> Picture:
    """The picture in the bytes of a JPEG, PNG or other file, in color."""
    cv2 = opencv()
    # A JPEG that was cut short still decodes, with grey in place of what is missing; its end mark tells.
    if data[:2] == b"\xff\xd8" and not data.rstrip(b"\0").endswith(b"\xff\xd9"):
        raise ValueError("the file ends before the picture does")
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
    except cv2.error as error:
        raise ValueError(f"it cannot be decoded ({error.err})") from None
    if image is None:
        raise ValueError("it is not a picture that OpenCV can decode")
    return _bytes(image)


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
    return _bytes(opencv().GaussianBlur(image, (BLUR, BLUR), 0))


def grey(image: Picture) -> Picture:
    """Brightness, 0 to 255."""
    cv2 = opencv()
    return _bytes(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))


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
        raise ValueError("all of it has the same brightness, so there is no nucleus to be seen")
    return neutral <= low + NUCLEUS_SHARE * (mean - low)


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


def _bytes(image: Any) -> Picture:
    """What OpenCV returns, as the array it is."""
    return np.asarray(image, dtype=np.uint8)
