"""Exports: files, reproducibility, and tensors as text."""

from __future__ import annotations

import re
import unittest
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

import vinculum
from tests.conformance.asking import message, same_bits
from tests.conformance.planted.onnx_backend import Backend
from tests.conformance.vectors.exports import exported
from tests.conformance.vectors.exports import lines as case_lines
from vinculum.conformance.cases.case import Case, Level
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.run.file import digest
from vinculum.conformance.vectors.export import (
    DIVIDE_BY_ZERO,
    FORMATS,
    INEXACT,
    INVALID,
    OVERFLOW,
    UNDERFLOW,
    export,
    flags,
    lines,
)
from vinculum.conformance.vectors.records import CaseLine, Index, Standing, array_of, case_of, name_of
from vinculum.errors import AttributeValueError, ModelError
from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, FLOAT16, INT4, INT16, REAL, ElementType


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


class TestEveryFormat:
    """Every format has an index, cases and schemas."""

    @pytest.mark.parametrize("form", FORMATS)
    def test_it_writes_the_same_bytes_again(self, form: str, tmp_path: Path) -> None:
        """An export of a few cases has the same files and lines as an export of all."""
        export(tmp_path / "few", form, Level.QUICK, ["Div-6/float16/*"])
        few, all_of_them = tree(tmp_path / "few"), tree(exported(form))
        for name, content in few.items():
            if name == "cases.jsonl" or name.endswith("_div.txt"):
                assert set(content.splitlines()) <= set(all_of_them[name].splitlines())
            elif name != "index.json":
                assert content == all_of_them[name], name

    @pytest.mark.parametrize("form", FORMATS)
    def test_the_index_tells_of_every_file(self, form: str) -> None:
        files = tree(exported(form))
        index = msgspec.json.decode(files.pop("index.json"), type=Index)
        assert [file.path for file in index.files] == sorted(files)
        for file in index.files:
            content = files[file.path]
            assert (file.bytes, file.sha256) == (len(content), sha256(content).hexdigest())
        assert (index.format, index.level, index.only) == (form, "quick", ())
        assert set(index.versions) == {"vinculum", "numpy", "ml_dtypes", "onnx"}
        counted = [line.standing.value for line in case_lines(exported(form))]
        assert index.cases == {name: counted.count(name) for name in sorted(set(counted))}

    @pytest.mark.parametrize("form", FORMATS)
    def test_every_case_that_it_can_hold(self, form: str) -> None:
        def holds(one: Case) -> bool:
            spec = one.operation.spec
            if form == "testfloat":
                wide = one.element_type.name in ("float16", "bfloat16", "float", "double")
                return wide and spec.name != "Reciprocal" and one.expectation.quotient is not None
            return spec.dialect.value == "onnx" if form == "onnx" else form == "jsonl" or one.element_type is not REAL

        assert [line.id for line in case_lines(exported(form))] == [str(c.id) for c in cases(Level.QUICK) if holds(c)]


def test_every_line_is_its_case_again() -> None:
    """Reading a line gives the same case."""
    read = list(case_lines(exported("jsonl")))
    for line, own in zip(read, cases(Level.QUICK), strict=True):
        again = case_of(line, Level.QUICK)
        assert (line.name, line.clause) == (name_of(own), own.clause)
        assert (again.id, again.element_type) == (own.id, own.element_type)
        assert digest(again) == digest(own), line.id
        refused, unspecified = own.expectation.quotient is None, own.expectation.unspecified is not None
        assert (line.standing is Standing.REFUSED, line.standing is Standing.UNSPECIFIED) == (refused, unspecified)
    assert len({line.name for line in read}) == len(read)
    assert all(re.fullmatch("test(_[a-z0-9]+)+_[0-9a-f]{12}", line.name) for line in read)


def test_every_tensor_is_a_numpy_file() -> None:
    """There is a file for every tensor; types that NumPy lacks are written as unsigned integers."""
    folder = exported("npy") / "arrays"
    for line in case_lines(exported("npy")):
        files = sorted(path.name for path in (folder / line.name).iterdir())
        operands = [f"operand_{number}.npy" for number in range(len(line.operands))]
        assert files == [*operands, *(["quotient.npy"] if line.quotient else [])]
        for name, tensor, array in zip(
            operands, line.operands, case_of(line, Level.QUICK).operation.operands, strict=True
        ):
            read = np.load(folder / line.name / name, allow_pickle=False)
            if tensor.type in ("int4", "uint4"):
                assert np.array_equal(read, array.view(np.uint8) & 15)
            else:
                assert same_bits(read, array if array.dtype.isbuiltin == 1 else array.view(read.dtype))


