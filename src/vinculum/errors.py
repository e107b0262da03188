"""The errors that Vinculum raises on purpose, each derived from the built-in error that a Python user would catch."""

from __future__ import annotations

Index = tuple[int, ...]


class VinculumError(Exception):
    """Base of every error that Vinculum raises on purpose."""

    def locate(self, place: str) -> None:
        """Prefix the message with the location of the error; class and fields stay unchanged."""
        self.args = (f"{place}: {self.args[0]}", *self.args[1:])

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle every field."""
        return _restored, (type(self), self.args, vars(self))


class ElementTypeError(VinculumError, TypeError):
    """An operand has no element type, or one that the operator version does not allow."""


class BroadcastError(VinculumError, ValueError):
    """The operands' shapes do not fit together under the operator version's broadcasting rule."""


class AttributeValueError(VinculumError, ValueError):
    """An attribute or argument has a value that the operator version does not define."""


class SpecLookupError(VinculumError, LookupError):
    """No row of the specification has that operator, version or name."""


class ModelError(VinculumError, ValueError):
    """A model file, an input of a model or a stored array is unreadable, malformed or not supported."""


class MissingPackageError(ModelError):
    """A package that reads or runs a model, or stores an array, is not installed."""


class DifferenceError(ModelError):
    """Two models, or two runs of one, differ where their bits must be equal."""


class ConstraintError(VinculumError, ValueError):
    """A constraint of the SONNX profile is violated.

    Attributes
    ----------
    tag : str
        The constraint's own tag, such as ``"[C3]"``.
    count : int
        How many elements violate it; 0 if the violation does not concern elements.
    first_index : tuple of int or None
        The first such element in row-major order; None if the violation does not concern elements.
    """

    def __init__(self, message: str, *, tag: str, count: int = 0, first_index: Index | None = None) -> None:
        super().__init__(message)
        self.tag = tag
        self.count = count
        self.first_index = first_index


class _ElementError(VinculumError):
    """An error in some elements of an integer division.

    Attributes
    ----------
    count : int
        How many elements of the result are affected.
    first_index : tuple of int
        The first of them in row-major order, an index into the result.
    advice : str
        How to continue, the end of the message; the command line replaces parameters by its options.
    """

    def __init__(self, message: str, *, count: int, first_index: Index, advice: str = "") -> None:
        super().__init__(message)
        self.count = count
        self.first_index = first_index
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.args[0]}; {self.advice}" if self.advice else str(self.args[0])


class DivisionByZeroError(_ElementError, ZeroDivisionError):
    """An integer divisor is zero and the policy is ``zero_divisor="raise"``."""


class IntegerOverflowError(_ElementError, OverflowError):
    """The smallest integer is divided by -1 and the policy is ``overflow="raise"``."""


def _restored(kind: type[VinculumError], args: tuple[object, ...], fields: dict[str, object]) -> VinculumError:
    """Rebuild an error that came from another process."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error
