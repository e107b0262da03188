"""NumPy, called through its universal functions; ml_dtypes provides them for the element types that NumPy lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.function_calls import Function, can_be_called, function_for, is_signed
from vinculum.conformance.runtimes.options import check_names
from vinculum.conformance.runtimes.packages import versions_of
from vinculum.conformance.runtimes.programs.reproducer import (
    operand_lines,
    operand_names,
    print_quotient,
    python_program,
)
from vinculum.sandbox import UnsupportedError

_NAMES = {
    Function.DIVIDE: "divide",
    Function.TRUNCATING_DIVIDE: "floor_divide",  # Equivalent for unsigned integers.
    Function.FLOOR_DIVIDE: "floor_divide",
    Function.RECIPROCAL: "reciprocal",
}
_LACKING = "NumPy has no truncating division of integers: numpy.floor_divide rounds down"


class Numpy:
    """NumPy. For integers it has only floor division, which truncates unsigned integers.

    Parameters
    ----------
    options : Mapping of str to str
        No option is supported.

    Raises
    ------
    AttributeValueError
        If one is given.
    """

    title = "NumPy"

    def __init__(self, options: Mapping[str, str]) -> None:
        check_names("numpy", options, ())

    def check(self) -> None:
        """Accept: NumPy is always installed."""

    def versions(self) -> Mapping[str, str]:
        """Return the versions of NumPy and ml_dtypes."""
        return versions_of("numpy", "ml_dtypes")

    def covers(self, operation: Operation) -> bool:
        """Tell whether a function call can express this."""
        return can_be_called(operation)

    def start(self) -> None:
        """Do nothing: it is imported already."""

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the result of the universal function, without its warnings."""
        if _is_lacking(operation):
            raise UnsupportedError(_LACKING)
        function = getattr(np, _NAMES[function_for(operation)])
        with np.errstate(all="ignore"):
            return np.asarray(function(*operation.operands))

    def reproducer(self, operation: Operation) -> str:
        """Return Python source that calls the same function."""
        names = ", ".join(operand_names(operation))
        call = print_quotient(f"np.{_NAMES[function_for(operation)]}({names})")
        lines = [f"# {_LACKING}.", call] if _is_lacking(operation) else [call]
        return python_program('np.seterr(all="ignore")', *operand_lines(operation), *lines)


def _is_lacking(operation: Operation) -> bool:
    return function_for(operation) is Function.TRUNCATING_DIVIDE and is_signed(operation)
