"""Answers as bytes: values are unchanged in every bit, and reading never runs code."""

from __future__ import annotations

import json
import pickle
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vinculum.errors import AttributeValueError, DivisionByZeroError
from vinculum.kernels.contract import Exceptions
from vinculum.sandbox import End
from vinculum.sandbox.plain import dumped, loaded

SIMPLE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.fractions(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
)


def crafted(plain: object) -> bytes:
    """Return the bytes of an answer that this package would not write."""
    text = json.dumps(plain).encode()
    return struct.pack("<QQ", 1, len(text)) + text


@given(SIMPLE)
def test_simple_values(value: Any) -> None:
    assert loaded(dumped(value)) == value


@pytest.mark.parametrize(
    "name", ["i1", ">i4", "f2", "f8", "?", "c16", "S3", "U2", "V2", "bfloat16", "int4", "float8_e5m2"]
)
def test_arrays(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    array = np.arange(6).astype("i1").astype(dtype) if dtype.kind != "V" or dtype.isbuiltin == 2 else np.zeros(6, dtype)
    for one in (array, array.reshape(2, 3).T, array[:0], array[:1].reshape(())):
        found = loaded(dumped(one))
        assert (found.dtype, found.shape, found.tobytes()) == (one.dtype, one.shape, one.tobytes())
        assert found.flags.writeable
    assert type(loaded(dumped(array[1]))) is type(array[1])


def test_every_bit_of_a_nan() -> None:
    bits = struct.pack("<Q", 0x7FF4_0000_0000_0123)
    assert struct.pack("<d", loaded(dumped(struct.unpack("<d", bits)[0]))) == bits


def test_what_is_ours() -> None:
    found = Exceptions(6, 1, (0, 2), 0, None)
    assert loaded(dumped([found, End.HUNG, Path("/x"), {"a"}])) == [found, End.HUNG, Path("/x"), {"a"}]
    objects = np.array([[Fraction(1, 3)], [None]], object)
    assert loaded(dumped(objects)).tolist() == objects.tolist()
    error = loaded(dumped(AttributeValueError("device is 'TPU'")))
    assert (type(error), str(error)) == (AttributeValueError, "device is 'TPU'")


@pytest.mark.parametrize(
    "plain",
    [
        ["dataclass", "subprocess:Popen", ["tuple", "args", "id"]],
        ["dataclass", "vinculum.no_such_module:Thing"],
        ["dataclass", "vinculum.sandbox.answer:End"],
        ["dataclass", "vinculum.sandbox.process:ChildProcess"],
        ["dataclass", "vinculum.sandbox.answer:signal.Signals"],
        ["enum", "signal:Signals", "SIGKILL"],
        ["enum", "vinculum.sandbox.answer:Answer", "end"],
        ["error", "builtins:SystemExit", [], {}],
        ["error", "vinculum.sandbox.answer:CrashedError", [], ["dict"]],
        ["array", False, ["dtype", "O"], [1], 0],
        ["array", False, ["dtype", "i8"], [1 << 60], 0],
        ["objects", [1 << 60]],
        ["system", "id"],
        ["list", ["bytes", 7]],
    ],
)
def test_bytes_that_it_does_not_write(plain: object) -> None:
    with pytest.raises((ValueError, TypeError, KeyError, IndexError)):
        loaded(crafted(plain))


@given(st.binary(max_size=64))
def test_any_bytes(content: bytes) -> None:
    for damaged in (content, dumped([1, np.zeros(3)])[: len(content)], pickle.dumps(content)):
        with pytest.raises(Exception):  # noqa: B017, PT011 - whichever, but nothing else happens
            loaded(damaged)


@pytest.mark.parametrize(
    "value", [object(), lambda: None, print, [Path], type("Own", (int,), {})(), DivisionByZeroError]
)
def test_other_values(value: object) -> None:
    with pytest.raises(TypeError, match="is neither text, a number, an array nor a list of them"):
        dumped(value)
