"""The columns of row blocks at predictions: Parquet files go by the names and categories of the fit, frames are compared."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dualgap as dg

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

NAMES = ["big", "small", "kind"]


@pytest.fixture(scope="module")
def frame() -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2)) * [5.0, 1.0]
    found = pandas.DataFrame(X, columns=NAMES[:2])
    kinds = rng.integers(0, 3, size=2000)
    found["kind"] = np.array(["x", "y", "z"])[kinds]
    z = X @ [-0.3, 2.0] + np.array([-2.0, 0.0, 2.0])[kinds]
    found["clicked"] = np.where(z + 0.1 * rng.normal(size=2000) > 0.0, "yes", "no")
    return found


@pytest.fixture(scope="module")
def fitted(frame: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """An estimator and a result of the same file."""
    path = tmp_path_factory.mktemp("fit") / "rows.parquet"
    frame.to_parquet(path)
    blocks = dg.Blocks(path, target="clicked")
    return dg.LogisticRegression(C=5.0, tol=1e-6).fit(blocks), dg.solve(
        dg.Problem(blocks, loss="logistic", strength=1e-4, intercept=True)
    )


def written(path: Path, frame: Any) -> Any:
    frame.to_parquet(path / "new.parquet", row_group_size=700)
    return path / "new.parquet"


CHANGES: dict[str, Callable[[Any], Any]] = {
    "reordered": lambda frame: frame[["clicked", "kind", "small", "big"]],
    "another column beside": lambda frame: frame.assign(aaa=1.0, when=pandas.Timestamp("2020-01-01"))[::1],
    "a missing category": lambda frame: frame[frame["kind"] != "x"],
    "categories as a dictionary": lambda frame: frame.assign(kind=frame["kind"].astype("category")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_files_are_read_by_the_names_of_the_fit(change: str, frame: Any, fitted: Any, tmp_path: Path) -> None:
    new = CHANGES[change](frame)
    blocks = dg.Blocks(written(tmp_path, new))
    model, result = fitted
    dense = np.column_stack([new["big"], new["small"], *(new["kind"] == value for value in "xyz")]).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(result.predict(blocks), result.predict(dense))
        assert (model.predict(blocks) == new["clicked"]).mean() > 0.98
    assert model.decision_function(blocks) == pytest.approx(dense @ model.coef_[0] + model.intercept_[0])
    assert result.scores(blocks) == pytest.approx(result.scores(dense))


def test_an_unseen_category_is_zeros_and_one_note(
    frame: Any, fitted: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    new = frame.assign(kind=frame["kind"].where(frame["kind"] != "x", "w"))
    model, result = fitted
    dense = np.column_stack([new["big"], new["small"], *(new["kind"] == value for value in "xyz")]).astype(float)
    for predict in (model.decision_function, result.scores):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "dualgap"):
            found = predict(dg.Blocks(written(tmp_path, new), target="clicked"))
        assert found == pytest.approx(result.scores(dense), abs=0.1)
        count = int((new["kind"] == "w").sum())
        assert [record.getMessage() for record in caplog.records] == [
            f"column kind has 'w' in {count:,} rows, which the fit did not see: zeros in all columns of kind"
        ]


@pytest.mark.parametrize("missing", NAMES)
def test_a_missing_column_is_refused_by_name(missing: str, frame: Any, fitted: Any, tmp_path: Path) -> None:
    blocks = dg.Blocks(written(tmp_path, frame.drop(columns=missing)), target="clicked")
    for model in fitted:
        with pytest.raises(ValueError, match=re.escape(f"the model needs column '{missing}")):
            model.predict(blocks)


def test_frames_in_a_list_are_compared(frame: Any) -> None:
    rows, y = frame[NAMES[:2]], frame["clicked"]
    model = dg.LogisticRegression().fit(dg.Blocks([(rows[:900], y[:900]), (rows[900:], y[900:])]))
    assert model.feature_names_in_.tolist() == NAMES[:2]
    assert np.array_equal(model.predict(dg.Blocks([(rows, y)])), model.predict(rows))
    with pytest.raises(ValueError, match="in the order of the fit, big, small, got small, big"):
        model.predict(dg.Blocks([(rows[["small", "big"]], y)]))
    with pytest.raises(ValueError, match="the model needs column 'big'"):
        model.predict(dg.Blocks([(rows.rename(columns={"big": "large"}), y)]))
    with pytest.raises(ValueError, match="block 1: X needs the columns big, small in the order of block 0"):
        dg.Blocks([(rows[:900], y[:900]), (rows[["small", "big"]][900:], y[900:])])
    assert model.predict(dg.Blocks([(rows.to_numpy(), y)])).size == len(rows)


def test_what_parquet_files_cannot_be_is_said_with_their_names(frame: Any, tmp_path: Path) -> None:
    def problem(**columns: Any) -> Any:
        changed = frame[1000:].assign(**columns)
        frame[:1000].to_parquet(tmp_path / "a.parquet")
        changed.drop(columns=[name for name in columns if columns[name] is None]).to_parquet(tmp_path / "b.parquet")
        return dg.Problem(dg.Blocks(tmp_path, target="clicked"), strength=1e-3)

    with pytest.raises(ValueError, match=r"b\.parquet lacks 'small'"):
        problem(small=None)
    with pytest.raises(ValueError, match=r"b\.parquet alone has 'other'"):
        problem(other=1.0)
    with pytest.raises(ValueError, match=r"column 'clicked' of b\.parquet has missing values"):
        problem(clicked=frame["clicked"][1000:].where(frame["big"] > 0.0))
    with pytest.raises(ValueError, match=r"column 'small' of b\.parquet has missing values"):
        problem(small=frame["small"][1000:].where(frame["big"] > 0.0))
    for name, values, sentence in (
        ("when", pandas.Timestamp("2020-01-01"), r"type timestamp\[.*\] in column 'when'.*days since a fixed day"),
        ("lists", [[[1.0, 2.0]] * len(frame)][0], r"type list<.*> in column 'lists', and a linear model needs numbers"),
    ):
        path = tmp_path / "odd"
        path.mkdir(exist_ok=True)
        frame.assign(**{name: values}).to_parquet(path / "odd.parquet")
        with pytest.raises(ValueError, match=rf"odd\.parquet has values of {sentence}"):
            dg.Problem(dg.Blocks(path, target="clicked"), strength=1e-3)


def test_scores_are_of_all_blocks(frame: Any, fitted: Any, tmp_path: Path) -> None:
    new = CHANGES["reordered"](frame)
    blocks = dg.Blocks(written(tmp_path, new), target="clicked")
    right = fitted[0].predict(blocks) == frame["clicked"]
    assert fitted[0].score(blocks) == pytest.approx(right.mean(), abs=1e-12)
    with pytest.raises(ValueError, match="block 0: a score needs y, got none"):
        fitted[0].score(dg.Blocks(tmp_path / "new.parquet"))
