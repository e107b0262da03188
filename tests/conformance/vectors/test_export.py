"""An export: what lies where, that it is the same every time, and tensors as text in it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.conformance.asking import message, same_bits
from tests.conformance.vectors.exports import exported, lines
from vinculum.conformance.cases.case import Case, Level
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.run.file import digest
from vinculum.conformance.vectors.export import FORMATS, export
from vinculum.conformance.vectors.records import (
    Index,
    Standing,
    array_of,
    case_of,
    name_of,
)
from vinculum.errors import AttributeValueError, ModelError
from vinculum.spec.element_types import INT4, INT16, REAL, ElementType

FEW = ("Div-14/*/zero divisors/*", "Div-6/float16/*", "Div-14/int8/*")


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


class TestEveryFormat:
    """The index, the cases and the schemas."""

    @pytest.mark.parametrize("form", FORMATS)
    def test_it_writes_the_same_bytes_again(self, form: str, tmp_path: Path) -> None:
        """Of a few cases, with all of which they share nothing but what is written of each."""
        export(tmp_path / "few", form, Level.QUICK, FEW[1:2])
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
        counted = [line.standing.value for line in lines(exported(form))]
        assert index.cases == {name: counted.count(name) for name in sorted(set(counted))}

    @pytest.mark.parametrize("form", FORMATS)
    def test_every_case_that_it_can_hold(self, form: str) -> None:
        def holds(one: Case) -> bool:
            spec = one.operation.spec
            if form == "testfloat":
                wide = one.element_type.name in ("float16", "bfloat16", "float", "double")
                return wide and spec.name != "Reciprocal" and one.expectation.quotient is not None
            return spec.dialect.value == "onnx" if form == "onnx" else form == "jsonl" or one.element_type is not REAL

        assert [line.id for line in lines(exported(form))] == [str(c.id) for c in cases(Level.QUICK) if holds(c)]


class TestLines:
    """A line is the case again, to the last bit."""

    def test_each(self) -> None:
        read = list(lines(exported("jsonl")))
        for line, own in zip(read, cases(Level.QUICK), strict=True):
            again = case_of(line, Level.QUICK)
            assert (line.name, line.clause) == (name_of(own), own.clause)
            assert (again.id, again.element_type) == (own.id, own.element_type)
            assert digest(again) == digest(own), line.id
            refused, unspecified = own.expectation.quotient is None, own.expectation.unspecified is not None
            assert (line.standing is Standing.REFUSED, line.standing is Standing.UNSPECIFIED) == (refused, unspecified)
        assert len({line.name for line in read}) == len(read)


class TestNumpyFiles:
    """A file for every tensor; what NumPy cannot name lies there as unsigned integers."""

    def test_each(self) -> None:
        folder = exported("npy") / "arrays"
        for line in lines(exported("npy")):
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
    """Where nothing is written."""

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


class TestNoTensor:
    """What is no tensor."""

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
    def test_each(self, text: str, element_type: ElementType, words: str) -> None:
        assert message(ModelError, lambda: array_of(text, (2,), element_type)) == words
