"""Names, shapes and foreign errors in messages."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vinculum.text import listed, one_line, pip_install, quoted, shape_text

EXTRAS = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]


def caused(cause: BaseException) -> Exception:
    """Return an error with a cause."""
    error = TypeError("Issues with types")
    error.__cause__ = cause
    return error


def in_a_circle() -> Exception:
    """Return an error that is its own cause by way of another."""
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    return one


TEXTS: list[tuple[Callable[[Any], str], Any, str]] = [
    (quoted, "a\nb", "'a\\nb'"),
    (quoted, "x" * 1000, "'" + "x" * 57 + "...'"),
    (one_line, caused(ValueError("the\n  reason")), "the reason"),
    (one_line, in_a_circle(), "other"),
    (one_line, KeyError(), "KeyError"),
    (one_line, MemoryError(), "there is not enough memory"),
    (one_line, RecursionError("maximum recursion depth exceeded"), "it is nested too deeply"),
    (one_line, ValueError("x" * 5000), "x" * 297 + "..."),
    (listed, ["a", "b"], "'a', 'b'"),
    (listed, [str(n) for n in range(12)], "'0', '1', '2', '3', '4', '5', '6', '7', '8', '9' and 2 more"),
    (listed, [], "none"),
    (shape_text, (2, "N", None), "(2, N, ?)"),
    (shape_text, (3,), "(3,)"),
    (shape_text, (), "()"),
    (shape_text, None, "of any rank"),
]


@pytest.mark.parametrize(("text", "of", "expected"), TEXTS, ids=lambda value: getattr(value, "__name__", ""))
def test_texts(text: Callable[[Any], str], of: Any, expected: str) -> None:
    """One short line, whatever a file or another package says."""
    assert text(of) == expected


def test_hints_name_the_packages_of_the_extras() -> None:
    """So they work before and after a release."""
    packages = {name: name for name in ("onnxruntime", "openvino", "torch", "jax", "dask", "zarr")}
    for extra, package in {**packages, "cuda": "cupy", "hdf5": "h5py"}.items():
        (requirement,) = EXTRAS[extra]
        assert pip_install(package).replace("'", "") == f"pip install {re.split('[><=]', requirement)[0]}"
    assert pip_install("tvm", "apache-tvm") == "pip install apache-tvm"
    assert pip_install("distributed") == pip_install("dask")
