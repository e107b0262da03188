"""What a divider of yours needs to be asked by ``vinculum conform`` and its like, as ``module:attribute``.

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
    """What answers: an object, a class or a module.

    A class is made in a process of its own, without arguments, or with the mapping of the options in brackets if it
    takes one. That process is where its methods are called: it may crash, hang or take all memory. Beside `answer` it
    may have

    - ``start()``, which imports what is slow, before the first operation;
    - ``covers(operation)``, which tells whether it can be asked; what it cannot be asked is not supported;
    - ``versions()``, a mapping of names to versions, for the reports.
    """

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient.

        Parameters
        ----------
        operation : Operation
            ``operation.spec`` is the operator version, ``operation.attributes`` what a model writes down,
            ``operation.operands`` the arrays, ``operation.constant`` which of them a model holds as constants.

        Raises
        ------
        Unsupported
            There is no such operator version, element type or attribute: no fault.
        Crashed
            What answers has died: ``Crashed(process.returncode)``, or in words.
        Exception
            Any other is a refusal, as illegal operands must be refused.
        """
