"""A property that is computed on first use and kept, without a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class lazy(Generic[Value]):
    """Like functools.cached_property of Python 3.12: the value is kept in the instance's `__dict__` under the same name.

    Python 3.11 holds a lock of the class while it computes. A process forked meanwhile inherits the lock as held and waits
    forever. Here two threads may both compute the value, which is the same, and one of them is kept.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        # The instance's own entry comes before a descriptor without __set__, so this runs only until there is one.
        return instance.__dict__.setdefault(self.name, self.compute(instance))
