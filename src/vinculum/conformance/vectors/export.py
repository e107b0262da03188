"""The export of cases in every format; it is reproducible: the same command writes the same bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import file_digest
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from onnx import numpy_helper

from vinculum.conformance.cases.case import Advance, Case, Level
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.cases.operation import aligned
from vinculum.conformance.runtimes.models import onnx_model
from vinculum.conformance.runtimes.protocol import versions_of
from vinculum.conformance.vectors.conventions import convention_lines
from vinculum.conformance.vectors.records import (
    SCHEMA,
    AnswerLine,
    CaseLine,
    ConventionLine,
    File,
    Index,
    Standing,
    case_line,
    indented,
    name_of,
    schema_of,
    standing,
)
from vinculum.errors import AttributeValueError, ModelError
from vinculum.files import atomic_write
from vinculum.reference import elements
from vinculum.reference.exact_quotient import float_quotient
from vinculum.reference.rounding import decode, power_of_two
from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, FLOAT16, REAL, BinaryFormat, ElementType
from vinculum.spec.model import Dialect
from vinculum.text import listed

FUNCTIONS = {FLOAT16: "f16_div", BFLOAT16: "bf16_div", FLOAT: "f32_div", DOUBLE: "f64_div"}
"""The names of the files by element type; TestFloat itself has no function for bfloat16."""

INEXACT, UNDERFLOW, OVERFLOW, DIVIDE_BY_ZERO, INVALID = 1, 2, 4, 8, 16
"""The flags as SoftFloat encodes them."""


def lines(pairs: Iterable[tuple[int, int]], element_type: ElementType) -> Iterator[str]:
    """Yield a line for each pair: ``"3F800000 40400000 3EAAAAAB 01"``."""
    fmt = element_type.binary_format
    assert fmt is not None
    digits = element_type.bits // 4
    for a, b in pairs:
        quotient = float_quotient(a, b, fmt)
        yield f"{a:0{digits}X} {b:0{digits}X} {quotient:0{digits}X} {flags(a, b, fmt):02X}"


def flags(a_bits: int, b_bits: int, fmt: BinaryFormat) -> int:
    """Return the exceptions that a division raises under roundTiesToEven.

    Detecting tininess before or after rounding makes no difference: a quotient of p-bit significands is never so near
    below a power of two, within 2**-p / 2 of it, that rounding with full precision gives that power.

    - `a_bits`, `b_bits`: The encodings of dividend and divisor.
    - `fmt`: A format with infinities.
    """
    a, b = decode(a_bits, fmt), decode(b_bits, fmt)
    if a.is_nan or b.is_nan:
        return INVALID if _is_signaling(a_bits, fmt) or _is_signaling(b_bits, fmt) else 0
    if (a.is_infinite and b.is_infinite) or (a.is_zero and b.is_zero):
        return INVALID
    if a.is_infinite or b.is_infinite:
        return 0
    if b.is_zero:
        return DIVIDE_BY_ZERO
    exact = a.magnitude / b.magnitude
    rounded = decode(float_quotient(a_bits, b_bits, fmt), fmt)
    if rounded.is_infinite:
        return OVERFLOW | INEXACT
    if rounded.magnitude == exact:
        return 0
    return INEXACT | UNDERFLOW if exact < power_of_two(fmt.smallest_exponent) else INEXACT


def _is_signaling(bits: int, fmt: BinaryFormat) -> bool:
    quiet = 1 << (fmt.trailing_bits - 1)
    return decode(bits, fmt).is_nan and not bits & quiet


FORMATS = ("onnx", "jsonl", "testfloat", "npy")
INDEX, CASES, CONVENTIONS = "index.json", "cases.jsonl", "conventions.jsonl"

ROOMS = {Standing.EXACT: "node", Standing.UNSPECIFIED: "unspecified", Standing.REFUSED: "refused"}
"""The folder of each class of cases; all those in `node` can be run and compared."""

_TOLERANCE = b'{"atol": 0.0, "rtol": 0.0}\n'  # The default of ONNX's runner accepts relative errors of 0.001.

_SCHEMAS: dict[str, type[Struct]] = {
    "index": Index,
    "cases": CaseLine,
    "conventions": ConventionLine,
    "answers": AnswerLine,
}


def export(folder: Path, form: str, level: Level, only: Sequence[str] = (), *, advance: Advance | None = None) -> Index:
    """Write cases into a folder, and return its index.

    Every export holds ``index.json``, ``cases.jsonl``, their schemas, and the files of the format.

    - `folder`: A folder that is empty or does not exist.
    - `form`: ``"onnx"``: node tests of ONNX's operators, one per folder. ``"jsonl"``: the conventions of other
      specifications. ``"testfloat"``: the pairs of the cases that divide floats. ``"npy"``: a NumPy file for every
      tensor.
    - `only`: Glob patterns on the ids; all cases are written if there are no patterns.

    ModelError if the folder is not empty. AttributeValueError if a pattern matches no case that the format supports.
    OSError if the folder cannot be written; no partial export remains.
    """
    check_empty(folder)
    index = folder / INDEX
    with atomic_write(index, make_folder=True) as temporary:
        standings: Counter[str] = Counter()
        floats: list[Case] = []
        with (temporary / CASES).open("wb") as file:
            for count, case in enumerate(_chosen(level, form, only), 1):
                file.write(msgspec.json.encode(case_line(case)) + b"\n")
                standings[standing(case).value] += 1
                if form in _WRITERS:
                    _WRITERS[form](case, temporary)
                if form == "testfloat":
                    floats.append(case)
                if advance is not None:
                    advance(count, case.id)
        _write_more(form, floats, temporary)
        written = Index(
            schema=SCHEMA,
            format=form,
            level=level.value,
            only=tuple(only),
            versions=dict(versions_of("vinculum", "numpy", "ml_dtypes", "onnx")),
            cases=dict(sorted(standings.items())),
            files=tuple(_files(temporary)),
        )
        (temporary / INDEX).write_bytes(indented(written))
    return written


def check_empty(folder: Path) -> None:
    """Check that a folder is empty or does not exist.

    ModelError if it holds a file, or is not a folder.
    """
    if folder.exists() and not folder.is_dir():
        raise ModelError(f"{str(folder)!r} is not a folder; give an empty or a new one")
    if folder.is_dir() and any(folder.iterdir()):
        raise ModelError(f"the folder {str(folder)!r} is not empty; give an empty or a new one")


def _chosen(level: Level, form: str, only: Sequence[str]) -> Iterator[Case]:
    """Yield the cases that a format supports and a pattern matches; raise an error if a pattern matched none."""
    idle = set(only)
    for case in cases(level):
        matching = [pattern for pattern in only if case.id.matches(pattern)]
        if (matching or not only) and _holds(form, case):
            idle.difference_update(matching)
            yield case
    if idle:
        raise AttributeValueError(
            f"no case of this level that {form} can hold matches {listed([p for p in only if p in idle])}; "
            "vinculum conform --list prints the ids, and * stands for anything"
        )


def _holds(form: str, case: Case) -> bool:
    if form == "onnx":
        return case.operation.spec.dialect is Dialect.ONNX
    if form == "testfloat":
        two_floats = case.element_type in FUNCTIONS and len(case.operation.operands) == 2
        return two_floats and case.expectation.quotient is not None
    return form != "npy" or case.element_type is not REAL


def _write_more(form: str, floats: Sequence[Case], folder: Path) -> None:
    pairs: dict[ElementType, set[tuple[int, int]]] = {}
    for case in floats:
        a, b = (elements(np.ascontiguousarray(own), case.element_type) for own in aligned(case.operation))
        pairs.setdefault(case.element_type, set()).update(zip(a, b, strict=True))
    if form == "testfloat":
        for element_type, own in pairs.items():
            text = "".join(f"{line}\n" for line in lines(sorted(own), element_type))
            (folder / f"{FUNCTIONS[element_type]}.txt").write_bytes(text.encode())
    if form == "jsonl":
        rows = (msgspec.json.encode(line) + b"\n" for line in convention_lines())
        (folder / CONVENTIONS).write_bytes(b"".join(rows))
    schemas = folder / "schemas"
    schemas.mkdir()
    for name, record in _SCHEMAS.items():
        (schemas / f"{name}.json").write_bytes(schema_of(record))


def _files(folder: Path) -> Iterator[File]:
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        yield File(path.relative_to(folder).as_posix(), path.stat().st_size, digest)


def _write_folder(case: Case, folder: Path) -> None:
    """Write a case of an ONNX operator as a node test, into a folder of its own below the folder of its class."""
    own = folder / ROOMS[standing(case)] / name_of(case)
    data = own / "test_data_set_0"
    data.mkdir(parents=True)
    (own / "data.json").write_bytes(_TOLERANCE)
    (own / "model.onnx").write_bytes(onnx_model(case.operation).SerializeToString(deterministic=True))
    tensors = {f"input_{number}": given for number, given in enumerate(case.operation.inputs.items())}
    if standing(case) is Standing.EXACT and case.expectation.quotient is not None:
        tensors["output_0"] = case.operation.spec.outputs[0].name, case.expectation.quotient
    for file, (name, array) in tensors.items():
        (data / f"{file}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString(deterministic=True))


def _write_arrays(case: Case, folder: Path) -> None:
    """Write the tensors of a case: ``arrays/NAME/operand_0.npy`` and so on, and ``quotient.npy`` if there is one."""
    own = folder / "arrays" / name_of(case)
    own.mkdir(parents=True)
    tensors = {f"operand_{number}": array for number, array in enumerate(case.operation.operands)}
    if case.expectation.quotient is not None:
        tensors["quotient"] = case.expectation.quotient
    for name, array in tensors.items():
        np.save(own / f"{name}.npy", _storable(array), allow_pickle=False)


def _storable(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array, or the encodings of a type that NumPy lacks, as unsigned integers."""
    if array.dtype.isbuiltin == 1:
        return array
    bits = np.ascontiguousarray(array).reshape(array.shape).view(f"u{array.dtype.itemsize}")
    # The upper half of a byte carries no information in 4-bit types.
    return bits & np.uint8(15) if array.dtype.name in ("int4", "uint4") else bits


_WRITERS: dict[str, Callable[[Case, Path], None]] = {"onnx": _write_folder, "npy": _write_arrays}
