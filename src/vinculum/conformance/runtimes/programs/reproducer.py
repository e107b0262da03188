"""Stand-alone Python programs: assignments of the operands, and the imports of the names that a program uses."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import getsource
from textwrap import dedent
from typing import Any

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.programs.array_source import array_source

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
