"""Valid files of every kind that dualgap reads, and the commands that read them: what mutations start from."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import dualgap as dg
from dualgap.cli.app import main
from dualgap.models.fitting import fit
from small_models import ROWS, SIGNS, TARGETS, WORDS, loss_of

DOCS = Path(__file__).resolve().parents[2] / "docs" / "replication"
QUICK = ("-s", "sdca", "--epochs", "2", "--seconds", "2", "--repeats", "1", "--jobs", "1", "--threads", "1")
READ_BY = {"data.zip": 2, "small.npy": 1}  # how many of the commands; the model was not fitted to pictures
POINTS = 6  # records kept of each run of a replication


@dataclass(frozen=True)
class Seed:
    """Files by their names, the one that is mutated, and the command lines that read it."""

    kind: str
    files: dict[str, bytes]
    mutated: str
    commands: list[list[str]]
    reader: str  # of the Python interface: model, data, race, config or facts
    truth: dict[str, object] = field(default_factory=dict)
    """For a model file: the rows and targets it was fitted to."""


def csv_of(X: np.ndarray, y: np.ndarray) -> bytes:
    lines = [",".join([*(f"x{j}" for j in range(X.shape[1])), "target"])]
    lines += [",".join([*(repr(float(value)) for value in row), str(label)]) for row, label in zip(X, y, strict=True)]
    return ("\n".join(lines) + "\n").encode()


def svm_of(X: np.ndarray, y: np.ndarray) -> bytes:
    rows = (" ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row.tolist()) if value) for row in X)
    return "".join(f"{label} {row}\n" for label, row in zip(y.tolist(), rows, strict=True)).encode()


def npz_of(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def parquet_of(X: np.ndarray, y: np.ndarray) -> bytes:
    import pyarrow
    from pyarrow.parquet import write_table

    file = io.BytesIO()
    write_table(pyarrow.table({**{f"x{j}": X[:, j] for j in range(X.shape[1])}, "target": y}), file)
    return file.getvalue()


def pictures_of() -> bytes:
    import cv2

    file = io.BytesIO()
    rng = np.random.default_rng(5)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(12):
            picture = rng.integers(0, 255, (4, 5), dtype=np.uint8)
            ending = (".png", ".jpg", ".bmp")[number % 3]
            archive.writestr(
                f"{'cat' if number % 2 else 'dog'}/{number}{ending}", cv2.imencode(ending, picture)[1].tobytes()
            )
    return file.getvalue()


def saved(model: dg.Model, folder: Path) -> bytes:
    model.save(folder / "seed.dg")
    return (folder / "seed.dg").read_bytes()


def model_seeds(folder: Path) -> list[Seed]:
    """Every kind of model and several losses, with duals and without."""
    three = {"binary": SIGNS, "regression": TARGETS, "several": WORDS}
    wanted = [
        ("binary", "hinge", True), ("binary", "hinge", False), ("binary", "logistic", False),
        ("binary", "smoothed_hinge(gamma=0.3)", True), ("regression", "squared", False),
        ("regression", "huber", True), ("several", "hinge", True), ("several", "logistic", True),
    ]  # fmt: skip
    seeds = []
    for kind, loss, duals in wanted:
        y = three[kind]
        names = [f"x{j}" for j in range(ROWS.shape[1])]
        reading = {"target": None, "positive": [], "test_size": 0.0, "seed": 0}
        model = fit(ROWS, y, loss_of(loss), 0.05, duals=duals, feature_names=names, reading=reading)
        seeds.append(model_seed(saved(model, folder), y))
    for number, estimator in enumerate((dg.Lasso(alpha=0.05), dg.ElasticNet(alpha=0.05, l1_ratio=0.4))):
        estimator.fit(ROWS, TARGETS).save(folder / "seed.dg", duals=not number)
        seeds.append(model_seed((folder / "seed.dg").read_bytes(), TARGETS, "model, L1 part"))
    return seeds


def model_seed(content: bytes, y: np.ndarray, kind: str = "model") -> Seed:
    """A model file beside the data it was fitted to."""
    return Seed(
        kind,
        {"model.dg": content, "data.csv": csv_of(ROWS, y)},
        "model.dg",
        [
            ["certify", "model.dg", "data.csv", "--seconds", "0.3"],
            ["predict", "model.dg", "data.csv", "-o", "out.csv", "--overwrite"],
        ],
        "model",
        {"X": ROWS, "y": y},
    )


def blocks_seeds() -> list[Seed]:
    """Fits on row blocks: a folder of Parquet files, one of which is mutated, and a mutated .npy file, which the command line refuses."""
    limits = ("--memory-limit", "256MB", "--epochs", "20", "--seconds", "1", "-o", "new.dg", "--overwrite")
    half = len(ROWS) // 2
    slices = {"parts/a.parquet": slice(0, half), "parts/b.parquet": slice(half, None)}
    parts = {name: parquet_of(ROWS[c], SIGNS[c]) for name, c in slices.items()}
    fits = [["fit", "./parts", "--target", "target", "--loss", loss, *limits] for loss in ("hinge", "squared")]
    return [
        Seed("parquet, blocks", parts, "parts/a.parquet", fits, "parquet blocks"),
        Seed(
            "npy, blocks",
            {"rows.npy": npy_of(ROWS)},
            "rows.npy",
            [["fit", "./rows.npy", "-o", "new.dg", "--overwrite"]],
            "npy blocks",
        ),
    ]


def data_seeds(models: list[Seed]) -> list[Seed]:
    """Data of every format, read by a fit, a race, and a model that was fitted to it."""
    X, y = ROWS, SIGNS
    rows, columns = np.nonzero(X)
    sparse = {
        "data": X[rows, columns],
        "indices": columns.astype(np.int32),
        "indptr": np.searchsorted(rows, np.arange(len(X) + 1)).astype(np.int32),
        "shape": np.array(X.shape),
        "y": y,
    }
    contents = {
        "data.csv": csv_of(X, y),
        "data.csv.gz": gzip.compress(csv_of(X, y)),
        "data.svm": svm_of(X, y),
        "data.svm.bz2": bz2.compress(svm_of(X, y)),
        "data.npz": npz_of(X=X, y=y, feature_names=np.array([f"x{j}" for j in range(X.shape[1])])),
        "sparse.npz": npz_of(**sparse),
        "data.parquet": parquet_of(X, y),
        "data.zip": pictures_of(),
        "small.npy": npy_of(X),
    }
    model = models[0].files["model.dg"]
    return [
        Seed(
            name.partition(".")[2] if not name.startswith("sparse") else "npz, sparse",
            {name: content, "model.dg": model},
            name,
            [
                ["fit", f"./{name}", "-o", "new.dg", "--overwrite", "--epochs", "20", "--seconds", "1"],
                ["race", f"./{name}", *QUICK, "-o", "new"],
                ["predict", "model.dg", f"./{name}", "-o", "out.csv", "--overwrite"],
                ["certify", "model.dg", f"./{name}", "--seconds", "0.3"],
            ][: READ_BY.get(name, 4)],
            "data",
            {"X": X, "y": y},
        )
        for name, content in contents.items()
    ]


def npy_of(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def results_seeds(folder: Path) -> list[Seed]:
    """A race's results, plain and packed, its settings, and a finished replication."""
    race = ["race", "simulated(n=60, d=3)", "-s", "sdca", "-s", "sgd", "--epochs", "3", "--repeats", "2", "-q"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main([*race, "-o", str(folder / "race")])
    lines, settings = ((folder / "race" / name).read_bytes() for name in ("results.jsonl", "race.toml"))
    toml = 'data = ["simulated(n=60, d=3)"]\nsolver = ["sdca", "sgd"]\nloss = "hinge"\nstrength = ["0.01", 0.1]\n'
    toml += "epochs = 3.0\nseconds = 2.0\ntol = 1e-6\ntest_size = 0.2\nrepeats = 2\nseed = 0\nintercept = false\n"
    toml += "standardize = true\nparquet = false\n"
    resumed = ["race", "--resume", "-o", "folder", "-q"]
    return [
        Seed("jsonl", {"results.jsonl": lines}, "results.jsonl", [["report", "results.jsonl", "-o", "new.html"]], "race"),
        Seed(
            "jsonl.gz",
            {"results.jsonl.gz": gzip.compress(lines)},
            "results.jsonl.gz",
            [["report", "results.jsonl.gz", "-o", "new.html"]],
            "race",
        ),
        Seed(
            "resumed race",
            {"folder/results.jsonl": lines, "folder/race.toml": settings},
            "folder/results.jsonl",
            [resumed],
            "race",
        ),
        Seed("toml", {"race.toml": toml.encode()}, "race.toml", [["race", "--config", "race.toml", *QUICK, "-o", "new"]], "config"),
        *replication_seeds(),
    ]  # fmt: skip


def replication_seeds() -> list[Seed]:
    """The finished runs of one claim, so that a resumed replication only judges them and writes the page."""
    kept = []
    for line in gzip.decompress((DOCS / "results.jsonl.gz").read_bytes()).splitlines():
        run = json.loads(line)
        if run["settings"].get("experiment") == "R3.methods":
            run["records"] = {name: column[-POINTS:] for name, column in run["records"].items()}
            kept.append(json.dumps(run))
    files = {
        "folder/results.jsonl": ("\n".join(kept) + "\n").encode(),
        "folder/facts.json": b'{"R3.x/some fact": 1.5}\n',
        "folder/replication.json": json.dumps(
            {"names": ["R3.1"], "quick": False, "figure": None, "seconds": 1}
        ).encode(),
    }
    commands = [["replicate", "--resume", "-o", "folder", "-q"]]
    return [Seed("replication", files, name, commands, "race" if name.endswith("l") else "json") for name in files]


def all_seeds(folder: Path) -> list[Seed]:
    """Every seed; the scratch files of making them go to `folder`."""
    models = model_seeds(folder)
    return [*models, *data_seeds(models), *blocks_seeds(), *results_seeds(folder)]
