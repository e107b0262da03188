"""The interface of a divider of yours that ``vinculum conform`` tests, given as ``module:attribute``.

from vinculum.testing import Operation, Unsupported

class Divider:
    def answer(self, operation: Operation):
        if operation.spec.name != "Div" or operation.attributes:
            raise Unsupported("only Div, without attributes")
        return my_package.divide(*operation.operands)
"""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.sandbox import CrashedError as Crashed
from vinculum.sandbox import UnsupportedError as Unsupported

__all__ = ["Crashed", "Divider", "Operation", "Unsupported"]


class Divider(Protocol):
    """A divider to test: an object, a class or a module.

    A class is called in a process of its own, without arguments, or with the mapping of the options in brackets if it
    takes one. Its methods are called in that process, which may crash, hang or run out of memory. Besides `answer` it
    may have

    - ``start()``, for slow imports, called before the first operation;
    - ``covers(operation)``, which tells whether it supports the operation;
    - ``versions()``, a mapping of names to versions, for the reports.
    """

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient.

        Parameters
        ----------
        operation : Operation
            ``operation.spec`` is the operator version, ``operation.attributes`` those that a model states,
            ``operation.operands`` the arrays, ``operation.constant`` which of them a model holds as constants.

        Raises
        ------
        Unsupported
            The operator version, element type or attribute is not supported: not counted as a failure.
        Crashed
            The divider crashed: ``Crashed(process.returncode)``, or a message.
        Exception
            Any other exception is a refusal, which is right for illegal operands.
        """
