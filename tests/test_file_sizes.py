"""Files and names that ask for more memory than there is: refused in one sentence, before anything is allocated."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import dualgap as dg
from commands import refused
from dualgap import memory
from dualgap.datasets import load, svmlight, text
from dualgap.workbench import decompression, store


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with 10 MB to spare."""
    for module in (memory, text, decompression):
        monkeypatch.setattr(module, "available_bytes", lambda: 10_000_000)


def test_a_wide_svmlight_file_needs_memory_for_its_weights(tmp_path: Path, little_memory: None) -> None:
    (tmp_path / "a.svm").write_text("1 1:1\n-1 2:1\n1 99999999:1\n")
    with pytest.raises(ValueError, match=r"99,999,999 columns .* needs 8\.00 GB of memory, and 0\.01 GB are free"):
        load(str(tmp_path / "a.svm"))
    (tmp_path / "a.svm").write_text("1 1:1\n-1 2:1\n1 100:1\n")
    assert load(str(tmp_path / "a.svm")).shape == (3, 100)
    assert 8 * svmlight.VECTORS * 10**5 < 10_000_000, "a hundred thousand columns fit"


@pytest.mark.parametrize("name", ["simulated", "gaussians", "classification"])
def test_generated_data_is_refused_before_it_is_drawn(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "of memory" in refused(capsys, "fit", f"{name}(n=10, d=100000000000)")
    assert "of memory" in refused(capsys, "race", f"{name}(n={10**30}, d=10)", "-s", "sdca")
    assert "whole number" in refused(capsys, "fit", f"{name}(n=10, d=1e11)")


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv.gz", b"1,2,0\n"), ("a.svm.gz", b"1 1:1\n"), ("a.gz", b"1 1:1\n"), ("a.csv.gz", b"1,")],
)
def test_text_that_unpacks_to_more_than_memory_is_refused(
    name: str, content: bytes, tmp_path: Path, little_memory: None
) -> None:
    (tmp_path / name).write_bytes(gzip.compress(content * 100_000) * 30)
    with pytest.raises(ValueError, match="more than the 625,000 numbers that memory has room for"):
        load(str(tmp_path / name))


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "LONGEST_LINE", 1 << 21)
    for name in ("a.csv.gz", "a.svm.gz", "a.gz"):
        (tmp_path / name).write_bytes(gzip.compress(b"\0" * (1 << 20)) * 4)
        with pytest.raises(ValueError, match="a line of more than 2,097,152 bytes"):
            load(str(tmp_path / name))


def test_results_that_unpack_to_more_than_memory_are_refused(tmp_path: Path, little_memory: None) -> None:
    path = tmp_path / "results.jsonl.gz"
    path.write_bytes(gzip.compress(b" " * 1_000_000) * 3)
    for reader in (store.read, dg.Race.load):
        with pytest.raises(ValueError, match="unpacks to more than the 1,000,000 bytes"):
            reader(path)
    plain = tmp_path / "results.jsonl"
    plain.write_bytes(b" " * 1_100_000)
    with pytest.raises(ValueError, match="of memory"):
        store.read(plain)


def test_an_archive_that_unpacks_to_more_than_memory_is_refused(tmp_path: Path, little_memory: None) -> None:
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((10_000, 200)), y=np.arange(10_000) % 2)
    with pytest.raises(ValueError, match=r"X.npy needs 0.02 GB of memory"):
        load(str(tmp_path / "a.npz"))


def test_parquet_rows_are_counted_first(tmp_path: Path, little_memory: None) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    write_table(pyarrow.table({"a": np.zeros(10**6), "y": np.zeros(10**6)}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="1,000,000 rows needs"):
        load(str(tmp_path / "a.parquet"))


def test_the_limit_of_the_process_is_a_limit_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    limit = memory.available_bytes() // 2
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    assert memory.available_bytes() < limit
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1, 1))
    assert memory.available_bytes() == 0


def test_the_limit_of_a_container_is_a_limit_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "CONTAINER", tmp_path)
    free = memory.available_bytes()
    for name, words in (
        ("memory.max", "9000000"),
        ("memory.current", "8000000"),
        ("memory.stat", "anon 1\nactive_file 2\ninactive_file 40\n"),
    ):
        (tmp_path / name).write_text(words)
    assert memory.available_bytes() == 1_000_042
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.available_bytes() > free // 2
