"""Parts that are made when they are first asked for, without two threads ever waiting for each other.

Python's own `cached_property` locks each property by itself before 3.12, for all objects of the class at once. Two
threads that come to two parts in different order then wait for each other for ever. Here everything that belongs to one
view of a brain is made under the one lock of that view, and what is made already is given without any lock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any, Self

PartT = TypeVar("PartT")


class Owner(Protocol):
    """Whose parts are kept: it has the lock under which they are made, one that the same thread may take again."""

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """The lock."""


class kept(Generic[PartT]):  # noqa: N801 - used as a decorator, as `property` is
    """A part that is made once, under its owner's lock."""

    def __init__(self, make: Callable[[Any], PartT]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: Owner, owner: type) -> PartT: ...

    def __get__(self, instance: Owner | None, owner: type) -> Self | PartT:
        if instance is None:
            return self
        # Without __set__ Python looks into the object's own dictionary first, so this runs only while it is not there.
        with instance.lock:
            if self._name not in instance.__dict__:
                instance.__dict__[self._name] = self._make(instance)
            found: PartT = instance.__dict__[self._name]
        return found
