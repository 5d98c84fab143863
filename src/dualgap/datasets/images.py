"""Pictures as arrays of bytes, height × width, with a third axis blue-green-red where they have color; decoded by OpenCV."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]

MAX_PIXELS = 1 << 26  # of a picture: 8192 × 8192, 192 MiB in color; OpenCV refuses larger ones


def opencv() -> ModuleType:
    """The library that reads and filters pictures."""
    # OpenCV reads the limit when it is imported: a small file can claim a picture of any size.
    os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(MAX_PIXELS))
    # The caller says once what is wrong with a picture that it skips.
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
    return as_picture(image)


def grey(image: Picture) -> Picture:
    """Brightness, 0 to 255."""
    cv2 = opencv()
    return as_picture(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))


def as_picture(image: Any) -> Picture:
    """What OpenCV returns, as the array it is."""
    return np.asarray(image, dtype=np.uint8)
