"""Exact Div, Reciprocal and Mod inside ONNX Runtime, with the model unchanged: a library of custom operators.

In a session with the library, the core's kernels replace ONNX Runtime's own at every Div, Reciprocal and Mod of ONNX's
own domain, also in functions, branches and loops, and in constant folding.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Protocol

from vinculum.errors import AttributeValueError, VinculumError
from vinculum.ops.policies import Overflow, Policies, ZeroDivisor
from vinculum.text import kind_of

__all__ = ["get_library_path", "register"]

_LIBRARY = Path(__file__).with_name("operators.dll" if sys.platform == "win32" else "operators.so")


class SessionOptions(Protocol):
    """The methods of `onnxruntime.SessionOptions` that are used."""

    def add_session_config_entry(self, key: str, value: str, /) -> None:
        """Set an entry of the configuration."""

    def register_custom_ops_library(self, path: str, /) -> None:
        """Load a library of custom operators."""


def get_library_path() -> str:
    """Return the path of the library, for programs in other languages.

    Pass it to C's ``RegisterCustomOpsLibrary_V2``, C#'s ``RegisterCustomOpLibraryV2``, Java's
    ``registerCustomOpLibrary`` and the like. The options of `register` are entries of the session's configuration,
    which must be set before: ``custom_op.vinculum.zero_divisor``, ``custom_op.vinculum.overflow`` and
    ``custom_op.vinculum.fusions`` (0 or 1).

    Raises
    ------
    VinculumError
        If the library was not compiled, because there was no compiler when the package was installed.
    """
    if not _LIBRARY.exists():
        raise VinculumError(
            "the library for ONNX Runtime was not compiled: install Vinculum again where there is a C++20 compiler"
        )
    return str(_LIBRARY)


def register(
    session_options: SessionOptions,
    *,
    zero_divisor: ZeroDivisor = "raise",
    overflow: Overflow = "wrap",
    fusions: bool = False,
) -> None:
    """Make sessions with these options divide exactly.

    Parameters
    ----------
    session_options : onnxruntime.SessionOptions
        Options with which the library is not registered yet.
    zero_divisor : {"raise", "zero", "saturate"}
        The result of an integer division by zero: an error of ONNX Runtime that names the node, the first index and
        its operands; 0; or the largest or smallest value by the dividend's sign, and 0 for 0/0. Remainders by zero
        are 0 under the last two.
    overflow : {"wrap", "raise", "saturate"}
        The result of MIN/-1: MIN; an error; or the largest value. Remainders by -1 are always 0.
    fusions : bool
        Whether ONNX Runtime may fuse a Div with its neighbours, such as to a LayerNormalization, or ``1 / b * c``. A
        fused node is faster, but is not computed by this library: its values may differ in the last bits. Before
        ONNX Runtime 1.32, a model that divides constants does not load with it.

    Raises
    ------
    AttributeValueError
        If a policy or `fusions` has another value, or the options are not ONNX Runtime's.
    VinculumError
        If the library was not compiled.

    Examples
    --------
    >>> options = onnxruntime.SessionOptions()  # doctest: +SKIP
    >>> vinculum.onnxruntime.register(options, zero_divisor="zero")  # doctest: +SKIP
    >>> session = onnxruntime.InferenceSession("model.onnx", options)  # doctest: +SKIP
    """
    if not hasattr(session_options, "register_custom_ops_library"):
        raise AttributeValueError(f"session_options is {kind_of(session_options)}; give an onnxruntime.SessionOptions")
    if fusions not in (False, True):
        raise AttributeValueError(f"fusions is {fusions!r}; allowed: False, True")
    policies = Policies(zero_divisor, overflow)
    path = get_library_path()
    settings = {"zero_divisor": policies.zero_divisor, "overflow": policies.overflow, "fusions": str(int(fusions))}
    for name, value in settings.items():
        session_options.add_session_config_entry(f"custom_op.vinculum.{name}", value)
    session_options.register_custom_ops_library(path)
