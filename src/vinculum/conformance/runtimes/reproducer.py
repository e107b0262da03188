"""Stand-alone Python programs that execute an operation: its operands, a model or a call, and the quotient printed."""

from __future__ import annotations

import re
import zlib
from base64 import b85encode
from collections.abc import Callable
from inspect import getsource
from textwrap import dedent
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.tensors.storage import element_type_of

_SHORT = 8
"""Arrays with more elements than this are written as a sequence if they are one."""
_LISTED = 64
"""The most elements that are written one by one."""
_WIDTH = 100
_LONGEST_NUMBER = 14


def array_source(array: NDArray[Any]) -> str:
    """Return a Python expression that reproduces an array bit by bit, with ``np`` and other modules as needed.

    Floats are decimals where those are short and give the same bits, else encodings in hexadecimal. A repeated number
    and a sequence of integers are written as such; many different numbers are compressed.
    """
    dtype = dtype_source(array.dtype)
    if not array.size:
        return f"np.empty({array.shape}, {dtype})"
    if array.dtype == object:
        return f"np.array({_nested(array, lambda n: f'Fraction({n.numerator}, {n.denominator})')}, {dtype})"
    if array.size > 1 and _same_bits(np.full_like(array, array.reshape(-1)[0]), array):
        return f"np.full({array.shape}, {array_source(array.reshape(-1)[:1].reshape(()))})"
    if array.size > _SHORT and (sequence := _sequence(array, dtype)):
        return sequence
    return _compressed(array, dtype) if array.size > _LISTED else _listed(array, dtype)


def dtype_source(dtype: np.dtype[Any]) -> str:
    """Return the expression for an element type: ``np.float32``, ``ml_dtypes.bfloat16``."""
    if dtype.hasobject:
        return "object"
    return f"{'ml_dtypes' if hasattr(ml_dtypes, dtype.name) else 'np'}.{dtype.name}"


def _listed(array: NDArray[Any], dtype: str) -> str:
    decimals = _nested(array, _decimal)
    # Decimals of integers are always exact; those of floats are verified below.
    spelt = f"np.array({decimals}, {dtype})" if array.dtype.isbuiltin == 1 else f"np.array({decimals}).astype({dtype})"
    short = all(len(_decimal(element)) <= _LONGEST_NUMBER for element in array.reshape(-1))
    if element_type_of(array).is_integer or (short and _same_bits(_evaluated(spelt), array)):
        return spelt
    bits = array.view(f"u{array.itemsize}")
    digits = 2 * array.itemsize
    return f"np.array({_nested(bits, lambda n: f'0x{int(n):0{digits}x}')}, np.{bits.dtype.name}).view({dtype})"


def _nested(array: NDArray[Any], spell: Any) -> str:
    """Return the elements as nested lists."""
    if array.ndim == 0:
        return str(spell(array[()]))
    rows = (array[place : place + 1].reshape(array.shape[1:]) for place in range(len(array)))
    return f"[{', '.join(_nested(row, spell) for row in rows)}]"


def _decimal(element: Any) -> str:
    if element.dtype.kind in "iu":
        return str(element.item())
    if element.dtype.isbuiltin != 1:  # Python cannot read the text of ml_dtypes' elements.
        element = int(element) if element_type_of(element).is_integer else np.float64(element)
    text = str(element)
    return {"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf"}.get(text, text)


def _evaluated(source: str) -> Any:
    return eval(source, {"np": np, "ml_dtypes": ml_dtypes})


