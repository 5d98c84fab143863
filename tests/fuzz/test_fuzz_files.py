"""A slice of the fuzzer of files with a fixed seed, and that its seeds and its counters are what they should be."""

from __future__ import annotations

import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of memory and time need POSIX")

# About ten seconds: three of every seed.
CASES, SEED = 84, 3


@pytest.fixture(scope="module")
def cases() -> list[dict[str, object]]:
    pytest.importorskip("pyarrow")
    pytest.importorskip("cv2")
    import files

    return files.campaign(CASES, SEED)


def test_no_file_gets_through_unrefused(cases: list[dict[str, object]]) -> None:
    import files

    bad = [case for case in cases if case["outcome"] in files.BAD]
    assert not bad, bad
    assert len(cases) == CASES


def test_the_slice_meets_every_ending(cases: list[dict[str, object]]) -> None:
    assert {"0", "1", "2"} <= {case["outcome"] for case in cases}
    assert len({case["kind"] for case in cases}) > 12


def test_a_false_claim_would_be_noticed(tmp_path) -> None:
    from dataclasses import replace

    import numpy as np
    from file_claims import false_claim, members_of
    from file_seeds import csv_of, saved

    import dualgap as dg
    from small_models import ROWS, SIGNS, TARGETS, model_for

    model = model_for("hinge")
    good = saved(model, tmp_path)
    assert csv_of(ROWS, SIGNS)
    assert false_claim(good, good, ROWS, SIGNS) == ""
    assert members_of(good)[0]["kind"] == "binary"
    for change in (
        {"weights": 1.01 * model.weights},
        {"strengths": (0.011,)},
        {"certificates": (replace(model.certificate, dual=model.certificate.primal * 1.001),)},
        {"certificates": (replace(model.certificate, primal=model.certificate.primal * (1.0 + 1e-8)),)},
        {"data": dg.load(tmp_path / "seed.dg").data and replace(model.data, X="0" * 64)},
    ):
        assert false_claim(saved(replace(model, **change), tmp_path), good, ROWS, SIGNS)
    dg.ElasticNet(alpha=0.05, l1_ratio=0.4).fit(ROWS, TARGETS).save(tmp_path / "seed.dg")
    sparse = (tmp_path / "seed.dg").read_bytes()
    assert false_claim(sparse, sparse, ROWS, np.asarray(TARGETS)) == ""
    assert false_claim(saved(replace(dg.load(tmp_path / "seed.dg"), l1_ratio=0.41), tmp_path), sparse, ROWS, TARGETS)
