"""What a model file claims, recomputed by code that normalized_weights nothing with dualgap: NumPy's formulas, and cvxpy's optimum."""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from functools import cache
from typing import Any

import numpy as np

import reference_losses
from independent import losses_of

# P is recomputed to rounding; cvxpy finds P* to about 1e-9 of numbers near 1.
PRIMAL_AGREES, OPTIMUM_AGREES = 1e-9, 1e-6


def members_of(model: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    with zipfile.ZipFile(io.BytesIO(model)) as archive:
        record = json.loads(archive.read("model.json"))
        arrays = {
            name: np.load(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False) for name in record["arrays"]
        }
    return record, arrays


def false_claim(model: bytes, original: bytes, X: np.ndarray, y: np.ndarray) -> str:
    """Why the claim of a model file about these rows is false; nothing where it is true."""
    record, arrays = members_of(model)
    fitted = members_of(original)[0]["data"]
    if record.get("data") is not None and any(record["data"].get(name) != fitted[name] for name in fitted):
        return "it names other data"
    count = len(record["certificates"])
    several = record["kind"] == "multinomial"
    for k, said in enumerate(record["certificates"]):
        weights = arrays["weights"] if several else arrays["weights"].reshape(-1, count)[:, k]
        intercept = record["intercept"] if several else np.reshape(record["intercept"], count)[k]
        labels = labels_of(record, y, k)
        normalized_weights = weights_of_rows(record, y, labels, k)
        ratio = float(record.get("l1_ratio", 0.0))
        problem = (record["loss"], float(record["strengths"][k]), bool(record["free_intercept"]), several, ratio)
        scores = X @ weights + np.asarray(intercept)
        primal = primal_of(problem, scores, labels, weights, normalized_weights)
        best = optimum_of(problem, X.tobytes(), X.shape, tuple(labels.tolist()), tuple(normalized_weights.tolist()))
        fault = differing(said, primal, best, record.get("tol"))
        if fault:
            return fault
    return ""


def differing(said: dict[str, Any], primal: float, best: float, tol: Any) -> str:
    size = max(abs(primal), 1e-12)
    if not abs(float(said["primal"]) - primal) <= PRIMAL_AGREES * size:
        return f"primal {said['primal']} where the weights give {primal}"
    if not float(said["dual"]) <= best + OPTIMUM_AGREES * max(1.0, best):
        return f"dual {said['dual']} above the optimum {best}"
    if said["status"] == "CERTIFIED" and tol is not None and primal - best > (float(tol) + OPTIMUM_AGREES) * size:
        return f"certified at {tol} where the relative gap is {(primal - best) / size}"
    return ""


def labels_of(record: dict[str, Any], y: np.ndarray, k: int) -> np.ndarray:
    classes = None if record["classes"] is None else np.array(record["classes"]["values"])
    if record["kind"] == "regression":
        return y
    if record["kind"] == "multinomial":
        return np.searchsorted(classes, y)
    return np.where(y == (classes[k] if record["kind"] == "one_vs_rest" else classes[-1]), 1.0, -1.0)


def weights_of_rows(record: dict[str, Any], y: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    factors = record.get("class_factors")
    if factors is None:
        return np.full(len(y), 1.0 / len(y))
    if record["kind"] == "multinomial":
        weights = np.array(factors[0], dtype=float)[labels]
    else:
        weights = np.where(labels > 0, factors[k][1], factors[k][0])
    return weights / weights.sum()


def loss_named(text: str) -> tuple[str, dict[str, float]]:
    name, _, options = text.partition("(")
    pairs = re.findall(r"(\w+)\s*=\s*([^,)\s]+)", options)
    return name.strip().lower().replace("-", "_"), {key: float(value) for key, value in pairs}


def primal_of(problem: tuple[Any, ...], scores: Any, labels: Any, weights: Any, normalized_weights: Any) -> float:
    text, strength, _, several, ratio = problem
    penalty = strength * (0.5 * (1.0 - ratio) * float((weights**2).sum()) + ratio * float(np.abs(weights).sum()))
    if several:
        top = scores.max(axis=1)
        values = top + np.log(np.exp(scores - top[:, None]).sum(axis=1)) - scores[np.arange(len(labels)), labels]
        return math.fsum((normalized_weights * values).tolist()) + penalty
    name, options = loss_named(text)
    defaults = {"smoothed_hinge": {"gamma": 1.0}, "huber": {"delta": 1.35}, "quantile": {"tau": 0.5}}
    table = getattr(reference_losses, name)(**(defaults.get(name, {}) | options))
    values = [table.value(float(z), float(label)) for z, label in zip(scores, labels, strict=True)]
    return math.fsum(s * value for s, value in zip(normalized_weights.tolist(), values, strict=True)) + penalty


@cache
def optimum_of(
    problem: tuple[Any, ...], rows: bytes, shape: tuple[int, int], labels: Any, normalized_weights: Any
) -> float:
    """P* by Clarabel."""
    import cvxpy as cp

    text, strength, free, several, ratio = problem
    X, y, s = np.frombuffer(rows).reshape(shape), np.array(labels), np.array(normalized_weights)
    if several:
        count = int(y.max()) + 1
        weights, intercept = cp.Variable((shape[1], count)), cp.Variable((1, count))
        scores = X @ weights + (np.ones((shape[0], 1)) @ intercept if free else 0)
        values = cp.log_sum_exp(scores, axis=1) - cp.sum(cp.multiply(scores, np.eye(count)[y]), axis=1)
    else:
        weights, intercept = cp.Variable(shape[1]), cp.Variable()
        scores = X @ weights + (intercept if free else 0)
        values = losses_of(*loss_named(text), scores, y)
    penalty = (1.0 - ratio) / 2 * cp.sum_squares(weights) + ratio * cp.sum(cp.abs(weights))
    program = cp.Problem(cp.Minimize(cp.sum(cp.multiply(s, values)) + strength * penalty))
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return float(program.value)
