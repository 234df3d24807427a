"""What open memories have in common: closing, the end of the interpreter, and threads for asyncio."""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from typing_extensions import Self

T = TypeVar("T")
AnyPath = str | os.PathLike[str]


class _Native(Protocol):
    def close(self) -> None: ...
    def is_open(self) -> bool: ...


class Handle:
    """An open memory. It is closed by ``with``, by ``close()``, or when the interpreter ends."""

    _native: Any

    def close(self) -> None:
        """Writes counts that are still in memory, and closes. A second call does nothing; other calls raise ClosedError."""
        self._native.close()

    @property
    def is_open(self) -> bool:
        """False after ``close()``, and in a process that was forked after the memory was opened."""
        return bool(self._native.is_open())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_open: weakref.WeakSet[Handle] = weakref.WeakSet()


def closed_at_exit(handle: Handle) -> None:
    """Closes the memory when the interpreter ends, if it is still open then."""
    _open.add(handle)


@atexit.register
def _close_all() -> None:
    for handle in list(_open):
        handle.close()


_threads: ThreadPoolExecutor | None = None


def _forget_threads() -> None:
    global _threads
    _threads = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


async def in_thread(call: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """The call's result, from a thread named ``adage_…``. A task that is cancelled does not stop the call."""
    import asyncio
    import contextvars
    from concurrent.futures import ThreadPoolExecutor
    from functools import partial

    global _threads
    if _threads is None:
        _threads = ThreadPoolExecutor(thread_name_prefix="adage")
    bound = partial(contextvars.copy_context().run, call, *arguments, **named)
    return await asyncio.get_running_loop().run_in_executor(_threads, bound)
