"""Quotients of arrays in memory: a contract, a compiled core, and a portable backend; knows nothing of specifications."""

from __future__ import annotations

import os
import warnings
from functools import cache

from vinculum.kernels.contract import Backend
from vinculum.kernels.portable import Portable

try:
    from vinculum.kernels.compiled import Core, targets
except ImportError as error:  # no compiler was there when the package was installed
    _why_not = str(error)
    _targets: tuple[str, ...] = ()
else:
    _why_not = ""
    _targets = targets()

_VARIABLE = "VINCULUM_BACKEND"


@cache
def backends() -> dict[str, Backend]:
    """Return the backends that this machine can run, the quickest first, by name.

    The compiled core is one for each kind of processor that it was compiled for and that this one is; they are named
    after the levels of x86-64.
    """
    return {target: Core(target) for target in _targets} | {Portable.name: Portable()}


@cache
def backend() -> Backend:
    """Return the backend that divides in this process: the quickest, unless VINCULUM_BACKEND names another."""
    wanted = os.environ.get(_VARIABLE)
    if wanted:
        if wanted not in backends():
            raise ImportError(f"{_VARIABLE} is {wanted!r}; on this machine: {', '.join(backends())}")
        return backends()[wanted]
    if not _targets:
        warnings.warn(
            f"Vinculum divides by NumPy alone, exactly but slowly, as its compiled core is missing ({_why_not}); "
            f"install it again where a C++ compiler is, or set {_VARIABLE}={Portable.name} to go without",
            RuntimeWarning,
            stacklevel=2,
        )
    return next(iter(backends().values()))
