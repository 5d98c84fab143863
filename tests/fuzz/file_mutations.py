"""Mutations of files: bytes anywhere, numbers and keys of JSON, members of archives, headers of arrays, and pickles."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import pickle
import re
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

Random = np.random.Generator

# Texts that stand where a number was.
EXTREMES = [
    "1e999", "-1e999", "1e308", "-1e308", "5e-324", "-0", "0", "NaN", "Infinity", "nan", "inf", "-1", "1e-300",
    str(2**31), str(2**63), str(-(2**63)), str(10**30), "9" * 5000, '"text"', "null", "true", "[[1, 2], [3]]", "{}",
    "", "0x1p3", "1_000", "١", "[" * 3000 + "]" * 3000, '"\\u0000"', "100000000", "99999999999999999999",
]  # fmt: skip
VALUES: list[Any] = [
    0, -0.0, -1, 1, 2**31, 2**63, 10**30, 10**400, 1e308, -1e308, 5e-324, 1e-300, float("inf"), float("-inf"),
    float("nan"), "inf", "nan", "-inf", "", "text", "a\0b", "\ud800", "../../x", "x" * 10_000, None, True, False, [], {},
    [1, "a", None], [[1.0], [2.0, 3.0]], {"a": {"b": 1}}, [0.5] * 3, "hinge", "squared", "logistic", "CERTIFIED",
]  # fmt: skip
SHAPES = ["(10000000000000,)", "(-1,)", "(1e999,)", "()", "(0,)", "(2, 2, 2)", "'a'", "(" * 300, "(None,)", "(True, 4)"]
DESCRIPTIONS = ["'|O'", "'<f4'", "'>f8'", "'<c16'", "'<U4'", "'<M8[s]'", "[('a', '<f8')]", "'nonsense'", "'|V8'", "9"]
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


class Canary:
    """Unpickling it creates the file `canary` in the working folder."""

    def __reduce__(self) -> Any:
        return os.system, ("touch canary",)


def canary_array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([Canary()], dtype=object), allow_pickle=True)
    return file.getvalue()


# Bytes of any file


def flipped(data: bytes, rng: Random) -> bytes:
    out = bytearray(data)
    for place in rng.integers(0, max(1, len(out)), rng.integers(1, 9)) if out else ():
        out[place] ^= 1 << int(rng.integers(8))
    return bytes(out)


def cut(data: bytes, rng: Random) -> bytes:
    return data[: int(rng.integers(0, max(1, len(data))))]


def inserted(data: bytes, rng: Random) -> bytes:
    place = int(rng.integers(0, len(data) + 1))
    chunk = [rng.bytes(int(rng.integers(1, 40))), b"\0" * 9, b"\xff\xfe", b"[" * 5000, b"\n\n", b'"'][rng.integers(6)]
    return data[:place] + chunk + data[place:]


def chunk_of(data: bytes, rng: Random) -> tuple[int, int]:
    begin = int(rng.integers(0, max(1, len(data))))
    return begin, min(len(data), begin + int(rng.integers(1, max(2, len(data) // 4))))


def doubled(data: bytes, rng: Random) -> bytes:
    begin, end = chunk_of(data, rng)
    return data[:end] + data[begin:]


def deleted(data: bytes, rng: Random) -> bytes:
    begin, end = chunk_of(data, rng)
    return data[:begin] + data[end:]


def numbers_replaced(data: bytes, rng: Random) -> bytes:
    """One or two numbers of a text replaced by extremes."""
    places = [found.span() for found in NUMBER.finditer(data)]
    for _ in range(int(rng.integers(1, 3)) if places else 0):
        begin, end = places[rng.integers(len(places))]
        data = data[:begin] + EXTREMES[rng.integers(len(EXTREMES))].encode() + data[end:]
        places = [found.span() for found in NUMBER.finditer(data)] or [(0, 0)]
    return data


BYTES: list[Callable[[bytes, Random], bytes]] = [flipped, cut, inserted, doubled, deleted, numbers_replaced]


def any_bytes(data: bytes, rng: Random) -> bytes:
    return BYTES[rng.integers(len(BYTES))](data, rng)


# JSON


def places_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to all values inside, long lists by their ends."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key in value:
            found += places_of(value[key], (*path, key))
    elif isinstance(value, list):
        for at in sorted({0, len(value) // 2, len(value) - 1}) if value else []:
            found += places_of(value[at], (*path, at))
    return found


def json_mutated(data: bytes, rng: Random) -> bytes:
    """A value replaced, nudged, deleted or wrapped, somewhere in an object."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return any_bytes(data, rng)
    for _ in range(int(rng.integers(1, 3))):
        paths = places_of(content)
        if not paths:
            break
        *above, last = paths[rng.integers(len(paths))]
        holder = content
        for step in above:
            holder = holder[step]
        value, move = holder[last], rng.integers(6)
        if move == 0:
            del holder[last]
        elif move == 1:
            holder[last] = [value]
        elif move <= 3 and isinstance(value, int | float) and not isinstance(value, bool):
            # Near the truth, where a careless check would not see the difference.
            holder[last] = value * (1.0 + float(rng.choice([1e-3, -1e-3, 1e-6, -1e-6, 0.5, -2.0])))
        else:
            holder[last] = VALUES[rng.integers(len(VALUES))]
    return json.dumps(content).encode("utf-8", "surrogatepass")