class TestRefused:
    """If an export is refused, nothing is written."""

    def test_a_folder_that_is_not_empty(self, tmp_path: Path) -> None:
        (tmp_path / "mine").write_text("")
        line = message(ModelError, lambda: export(tmp_path, "npy", Level.QUICK))
        assert line == f"the folder {str(tmp_path)!r} is not empty; give an empty or a new one"
        assert [path.name for path in tmp_path.iterdir()] == ["mine"]

    @pytest.mark.parametrize(
        ("form", "pattern"), [("onnx", "Divide-1*"), ("testfloat", "*/int8/*"), ("jsonl", "Div-15/*")]
    )
    def test_a_pattern_without_a_case(self, form: str, pattern: str, tmp_path: Path) -> None:
        line = message(
            AttributeValueError, lambda: export(tmp_path / "new", form, Level.QUICK, ["Div-14/float/*", pattern])
        )
        assert line.startswith(f"no case of this level that {form} can hold matches {pattern!r};")
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "element_type", "words"),
    [
        ("0001 0002 0003", INT16, "3 elements are given for the shape (2,), which has 2"),
        ("0001 002", INT16, "an element is '002'; one of int16 has 4 hexadecimal digits"),
        ("0001 00g2", INT16, "an element of int16 has another digit than 0 to 9 and a to f"),
        ("1 g", INT4, "an element of int4 has another digit than 0 to 9 and a to f"),
        ("1 1/0", REAL, "an element is '1/0'; a real is written as -7 or 5/3"),
        ("1 1/00", REAL, "an element is '1/00'; a real is written as -7 or 5/3"),
        ("1 1e9", REAL, "an element is '1e9'; a real is written as -7 or 5/3"),
    ],
)
def test_what_is_no_tensor(text: str, element_type: ElementType, words: str) -> None:
    """What is no tensor."""
    assert message(ModelError, lambda: array_of(text, (2,), element_type)) == words


Array = NDArray[Any]


def tensor(path: Path) -> tuple[str, Array]:
    proto = TensorProto.FromString(path.read_bytes())
    return proto.name, numpy_helper.to_array(proto)


def runnable() -> Iterator[tuple[CaseLine, Path, dict[str, Array], Array]]:
    """Yield every case of `node`: its line, its model, what it is given, and the quotient that it must give."""
    for line in case_lines(exported("onnx")):
        if line.standing is Standing.EXACT:
            folder = exported("onnx") / "node" / line.name
            data = folder / "test_data_set_0"
            inputs = dict(tensor(data / f"input_{i}.pb") for i in range(len(list(data.glob("input_*.pb")))))
            yield line, folder / "model.onnx", inputs, tensor(data / "output_0.pb")[1]


def agrees(given: Array, expected: Array) -> bool:
    """Tell whether two arrays have the same type, shape and bits, except for NaN."""
    if (given.dtype, given.shape) != (expected.dtype, expected.shape):
        return False
    kind = f"u{given.dtype.itemsize}"
    same = np.ascontiguousarray(given).view(kind) == np.ascontiguousarray(expected).view(kind)
    return bool(np.all(same.reshape(given.shape) | ((given != given) & (expected != expected))))


class Reciprocal(Backend):
    """It multiplies floats by the reciprocal."""

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> Any:
        return super().prepare(model, device, divider="multiplies by the reciprocal")


def test_our_engine_gives_the_quotients() -> None:
    given = ((line.id, vinculum.load(model).run(inputs).values(), right) for line, model, inputs, right in runnable())
    assert [id for id, (quotient,), right in given if not agrees(quotient, right)] == []


def test_only_what_can_be_compared_has_a_quotient() -> None:
    quotients, folder = exported("onnx").rglob("output_0.pb"), exported("onnx") / "unspecified"
    assert {path.relative_to(exported("onnx")).parts[0] for path in quotients} == {"node"}
    assert any(folder.rglob("input_0.pb"))


