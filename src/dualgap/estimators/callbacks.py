"""scikit-learn's callbacks during a fit: a task for each problem, and in it a task for each epoch with its certificate.

scikit-learn has callbacks since 1.9. With an older version an estimator has no `set_callbacks`, and nothing is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from typing import TYPE_CHECKING, Any

from dualgap.trace import Record

if TYPE_CHECKING:

    class CallbackSupport:
        """scikit-learn's mixin as the type checker sees it."""

        def _init_callback_context(self, **options: Any) -> Any: ...

    def with_callbacks(method: Any) -> Any: ...

else:
    try:
        from sklearn.callback import CallbackSupportMixin as CallbackSupport
        from sklearn.callback import with_callbacks
    except ImportError:

        class CallbackSupport:
            """An empty base class for scikit-learn before 1.9."""

        def with_callbacks(method):
            """The method itself."""
            return method


class TaskMetadata(dict[str, Any]):
    """Metadata of a task: the items of the fit, and `metadata["certificate"]`, which is not among the items.

    scikit-learn's ScoringMonitor passes all items to scorers as keyword arguments, and scorers accept sample_weight only.
    """

    def __init__(self, items: dict[str, Any], certificate: Any) -> None:
        super().__init__(items)
        self.certificate = certificate

    def __missing__(self, name: str) -> Any:
        if name == "certificate":
            return self.certificate
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name == "certificate" or super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self.certificate if name == "certificate" else super().get(name, default)


class EpochTasks:
    """The `callback` of one `solve`: each record ends the task of the current epoch and begins the next one."""

    def __init__(self, estimator: Any, context: Any, fit_arguments: dict[str, Any], tol: float) -> None:
        self.estimator, self.context, self.fit_arguments, self.tol = estimator, context, fit_arguments, tol
        self.current: Any = None
        self.last: Record | None = None

    def __call__(self, record: Record) -> bool:
        """End and begin tasks; True stops the run."""
        self.last = record
        stop = self.end_current()
        if not stop and record.relative_gap > self.tol:
            self.current = self.context.subcontext(task_name="epoch")
            self.current.call_on_fit_task_begin(estimator=self.estimator, **self.arguments())
        return stop

    def end_current(self) -> bool:
        """End the epoch's task if one is open, as after a limit inside an epoch; True if a callback asks to stop."""
        if self.current is None:
            return False
        task, self.current = self.current, None
        return bool(task.call_on_fit_task_end(estimator=self.estimator, **self.arguments()))

    def arguments(self) -> dict[str, Any]:
        """Arguments of a task's callbacks, with the last record as certificate."""
        return with_certificate(self.fit_arguments, self.last)


class FitTasks:
    """The tasks of one fit; without callbacks all methods do nothing."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any, problems: int, max_iter: Any) -> None:
        self.estimator, self.several = estimator, problems > 1
        # The last record may fall inside an epoch, which makes one task more.
        self.max_epochs = None if max_iter is None else ceil(max_iter) + 1
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self.fit_arguments = {"X": X, "y": y, "metadata": metadata}
        self.context: Any = None
        if hasattr(estimator, "_init_callback_context"):
            # The epochs of a single problem are direct subtasks of the fit; several problems are subtasks themselves.
            max_subtasks = problems if self.several else self.max_epochs
            self.context = estimator._init_callback_context(
                max_subtasks=max_subtasks, sequential_subtasks=not self.several
            )
            self.context.call_on_fit_task_begin(estimator=estimator, **self.fit_arguments)

    @property
    def has_callbacks(self) -> bool:
        return self.context is not None and bool(getattr(self.estimator, "_skl_callbacks", None))

    @contextmanager
    def epochs_of(self, problem: int) -> Iterator[Callable[[Record], bool] | None]:
        """The `callback` for the `solve` of one problem; None without callbacks."""
        if not self.has_callbacks:
            yield None
            return
        context = self.context
        if self.several:
            context = context.subcontext(task_name="problem", task_id=problem, max_subtasks=self.max_epochs)
            context.call_on_fit_task_begin(estimator=self.estimator, **self.fit_arguments)
        tasks = EpochTasks(self.estimator, context, self.fit_arguments, self.estimator.tol)
        yield tasks
        tasks.end_current()
        if self.several:
            context.call_on_fit_task_end(estimator=self.estimator, **tasks.arguments())

    def end(self, certificate: Any) -> None:
        """End the fit's own task; the estimator has its fitted attributes by now."""
        if self.context is not None:
            arguments = with_certificate(self.fit_arguments, certificate)
            self.context.call_on_fit_task_end(estimator=self.estimator, **arguments, reconstruction_attributes={})


def with_certificate(fit_arguments: dict[str, Any], certificate: Any) -> dict[str, Any]:
    """Arguments of a callback with a certificate in their metadata."""
    return {**fit_arguments, "metadata": TaskMetadata(fit_arguments["metadata"] or {}, certificate)}
