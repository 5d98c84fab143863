"""Model files of every kind of model: the same bits back, digests of the data, and claims proven or refuted."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.models.digests import digest
from dualgap.models.fitting import fit
from dualgap.models.verifying import verify
from dualgap.spec import full_text
from small_models import KINDS, ROWS, SIGNS, WORDS, loss_of, model_for, saved, targets_of


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
    strange = dg.Certificate(float("inf"), float("-inf"), float("nan"), 0.0, 0.0, 0.0, 1.0)
    model = replace(model_for("hinge"), certificates=(strange,), statuses=(dg.Status.BROKEN,))
    back = dg.load(saved(model, tmp_path / "m.dg")).certificate
    assert (back.primal, back.dual) == (float("inf"), float("-inf"))
    assert np.isnan(back.gap)


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
    probabilities = model.probabilities(model.scores(ROWS))
    assert np.allclose(probabilities.sum(axis=1), 1.0, rtol=1e-15)
    assert np.array_equal(model.classes[probabilities.argmax(axis=1)], model.predict(ROWS))
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


@pytest.mark.parametrize("density", [0.0, 0.02, 0.4, 0.6, 1.0])
def test_the_same_content_has_the_same_digest(density: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 7)).astype(np.float32) * (rng.random((500, 7)) < density)
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


# Claims


def y_of(model: dg.Model) -> Any:
    return targets_of(loss_of(model.loss)) if model.classes is None else SIGNS


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
    "a smaller gap": (
        lambda m: replace(m, certificates=(replace(m.certificate, gap=m.certificate.gap * 0.5),)),
        "gap: the file says a relative gap of",
    ),
    "a large reference": (
        lambda m: replace(
            m,
            weights=0.0 * m.weights,
            intercept=0.0,
            certificates=(dg.Certificate(1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1e9),),
        ),
        "gap: the file says a relative gap of 1e-09",
    ),
    "a status": (
        lambda m: replace(
            m,
            weights=0.0 * m.weights,
            intercept=0.0,
            certificates=(dg.Certificate(1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1e-12),),
        ),
        "status: the file says CERTIFIED at tol 1e-06",
    ),
    "the strength": (lambda m: replace(m, strengths=(0.011,)), "primal: the file says"),
}


@pytest.mark.parametrize("duals", [False, True])
@pytest.mark.parametrize("name", FALSE_CLAIMS)
def test_a_false_claim_is_refuted(name: str, duals: bool) -> None:
    spoil, words = FALSE_CLAIMS[name]
    verdict = verify(spoil(model_for("hinge", duals=duals)), ROWS, SIGNS, max_seconds=20)
    assert not verdict.holds
    assert any(sentence.startswith(words) for sentence in verdict.differences), verdict


def test_a_claim_that_time_leaves_open_is_undecided() -> None:
    problem = dg.Problem(ROWS, SIGNS, "hinge", 1e-3, intercept=True)
    rough, tight = (dg.solve(problem, "newton", tol=tol, max_epochs=300) for tol in (0.5, 1e-9))
    model = dg.Model.of(rough, problem, tol=None)
    gap = model.certificate.primal - tight.certificate.dual
    model = replace(
        model, certificates=(replace(model.certificate, dual=tight.certificate.dual, gap=gap * (1 + 1e-9)),)
    )
    verdict = verify(model, ROWS, SIGNS, max_seconds=1e-9)
    assert (verdict.holds, verdict.differences) == (False, ())
    assert "neither proves nor refutes it" in verdict.undecided[0]
    assert verify(model, ROWS, SIGNS, max_seconds=20).holds


def test_an_older_file_is_read_and_its_claim_called_an_estimate(tmp_path: Path) -> None:
    path = saved(model_for("hinge", duals=True), tmp_path / "new.dg")
    with zipfile.ZipFile(path) as members:
        parts = {name: members.read(name) for name in members.namelist()}
    record = json.loads(parts["model.json"])
    for one in record["certificates"]:
        one |= {"floor": 1e-15, "alarm": 1e-14}
        for name in ("gap", "rounding", "primal_error", "dual_error"):
            del one[name]
    old = tmp_path / "old.dg"
    with zipfile.ZipFile(old, "w") as members:
        for name, data in (parts | {"model.json": json.dumps(record).encode()}).items():
            members.writestr(name, data)
    model = dg.load(old)
    assert model.certificate.gap == model.certificate.primal - model.certificate.dual
    verdict = model.certify(ROWS, SIGNS)
    assert verdict.holds, verdict
    assert any("estimated rounding" in note for note in verdict.notes)


def test_duals_in_another_order_refute_the_dual_value() -> None:
    model = model_for("hinge", duals=True)
    assert model.duals is not None
    verdict = verify(replace(model, duals=np.roll(model.duals, 7)), ROWS, SIGNS)
    assert any(sentence.startswith("dual: the file says") for sentence in verdict.differences)


def test_a_dual_above_the_optimum_is_refuted_without_duals() -> None:
    """Weights far from the optimum, a dual value between P* and P: only a better primal value can tell."""
    model = model_for("hinge")
    far = KINDS["not certified"]()
    best, claimed = model.certificate.primal, far.certificate.primal
    assert claimed > best * 1.01
    lie = replace(far, certificates=(replace(far.certificate, dual=0.5 * (best + claimed)),))
    verdict = verify(lie, ROWS, SIGNS)
    assert any("a new solve found weights that give" in sentence for sentence in verdict.differences)


def test_the_verdict_names_what_differs_in_the_data() -> None:
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
    probabilities = model.probabilities(model.scores(ROWS))
    assert np.allclose(probabilities.sum(axis=1), 1.0, rtol=1e-14)
    assert np.array_equal(model.predict(ROWS), np.array(["blue", "green", "red"])[probabilities.argmax(axis=1)])
    verdict = model.certify(sp.csr_matrix(ROWS), WORDS)
    assert verdict.holds, verdict
    spoiled = replace(model, weights=model.weights + np.array([0.0, 0.0, 1e-3]))
    assert any(text.startswith("primal") for text in spoiled.certify(ROWS, WORDS).differences)
    weighted = dg.MultinomialProblem(
        ROWS, WORDS, 0.01, np.array([3.0, 1.0, 2.0])[np.searchsorted(model.classes, WORDS)]
    )
    result = dg.solve(weighted, tol=1e-6)
    record = replace(
        dg.Model.of(result, weighted, tol=1e-6, duals=duals),
        class_factors=((3.0, 1.0, 2.0),),
        data=digest(ROWS, WORDS),
    )
    assert record.certify(ROWS, WORDS).holds
    assert not replace(record, class_factors=((1.0, 1.0, 2.0),)).certify(ROWS, WORDS).holds


@pytest.mark.parametrize(("kind", "y"), [("hinge", SIGNS), ("softmax", WORDS), ("one against the rest", WORDS)])
def test_weights_with_infinite_scores_are_refuted(kind: str, y: Any, capfd: pytest.CaptureFixture[str]) -> None:
    model = KINDS[kind]()
    huge = replace(model, weights=np.full_like(model.weights, 1e308), duals=None)
    verdict = verify(huge, ROWS, y, max_seconds=5)
    assert not verdict.holds
    assert all("scores are not finite numbers" in sentence for sentence in verdict.differences)
    assert capfd.readouterr() == ("", ""), "LAPACK prints on standard output when it gets numbers that are not finite"
