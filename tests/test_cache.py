"""Downloads against a local server that speaks OpenML's language: what is kept, what is refused, and what is told."""

from __future__ import annotations

import gc
import hashlib
import http.client
import json
import threading
import urllib.request
import warnings
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dualgap.cli.app import main
from dualgap.datasets import DATASETS, cache, downloads, load, place_of
from dualgap.datasets.published import PUBLISHED

LETTERS = "{{{}}}".format(",".join(map(chr, range(ord("A"), ord("Z") + 1))))
SKIN = (
    [("B", "numeric"), ("G", "numeric"), ("R", "numeric"), ("Class", "{1,2}")],
    "1,2,3,1\n4,5,6,2\n255,8,9,2\n",
    "Class",
)
ADULT = (
    [
        ("age", "numeric"),
        ("workclass", "{Private,State-gov}"),
        *((f"n{place}", "numeric") for place in range(3)),
        ("class", "{<=50K,>50K}"),
    ],
    "39,State-gov,1,2,3,<=50K\n50,Private,1,2,3,>50K\n38,?,1,2,3,<=50K\n53,Private,1,2,3,>50K\n",
    "class",
)
RHYTHM = [("a", "numeric"), ("b", "numeric"), ("class", "{1,2,3}")], "1,?,1\n2,5,3\n3,7,2\n", "class"
LETTER = [("x", "numeric"), ("class", LETTERS)], "1,A\n2,Z\n3,C\n", "class"
DIGITS = [("p", "numeric"), ("class", "{0,1,2}")], "255,2\n0,1\n51,2\n7,0\n", "class"
SPAM = [("w", "numeric"), ("class", "{0,1}")], "0.5,1\n0.25,0\n", "class"
RINGS = [("Sex", "{F,I,M}"), ("Length", "numeric"), ("rings", "numeric")], "M,0.5,9\nF,0.25,3\nI,1,6\n", "rings"


