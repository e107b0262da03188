"""An object in a subprocess, where a crash, a hang or lack of memory is a result like any other."""

from vinculum.sandbox.answer import Answer, CrashedError, End, UnsupportedError
from vinculum.sandbox.isolated import Isolated, Limits

__all__ = ["Answer", "CrashedError", "End", "Isolated", "Limits", "UnsupportedError"]
