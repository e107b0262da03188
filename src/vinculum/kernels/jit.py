"""Every compiler option that a kernel is built with, each with its reason."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.ccallback import CFunc
from numba.core.runtime import rtsys

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS = {
    # The default raises inside the loop on a zero divisor, which stops vectorisation; zero is guarded by name.
    "error_model": "numpy",
    # fastmath would let LLVM replace a division by a multiplication.
    "fastmath": False,
}


def inlined(function: Function) -> Function:
    """Compile a scalar rule or a loop that only other compiled code calls."""
    # By force: Numba names the parts of a kernel by a counter of the process. Parts of two kernels that different
    # processes compiled and cached may have one name, and whichever were loaded first would serve both.
    return cast(Function, numba.njit(forceinline=True, **_OPTIONS)(function))


@cache
def kernel(function: Callable[..., Any], element: str) -> Any:
    """Compile a kernel, kept on disk so that a second process compiles nothing.

    Parameters
    ----------
    function : callable
        A plain function of one pointer, and of integers behind it, that returns nothing.
    element : str
        NumPy name of the type that the pointer points to. Each type has its own cache files: Numba numbers the files of
        one function, and two processes that compile it for different types at the same time would give both the same
        number, so that one could load the other's code.

    Returns
    -------
    numba.core.ccallback.CFunc
        Its `address` is that of a function in C, which lasts as long as the process.
    """
    integers = len(inspect.signature(function).parameters) - 1
    signature = (types.CPointer(getattr(types, element)), *(types.int64,) * integers), types.void
    compiled: Any = CFunc(function, signature, locals={}, options=_OPTIONS)
    with suppress(RuntimeError):  # no folder can be written to: compile in every process
        compiled._cache = _KernelCache(function, element)
    compiled.compile()
    return compiled


@cache
def entry(function: Callable[..., Any], *arguments: Any, releases_gil: bool) -> Callable[..., Any]:
    """Compile a function that Python calls, kept on disk likewise; it takes arguments of these types and no others."""
    dispatcher = numba.njit(**_OPTIONS, nogil=releases_gil)(function)
    with suppress(RuntimeError):
        dispatcher._cache = _KernelCache(function, "entry")
    dispatcher.compile(arguments)
    # Without the dispatcher, which would look at the arguments' types in every call.
    return cast(Callable[..., Any], dispatcher.get_overload(arguments))


class _KernelCache(FunctionCache):  # type: ignore[misc]  # Numba has no types
    """Numba's cache, with files of its own for each element type; damaged ones are as good as none."""

    def __init__(self, function: Callable[..., Any], element: str) -> None:
        super().__init__(function)
        self._cache_file = IndexDataCacheFile(
            cache_path=self._cache_path,
            filename_base=f"{self._impl.filename_base}.{element}",
            # Numba watches only the file of the entry point; the rules that it calls live in other files, and a
            # stale kernel would give an old version's answers.
            source_stamp=_room_stamp(),
        )

    def load_overload(self, signature: Any, target: Any) -> Any:
        try:
            # Numba would import everything that it can compile, SciPy included, before it loads what is compiled.
            rtsys.initialize(target)
            return self._load_overload(signature, target)
        except Exception:  # unpickling a damaged file raises anything
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        with suppress(OSError):  # a full disk, say, must not stop a division
            try:
                super().save_overload(signature, compiled)
            except OSError:
                raise
            except Exception:  # the index is damaged: begin a new one
                self.flush()
                super().save_overload(signature, compiled)


@cache
def _room_stamp() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
