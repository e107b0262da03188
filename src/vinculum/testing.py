"""The interface of your own divider, for tests by ``vinculum conform module:attribute``.

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

    A class is called in a subprocess, without arguments, or with the mapping of the options in brackets if it takes an
    argument. Its methods are called in that subprocess, which may crash, hang or run out of memory. Besides `answer` it
    may have

    - ``start()``, for slow imports, called before the first operation;
    - ``covers(operation)``, which returns whether it supports the operation;
    - ``versions()``, a mapping of names to versions, for the reports.
    """

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient.

        Parameters
        ----------
        operation : Operation
            ``operation.spec`` is the operator version, ``operation.attributes`` the attributes that a model sets,
            ``operation.operands`` the arrays, ``operation.constant`` a flag for each that is a constant of the model.

        Raises
        ------
        Unsupported
            If the operator version, element type or attribute is not supported; not counted as a failure.
        Crashed
            If the divider crashed: ``Crashed(process.returncode)``, or with a message.
        Exception
            Any other exception counts as a refusal, which is right for illegal operands.
        """
