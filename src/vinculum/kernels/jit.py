"""Every compiler option that a kernel is built with, each with its reason."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite import binding
from numba.core.caching import FunctionCache, IndexDataCacheFile

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS = {
    # The default raises inside the loop on a zero divisor, which stops vectorisation; zero is guarded by name.
    "error_model": "numpy",
    # Kernels touch no Python object, so other Python threads may run meanwhile.
    "nogil": True,
    # fastmath would let LLVM replace a division by a multiplication.
    "fastmath": False,
}


def inlined(function: Function) -> Function:
    """Compile a scalar rule or a loop that only other compiled code calls."""
    # By force: Numba names the parts of a kernel by a counter of the process. Parts of two kernels that different
    # processes compiled and cached may have one name, and whichever were loaded first would serve both.
    return cast(Function, numba.njit(forceinline=True, **_OPTIONS)(function))


@cache
def kernel(function: Callable[..., Any], storage: str) -> Callable[..., Any]:
    """Compile an entry point for one storage type, kept on disk so that a second process compiles nothing.

    Parameters
    ----------
    function : callable
        A plain function whose array arguments have that type.
    storage : str
        NumPy name of the array arguments' type. Each type has its own entry point and its own cache files:
        Numba numbers the files of one entry point, and two processes that compile different types at the
        same time would give both the same number, so that one could load the other's code.
    """
    dispatcher = numba.njit(**_OPTIONS)(function)
    with suppress(RuntimeError):  # no folder can be written to: compile in every process
        dispatcher._cache = _KernelCache(function, storage)
    return cast(Callable[..., Any], dispatcher)


class _KernelCache(FunctionCache):  # type: ignore[misc]  # Numba has no types
    """Numba's cache, with files of its own for each storage type; damaged ones are as good as none."""

    def __init__(self, function: Callable[..., Any], storage: str) -> None:
        super().__init__(function)
        self._cache_file = IndexDataCacheFile(
            cache_path=self._cache_path,
            filename_base=f"{self._impl.filename_base}.{storage}",
            # Numba watches only the file of the entry point; the rules that it calls live in other files, and a
            # stale kernel would give an old version's answers.
            source_stamp=_room_stamp(),
        )

    def load_overload(self, signature: Any, target: Any) -> Any:
        try:
            return super().load_overload(signature, target)
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
def processor_has(feature: str) -> bool:
    """Whether the processor that kernels are compiled for has an instruction-set extension.

    Numba compiles for the processor at hand unless its settings name another; then only the extensions that they name
    count.
    """
    if numba.config.CPU_NAME is not None or numba.config.CPU_FEATURES is not None:
        return f"+{feature}" in (numba.config.CPU_FEATURES or "").split(",")
    return bool(binding.get_host_cpu_features().get(feature, False))


@cache
def _room_stamp() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
