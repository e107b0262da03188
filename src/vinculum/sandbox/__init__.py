"""An object in a process of its own: that it kills the process, hangs or takes all memory is then a result."""

from vinculum.sandbox.answer import Answer, CrashedError, End, UnsupportedError
from vinculum.sandbox.isolated import Isolated, Limits

__all__ = ["Answer", "CrashedError", "End", "Isolated", "Limits", "UnsupportedError"]
