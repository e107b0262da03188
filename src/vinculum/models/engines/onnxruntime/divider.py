"""Divisions of a session that are done in Python: for an observer, or to raise what a division raises.

The library of `vinculum.onnxruntime` calls a function of this process for each division that has a number.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import helper

from vinculum.models.engines.reference.operators import quotient
from vinculum.models.execution import Division, RunContext

NUMBER = "vinculum_number"
"""The attribute of a division node that holds its number."""


class Operand(ctypes.Structure):
    """A tensor as the library hands it on."""

    _fields_ = (("data", ctypes.c_void_p), ("rank", ctypes.c_ssize_t), ("shape", ctypes.POINTER(ctypes.c_ssize_t)))

    def array(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return an array that shares its memory."""
        shape = tuple(self.shape[: self.rank])
        size = prod(shape) * dtype.itemsize
        memory = (ctypes.c_char * size).from_address(self.data) if size else bytearray()
        array: NDArray[Any] = np.frombuffer(memory, np.uint8).view(dtype).reshape(shape)
        return array


class Asked(ctypes.Structure):
    """A division as the library asks for it."""

    _fields_ = (
        ("number", ctypes.c_int64),
        ("type", ctypes.c_int64),
        ("dividend", Operand),
        ("divisor", Operand),
        ("quotient", Operand),
    )


Divider = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Asked))


@dataclass
class _Run:
    execution: RunContext
    divisions: tuple[Division, ...]
    attributes: Mapping[int, Mapping[str, Any]]  # Of each division, by its number.
    error: BaseException | None = None

    def divide(self, asked: Asked) -> None:
        division = self.divisions[asked.number]
        dtype = helper.tensor_dtype_to_np_dtype(asked.type)
        # Copies: an observer may keep them, and ONNX Runtime uses its memory again.
        dividend = None if division.spec.name == "Reciprocal" else asked.dividend.array(dtype).copy()
        divisor = asked.divisor.array(dtype).copy()
        attributes = self.attributes[asked.number]
        asked.quotient.array(dtype)[...] = quotient(self.execution, division, dividend, divisor, attributes)


_CURRENT: ContextVar[_Run] = ContextVar("vinculum.models.engines.onnxruntime.current_run")


def _divide(asked: Any) -> int:
    """Divide in the run of this thread: ONNX Runtime computes the nodes of a run in the thread that runs it."""
    run = _CURRENT.get()
    try:
        run.divide(asked.contents)
    except BaseException as error:  # `dividing_here` raises it when the session has ended.
        run.error = error
    return run.error is not None


_CALLBACK = Divider(_divide)  # It lives as long as the process.
ADDRESS = str(ctypes.cast(_CALLBACK, ctypes.c_void_p).value)
"""Where the library finds the function, as an entry of a session's configuration."""


@contextmanager
def dividing_here(
    execution: RunContext, divisions: tuple[Division, ...], attributes: Mapping[int, Mapping[str, Any]]
) -> Iterator[None]:
    """Divide for the sessions that run in the block, which raises what a division raises."""
    run = _Run(execution, divisions, attributes)
    token = _CURRENT.set(run)
    try:
        yield
    except Exception:
        if run.error is not None:
            raise run.error from None
        raise
    finally:
        _CURRENT.reset(token)
