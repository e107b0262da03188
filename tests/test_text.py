"""Names, shapes and foreign errors in messages."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from vinculum.text import listed, one_line, pip_install, quoted, shape_text

EXTRAS = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]


class TestQuoted:
    """A name from a file can break no line and flood no terminal."""

    def test_line_breaks_are_escaped(self) -> None:
        assert quoted("a\nb") == "'a\\nb'"

    def test_long_names_are_shortened(self) -> None:
        assert quoted("x" * 1000) == "'" + "x" * 57 + "...'"


class TestPipInstall:
    """Hints work before and after a release: they name what is missing, as the extras of a checkout do."""

    def test_as_the_extras_do(self) -> None:
        packages = {name: name for name in ("onnxruntime", "openvino", "torch", "jax", "dask", "zarr")}
        for extra, package in {**packages, "cuda": "cupy", "hdf5": "h5py"}.items():
            (requirement,) = EXTRAS[extra]
            assert pip_install(package).replace("'", "") == f"pip install {re.split('[><=]', requirement)[0]}"

    def test_what_has_another_name(self) -> None:
        assert pip_install("tvm", "apache-tvm") == "pip install apache-tvm"
        assert pip_install("distributed") == pip_install("dask")


class TestOneLine:
    """The reason at the root of an error, on one line."""

    def test_the_root_cause_speaks(self) -> None:
        error = TypeError("Issues with types")
        error.__cause__ = ValueError("the\n  reason")
        assert one_line(error) == "the reason"

    def test_errors_without_words(self) -> None:
        assert one_line(KeyError()) == "KeyError"
        assert one_line(MemoryError()) == "there is not enough memory"
        assert one_line(RecursionError("maximum recursion depth exceeded")) == "it is nested too deeply"

    def test_an_error_that_is_its_own_cause(self) -> None:
        one, other = ValueError("one"), ValueError("other")
        one.__cause__, other.__cause__ = other, one
        assert one_line(one) == "other"
        one.__cause__ = one
        assert one_line(one) == "one"

    def test_long_reasons_are_shortened(self) -> None:
        assert len(one_line(ValueError("x" * 5000))) == 300


class TestListed:
    """At most ten names."""

    def test_few_many_and_none(self) -> None:
        assert listed(["a", "b"]) == "'a', 'b'"
        assert listed([str(n) for n in range(12)]).endswith("'9' and 2 more")
        assert listed([]) == "none"


class TestShapeText:
    """Shapes as Python writes them, ``?`` for what is not known."""

    def test_every_kind_of_dimension(self) -> None:
        assert shape_text((2, "N", None)) == "(2, N, ?)"
        assert shape_text((3,)) == "(3,)"
        assert shape_text(()) == "()"
        assert shape_text(None) == "of any rank"
