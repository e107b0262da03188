"""Python source that a stranger can paste: exact arrays, and a program that imports what it uses."""

from __future__ import annotations

import re
import zlib
from base64 import b85encode
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.question import Question

_LISTED = 64
"""The most elements that are written one by one."""
_WIDTH = 100
_LONGEST_NUMBER = 14
_IMPORTS = {
    "base64": "import base64",
    "ctypes": "import ctypes",
    "tempfile": "import tempfile",
    "zlib": "import zlib",
    "Fraction": "from fractions import Fraction",
    "Path": "from pathlib import Path",
    "jax": "import jax",
    "jnp": "import jax.numpy as jnp",
    "ml_dtypes": "import ml_dtypes",
    "np": "import numpy as np",
    "onnxruntime": "import onnxruntime",
    "ov": "import openvino as ov",
    "torch": "import torch",
    "TensorProto": "from onnx import TensorProto",
    "helper": "from onnx import helper",
    "numpy_helper": "from onnx import numpy_helper",
    "ReferenceEvaluator": "from onnx.reference import ReferenceEvaluator",
}
"""The names that programs use, and where each comes from; in the order in which the imports stand."""
_TEXT = re.compile(r'"""[\s\S]*?"""|"[^"\n]*"|#.*')


def python_program(*lines: str, imports: Sequence[str] = ()) -> str:
    """Return source that ends with a line feed and begins with imports: of what the lines use, and those given."""
    body = "\n".join(lines)
    names = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", _TEXT.sub("", body)))
    needed = [line for name, line in _IMPORTS.items() if name in names]
    return "\n".join([*needed, *(f"import {module}" for module in imports), "", body, ""])


def operand_lines(question: Question) -> list[str]:
    """Return lines that assign each operand to the operator's name for it in lower case, ``a = ...``, and print them.

    What is printed is as much of a float as tells it from its neighbours, and is out before a division can end all.
    """
    names = [operand.name.lower() for operand in question.spec.inputs]
    assigned = [f"{name} = {array_source(array)}" for name, array in zip(names, question.operands, strict=True)]
    printed = ", ".join(f"repr({name})" for name in names)
    return ['np.set_printoptions(floatmode="unique")', *assigned, f'print({printed}, sep="\\n", flush=True)']


def array_source(array: NDArray[Any]) -> str:
    """Return a Python expression for an array, the same to the last bit, that uses ``np`` and what else it must.

    Floats stand as decimals where those are short and give the same bits, else as encodings in hexadecimal. One number
    repeated is said once; many different ones are compressed.
    """
    dtype = dtype_source(array.dtype)
    if not array.size:
        return f"np.empty({array.shape}, {dtype})"
    if array.dtype == object:
        return f"np.array({_nested(array, _rational)}, {dtype})"
    if array.size > 1 and _is_uniform(array):
        return f"np.full({array.shape}, {array_source(array.reshape(-1)[:1].reshape(()))})"
    if array.size > _LISTED:
        return _compressed(array, dtype)
    decimals = _nested(array, _decimal)
    # Python's own integers are wide enough for every type, its floats are not.
    spelt = f"np.array({decimals}, {dtype})" if array.dtype.isbuiltin == 1 else f"np.array({decimals}).astype({dtype})"
    if array.dtype.kind in "iub" or array.dtype.name in ("int4", "uint4"):
        return spelt
    short = all(len(_decimal(element)) <= _LONGEST_NUMBER for element in array.reshape(-1))
    if short and _same_bits(_evaluated(array), array):
        return spelt
    bits = array.view(f"u{array.itemsize}")
    digits = 2 * array.itemsize
    return f"np.array({_nested(bits, lambda n: f'0x{int(n):0{digits}x}')}, np.{bits.dtype.name}).view({dtype})"


def dtype_source(dtype: np.dtype[Any]) -> str:
    """Return the expression for an element type: ``np.float32``, ``ml_dtypes.bfloat16``."""
    if dtype.kind in "bO":
        return "np.bool_" if dtype.kind == "b" else "object"
    return f"{'ml_dtypes' if hasattr(ml_dtypes, dtype.name) else 'np'}.{dtype.name}"


def _nested(array: NDArray[Any], spell: Any) -> str:
    """Return the elements as nested lists."""
    if array.ndim == 0:
        return str(spell(array[()]))
    rows = (array[place : place + 1].reshape(array.shape[1:]) for place in range(len(array)))
    return f"[{', '.join(_nested(row, spell) for row in rows)}]"


def _decimal(element: Any) -> str:
    if element.dtype.kind in "iub":
        return str(element.item())
    if element.dtype.isbuiltin != 1:  # Its own text is not what Python reads.
        element = np.float64(element) if element.dtype.name not in ("int4", "uint4") else int(element)
    text = str(element)
    return {"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf"}.get(text, text)


def _rational(element: Any) -> str:
    return f"Fraction({element.numerator}, {element.denominator})"


def _evaluated(array: NDArray[Any]) -> NDArray[Any]:
    """Return what the decimals of an array of floats give when Python reads them."""
    texts = [_decimal(element).removeprefix("np.").replace("-np.", "-") for element in array.reshape(-1)]
    return np.array([float(text) for text in texts]).astype(array.dtype).reshape(array.shape)


def _same_bits(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return one.tobytes() == other.tobytes()


def _is_uniform(array: NDArray[Any]) -> bool:
    first = np.empty_like(array)
    first[...] = array.reshape(-1)[0]
    return _same_bits(first, array)


def _compressed(array: NDArray[Any], dtype: str) -> str:
    text = b85encode(zlib.compress(array.tobytes(), 9)).decode()
    pieces = "\n".join(f'    "{text[start : start + _WIDTH]}"' for start in range(0, len(text), _WIDTH))
    return f"np.frombuffer(zlib.decompress(base64.b85decode(\n{pieces}\n)), {dtype}).copy().reshape({array.shape})"


def print_quotient(expression: str) -> str:
    """Return the line that prints what an expression gives."""
    return f"print(repr({expression}))"