def lines_mutated(data: bytes, rng: Random) -> bytes:
    """One line of a results file."""
    lines = data.splitlines(keepends=True)
    at = int(rng.integers(len(lines)))
    lines[at] = json_mutated(lines[at], rng) + b"\n"
    return b"".join(lines)


# Archives


def header_mutated(data: bytes, rng: Random) -> bytes:
    """An array whose header says something else, with its length kept in order or not."""
    end = data.find(b"\n") + 1
    if data[:6] != b"\x93NUMPY" or not end:
        return any_bytes(data, rng)
    text = data[10:end].decode("latin1")
    move = rng.integers(4)
    if move == 0:
        text = re.sub(r"'shape': \([^)]*\)", lambda _: f"'shape': {SHAPES[rng.integers(len(SHAPES))]}", text)
    elif move == 1:
        text = re.sub(r"'descr': '[^']*'", lambda _: f"'descr': {DESCRIPTIONS[rng.integers(len(DESCRIPTIONS))]}", text)
    elif move == 2:
        text = any_bytes(text.encode(), rng).decode("latin1")
    else:
        return canary_array()
    header = text.encode("latin1", "replace")[:60_000]
    return data[:8] + len(header).to_bytes(2, "little") + header + data[end:]


def values_mutated(data: bytes, rng: Random) -> bytes:
    """An array with other numbers, and a header that agrees."""
    try:
        values = np.load(io.BytesIO(data), allow_pickle=False)
    except ValueError:
        return any_bytes(data, rng)
    if values.dtype.kind == "f" and values.size:
        flat = values.ravel()
        at = rng.integers(flat.size)
        flat[at] = rng.choice([np.nan, np.inf, 1e308, -1e308, 0.0, 5e-324, flat[at] * 1.001, flat[at] + 1e-3])
    elif values.dtype.kind in "iu" and values.size:
        flat = values.ravel()
        flat[rng.integers(flat.size)] = rng.choice([0, 1, 99, np.iinfo(values.dtype).max])
    else:
        values = np.array([1.0])
    file = io.BytesIO()
    np.save(
        file,
        [values, values.astype(np.float32), values[:-1] if values.ndim else values][
            int(rng.integers(8)) % 3 if rng.random() < 0.3 else 0
        ],
    )
    return file.getvalue()


