"""scikit-learn's callbacks during a fit: a task for each problem, in it a task for each epoch, with the certificate in its metadata.

scikit-learn has them since 1.9; with an older one there is nothing to call, and an estimator has no `set_callbacks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from typing import TYPE_CHECKING, Any

from dualgap.trace import Record

if TYPE_CHECKING:

    class CallbackSupport:
        """What the type checker sees of scikit-learn's mixin."""

        def _init_callback_context(self, **options: Any) -> Any: ...

    def with_callbacks(method: Any) -> Any: ...

else:
    try:
        from sklearn.callback import CallbackSupportMixin as CallbackSupport
        from sklearn.callback import with_callbacks
    except ImportError:

        class CallbackSupport:
            """What there is to inherit before scikit-learn 1.9: nothing."""

        def with_callbacks(method):
            """The method itself."""
            return method


class TaskMetadata(dict[str, Any]):
    """Metadata of a fit, and the certificate of the task that ended, under its name but not among the items.

    scikit-learn's own ScoringMonitor hands the items to scorers as keyword arguments, and those know sample weights only.
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
    """Called with each record of a run: ends the task of the epoch that it closes and begins the next one's."""

    def __init__(self, estimator: Any, context: Any, given: dict[str, Any], tol: float) -> None:
        self.estimator, self.context, self.given, self.tol = estimator, context, given, tol
        self.open: Any = None
        self.last: Record | None = None

    def __call__(self, record: Record) -> bool:
        self.last = record
        stop = self._end()
        if not stop and record.relative_gap > self.tol:
            self.open = self.context.subcontext(task_name="epoch")
            self.open.call_on_fit_task_begin(estimator=self.estimator, **self._arguments())
        return stop

    def close(self) -> None:
        """End what a limit left open, so that every beginning has its end."""
        self._end()

    def _end(self) -> bool:
        if self.open is None:
            return False
        task, self.open = self.open, None
        return bool(task.call_on_fit_task_end(estimator=self.estimator, **self._arguments()))

    def _arguments(self) -> dict[str, Any]:
        metadata = TaskMetadata(self.given["metadata"] or {}, self.last)
        return {**self.given, "metadata": metadata}


class FitTasks:
    """The tasks of one fit; does nothing where no callbacks were set."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any, problems: int, max_iter: Any) -> None:
        self.estimator, self.several = estimator, problems > 1
        # A record may fall inside an epoch, at the very end.
        self.epochs = None if max_iter is None else ceil(max_iter) + 1
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self.given = {"X": X, "y": y, "metadata": metadata}
        self.context: Any = None
        if hasattr(estimator, "_init_callback_context"):
            # One problem's epochs are the fit's own tasks; of several, each is a task of its own.
            most = problems if self.several else self.epochs
            self.context = estimator._init_callback_context(max_subtasks=most, sequential_subtasks=not self.several)
            self.context.call_on_fit_task_begin(estimator=estimator, **self.given)

    @property
    def is_watched(self) -> bool:
        return self.context is not None and bool(getattr(self.estimator, "_skl_callbacks", None))

    @contextmanager
    def epochs_of(self, problem: int) -> Iterator[Callable[[Record], bool] | None]:
        """What to call with each record of the problem's run."""
        if not self.is_watched:
            yield None
            return
        context = self.context
        if self.several:
            context = context.subcontext(task_name="problem", task_id=problem, max_subtasks=self.epochs)
            context.call_on_fit_task_begin(estimator=self.estimator, **self.given)
        tasks = EpochTasks(self.estimator, context, self.given, self.estimator.tol)
        yield tasks
        tasks.close()
        if self.several:
            context.call_on_fit_task_end(estimator=self.estimator, **tasks._arguments())

    def end(self, certificate: Any) -> None:
        """End the fit's own task; the estimator is fitted by now."""
        if self.context is not None:
            metadata = TaskMetadata(self.given["metadata"] or {}, certificate)
            self.context.call_on_fit_task_end(
                estimator=self.estimator, **{**self.given, "metadata": metadata}, reconstruction_attributes={}
            )
