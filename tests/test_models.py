"""Model files: the same bits back for every kind of model, refusals of hostile files, whole or no files, claims checked."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.models import FitFacts, SavesModels, digest, model_of, recheck
from dualgap.models.fitting import fit
from dualgap.models.record import full_text
from dualgap.spec import build

ROWS = np.random.default_rng(3).normal(size=(60, 4))
ROWS[7] = 0.0  # an empty row
ROWS[9] = ROWS[8]  # a repeated one
SIGNS = np.where(ROWS[:, 0] + 0.3 * ROWS[:, 1] ** 2 > 0.2, 1, -1)
WORDS = np.array(["blue", "green", "red"])[np.digitize(ROWS[:, 0], [-0.4, 0.4])]
TARGETS = ROWS @ [1.0, -2.0, 0.5, 0.0] + 3.0


def loss_of(text: str) -> Any:
    return build(text, dg.LOSSES, "loss")


def model_for(text: str, **options: Any) -> dg.Model:
    loss = loss_of(text)
    y = SIGNS if loss.task == "classification" else TARGETS
    return fit(ROWS, y, loss, 0.01, **options)


KINDS: dict[str, Callable[[], dg.Model]] = {
    **{name: lambda name=name: model_for(name) for name in dg.LOSSES},
    "with duals": lambda: model_for("hinge", duals=True),
    "no intercept": lambda: model_for("smoothed_hinge(gamma=0.3)", intercept=False),
    "named columns": lambda: model_for("epsilon_insensitive(epsilon=0.25)", feature_names=["a", "b", "ü", "d e"]),
    "words": lambda: fit(ROWS, np.where(SIGNS > 0, "yes", "no"), loss_of("logistic"), 0.01),
    "truth": lambda: fit(ROWS, SIGNS > 0, loss_of("logistic"), 0.01),
    "one against the rest": lambda: fit(ROWS, WORDS, loss_of("hinge"), 0.01, duals=True),
    "softmax": lambda: fit(ROWS, WORDS, loss_of("logistic"), 0.01, duals=True),
    "not certified": lambda: model_for("hinge", solver="sgd", max_epochs=2),
}


def saved(model: dg.Model, path: Path) -> Path:
    model.save(path)
    return path


@pytest.mark.parametrize("name", KINDS)
def test_a_file_gives_the_same_bits_back(name: str, tmp_path: Path) -> None:
    model = KINDS[name]()
    back = dg.load(saved(model, tmp_path / "one.dg"))
    for part in ("weights", "duals", "classes", "intercept"):
        ours, theirs = getattr(model, part), getattr(back, part)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert np.asarray(ours).dtype == np.asarray(theirs).dtype
            assert np.asarray(ours).tobytes() == np.asarray(theirs).tobytes()
    for part in ("kind", "loss", "strengths", "free_intercept", "certificates", "statuses", "tol", "feature_names"):
        assert getattr(model, part) == getattr(back, part)
    for part in ("solver", "reason", "data", "reading", "estimator", "parameters", "versions", "class_factors"):
        assert getattr(model, part) == getattr(back, part)
    assert np.array_equal(model.scores(ROWS), back.scores(ROWS))
    assert np.array_equal(model.predict(sp.csr_matrix(ROWS)), back.predict(sp.csr_matrix(ROWS)))
    assert saved(back, tmp_path / "two.dg").read_bytes() == (tmp_path / "one.dg").read_bytes()


def test_a_broken_certificate_survives(tmp_path: Path) -> None:
    strange = dg.Certificate(float("inf"), float("-inf"), float("nan"), 0.0, 1.0)
    model = replace(model_for("hinge"), certificates=(strange,), statuses=(dg.Status.BROKEN,))
    back = dg.load(saved(model, tmp_path / "m.dg")).certificate
    assert (back.primal, back.dual) == (float("inf"), float("-inf"))
    assert np.isnan(back.floor)


def test_a_loss_is_kept_with_all_its_options() -> None:
    for loss in [*(cls() for cls in dg.LOSSES.values()), dg.EpsilonInsensitive(epsilon=1e-7), dg.Huber(delta=2)]:
        text = full_text(loss)
        assert loss_of(text) == loss
        assert all(option in text for option in vars(loss))


def test_predictions_probabilities_and_frames() -> None:
    pandas = pytest.importorskip("pandas")
    model = model_for("logistic", feature_names=list("abcd"))
    problem = dg.Problem(ROWS, SIGNS, "logistic", 0.01, intercept=True)
    result = dg.solve(problem, tol=1e-6)
    assert np.array_equal(model.predict(ROWS), result.predict(ROWS))
    chances = model.probabilities(model.scores(ROWS))
    assert np.allclose(chances.sum(axis=1), 1.0, rtol=1e-15)
    assert np.array_equal(model.classes[chances.argmax(axis=1)], model.predict(ROWS))
    frame = pandas.DataFrame(ROWS, columns=list("abcd"))
    frame["more"] = "text"
    assert np.array_equal(model.scores(frame[["more", "d", "b", "c", "a"]]), model.scores(ROWS))
    with pytest.raises(ValueError, match="needs column 'b', which the data lacks"):
        model.scores(frame[["a", "c", "d"]])
    with pytest.raises(ValueError, match="4 columns as in training, got 3"):
        model.scores(ROWS[:, :3])
    with pytest.raises(ValueError, match="probabilities need a logistic model"):
        model_for("hinge").probabilities(np.zeros(2))


# Digests


@pytest.mark.parametrize("share", [0.0, 0.02, 0.4, 0.6, 1.0])
def test_the_same_content_has_the_same_digest(share: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 7)).astype(np.float32) * (rng.random((500, 7)) < share)
    X[3, 2] = -0.0
    y = rng.integers(0, 3, 500)
    stored_zeros = sp.csr_matrix(np.ones_like(X))
    stored_zeros.data = X.ravel().copy()
    forms = [X, X.astype(np.float64), np.asfortranarray(X), sp.csr_matrix(X), sp.coo_matrix(X), stored_zeros]
    assert len({digest(form, y) for form in forms}) == 1
    assert digest(X, y) == digest(X, y.astype(np.float64), np.ones(500)) == digest(X, y[:, None])


def test_other_content_has_another_digest() -> None:
    first = digest(ROWS, SIGNS)
    moved = ROWS.copy()
    moved[5, 2] = np.nextafter(moved[5, 2], 9.0)
    assert first.differences(digest(moved, SIGNS)) == ["the rows are not those of the fit"]
    assert first.differences(digest(ROWS[::-1], SIGNS[::-1])) == [
        "the rows are not those of the fit",
        "the labels are not those of the fit",
    ]
    assert first.differences(digest(ROWS, SIGNS, 2.0 * np.ones(60))) == ["the sample weights are not those of the fit"]
    assert "4 columns, and the model" in first.differences(digest(ROWS[:50], SIGNS[:50]))[0]
    assert digest(ROWS, ["ab", "c"] * 30).y != digest(ROWS, ["a", "bc"] * 30).y
    zeros = np.zeros((2, 3))
    assert digest(zeros, [0, 1]).X != digest(zeros.T, [0, 1, 1]).X


# Hostile files


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(path: Path, parts: dict[str, bytes], packing: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def edited(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    parts = members(path)
    record = json.loads(parts["model.json"])
    change(record)
    packed(path, parts | {"model.json": json.dumps(record).encode()})


def array_bytes(values: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, values, **options)
    return file.getvalue()


def with_array(name: str, data: bytes) -> Callable[[Path], None]:
    return lambda path: packed(path, members(path) | {f"{name}.npy": data})


def with_record(**changes: Any) -> Callable[[Path], None]:
    return lambda path: edited(path, lambda record: record.update(changes))


def lying_header(path: Path) -> None:
    """An array that says it is huge, in a record that says so too."""
    good = array_bytes(np.zeros(4))
    edited(path, lambda record: record["arrays"].update(weights=[10**12]))
    packed(
        path, members(path) | {"weights.npy": good.replace(b"(4,), ", b"(1000000000000,), ").replace(b" " * 12, b"", 1)}
    )


def twice(path: Path) -> None:
    parts = members(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name in ["model.json", "weights.npy", "model.json"]:
            archive.writestr(name, parts[name])


def bomb(path: Path) -> None:
    """Ten megabytes of zeros in ten kilobytes, with the shapes to match."""
    edited(path, lambda record: record["arrays"].update(weights=[1_250_000]))
    packed(path, members(path) | {"weights.npy": array_bytes(np.zeros(1_250_000))}, zipfile.ZIP_DEFLATED)


def certificate_with(**changes: Any) -> Callable[[Path], None]:
    return lambda path: edited(path, lambda record: record["certificates"][0].update(changes))


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "text": (lambda path: path.write_text("weights: 1, 2, 3"), "not a model file, or it is damaged"),
    "empty": (lambda path: path.write_bytes(b""), "not a model file, or it is damaged"),
    "cut": (lambda path: path.write_bytes(path.read_bytes()[:-40]), "not a model file, or it is damaged"),
    "a bit": (lambda path: flip(path, b"\x93NUMPY", 140), "damaged (Bad CRC-32 for file 'weights.npy'"),
    "no record": (lambda path: packed(path, {"weights.npy": b""}), "it holds model.json not at all"),
    "no array": (lambda path: packed(path, {"model.json": members(path)["model.json"]}), "weights.npy not at all"),
    "twice": (twice, "it holds model.json twice"),
    "broken JSON": (lambda path: packed(path, members(path) | {"model.json": b'{"format": 1,'}), "is not JSON"),
    "not UTF-8": (lambda path: packed(path, members(path) | {"model.json": b'{"format": "\xff"}'}), "is not JSON"),
    "deep JSON": (lambda path: packed(path, members(path) | {"model.json": b"[" * 10**6}), "is not JSON"),
    "a list": (lambda path: packed(path, members(path) | {"model.json": b"[1]"}), "one object, and holds a list"),
    "a long number": (lambda path: packed(path, {"model.json": b"9" * 10**5}), "cannot be trusted|can be trusted"),
    "NaN in JSON": (with_record(strengths=[float("nan")]), "NaN is no number of JSON"),
    "newer": (with_record(format=2, kind="quantum"), "was made by a newer dualgap (format 2, this one reads 1)"),
    "no format": (with_record(format=None), "names no format version, got None"),
    "format as text": (with_record(format="1"), "names no format version, got '1'"),
    "format true": (with_record(format=True), "names no format version, got True"),
    "kind": (with_record(kind="tree"), "the kind of a model is one of"),
    "kind of another shape": (with_record(kind="one_vs_rest"), "needs weights in 2 dimensions"),
    "loss": (with_record(loss="os.system(x=1)"), "a spec is a name"),
    "another task": (with_record(loss="squared"), "for regression, which the model is not"),
    "loss as number": (with_record(loss=3), "'loss' should be of type str, got int"),
    "negative strength": (with_record(strengths=[-1.0]), "a strength needs to be a finite number > 0"),
    "huge strength": (with_record(strengths=[10**400]), "number of float64, got one too large"),
    "two strengths": (with_record(strengths=[1.0, 1.0]), "needs 1 certificates, endings and strengths"),
    "intercept as text": (with_record(intercept="0"), "'intercept' should be a number, got str"),
    "two intercepts": (with_record(intercept=[1.0, 2.0]), "the intercept needs one finite number"),
    "forbidden intercept": (with_record(free_intercept=False, intercept=2.0), "has intercept 0, got another"),
    "one class": (with_record(classes={"type": "<i8", "values": [1]}), "needs 2 ascending classes, got 1"),
    "falling classes": (with_record(classes={"type": "<i8", "values": [1, 0]}), "needs 2 ascending classes"),
    "no classes": (with_record(classes=None), "a binary model needs classes"),
    "class objects": (with_record(classes={"type": "|O", "values": [0, 1]}), "numbers or text of the type they name"),
    "class of another type": (with_record(classes={"type": "<i8", "values": ["a", "b"]}), "of the type they name"),
    "class overflow": (with_record(classes={"type": "|i1", "values": [0, 999]}), "do not fit their type"),
    "structured classes": (with_record(classes={"type": ",i8,i8", "values": [0, 1]}), "of the type they name"),
    "names": (with_record(feature_names=["a"]), "4 columns need as many feature names, got 1"),
    "names as numbers": (with_record(feature_names=[1, 2, 3, 4]), "should be a list of text"),
    "no certificate": (with_record(certificates=[]), "needs 1 certificates, endings and strengths"),
    "certificate as text": (certificate_with(primal="0.1"), "'primal' should be a number, got str"),
    "status": (certificate_with(status="PERFECT"), "'PERFECT' is no ending of a run"),
    "data": (with_record(data={"rows": 60}), "'data' has no 'columns'"),
    "data of another width": (with_record(data=vars(digest(ROWS[:, :3], SIGNS))), "cannot come from data of 3 columns"),
    "reading": (with_record(reading={"target": 7, "seed": 0, "test_size": 0, "positive": []}), "'target' should be of"),
    "class factors": (with_record(class_factors=[[1.0]]), "class factors need to be 1 × 2 finite numbers"),
    "parameters": (with_record(parameters=3), "'parameters' should be of type dict"),
    "arrays": (with_record(arrays={}), "it has no weights"),
    "shape as text": (with_record(arrays={"weights": ["4"]}), "should be whole numbers"),
    "another shape": (
        with_record(arrays={"weights": [5]}),
        "float64 numbers of shape (5,), and says float64 of shape (4,)",
    ),
    "NaN weights": (with_array("weights", array_bytes(np.array([1.0, np.nan, 0.0, 0.0]))), "finite float64 numbers"),
    "float32": (with_array("weights", array_bytes(np.zeros(4, np.float32))), "and says float32"),
    "objects": (with_array("weights", array_bytes(np.array([{}] * 4), allow_pickle=True)), "holds Python objects"),
    "no npy": (with_array("weights", b"12345678" * 4), "magic string"),
    "short npy": (with_array("weights", array_bytes(np.zeros(4))[:-8]), "should hold 4 numbers, and holds 24 bytes"),
    "lying header": (lying_header, "should hold 1,000,000,000,000 numbers"),
    "a bomb": (bomb, "weights.npy is compressed|model.json is compressed"),
}


def flip(path: Path, after: bytes, distance: int) -> None:
    data = bytearray(path.read_bytes())
    data[data.index(after) + distance] ^= 1
    path.write_bytes(data)


@pytest.fixture(scope="module")
def good() -> dg.Model:
    return model_for("hinge")


@pytest.mark.filterwarnings("ignore:Duplicate name")  # Python's own word about the file that holds a name twice
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_one_sentence(name: str, good: dg.Model, tmp_path: Path) -> None:
    path = saved(good, tmp_path / "m.dg")
    spoil, words = HOSTILE[name]
    spoil(path)
    with pytest.raises(ValueError) as refused:
        dg.load(path)
    sentence = str(refused.value)
    assert any(part in sentence for part in words.split("|")), sentence
    assert sentence.startswith(repr(str(path)))
    assert "\n" not in sentence
    assert type(refused.value) is ValueError


def test_names_inside_the_zip_go_nowhere(good: dg.Model, tmp_path: Path) -> None:
    path = saved(good, tmp_path / "deep.dg")
    packed(path, members(path) | {"../../evil.npy": b"x", "/evil": b"x", "__init__.py": b"raise SystemExit"})
    assert np.array_equal(dg.load(path).weights, good.weights)
    assert [entry.name for entry in tmp_path.iterdir()] == ["deep.dg"]


def test_any_damage_is_a_refusal_or_harmless(good: dg.Model, tmp_path: Path) -> None:
    """Bytes changed at random places: never another exception than ValueError, and never other weights."""
    path = saved(good, tmp_path / "m.dg")
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(1500):
        data = bytearray(whole)
        # The directory at the end decides how the rest is read, so that half of the damage is done there.
        low = 0 if rng.random() < 0.5 else len(whole) - 200
        for place in rng.integers(low, len(whole), rng.integers(1, 4)):
            data[place] = rng.integers(256)
        path.write_bytes(data[: rng.integers(1, len(data))] if rng.random() < 0.1 else data)
        try:
            back = dg.load(path)
        except ValueError:
            refused += 1
        else:
            assert np.array_equal(back.weights, good.weights)
    assert refused > 1000


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file"):
        dg.load(tmp_path / "nothing.dg")
    with pytest.raises(FileNotFoundError, match="is no file"):
        dg.load(tmp_path)


# Whole or not at all


def test_a_file_is_replaced_whole(good: dg.Model, tmp_path: Path) -> None:
    path = saved(model_for("squared"), tmp_path / "m.dg")
    good.save(str(path))
    assert dg.load(path).loss == "hinge"
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.dg"]
    for place, words in ((tmp_path, "is a folder"), (tmp_path / "no" / "m.dg", "there is no folder")):
        with pytest.raises(ValueError, match=words):
            good.save(place)


def test_a_failed_write_leaves_the_old_file(good: dg.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(good, tmp_path / "m.dg")
    before = path.read_bytes()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        model_for("squared").save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.dg"]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL needs POSIX")
@pytest.mark.parametrize("moment", ["np.lib.format.write_array", "os.fsync", "os.replace"])
def test_a_killed_write_leaves_the_old_file(moment: str, good: dg.Model, tmp_path: Path) -> None:
    path = saved(good, tmp_path / "m.dg")
    before = path.read_bytes()
    code = f"""
