"""The answers of a subprocess as bytes: text, numbers, arrays, and dataclasses of this package made of them.

Unlike unpickling, reading them never runs code: a model that takes over a runtime in the subprocess cannot take over
this process. The values are JSON, followed by the memory of arrays.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401 - gives NumPy the names of its types
import numpy as np

from vinculum.errors import VinculumError

_OURS = "vinculum."
_SIZE = struct.Struct("<Q")


def dumped(value: object) -> bytes:
    """Return a value as bytes; TypeError if it is, or contains, a value of an unknown type."""
    blobs: list[bytes] = []
    text = json.dumps(_plain(value, blobs), separators=(",", ":")).encode()
    parts = [text, *blobs]
    return b"".join([_SIZE.pack(len(parts)), *(_SIZE.pack(len(part)) for part in parts), *parts])


def loaded(content: bytes) -> Any:
    """Return the value in bytes of `dumped`; ValueError, TypeError or another exception for other bytes."""
    (count,) = _SIZE.unpack_from(content)
    at = _SIZE.size * (1 + count)
    parts: list[memoryview] = []
    for number in range(count):
        (size,) = _SIZE.unpack_from(content, _SIZE.size * (1 + number))
        parts.append(memoryview(content)[at : at + size])
        at += size
    if at != len(content):
        raise ValueError("the bytes do not have the length that they tell")
    return _value(json.loads(bytes(parts[0])), parts)


def _plain(value: Any, blobs: list[bytes]) -> Any:
    """Return a value as JSON: simple values as they are, others as a list that begins with their kind."""

    def blob(content: bytes) -> int:
        blobs.append(content)
        return len(blobs)

    def each(values: Any) -> list[Any]:
        return [_plain(one, blobs) for one in values]

    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return ["float", struct.pack("<d", value).hex()]  # JSON would lose what a NaN carries
    if kind in (list, tuple, set, frozenset):
        return [kind.__name__, *each(value)]
    if kind is dict:
        return ["dict", *each(value.items())]
    if kind in (bytes, bytearray):
        return ["bytes", blob(bytes(value))]
    if kind is Fraction:
        return ["Fraction", value.numerator, value.denominator]
    if isinstance(value, Path):
        return ["Path", str(value)]
    if isinstance(value, np.dtype) and value.names is None and value.subdtype is None:
        return ["dtype", value.name if value.isbuiltin == 2 else value.str]  # 2: a type of ml_dtypes
    if isinstance(value, np.generic | np.ndarray):
        array, is_scalar = np.asarray(value), isinstance(value, np.generic)
        if array.dtype.hasobject:
            return ["objects", list(array.shape), *each(array.ravel().tolist())]
        return ["array", is_scalar, _plain(array.dtype, blobs), list(array.shape), blob(array.tobytes())]
    name = f"{kind.__module__}:{kind.__qualname__}"
    if name.startswith(_OURS) and isinstance(value, Enum):
        return ["enum", name, value.name]
    if name.startswith(_OURS) and is_dataclass(value):
        return ["dataclass", name, *each((field.name, getattr(value, field.name)) for field in fields(value))]
    if isinstance(value, VinculumError):
        return ["error", name, each(value.args), _plain(vars(value), blobs)]
    raise TypeError(f"{kind.__module__}.{kind.__qualname__} is neither text, a number, an array nor a list of them")


def _value(plain: Any, parts: list[memoryview]) -> Any:
    if not isinstance(plain, list):
        return plain
    kind, *rest = plain
    return _READERS[kind](rest, parts)


def _each(rest: list[Any], parts: list[memoryview]) -> list[Any]:
    return [_value(one, parts) for one in rest]


def _array(rest: list[Any], parts: list[memoryview]) -> Any:
    is_scalar, dtype, shape, number = rest
    array = np.frombuffer(parts[number], _value(dtype, parts)).reshape(shape).copy()
    return array[()] if is_scalar else array


def _objects(rest: list[Any], parts: list[memoryview]) -> Any:
    array = np.empty(len(rest) - 1, object)
    array[:] = _each(rest[1:], parts)
    return array.reshape(rest[0])


def _ours(name: str, base: type | None) -> Any:
    """Return a class of this package, which this process has imported: a dataclass, or one with a base."""
    module, _, names = name.partition(":")
    found: Any = sys.modules[module]
    for part in names.split("."):
        found = vars(found)[part]
    is_ours = isinstance(found, type) and found.__module__ == module and module.startswith(_OURS)
    if not is_ours or not (is_dataclass(found) if base is None else issubclass(found, base)):
        raise ValueError(f"{name} is not what it is said to be")
    return found


def _dataclass(rest: list[Any], parts: list[memoryview]) -> Any:
    given = dict(_each(rest[1:], parts))
    made = object.__new__(_ours(rest[0], None))
    for field in fields(made):
        object.__setattr__(made, field.name, given[field.name])
    return made


def _error(rest: list[Any], parts: list[memoryview]) -> VinculumError:
    kind = _ours(rest[0], VinculumError)
    made: VinculumError = kind.__new__(kind, *_each(rest[1], parts))
    made.__dict__.update(_value(rest[2], parts))
    return made


_READERS: dict[str, Callable[[list[Any], list[memoryview]], Any]] = {
    "float": lambda rest, parts: struct.unpack("<d", bytes.fromhex(rest[0]))[0],
    "list": _each,
    "tuple": lambda rest, parts: tuple(_each(rest, parts)),
    "set": lambda rest, parts: set(_each(rest, parts)),
    "frozenset": lambda rest, parts: frozenset(_each(rest, parts)),
    "dict": lambda rest, parts: dict(_each(rest, parts)),
    "bytes": lambda rest, parts: bytes(parts[rest[0]]),
    "Fraction": lambda rest, parts: Fraction(*rest),
    "Path": lambda rest, parts: Path(rest[0]),
    "dtype": lambda rest, parts: np.dtype(str(rest[0])),
    "array": _array,
    "objects": _objects,
    "enum": lambda rest, parts: _ours(rest[0], Enum)[rest[1]],
    "dataclass": _dataclass,
    "error": _error,
}