class OpenML:
    """What the server answers: a description, features, qualities, and the data as ARFF."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.cut = False  # end every answer in the middle

    def publish(self, number: int, table: tuple[list[tuple[str, str]], str, str]) -> None:
        columns, rows, target = table
        attributes = "".join(f"@attribute '{name}' {kind}\n" for name, kind in columns)
        arff = f"@relation r\n{attributes}@data\n{rows}".encode()
        features = [
            {
                "index": str(place),
                "name": name,
                "data_type": "nominal" if kind.startswith("{") else "numeric",
                "is_target": str(name == target).lower(),
                "is_ignore": "false",
                "is_row_identifier": "false",
                "number_of_missing_values": "0",
            }
            for place, (name, kind) in enumerate(columns)
        ]
        description = {
            "id": str(number),
            "name": "r",
            "version": "1",
            "description": "a test",
            "format": "ARFF",
            "status": "active",
            "file_id": str(number),
            "url": f"https://www.openml.org/data/v1/download/{number}/r.arff",
            "default_target_attribute": target,
            "md5_checksum": hashlib.md5(arff).hexdigest(),
        }
        qualities = [{"name": "NumberOfInstances", "value": str(rows.count("\n"))}]
        api = "/api/v1/json/data"
        self.pages |= {
            f"{api}/{number}": json.dumps({"data_set_description": description}).encode(),
            f"{api}/features/{number}": json.dumps({"data_features": {"feature": features}}).encode(),
            f"{api}/qualities/{number}": json.dumps({"data_qualities": {"quality": qualities}}).encode(),
            f"/data/v1/download/{number}/r.arff": arff,
            f"/data/v1/download/{number}": arff,
        }


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenML]:
    """A local server in OpenML's place, an empty cache, and no folder of data."""
    site = OpenML()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            page = site.pages.get(self.path)
            self.send_response(404 if page is None else 200)
            self.send_header("Content-Length", str(len(page or b"")))
            self.end_headers()
            self.wfile.write((page or b"")[: len(page or b"") // 2 if site.cut else None])

        def log_message(self, *arguments: Any) -> None:
            pass

    local = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=local.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    reroute(monkeypatch, local.server_port)
    monkeypatch.setattr(downloads, "DELAY", 0.001)
    monkeypatch.delenv("DUALGAP_DATA", raising=False)
    monkeypatch.setenv("DUALGAP_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    yield site
    local.shutdown()
    thread.join()
    local.server_close()


def reroute(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    """Let every https address of this process lead to the local server."""

    class Local(urllib.request.HTTPSHandler):
        def https_open(self, request: Any) -> Any:
            def connection(host: str, timeout: Any = None) -> http.client.HTTPConnection:
                return http.client.HTTPConnection("127.0.0.1", port, timeout=5)

            return self.do_open(connection, request)

    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Local)
    monkeypatch.setattr(urllib.request, "_opener", opener)


def shrink(monkeypatch: pytest.MonkeyPatch, name: str, **facts: Any) -> None:
    """A line of the table with the sizes of what the local server has."""
    monkeypatch.setattr(DATASETS[name], "row", replace(PUBLISHED[name], **facts))


def skin(monkeypatch: pytest.MonkeyPatch, server: OpenML) -> None:
    server.publish(1502, SKIN)
    shrink(monkeypatch, "skin", shape=(3, 3), counts=(2, 1))


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_a_set_is_downloaded_once_and_only_when_asked(
    server: OpenML, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skin(monkeypatch, server)
    with pytest.raises(FileNotFoundError, match="skin is not here"):
        load("skin")
    assert server.asked == []
    dataset = load("skin", download=True)
    assert dataset.X.tolist() == [[1, 2, 3], [4, 5, 6], [255, 8, 9]]
    assert dataset.X.dtype == np.uint8
    assert dataset.y.tolist() == [1, -1, -1]
    assert dataset.feature_names == ("B", "G", "R")
    assert files(tmp_path) == ["cache", "cache/skin_nonskin.npz"]
    asked = len(server.asked)
    assert asked > 0
    assert np.array_equal(load("skin", download=True).X, load("skin").X)
    assert len(server.asked) == asked
    assert place_of(DATASETS["skin"]()) == "cache"


@pytest.mark.parametrize(
    ("name", "table", "facts", "X", "y"),
    [
        ("letter", LETTER, {"shape": (3, 1), "counts": (1, 1, 1)}, [[1], [2], [3]], [0, 25, 2]),
        ("spambase", SPAM, {"shape": (2, 1), "counts": (1, 1)}, [[0.5], [0.25]], [1, -1]),
        ("abalone", RINGS, {"shape": (3, 2), "mean": 6.0}, [[0, 0.5], [1, 0.25], [2, 1]], [9, 3, 6]),
        ("arrhythmia", RHYTHM, {"shape": (3, 2), "counts": (2, 1)}, [[1, 6], [2, 5], [3, 7]], [1, -1, -1]),
        ("mnist", DIGITS, {"shape": (3, 1), "counts": (1, 2), "test_rows": 1}, [[1], [0], [0.2]], [2, 1, 2]),
    ],
)
def test_each_kind_of_download_becomes_what_its_file_would_be(
    server: OpenML, monkeypatch: pytest.MonkeyPatch, name: str, table: Any, facts: dict[str, Any], X: Any, y: Any
) -> None:
    monkeypatch.setitem(downloads.TRAINING_ROWS, "mnist", 3)
    server.publish(int(PUBLISHED[name].download.split()[1]), table)
    shrink(monkeypatch, name, **facts)
    dataset = load(name, download=True)
    np.testing.assert_allclose(dataset.X, X, rtol=1e-6)
    assert dataset.y.tolist() == y


def test_adult_is_written_as_its_two_files(server: OpenML, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.publish(1590, ADULT)
    monkeypatch.setitem(downloads.TRAINING_ROWS, "adult", 3)
    shrink(monkeypatch, "adult_codes", shape=(3, 5), counts=(2, 1), test_rows=1, prepare="codes_of_a_test")
    from dualgap.datasets import preparing

    def read_back(paths: list[Path]) -> Any:
        names, parts, targets = preparing._adult(paths)
        assert names[:2] == ["age", "workclass"]
        assert parts[0][:, 1].tolist() == ["State-gov", "Private", "?"]
        assert parts[0][:, 0].tolist() == ["39", "50", "38"]
        return preparing.Dataset("adult", np.zeros((3, 5)), targets[0], np.zeros((1, 5)), targets[1])

    monkeypatch.setattr(preparing, "codes_of_a_test", read_back, raising=False)
    assert load("adult_codes", download=True).y.tolist() == [-1, 1, -1]
    assert files(tmp_path / "cache") == ["adult_test.csv.gz", "adult_train.csv.gz"]


def refusal(name: str, tmp_path: Path) -> str:
    with pytest.raises(ValueError) as caught:
        load(name, download=True)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.startswith(f"{name} could not be downloaded ({PUBLISHED[name].download}): ")
    assert f"put {PUBLISHED[name].files[0]} into a folder and let DUALGAP_DATA name it" in sentence
    assert ".download-" not in sentence
    assert files(tmp_path) == ["cache"], "nothing is left, least of all half a file"
    return sentence


def test_what_is_not_the_known_set_never_enters_the_cache(
    server: OpenML, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skin(monkeypatch, server)
    shrink(monkeypatch, "skin", shape=(3, 3), counts=(1, 2))
    assert "2 + 1 rows of each label where 1 + 2 are known" in refusal("skin", tmp_path)
    shrink(monkeypatch, "skin")
    assert "3 × 3 rows × columns where 245,057 × 3" in refusal("skin", tmp_path)


@pytest.fixture(autouse=True)
def sockets_are_collected() -> Iterator[None]:
    """A download that fails inside scikit-learn leaves its socket to the garbage collector; it must not warn elsewhere."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def test_a_server_that_fails_is_one_sentence(server: OpenML, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "404" in refusal("skin", tmp_path)
    skin(monkeypatch, server)
    server.cut = True
    refusal("skin", tmp_path)
    server.cut = False
    page = "/data/v1/download/1502/r.arff"
    server.pages = {path: b"@relation" if path.startswith(page[:-7]) else body for path, body in server.pages.items()}
    assert "checksum" in refusal("skin", tmp_path)


@pytest.mark.parametrize("name", ["skin", "covtype", "newsgroups"])
def test_no_network_is_one_sentence(server: OpenML, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as closed:
        port = closed.server_port
    reroute(monkeypatch, port)
    assert "refused" in refusal(name, tmp_path)


def test_an_interrupted_download_leaves_an_older_copy_alone(
    server: OpenML, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skin(monkeypatch, server)
    load("skin", download=True)
    kept = (tmp_path / "cache" / "skin_nonskin.npz").read_bytes()

    def interrupted(name: str, download: str, names: tuple[str, ...], folder: Path) -> None:
        (folder / names[0]).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(downloads, "write_files", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cache.fetch(DATASETS["skin"]().row)
    assert files(tmp_path / "cache") == ["skin_nonskin.npz"]
    assert (tmp_path / "cache" / "skin_nonskin.npz").read_bytes() == kept


def test_what_has_no_download_says_so(server: OpenML) -> None:
    with pytest.raises(ValueError, match=r"golub cannot be downloaded; put golub_allaml\.npz into a folder"):
        load("golub", download=True)
    assert load("digits", download=True).shape == (1797, 64)
    assert server.asked == []


def test_bytes_are_told_while_they_come(server: OpenML, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "POLL_SECONDS", 0.001)
    told: list[int] = []
    with cache._watched(tmp_path, told.append):
        (tmp_path / "part").write_bytes(bytes(1000))
        while 1000 not in told:
            pass
        (tmp_path / "part").write_bytes(bytes(5000))
    assert told[-1] == 5000
    assert told == sorted(told)
    (tmp_path / "part").unlink()
    skin(monkeypatch, server)
    told.clear()
    load("skin", download=True, tell=told.append)
    assert told[-1] > len(server.pages["/data/v1/download/1502"])


def test_folders_that_vanish_while_bytes_are_counted_count_nothing(tmp_path: Path) -> None:
    (tmp_path / "part").write_bytes(bytes(100))
    done = threading.Event()

    def come_and_go() -> None:
        while not done.is_set():
            inner = tmp_path / "some" / "where"
            inner.mkdir(parents=True)
            inner.rmdir()
            inner.parent.rmdir()

    other = threading.Thread(target=come_and_go)
    other.start()
    try:
        counted = {cache._bytes_in(tmp_path) for _ in range(3000)}
    finally:
        done.set()
        other.join()
    assert counted == {100}


def test_the_command_line_downloads_what_is_named(
    server: OpenML, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def called(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["datasets", *arguments])
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    code, shown, errors = called("skin", "--download")
    assert (code, shown) == (2, "")
    assert errors.strip().splitlines()[-1].startswith("dualgap: skin could not be downloaded (openml 1502): ")
    skin(monkeypatch, server)
    code, shown, errors = called("skin", "digits", "--download")
    assert code == 0
    assert "skin was downloaded, compared with its known sizes, and kept" in errors
    assert [line.split()[0] for line in shown.splitlines()[2:]] == ["skin", "digits"]
    assert "cache" in shown
    code, _, errors = called("--download")
    assert (code, "needs the names of data sets" in errors) == (2, True)
    assert called("skim")[0] == 2
