"""Python source that a stranger can paste: operands that are printed, and a program that imports what it uses."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.programs.array_source import array_source

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
}
"""The names that programs use, and where each comes from; in the order in which the imports stand."""
_OF_ONNX = ("helper", "numpy_helper", "parser")
_REFERENCE = "ReferenceEvaluator"
_TEXT = re.compile(r'"""[\s\S]*?"""|"[^"\n]*"|#.*')


def python_program(*lines: str, imports: Sequence[str] = ()) -> str:
    """Return source that ends with a line feed and begins with imports: of what the lines use, and those given."""
    body = "\n".join(lines)
    names = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", _TEXT.sub("", body)))
    needed = [line for name, line in _IMPORTS.items() if name in names]
    if of_onnx := [name for name in _OF_ONNX if name in names]:
        needed.append(f"from onnx import {', '.join(of_onnx)}")
    if _REFERENCE in names:
        needed.append(f"from onnx.reference import {_REFERENCE}")
    return "\n".join([*needed, *(f"import {module}" for module in imports), "", body, ""])


def operand_names(operation: Operation) -> list[str]:
    """Return what programs call the operands: the operator's names for them in lower case."""
    return [operand.name.lower() for operand in operation.spec.inputs]


def operand_lines(operation: Operation) -> list[str]:
    """Return lines that assign each operand to its name, ``a = ...``, and print them.

    What is printed is as much of a float as tells it from its neighbours, and is out before a division can end all.
    """
    names = operand_names(operation)
    assigned = [f"{name} = {array_source(array)}" for name, array in zip(names, operation.operands, strict=True)]
    printed = ", ".join(f"repr({name})" for name in names)
    return ['np.set_printoptions(floatmode="unique")', *assigned, f'print({printed}, sep="\\n", flush=True)']


def print_quotient(expression: str) -> str:
    """Return the line that prints what an expression gives."""
    return f"print(repr({expression}))"
