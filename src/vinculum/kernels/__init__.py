"""Quotients of arrays in memory: a contract, a compiled core and a portable backend; no specification is known here."""

from __future__ import annotations

import os
import warnings
from functools import cache

from vinculum.errors import AttributeValueError
from vinculum.kernels.contract import Backend

VARIABLE = "VINCULUM_BACKEND"


@cache
def backends() -> tuple[Backend, ...]:
    """Return the backends that this machine can run, the quickest first.

    The compiled core counts as one backend for each level of x86-64 (or other target) that it was compiled for and
    this processor has; each has the name of its target. The last is ``portable``, in NumPy alone.
    """
    from vinculum.kernels.portable import Portable

    return *_compiled(), Portable()


@cache
def backend() -> Backend:
    """Return the backend that divides in this process: the quickest, unless VINCULUM_BACKEND names another.

    AttributeValueError if there is no backend of that name on this machine.
    """
    wanted = os.environ.get(VARIABLE)
    if wanted:
        for known in backends():
            if known.name == wanted:
                return known
        names = ", ".join(known.name for known in backends())
        raise AttributeValueError(f"{VARIABLE} is {wanted!r}; allowed on this machine: {names}")
    compiled = _compiled()
    if compiled:
        return compiled[0]
    warnings.warn(
        "Vinculum's compiled core is missing, so that NumPy divides: the quotients are the same, but come slower. "
        f"Install it again where there is a C++20 compiler, or set {VARIABLE}=portable to do without",
        RuntimeWarning,
        stacklevel=2,
    )
    return backends()[-1]


def _compiled() -> tuple[Backend, ...]:
    try:
        from vinculum.kernels.compiled import Core, targets
    except ModuleNotFoundError:  # There was no compiler when the package was installed.
        return ()
    return tuple(Core(target) for target in targets())
