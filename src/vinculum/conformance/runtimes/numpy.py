"""NumPy, asked through its universal functions; ml_dtypes has the loops for the element types that NumPy lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.programs.reproducer import operand_lines, print_quotient, python_program
from vinculum.conformance.question import Question
from vinculum.conformance.runtimes.function_calls import Function, can_be_called, function_for, is_signed
from vinculum.conformance.runtimes.options import check_names
from vinculum.conformance.runtimes.packages import versions_of
from vinculum.sandbox import UnsupportedError

_NAMES = {
    Function.DIVIDE: "divide",
    Function.TRUNCATING_DIVIDE: "floor_divide",  # The same where nothing is signed.
    Function.FLOOR_DIVIDE: "floor_divide",
    Function.RECIPROCAL: "reciprocal",
}
_LACKING = "NumPy has no truncating division of integers: numpy.floor_divide rounds down"


class Numpy:
    """NumPy. Of integers it has floor division only, which truncates where nothing is signed.

    Parameters
    ----------
    options : Mapping of str to str
        None is known.

    Raises
    ------
    AttributeValueError
        If one is given.
    """

    title = "NumPy"

    def __init__(self, options: Mapping[str, str]) -> None:
        check_names("numpy", options, ())

    def check(self) -> None:
        """Accept: NumPy is always there."""

    def versions(self) -> Mapping[str, str]:
        """Return the versions of NumPy and ml_dtypes."""
        return versions_of("numpy", "ml_dtypes")

    def covers(self, question: Question) -> bool:
        """Tell whether a function call can ask this."""
        return can_be_called(question)

    def start(self) -> None:
        """Do nothing: it is imported already."""

    def answer(self, question: Question) -> NDArray[Any]:
        """Return what the universal function gives, and keep its warnings to itself."""
        if _is_lacking(question):
            raise UnsupportedError(_LACKING)
        function = getattr(np, _NAMES[function_for(question)])
        with np.errstate(all="ignore"):
            return np.asarray(function(*question.operands))

    def reproducer(self, question: Question) -> str:
        """Return Python source that calls the same function."""
        names = ", ".join(operand.name.lower() for operand in question.spec.inputs)
        call = print_quotient(f"np.{_NAMES[function_for(question)]}({names})")
        lines = [f"# {_LACKING}.", call] if _is_lacking(question) else [call]
        return python_program('np.seterr(all="ignore")', *operand_lines(question), *lines)


def _is_lacking(question: Question) -> bool:
    return function_for(question) is Function.TRUNCATING_DIVIDE and is_signed(question)