import os, signal, numpy as np, dualgap as dg
from dataclasses import replace
model = dg.load({str(path)!r})
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
{moment} = die
replace(model, weights=2.0 * model.weights).save({str(path)!r})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 2, "the part that was written has a name of its own"
    assert np.array_equal(dg.load(path).weights, good.weights)


# Claims


def y_of(model: dg.Model) -> Any:
    return TARGETS if model.classes is None else SIGNS


@pytest.mark.parametrize("duals", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", dg.LOSSES)
def test_a_true_claim_holds(name: str, intercept: bool, duals: bool) -> None:
    model = model_for(name, intercept=intercept, duals=duals)
    assert model.status is dg.Status.CERTIFIED
    verdict = model.certify(sp.csr_matrix(ROWS), y_of(model))
    assert verdict.differences == ()
    assert verdict.certificates[0].relative_gap <= model.certificate.relative_gap * (1 + 1e-6) + 1e-12


def test_the_claim_of_a_run_that_was_ended_early_holds() -> None:
    model = KINDS["not certified"]()
    assert model.status is dg.Status.EPOCHS_EXHAUSTED
    assert model.certify(ROWS, SIGNS).holds


FALSE_CLAIMS: dict[str, tuple[Callable[[dg.Model], dg.Model], str]] = {
    "a weight": (lambda m: replace(m, weights=m.weights + np.array([0.0, 1e-3, 0.0, 0.0])), "primal: the file says"),
    "the intercept": (lambda m: replace(m, intercept=float(m.intercept) + 1e-3), "primal: the file says"),
    "a smaller primal": (
        lambda m: replace(m, certificates=(replace(m.certificate, primal=m.certificate.primal * 0.999),)),
        "primal: the file says",
    ),
    "a larger dual": (
        lambda m: replace(m, certificates=(replace(m.certificate, dual=m.certificate.primal * 1.001),)),
        "dual: the file says",
    ),
    "a large reference": (
        lambda m: replace(
            m,
            weights=0.0 * m.weights,
            intercept=0.0,
            certificates=(dg.Certificate(1.0, 0.0, 0.0, 0.0, 1e9),),
        ),
        "gap: the file says a relative gap of 1e-09",
    ),
    "a status": (
        lambda m: replace(
            m, weights=0.0 * m.weights, intercept=0.0, certificates=(dg.Certificate(1.0, 0.0, 0.0, 0.0, 1e-12),)
        ),
        "status: the file says CERTIFIED at tol 1e-06",
    ),
    "the strength": (lambda m: replace(m, strengths=(0.011,)), "primal: the file says"),
}


@pytest.mark.parametrize("duals", [False, True])
@pytest.mark.parametrize("name", FALSE_CLAIMS)
def test_a_false_claim_is_refuted(name: str, duals: bool) -> None:
    spoil, words = FALSE_CLAIMS[name]
    verdict = recheck(spoil(model_for("hinge", duals=duals)), ROWS, SIGNS, max_seconds=20)
    assert not verdict.holds
    assert any(sentence.startswith(words) for sentence in verdict.differences), verdict


def test_spoiled_duals_are_no_evidence() -> None:
    model = model_for("hinge", duals=True)
    assert model.duals is not None
    verdict = recheck(replace(model, duals=np.roll(model.duals, 7)), ROWS, SIGNS)
    assert any(sentence.startswith("dual: the file says") for sentence in verdict.differences)


def test_a_dual_above_the_optimum_is_refuted_without_duals() -> None:
    """Weights far from the optimum, a dual value between P* and P: only a better primal value can tell."""
    model = model_for("hinge")
    far = KINDS["not certified"]()
    best, claimed = model.certificate.primal, far.certificate.primal
    assert claimed > best * 1.01
    lie = replace(far, certificates=(replace(far.certificate, dual=0.5 * (best + claimed)),))
    verdict = recheck(lie, ROWS, SIGNS)
    assert any("a new solve found weights that give" in sentence for sentence in verdict.differences)


def test_other_data_is_named() -> None:
    model = model_for("hinge", duals=True)
    other = ROWS.copy()
    other[:10] += 1.0
    verdict = model.certify(other, SIGNS)
    assert "the rows are not those of the fit" in verdict.differences
    assert any(sentence.startswith("primal") for sentence in verdict.differences)
    fewer = model.certify(ROWS[:50], SIGNS[:50])
    assert "the file keeps 60 duals, and the data has 50 rows" in fewer.differences
    assert "the data has the labels no, yes" in " ".join(
        model.certify(ROWS, np.where(SIGNS > 0, "yes", "no")).differences
    )
    with pytest.raises(ValueError, match="4 columns as in training, got 3"):
        model.certify(ROWS[:, :3], SIGNS)
    unknown = replace(model, data=None).certify(ROWS, SIGNS)
    assert unknown.holds
    assert "no digest" in unknown.notes[0]


def test_each_class_has_its_claim() -> None:
    model = KINDS["one against the rest"]()
    assert model.predict(ROWS).dtype.kind == "U"
    assert (model.predict(ROWS) == WORDS).mean() > 0.7
    assert model.certify(ROWS, WORDS).holds
    spoiled = replace(model, weights=model.weights + np.array([0.0, 0.0, 1e-3]))
    differences = spoiled.certify(ROWS, WORDS).differences
    assert differences
    assert all(sentence.startswith("class red: ") for sentence in differences)


@pytest.mark.parametrize("duals", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_several_labels_under_the_logistic_loss_are_one_softmax_model(intercept: bool, duals: bool) -> None:
    model = fit(ROWS, WORDS, loss_of("logistic"), 0.01, intercept=intercept, duals=duals)
    assert (model.kind, len(model.certificates), model.status) == ("multinomial", 1, dg.Status.CERTIFIED)
    chances = model.probabilities(model.scores(ROWS))
    assert np.allclose(chances.sum(axis=1), 1.0, rtol=1e-14)
    assert np.array_equal(model.predict(ROWS), np.array(["blue", "green", "red"])[chances.argmax(axis=1)])
    verdict = model.certify(sp.csr_matrix(ROWS), WORDS)
    assert verdict.holds, verdict
    spoiled = replace(model, weights=model.weights + np.array([0.0, 0.0, 1e-3]))
    assert any(text.startswith("primal") for text in spoiled.certify(ROWS, WORDS).differences)
    weighted = dg.MultinomialProblem(
        ROWS, WORDS, 0.01, np.array([3.0, 1.0, 2.0])[np.searchsorted(model.classes, WORDS)]
    )
    result = dg.solve_multinomial(weighted, tol=1e-6)
    record = replace(
        dg.Model.of(result, weighted, tol=1e-6, duals=duals),
        class_factors=((3.0, 1.0, 2.0),),
        data=digest(ROWS, WORDS),
    )
    assert record.certify(ROWS, WORDS).holds
    assert not replace(record, class_factors=((1.0, 1.0, 2.0),)).certify(ROWS, WORDS).holds


# Estimators


class Fitted(SavesModels):
    """The smallest thing with the attributes of a fitted estimator."""

    def __init__(self, **attributes: Any) -> None:
        self.fit_intercept, self.tol = True, 1e-6
        self.coef_ = self.dual_coef_ = self.intercept_ = self._facts = None
        vars(self).update(attributes)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"C": np.float64(2.0), "class_weight": {0: 1.0}, "tol": self.tol}


def fitted(y: Any, loss: str, positives: list[Any], factors: Any = None, **attributes: Any) -> Fitted:
    """A problem for each of `positives`, with rows weighted by class, as an estimator keeps them."""
    results, problems = [], []
    for k, positive in enumerate(positives):
        targets = y[:, k] if y.ndim == 2 else np.where(y == positive, 1, -1) if positive is not None else y
        weights = None if factors is None else np.where(targets > 0, factors[k][1], factors[k][0])
        problems.append(dg.Problem(ROWS, targets, loss, 0.01 * (k + 1), weights, intercept=True))
        results.append(dg.solve(problems[-1], tol=1e-6))
    several = len(results) > 1 or y.ndim == 2
    one: Callable[[list[Any]], Any] = lambda values: values if several else values[0]
    model = Fitted(
        coef_=np.stack([result.weights for result in results]),
        intercept_=np.array([result.intercept for result in results]),
        dual_coef_=np.stack([result.duals for result in results]),
        certificate_=one([result.certificate for result in results]),
        status_=one([result.status for result in results]),
        reason_=one([result.reason for result in results]),
        strength_=one([problem.strength for problem in problems]),
        **attributes,
    )
    if "classes_" not in attributes and not several:
        model.coef_, model.dual_coef_, model.intercept_ = (
            model.coef_[0],
            model.dual_coef_[0],
            float(model.intercept_[0]),
        )
    model._facts = FitFacts.of(model, loss_of(loss), "auto", (ROWS, y, None), factors)
    return model


@pytest.mark.parametrize("duals", [False, True])
def test_estimators_are_saved_with_what_they_claim(duals: bool, tmp_path: Path) -> None:
    names = np.array(["blue", "green", "red"], dtype=object)
    cases = [
        (SIGNS, fitted(SIGNS, "hinge", [1], [(0.5, 2.0)], classes_=np.array([-1, 1]))),
        (WORDS, fitted(WORDS, "squared_hinge", list(names), [(1.0, 2.0)] * 3, classes_=names)),
        (TARGETS, fitted(TARGETS, "squared", [None], feature_names_in_=np.array(list("abcd"), dtype=object))),
        (np.column_stack([TARGETS, -TARGETS]), fitted(np.column_stack([TARGETS, -TARGETS]), "squared", [None, None])),
        (TARGETS[:, None], fitted(TARGETS[:, None], "squared", [None])),
    ]
    for y, estimator in cases:
        estimator.save(tmp_path / "m.dg", duals=duals)
        back = dg.load(tmp_path / "m.dg")
        assert back.estimator == "Fitted"
        assert back.parameters == {"C": 2.0, "class_weight": "{0: 1.0}", "tol": 1e-6}
        assert np.array_equal(back.weights, np.atleast_2d(estimator.coef_).T.reshape(back.weights.shape))
        assert back.predict(ROWS).shape == y.shape
        assert (back.duals is not None) == duals
        verdict = back.certify(ROWS, y)
        assert verdict.holds, verdict
        wrong = replace(back, class_factors=None if back.class_factors is None else ((1.0, 1.0),) * len(back.strengths))
        assert wrong.certify(ROWS, y).holds == (back.class_factors is None)


def test_an_estimator_without_a_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="needs to be fitted by fit"):
        Fitted().save(tmp_path / "m.dg")
    assert not list(tmp_path.iterdir())
    assert model_of(fitted(SIGNS, "hinge", [1], classes_=np.array([-1, 1]))).kind == "binary"