def _same_bits(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return one.tobytes() == other.tobytes()


def _sequence(array: NDArray[Any], dtype: str) -> str | None:
    """Return the expression for an arithmetic sequence of integers; None for other arrays."""
    flat = array.reshape(-1)
    if not all(np.isfinite(np.float64(element)) for element in flat[:2]):
        return None
    start, second = (int(element) for element in flat[:2])
    step = second - start
    stop = start + step * array.size
    if not step or not all(-(2**63) <= end < 2**63 for end in (start, stop)):
        return None
    ends = f"{start}, {stop}, {step}" if step != 1 else f"{start}, {stop}" if start else str(stop)
    shape = "" if array.ndim == 1 else f".reshape{array.shape}"
    source = f"np.arange({ends}){shape}.astype({dtype})"
    with np.errstate(all="ignore"):  # Numbers that the type cannot represent fail the comparison of bits.
        return source if _same_bits(_evaluated(source), array) else None


def _compressed(array: NDArray[Any], dtype: str) -> str:
    text = b85encode(zlib.compress(array.tobytes(), 9)).decode()
    pieces = "\n".join(f'    "{text[start : start + _WIDTH]}"' for start in range(0, len(text), _WIDTH))
    return f"np.frombuffer(zlib.decompress(base64.b85decode(\n{pieces}\n)), {dtype}).copy().reshape({array.shape})"


_IMPORTS = {
    "base64": "import base64",
    "ctypes": "import ctypes",
    "tempfile": "import tempfile",
    "zlib": "import zlib",
    "Fraction": "from fractions import Fraction",
    "Path": "from pathlib import Path",
    "ml_dtypes": "import ml_dtypes",
    "np": "import numpy as np",
    "onnxruntime": "import onnxruntime",
    "ov": "import openvino as ov",
}
"""The names that programs use and their imports, in the order of the imports."""
_OF_ONNX = ("helper", "numpy_helper", "parser")
_IMPORTING = re.compile(r"^(?:import|from) .*\n\n?", re.MULTILINE)
_TEXT = re.compile(r'"""[\s\S]*?"""|"[^"\n]*"|#.*')


def python_program(*lines: str) -> str:
    """Return the source of a program: imports for the names in the lines, lines that import, and the other lines."""
    text = "\n".join([*lines, ""])
    imports, body = _IMPORTING.findall(text), _IMPORTING.sub("", text)
    names = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", _TEXT.sub("", body)))
    needed = [line for name, line in _IMPORTS.items() if name in names]
    if of_onnx := [name for name in _OF_ONNX if name in names]:
        needed.append(f"from onnx import {', '.join(of_onnx)}")
    return "\n".join([*dict.fromkeys([*needed, *map(str.strip, imports)]), "", body])


def onnx_program(operation: Operation, *lines: str, result: str) -> str:
    """Return the program of an operation for a runtime that reads ONNX.

    - `operation`: An operation of an ONNX operator.
    - `*lines`: Lines that run `model` on `inputs`, a dictionary of arrays by name.
    - `result`: The expression of the quotient, which is printed.
    """
    from onnx import printer

    from vinculum.conformance.runtimes.models import onnx_model

    model = onnx_model(operation)
    del model.graph.initializer[:]
    tensors = [f'numpy_helper.from_array({name.lower()}, "{name}")' for name in operation.constants]
    return python_program(
        *operand_lines(operation),
        'model = parser.parse_model("""',
        *printer.to_text(model).splitlines(),
        '""")',
        *([f"model.graph.initializer.extend([{', '.join(tensors)}])"] if tensors else ()),
        f"inputs = {inputs_source(operation)}",
        *lines,
        print_quotient(result),
    )


def inputs_source(operation: Operation) -> str:
    """Return a Python dictionary of the run-time operands: ``{"A": a, "B": b}``."""
    items = (f'"{name}": {name.lower()}' for name in operation.inputs)
    return f"{{{', '.join(items)}}}"


def ir_lines(operation: Operation) -> list[str]:
    """Return lines that make `xml` and `data`, the two files of an operation's IR."""
    from vinculum.conformance.runtimes.models import openvino_ir, padding
    from vinculum.models.engines.openvino.tensors import packed

    raw = {name.lower(): packed(array, element_type_of(array)) for name, array in operation.constants.items()}
    pieces = [f"{stored(name, operation)}.tobytes() + bytes({padding(content)})" for name, content in raw.items()]
    return [
        f'xml = b"""{openvino_ir(operation)[0].decode()}"""',
        *packing_lines(operation),
        f"data = {' + '.join(pieces) or 'bytes()'}",
    ]


_PACKED = """
def packed(array):  # Two in a byte, the first in its low half.
    halves = np.zeros(array.size + array.size % 2, np.uint8)
    halves[: array.size] = array.reshape(-1).astype(np.int8) & 15
    return halves[0::2] | halves[1::2] << 4

"""


def packing_lines(operation: Operation) -> list[str]:
    """Return lines that define `packed`, which packs elements as OpenVINO stores those of 4 bits, if there are any."""
    return _PACKED.splitlines() if any(element_type_of(a).bits == 4 for a in operation.operands) else []


def stored(name: str, operation: Operation) -> str:
    """Return the expression of an array of the bytes of an operand as OpenVINO stores them."""
    return f"packed({name})" if packing_lines(operation) else name


def operand_names(operation: Operation) -> list[str]:
    """Return the names of the operands in programs: the operator's input names in lower case."""
    return [operand.name.lower() for operand in operation.spec.inputs]


def operand_lines(operation: Operation) -> list[str]:
    """Return lines that assign each operand to its name, ``a = ...``, and print them.

    Floats are printed with the digits that make them unique. Output is flushed, as the division may end the process.
    """
    names = operand_names(operation)
    assigned = [f"{name} = {array_source(array)}" for name, array in zip(names, operation.operands, strict=True)]
    printed = ", ".join(f"repr({name})" for name in names)
    return ['np.set_printoptions(floatmode="unique")', *assigned, f'print({printed}, sep="\\n", flush=True)']


def body_lines(function: Callable[..., Any], result: str) -> list[str]:
    """Return the body of a function without branches, whose last statement returns what the lines assign to a name."""
    lines = dedent(getsource(function).partition('"""')[2].partition('"""')[2]).strip("\n").splitlines()
    last = max(number for number, line in enumerate(lines) if line.startswith("return "))
    lines[last] = lines[last].replace("return", f"{result} =", 1)
    return lines


def print_quotient(expression: str) -> str:
    """Return the line that prints the value of an expression."""
    return f"print(repr({expression}))"