class TestRunner:
    """ONNX's own runner of backends runs the folders, with their tolerance of 0.

    It makes its node tests in memory, so the folders are given to it as tests of kind "simple".
    """

    @staticmethod
    def run(backend: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[unittest.TestResult, int]:
        """Return the result, and how many tests ran and were not skipped."""
        from onnx.backend.test import runner

        (folder / "simple").symlink_to(exported("onnx") / "node")

        def ours(data_dir: str = "", kind: str | None = None) -> Any:
            return load_model_tests(str(folder), kind) if kind == "simple" else []

        monkeypatch.setattr(runner, "load_model_tests", ours)
        result = unittest.TestResult()
        suite = Runner(backend, __name__).include("_cpu$").test_suite
        tests = suite.countTestCases()  # Which a suite forgets as it runs; results of Python 3.12.1 count none skipped.
        suite.run(result)
        return result, tests - len(result.skipped)

    def test_one_ulp_fails(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A backend that multiplies by the reciprocal fails, as the tolerance is 0."""
        result, ran = self.run(Reciprocal, tmp_path, monkeypatch)
        assert ran == sum(line.standing is Standing.EXACT for line in case_lines(exported("onnx")))
        assert result.errors == []
        failed = {re.sub("_[0-9a-f]{12}_.*", "", str(test)) for test, _ in result.failures}
        assert "test_div_14_float" in failed
        assert all(re.fullmatch(r"test_div_\d+_float", name) for name in failed)


_TOLD = {"divide by zero": DIVIDE_BY_ZERO, "overflow": OVERFLOW, "underflow": UNDERFLOW, "invalid value": INVALID}


class TestFlags:
    """The flags are those of IEEE 754. TestFloat's verifier has accepted the exported files."""

    @pytest.mark.parametrize(
        "line",
        [
            "3F800000 40000000 3F000000 00",  # Exact.
            "3F800000 40400000 3EAAAAAB 01",
            "7FC00001 3F800000 7FC00000 00",
            "7F800001 3F800000 7FC00000 10",  # A signaling NaN.
            "7F7FFFFF 3F000000 7F800000 05",
            "00000001 40000000 00000000 03",
            "00000002 40000000 00000001 00",  # A subnormal number that is exact.
            "00FFFFFF 40000000 00800000 03",  # As near below the smallest normal number as can be, and rounded up.
        ],
    )
    def test_lines_by_hand(self, line: str) -> None:
        a, b, _, _ = (int(part, 16) for part in line.split())
        assert list(lines([(a, b)], FLOAT)) == [line]

    @pytest.mark.parametrize("element_type", [FLOAT, DOUBLE], ids=str)
    def test_the_processor_raises_the_same(self, element_type: ElementType) -> None:
        """NumPy reports all flags except inexact."""
        fmt = element_type.binary_format
        assert fmt is not None
        generator = np.random.default_rng(14)
        kind = np.dtype(f"u{element_type.bits // 8}")
        numbers = generator.integers(0, np.iinfo(kind).max, (600, 2), kind, endpoint=True)
        ends = [0, 1, fmt.largest, fmt.largest + 1, 1 << fmt.trailing_bits, (1 << fmt.trailing_bits) - 1]
        pairs = [*numbers.tolist(), *([a, b] for a in ends for b in ends)]
        seen = 0
        for a, b in pairs:
            told = _raised(np.array([a, b], kind).view(element_type.numpy))
            assert flags(a, b, fmt) & ~INEXACT == told, (hex(a), hex(b))
            seen |= told
        assert seen == sum(_TOLD.values())


@pytest.mark.parametrize(("element_type", "digits"), [(FLOAT16, 4), (BFLOAT16, 4), (FLOAT, 8), (DOUBLE, 16)], ids=str)
def test_files_of_testfloat(element_type: ElementType, digits: int) -> None:
    """There is a file for each element type, with every pair of the suite once."""
    name = {FLOAT16: "f16", BFLOAT16: "bf16", FLOAT: "f32", DOUBLE: "f64"}[element_type]
    rows = [line.split(" ") for line in (exported("testfloat") / f"{name}_div.txt").read_text().splitlines()]
    assert len(rows) > 1000
    assert {tuple(map(len, row)) for row in rows} == {(digits, digits, digits, 2)}
    assert len({(a, b) for a, b, _, _ in rows}) == len(rows)
    assert rows == sorted(rows)


def _raised(pair: Any) -> int:
    """Return the flags that the processor raises for a division."""
    raised = 0

    def call(words: str, flag: int) -> None:
        nonlocal raised
        raised |= _TOLD[words]

    with np.errstate(all="call", call=call):
        np.divide(pair[:1], pair[1:])
    return raised
