"""Parameters that scikit-learn's users write and that change nothing here: taken where they say what happens, else refused.

docs/from-scikit-learn.md lists the table SYNONYMS, and `multi_class`, whose meaning depends on the number of classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg.elementary import is_number


class Synonym(NamedTuple):
    """What a parameter may be, and what to do for something else."""

    is_accepted: Callable[[Any], bool]
    needs: str
    """The accepted values, in words."""
    advice: Callable[[str, Any], str]
    """From the estimator's name and the refused value to the end of the sentence."""


def check_synonyms(estimator: Any) -> None:
    """Refuse, in one sentence, a parameter of scikit-learn's whose value asks for another model."""
    kind, parameters = type(estimator).__name__, estimator.get_params(deep=False)
    for name, synonym in SYNONYMS.items():
        if name in parameters and not synonym.is_accepted(parameters[name]):
            value = parameters[name]
            raise ValueError(f"{kind} needs {name} to be {synonym.needs}, got {value!r}; {synonym.advice(kind, value)}")


def check_multi_class(estimator_name: str, value: Any, class_count: int, has_softmax: bool) -> None:
    """Refuse a `multi_class` that is not what happens to this number of classes."""
    if value in ("auto", "deprecated"):  # the latter is the default of scikit-learn 1.5 to 1.7
        return
    is_softmax = has_softmax and class_count > 2
    happens = "multinomial" if is_softmax else "ovr"
    if value == happens:
        return
    if value == "ovr":
        advice = f"use sklearn.multiclass.OneVsRestClassifier({estimator_name}())"
    elif value == "multinomial" and has_softmax:
        advice = "leave multi_class out and double C, which is the same model"
    else:
        advice = "use LogisticRegression, which fits all classes in one problem"
    raise ValueError(
        f"{estimator_name} needs multi_class={happens!r} for {class_count} classes, got {value!r}; {advice}"
    )


def has_no_penalty(penalty: Any) -> bool:
    """Whether `penalty` asks for none; "none" is how scikit-learn before 1.2 spelled None."""
    return penalty is None or (isinstance(penalty, str) and penalty == "none")


def _one_of(*values: Any) -> Callable[[Any], bool]:
    return lambda value: any(value is known or (isinstance(value, str) and value == known) for known in values)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_false(value: Any) -> bool:
    return _is_flag(value) and not value


def _say(advice: str) -> Callable[[str, Any], str]:
    return lambda kind, value: advice


SYNONYMS: dict[str, Synonym] = {
    "precompute": Synonym(
        lambda value: True, "anything", _say("leave it out, because the solver decides what is computed first")
    ),
    "selection": Synonym(_one_of("cyclic", "random"), "'cyclic' or 'random'", _say("leave it out")),
    "dual": Synonym(
        lambda value: _is_flag(value) or _one_of("auto")(value),
        "True, False or 'auto'",
        _say("leave it out, because every fit has primal and dual values"),
    ),
    "intercept_scaling": Synonym(
        lambda value: is_number(value) and value > 0,
        "a number > 0",
        _say("leave it out, because the intercept is not penalized"),
    ),
    "copy_X": Synonym(_is_flag, "True or False", _say("leave it out, because X is never modified")),
    "positive": Synonym(
        _is_false, "False", lambda kind, value: f"for weights ≥ 0 use scikit-learn's {kind} or scipy.optimize.nnls"
    ),
    "gcv_mode": Synonym(_one_of(None, "auto", "svd", "eigen"), "'auto', 'svd' or 'eigen'", _say("leave it out")),
    "normalize": Synonym(
        _is_false, "False", _say("put a StandardScaler before it, as make_pipeline(StandardScaler(), Ridge())")
    ),
    "solver_options": Synonym(
        lambda value: value is None or value == {},
        "None",
        _say("write options into the solver, as in solver='sdca(sampling=cyclic)'"),
    ),
    "refit": Synonym(
        lambda value: _is_flag(value) and bool(value),
        "True",
        _say("the answer is fitted to all rows, so that its certificate holds for them"),
    ),
    "use_legacy_attributes": Synonym(
        lambda value: _is_flag(value) or _one_of("warn")(value),
        "True or False",
        _say("with False C_ is a number and scores_ an array"),
    ),
}
