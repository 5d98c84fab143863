"""How a fitted estimator shows itself, in text and in HTML: its ending, the proven gap, the solver and the time."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sklearn import get_config

from dualgap.markup import facts_table


class ShowsCertificate:
    """For an estimator with certificate_, status_ and the like; `repr` stays scikit-learn's constructor call."""

    def __str__(self) -> str:
        call = repr(self)
        facts = facts_of_fit(self)
        return call if not facts else "\n".join([call, *(f"  {name}: {value}" for name, value in facts)])

    def _repr_html_inner(self) -> str:
        """scikit-learn's diagram, with a table of the fit below it."""
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        facts = facts_of_fit(self)
        return f"<div>{diagram}{facts_table('Certificate', facts)}</div>" if facts else diagram

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What Jupyter and IPython show."""
        bundle = {"text/plain": str(self)}
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def facts_of_fit(model: Any) -> list[tuple[str, str]]:
    """What to show of a fit: nothing before it."""
    if not hasattr(model, "certificate_"):
        return []
    certificates, statuses, traces, reasons = (
        _entries(getattr(model, name, None)) for name in ("certificate_", "status_", "trace_", "reason_")
    )
    gaps = [certificate.relative_gap for certificate in certificates if certificate is not None]
    facts = [("status", _endings(statuses))]
    if gaps:
        # partial_fit leaves certificates of its last batch.
        batch = getattr(certificates[0], "batch", 0)
        most = "largest relative gap" if len(gaps) > 1 else "relative gap"
        of_what = f" on the last batch of {batch} rows" if batch else f" (tol {model.tol:g})"
        facts.append((most, f"{max(gaps):.3g}{of_what}"))
    if reasons:
        facts.append(("solver", "; ".join(dict.fromkeys(reasons))))
    if traces:
        seconds, epochs = sum(trace[-1].seconds for trace in traces), sum(trace[-1].epoch for trace in traces)
        facts.append(("time", f"{seconds:.3g} s of updates, {epochs:g} epochs"))
    return facts


def _endings(statuses: list[Any]) -> str:
    """The ending, or how many problems ended in which way."""
    if len(statuses) == 1:
        # Estimators have scikit-learn's name for the limit that `solve` calls max_epochs.
        return f"{statuses[0].name}, {statuses[0].value.replace('max_epochs', 'max_iter')}"
    return ", ".join(f"{status.name} ({count} problems)" for status, count in Counter(statuses).items())


def _entries(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