def member_mutated(data: bytes, rng: Random) -> bytes:
    """A zip whose directory is right, and one of whose members is not."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(info, archive.read(info)) for info in archive.infolist()]
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError):
        return any_bytes(data, rng)
    at = int(rng.integers(len(members)))
    info, content = members[at]
    name = info.filename
    if name.endswith(".json"):
        content = json_mutated(content, rng)
    elif name.endswith(".npy"):
        content = (header_mutated, values_mutated, any_bytes)[rng.integers(3)](content, rng)
    else:
        content = any_bytes(content, rng)
    if rng.random() < 0.1:
        name = ["../out.npy", "X.npy", "y.npy", "model.json", "data.npy", "a/b/c.png", "cat/x.png"][rng.integers(7)]
    packing = info.compress_type if rng.random() < 0.8 else int(rng.choice([0, 8, 12, 14]))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for place, (one, kept) in enumerate(members):
            if place != at:
                archive.writestr(one, kept)
            elif rng.random() < 0.95:
                archive.writestr(name, content, packing)
    return out.getvalue()


NUDGES = (1e-3, -1e-3, 1e-6, -1e-6, 1e-9, 0.5, -2.0)
CLAIMS = ("certificates", "strengths", "intercept", "tol", "class_factors", "loss", "data")


def nudged(data: bytes, rng: Random) -> bytes:
    """A model file that is whole, and claims something a little beside the truth."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    record = json.loads(members["model.json"])
    arrays = [name for name in members if name.endswith(".npy")]
    factor = 1.0 + NUDGES[rng.integers(len(NUDGES))]
    if rng.random() < 0.3:
        name = arrays[rng.integers(len(arrays))]
        values = np.load(io.BytesIO(members[name]))
        values.ravel()[rng.integers(values.size)] *= factor
        file = io.BytesIO()
        np.save(file, values)
        members[name] = file.getvalue()
    else:
        paths = [path for path in places_of(record) if path[0] in CLAIMS]
        *above, last = paths[rng.integers(len(paths))]
        holder: Any = record
        for step in above:
            holder = holder[step]
        value = holder[last]
        if isinstance(value, int | float) and not isinstance(value, bool):
            holder[last] = type(value)(value * factor + (rng.random() < 0.2))
        elif last == "status":
            holder[last] = str(rng.choice(["CERTIFIED", "EPOCHS_EXHAUSTED", "STALLED", "BROKEN"]))
        else:
            holder[last] = VALUES[rng.integers(len(VALUES))]
    members["model.json"] = json.dumps(record).encode("utf-8", "surrogatepass")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def bomb(kind: str) -> bytes:
    """A gigabyte of text, or of one line, in a megabyte: a packed content a thousand times over."""
    content = {"jsonl": b'{"a": [' + b"0," * 500_000, "svm": b"1 1:1 2:1\n" * 100_000}.get(
        kind, b"1,0,1,1,0\n" * 100_000
    )
    return gzip.compress(content) * 1000


def inner_mutated(data: bytes, rng: Random, name: str) -> bytes:
    """A packed text whose packing is right."""
    unpack, pack = (gzip.decompress, gzip.compress) if name.endswith(".gz") else (bz2.decompress, bz2.compress)
    inner = unpack(data)
    return pack(lines_mutated(inner, rng) if ".jsonl" in name and rng.random() < 0.7 else any_bytes(inner, rng))


def mutated(data: bytes, name: str, rng: Random, others: list[bytes]) -> tuple[str, bytes]:
    """A mutated file, and in a word how it was made."""
    roll = rng.random()
    if roll < 0.03:
        return "swapped", others[rng.integers(len(others))]
    if roll < 0.05:
        return "pickle", pickle.dumps(Canary()) if rng.random() < 0.5 else canary_array()
    if roll < 0.06:
        return "special", [b"", b"\0" * 100, b"\xff" * 100, b"[" * 10**6, b"a = " + b"[" * 10**5, b"\n"][
            rng.integers(6)
        ]
    if name.endswith(".gz") and roll < 0.065:
        return "bomb", bomb(name.split(".")[-2])
    if roll < 0.30:
        move = BYTES[rng.integers(len(BYTES))]
        return move.__name__, move(data, rng)
    if name.endswith((".gz", ".bz2")):
        return "inner", inner_mutated(data, rng, name)
    if name.endswith(".dg") and roll < 0.75:
        return "nudged", nudged(data, rng)
    if name.endswith((".dg", ".npz", ".zip")):
        return "member", member_mutated(data, rng)
    if name.endswith(".jsonl"):
        return "value of JSON", lines_mutated(data, rng)
    if name.endswith(".json"):
        return "value of JSON", json_mutated(data, rng)
    if name.endswith(".npy"):
        return "header", header_mutated(data, rng)
    if name.endswith((".csv", ".svm", ".toml")) and roll < 0.8:
        return "numbers", numbers_replaced(data, rng)
    move = BYTES[rng.integers(len(BYTES))]
    return move.__name__, move(data, rng)
