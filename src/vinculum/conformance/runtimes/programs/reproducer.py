"""Stand-alone Python programs that execute an operation: its operands, a model or a call, and the quotient printed."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import getsource
from textwrap import dedent
from typing import Any

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.programs.array_source import array_source
from vinculum.tensors.storage import element_type_of

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

    from vinculum.conformance.runtimes.programs.models import onnx_model

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
    from vinculum.conformance.runtimes.programs.models import openvino_ir, padding
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
