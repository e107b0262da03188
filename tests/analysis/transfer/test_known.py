"""What every operator is known to give of chosen operands is what `known.txt` records: neither more nor less.

That it is right is tested elsewhere; here each gain and each loss of precision shows as a changed line. Record anew with
``python -m tests.analysis.transfer.test_known``, and look at what has changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.analysis.contrib import TRIED
from tests.analysis.hazardous import parsed
from tests.analysis.operators import BOTH, TRIALS, Trial, floats, ints, number
from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, constant, tensor
from vinculum.analysis.domain.dimensions import Dimension, Shape, Size, bounds, unknown_size, variable
from vinculum.analysis.domain.facts import Fact, Kind
from vinculum.analysis.domain.formats import FORMATS, is_discrete, type_range
from vinculum.analysis.domain.numbering import Numbering
from vinculum.analysis.interpreter import Interpreter
from vinculum.analysis.transfer.call import NOTHING, Call, Operand, named_type
from vinculum.analysis.transfer.errors import Computed, NoBoundError
from vinculum.analysis.transfer.operators import TABLE
from vinculum.analysis.transfer.operators.contrib import MICROSOFT

RECORDED = Path(__file__).parent / "known.txt"
GRAPHS = Path(__file__).parent / "graphs.txt"
_MOST_LISTED = 3
"""Ends of a box that are written out; of more, the least and the largest, and a checksum of all."""
_OFF = 2.0**-8
"""What each operand may be off by, where errors are bounded."""

Profile = Callable[[str, Shape, int], AbstractTensor]


def _of(element_type: str, shape: Shape | None, low: Any, high: Any, **more: Any) -> AbstractTensor:
    """Return numbers between two, whole ones and within its type if it has no others."""
    if is_discrete(element_type):
        least, most = type_range(element_type)
        low, high = np.clip(np.ceil(low), least, most), np.clip(np.ceil(high), least, most)
        more |= {"may_nan": False, "integral": True}
    return tensor(element_type, shape, low, high, **more)


def _element_by_element(element_type: str, shape: Shape, place: int) -> AbstractTensor:
    sizes = tuple(int(bounds(size)[0]) for size in shape)
    numbers = np.arange(np.prod(sizes, dtype=int)).reshape(sizes)
    low = (numbers * 5 + 3 * place) % 8 / 2 - 2
    return _of(element_type, shape, low, low + numbers * 3 % 4 / 4)


def _in_rows(element_type: str, shape: Shape, place: int) -> AbstractTensor:
    last = len(shape) - 1
    facts = (
        Fact(Kind.SOME_AT_LEAST, last, 0.75),
        Fact(Kind.SUM, last, 1.0, 1.0),
        Fact(Kind.SOME_AT_MOST, 0, high=0.25),
    )
    more: dict[str, Any] = {"bounds_from": BoundsFrom.DECLARED, "may_minus_zero": False}
    return _of(element_type, shape, 0, 1, facts=facts if shape else (), **more)


def _many(element_type: str, shape: Shape, place: int) -> AbstractTensor:
    """Whole numbers of which not all are in the type."""
    most = 4 / FORMATS[element_type].u if element_type in FORMATS else type_range(element_type)[1]
    return _of(element_type, shape, -1, most, integral=True)


def _huge(element_type: str, shape: Shape, place: int) -> AbstractTensor:
    most = FORMATS[element_type].max if element_type in FORMATS else type_range(element_type)[1]
    return _of(element_type, shape, -most, most)


def _tiny(element_type: str, shape: Shape, place: int) -> AbstractTensor:
    most = 4 * FORMATS[element_type].smallest_subnormal if element_type in FORMATS else 0
    return _of(element_type, shape, 0, most, may_plus_zero=False)


def _held(element_type: str, shape: Shape, place: int) -> AbstractTensor:
    known = _element_by_element(element_type, shape, place)
    values = np.broadcast_to(known.high, [int(bounds(size)[0]) for size in shape])
    return constant(values.astype(getattr(ml_dtypes, element_type, element_type)))


def _open_sizes(element_type: str, shape: Shape, place: int) -> AbstractTensor:
    sizes = [variable(f"N{size}", 1, 9) if size != 1 else 1 for size in shape]
    return _of(element_type, (*sizes[:-1], unknown_size(0, 4)) if sizes else (), -1, 2)


PROFILES: Mapping[str, Profile] = {
    "each": _element_by_element,
    "positive": lambda element_type, shape, place: _of(element_type, shape, 0.5, 3),
    "in rows": _in_rows,
    "negative": lambda element_type, shape, place: _of(element_type, shape, -3.0, -0.5, may_nan=True),
    "whole": lambda element_type, shape, place: _of(element_type, shape, -3, 5, integral=True),
    "many": _many,
    "huge": _huge,
    "infinite": lambda element_type, shape, place: _of(element_type, shape, 1, np.inf, bounds_from=BoundsFrom.TYPE),
    "tiny": _tiny,
    "held": _held,
    "open sizes": _open_sizes,
    "no rank": lambda element_type, shape, place: _of(element_type, None, -2, 2),
    "anything": lambda element_type, shape, place: anything(element_type, shape),
}
"""What may be known of an operand, by its element type, its shape and its place; ends are short binary fractions."""
_APART = 5
"""How many profiles later the next operand's stands, where they differ."""


def _operands(trial: Trial, element_type: str, profiles: Sequence[Profile], given: str) -> list[Operand]:
    """Return what is known of the operands: of each that is open by a profile, of others what is `given`."""
    found: list[Operand] = []
    for place, operand in enumerate(trial.operands):
        profile = profiles[place % len(profiles)]
        if operand is None:
            found.append(None)
        elif isinstance(operand, tuple) and len(operand) == 4 and isinstance(operand[3], tuple):
            low, high, dtype, shape = operand
            found.append(_of(np.dtype(dtype).name, shape, low, high))
        elif isinstance(operand, tuple):
            found.append(profile(element_type, operand, place))
        else:
            found.append(_given(np.asarray(operand), element_type, "as it is" if given == "first" and place else given))
    return found


def _given(array: NDArray[Any], element_type: str, given: str) -> AbstractTensor:
    if array.dtype == np.float32 and element_type in FORMATS:
        array = array.astype(getattr(ml_dtypes, element_type, element_type))
    if given == "as it is":
        return constant(array)
    if given in ("first", "in letters") and array.dtype.kind == "i" and array.ndim == 1 and array.size:
        entries = tuple(variable("E", 2, 7) if value > 1 else int(value) for value in array.tolist())
        low, high = zip(*map(bounds, entries), strict=True)
        return tensor(array.dtype.name, array.shape, low, high, integral=True).known(entries=entries)
    return anything(array.dtype.name, array.shape)


def _cases(trial: Trial, before: int) -> Iterator[tuple[str, list[Operand]]]:
    """Yield what is known of a trial's operands, in words and as it is.

    - `before`: how many trials of its operator there are before it: after two only every other profile is taken.
    """
    types = [*trial.types, *("float16" if name == "float32" else name for name in trial.types)]
    profiles = list(PROFILES.values())
    opened = sum(isinstance(operand, tuple) for operand in trial.operands)
    chosen = list(enumerate(PROFILES))[before % 2 :: 2] if before > 1 else list(enumerate(PROFILES))
    for place, name in chosen if opened else chosen[:1]:
        element_type = types[(place + place // len(types)) % len(types)]
        yield name, _operands(trial, element_type, [profiles[place]], "as it is")
        if opened > 1 and place % 4 == 0:
            turned = [profiles[(place + _APART * k) % len(profiles)] for k in range(len(trial.operands))]
            yield f"{name} and others", _operands(trial, types[0], turned, "as it is")
    if any(isinstance(operand, np.ndarray | np.generic) for operand in trial.operands):
        for given in ("first", "in letters", "not known"):
            yield given, _operands(trial, types[0], profiles[:1], given)


def _lines_of(trial: Trial, before: int) -> Iterator[str]:
    """Yield what is known of the results of a trial, cases of which the same is known together."""
    operator, said = TABLE[trial.domain, trial.operator], dict[str, list[str]]()
    for words, operands in _cases(trial, before):
        said.setdefault(_told(trial, operator, operands), []).append(words)
    for told, words in said.items():
        yield f"{', '.join(words)}: {told}"


def _told(trial: Trial, operator: Any, operands: Sequence[Operand]) -> str:
    values = Numbering()
    numbered = [None if operand is None else values.numbered(operand) for operand in operands]
    call = Call(trial.operator, trial.opset, dict(trial.attributes), (NOTHING,) * trial.results, values)
    try:
        result = operator.transfer(call, *numbered)
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError):
        return "refused"  # The interpreter takes such a node for one that may give anything.
    results = [result] if isinstance(result, AbstractTensor) else list(result)
    told = "; ".join(map(described, results))
    first = numbered[0] if numbered else None
    if operator.hidden is not None and first is not None and first.form is not None:
        told += _hidden(operator.hidden(call, *numbered))
    if operator.error is not None and all(o is not None and not o.may_infinite for o in numbered):
        told += _error(operator.error, call, numbered, results[0])
    return told


def _hidden(found: Any) -> str:
    if found is None:
        return ""
    about = f"; divides by {described(found.divisor)} of {found.operand}"
    return about + " where it is 0" * found.of_zero + " guarded" * bool(found.guarded_by)


def _error(rule: Any, call: Call, operands: Sequence[Any], result: AbstractTensor) -> str:
    found = []
    for off, inside in ((0.0, True), (_OFF, True), (_OFF, False)):
        given = tuple(np.asarray(off if operand.constant is None else 0.0) for operand in operands)
        try:
            error = rule(Computed(call, tuple(operands), given, (inside,) * len(operands), result))
            found.append(_number(float(error.max())))
        except NoBoundError as reason:
            found.append(str(reason).replace(f"{call.operator} ", ""))
        except (AssertionError, IndexError, ValueError):
            found.append("refused")
    return "; off by " + ", ".join(dict.fromkeys(found))


def _number(value: float) -> str:
    """Return three digits of a number, and whether it is a little more or less."""
    text = f"{value + 0.0:.3g}"
    return text + ("+" if value > float(text) else "-" if value < float(text) else "")


def _ends(low: NDArray[Any], high: NDArray[Any]) -> str:
    """Return the ends of a box; of many the least, the largest, and a checksum of all."""
    every = [[_number(float(value)) for value in ends.reshape(-1)] for ends in (low, high)]
    if all(len(set(ends)) == 1 for ends in every):
        return f"{every[0][0]}..{every[1][0]}"
    if low.size <= _MOST_LISTED:
        return "..".join(f"({','.join(ends)})" for ends in every)
    return f"{_number(float(low.min()))}..{_number(float(high.max()))}#{crc32(str(every).encode()) % 9973}"


def _size(size: Dimension | None) -> str:
    if not isinstance(size, Size):
        return str(size)
    text = re.sub(r"\?\d+", "?", str(size)).replace(" ", "")
    return text if "?" not in text else "?{:g}-{:g}".format(*bounds(size))


def described(known: AbstractTensor) -> str:
    """Return all that is known of a tensor, in a line."""
    low, high, mag = known.low, known.high, known.mag
    parts = [known.element_type.replace("float", "f").replace("int", "i") or "?"]
    parts[0] += "" if known.shape is None else f"[{','.join(map(_size, known.shape))}]"
    parts.append(_ends(low, high))
    if low.size > 1:
        parts.append("x".join(map(str, low.shape)))
    if (mag != np.maximum(np.maximum(low, -high), 0)).any():
        parts.append(f"|{_ends(mag, mag)}|")
    zeros = "+" * known.may_plus_zero + "-" * known.may_minus_zero
    parts += [zeros + "0"] * bool(zeros) + ["NaN"] * known.may_nan
    parts += ["whole"] * (known.integral and known.form is not None) + ["held"] * (known.constant is not None)
    parts += [known.bounds_from.name.lower()] * (known.bounds_from is not BoundsFrom.MODEL)
    parts += [
        f"{f.kind.value}{_number(f.low)}..{_number(f.high)}@{f.axis}{'!' * f.fills}".replace("inf", "~")
        for f in known.facts
    ]
    if known.affine is not None:
        terms = ",".join(_number(coefficient) for _, coefficient in known.affine.terms)
        parts.append(f"={terms}+{_number(known.affine.low)}..{_number(known.affine.high)}")
    if known.entries is not None:
        parts.append(f"({','.join(map(_size, known.entries))})")
    return " ".join(parts)


def _title(trial: Trial) -> str:
    parts = [f"{key}={value}" for key, value in trial.attributes.items()]
    for operand in trial.operands:
        array = operand if isinstance(operand, np.ndarray | np.generic) else None
        if array is not None and array.size > 2 * _MOST_LISTED:
            parts.append(f"{array.dtype}{list(array.shape)}")
        else:
            parts.append(str(operand if array is None else array.tolist()))
    return re.sub(r"<class 'numpy.(\w+)'>", r"\1", f"- {' '.join(parts)}".replace(", ", ","))


_U8 = np.dtype("uint8")
_QUANTISED = (0, 255, _U8, (1, 2, 5))
_SCALED = (number(0.1), np.array(3, np.uint8))
_LABELS = (0, 2, np.int64, (2,))
MORE = (
    Trial("Bernoulli"),
    Trial("Bernoulli", attributes={"dtype": 7}),
    Trial("BitCast", attributes={"to": 6}),
    *(Trial("BitShift", ((2, 3), (3,)), {"direction": way}, types=("uint8", "uint32")) for way in ("LEFT", "RIGHT")),
    *(Trial(name, (ints(10)[0],)) for name in ("BlackmanWindow", "HammingWindow", "HannWindow")),
    Trial("HannWindow", (ints(10)[0],), {"output_datatype": 11}),
    Trial("BatchNormalization", ((2, 3, 4), *[(3,)] * 4), {"training_mode": 1}, results=3),
    Trial("BatchNormalization", ((2, 3, 4), *[(3,)] * 4), {"epsilon": 0.5}),
    Trial("BatchNormalization", ((2, 3, 4), *[(3,)] * 4), opset=6),
    Trial("CastLike", ((2, 3), ints(1))),
    Trial("Col2Im", ((1, 4, 4), ints(3, 3), ints(2, 2))),
    *(Trial(name, (ints(5, 1, 7), ints(2, 1, 4)), types=("int64",)) for name in ("Add", "Sub", "Mul", "Div", "Mod")),
    *(Trial(f"Reduce{name}", (ints(5, 1, 7), ints(0))) for name in ("Sum", "Prod", "Max", "Min")),
    *(Trial(name, (ints(5, 1, 7), ints(0))) for name in ("Squeeze", "Unsqueeze", "Gather")),
    *(Trial("Gather", (ints(5, 1, 7), index)) for index in (ints(2)[0], np.array([[2, 1]]))),
    Trial("Slice", (ints(5, 1, 7), ints(1), ints(9))),
    Trial("Concat", (ints(5, 1, 7), ints(3)), {"axis": 0}),
    Trial("Reshape", (ints(5, 1, 7, 3), ints(2, 2))),
    Trial("Cast", (ints(5, 1, 7),), {"to": 6}),
    Trial("Pow", (ints(5, 1, 7), ints(2)[0])),
    *(Trial(name, ((2, 3),)) for name in ("Max", "Mean", "Min", "Sum")),
    Trial("Concat", ((3,), (2,)), {"axis": 0}, types=BOTH),
    Trial("Concat", (ints(2, 3), (2,)), {"axis": 0}, types=("int64",)),
    Trial("ConcatFromSequence", attributes={"axis": 0}),
    Trial("ConstantOfShape", (ints(2, 3),)),
    Trial("ConstantOfShape", (ints(2, 3),), {"value": ints(7)}),
    Trial("ConvInteger", ((1, 2, 5), (3, 2, 2)), types=("uint8",)),
    Trial("Conv", ((1, 4, 5, 6), (2, 2, 3, 3)), {"group": 2, "strides": [2, 1], "dilations": [1, 2], "auto_pad": "SAME_UPPER"}),
    Trial("ConvTranspose", ((1, 2, 5), (2, 3, 3), (6,)), {"group": 2}),
    *(Trial("CumProd", ((2, 3), ints(1)[0]), attributes, opset=26) for attributes in ({}, {"exclusive": 1})),
    Trial("DFT", ((1, 4, 2),)),
    Trial("DeformConv", ((1, 1, 3, 3), (1, 1, 2, 2), (1, 8, 2, 2))),
    Trial("DequantizeLinear", ((2, 3), (3,)), {"output_dtype": 10}, types=("int8",), opset=23),
    Trial("Det", ((2, 3, 3),)),
    Trial("Dropout", ((2, 3), number(0.5), np.array(True)), results=2),
    Trial("Dropout", opset=6, results=2),
    Trial("EyeLike", ((3, 3),), {"dtype": 7, "k": 1}),
    Trial("Gather", ((4,), ints(3, 0)), {"axis": 0}, types=BOTH),
    Trial("Gather", ((4, 5), (1, 3, np.int64, (2, 2))), {"axis": 0}),
    Trial("Gather", ((2, 3), (-2, -1, np.int64, ())), {"axis": 1}),
    Trial("Gather", ((2, 3), ints(0, 1, 2)), {"axis": 1}),
    Trial("GatherND", ((2, 3), np.array([[[0, 0], [0, 1], [0, 2]]], np.int64))),
    Trial("GatherND", ((2, 3), np.array([[0], [2]], np.int64)), {"batch_dims": 1}),
    Trial("Gemm", ((2, 3), (3, 4)), {"alpha": 0.0}),
    *(Trial("GridSample", ((1, 2, 4, 4), (1, 3, 3, 2)), {"mode": mode}, opset=20) for mode in ("linear", "cubic")),
    Trial("LRN", ((1, 4, 3, 3),), {"size": 3, "alpha": 0.5, "beta": 0.0}),
    Trial("LRN", ((1, 4, 3, 3),), {"size": 3, "alpha": -0.5, "bias": 4.0}),
    Trial("LSTM", ((2, 1, 3), (1, 8, 3), (1, 8, 2)), {"hidden_size": 2}, results=3),
    Trial("LSTM", ((2, 1, 3), (1, 8, 3), (1, 8, 2)), {"activations": ["Relu", "Tanh", "Tanh"]}, results=3),
    Trial("LpPool", ((1, 2, 6),), {"kernel_shape": [3], "p": 3, "ceil_mode": 1}),
    Trial("MatMulInteger", ((2, 3), (3, 4)), types=("uint8",)),
    Trial("MaxPool", ((1, 2, 6),), {"kernel_shape": [3], "auto_pad": "VALID"}, results=2),
    Trial("MaxRoiPool", ((1, 2, 6, 6), (2, 5))),
    Trial("MaxUnpool", ((1, 1, 2, 2), (0, 9, np.int64, (1, 1, 2, 2)))),
    Trial("MelWeightMatrix", (ints(8)[0], ints(16)[0], ints(8000)[0], number(0), number(4000))),
    Trial("Multinomial", attributes={"sample_size": 4}),
    Trial("Multinomial", attributes={"dtype": 7}),
    *(
        Trial(name, ((2, 3), _LABELS, *more), attributes, results=1)
        for name in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
        for more, attributes in (([], {}), ([(3,)], {"ignore_index": 1}), ([(3,)], {"reduction": "sum"}))
    ),
    Trial("NonMaxSuppression", ((1, 5, 4), (1, 2, 5))),
    Trial("OneHot", ((0, 2, np.int64, (2, 2)), ints(3), floats([0, 1])), {"axis": 0}),
    Trial("OneHot", ((0, 3, np.int64, (2, 2)), ints(3), floats([0, 1]))),
    *(Trial(f"Optional{name}") for name in ("", "GetElement", "HasElement")),
    Trial("Pad", ((2, 3), ints(1, 2), None, ints(1))),
    Trial("Pow", ((2, 3), (2, 3)), types=("int32",)),
    Trial("Pow", ((2, 3), number(0.3))),
    Trial("QLinearConv", (_QUANTISED, *_SCALED, (0, 255, _U8, (3, 2, 2)), *_SCALED, *_SCALED)),
    *(Trial("Range", (number(a), number(b), number(c))) for a, b, c in ((1, 7, 2), (0, 1, 0.25), (5, 0, -1))),
    Trial("Range", ((), (), number(1)), types=BOTH),
    Trial("Range", ((), (), ())),
    Trial("Range", (ints(2)[0], ints(7)[0], ints(2)[0]), types=("int64",)),
    Trial("ReduceMean", ((2, 0, 3), ints(1))),
    Trial("ReduceSum", ((4,), ints(0)), {"keepdims": 0}, types=BOTH),
    Trial("ReduceProd", ((4,), ints(0)), {"keepdims": 0}, types=BOTH),
    Trial("ReduceMax", ((2, 3), ints()), {"noop_with_empty_axes": 1}),
    Trial("Resize", ((1, 1, 4, 4), None, None, ints(1, 1, 6, 2)), {"mode": "linear"}),
    Trial("Resize", ((1, 1, 4, 4), None, None, ints(1, 1, 6, 2)), {"keep_aspect_ratio_policy": "not_larger"}),
    Trial("Resize", ((1, 1, 4, 4), (8,), floats([1, 1, 2, 2])),
          {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 9.0}),
    Trial("Resize", ((1, 1, 4, 4), None, floats([1, 1, 2, 2])), {"mode": "cubic", "exclude_outside": 1}),
    Trial("RoiAlign", ((1, 2, 6, 6), (2, 4), (0, 0, np.int64, (2,)))),
    Trial("RotaryEmbedding", ((1, 2, 3, 4), (5, 2), (5, 2), (0, 4, np.int64, (1, 3))), opset=23),
    *(Trial("STFT", ((1, 16, 1), ints(4)[0])) for _ in range(1)),
    Trial("Scatter", ((2, 3), np.array([[0, 1, 1]], np.int64), (1, 3))),
    Trial("ScatterND", ((2, 3), np.array([[0, 1], [1, 1]], np.int64), (2,))),
    Trial("ScatterND", ((4, 3), np.array([[0], [2]], np.int64), (2, 3)), {"reduction": "mul"}),
    *(Trial(f"Sequence{name}", operands) for name, operands in (
        ("At", ((2, 3), ints(0)[0])), ("Construct", ((2, 3), (2, 3))), ("Erase", ((2, 3),)), ("Insert", ((2, 3), (2, 3))),
        ("Length", ((2, 3),)),
    )),
    Trial("SequenceEmpty", (), {"dtype": 7}),
    Trial("SplitToSequence", ((4, 3),), {"axis": 1, "keepdims": 0}),
    Trial("SplitToSequence", ((4, 3), ints(2, 2))),
    Trial("Shape", ((2, 3, 4),), {"start": 1, "end": -1}),
    Trial("Slice", ((6,), ints(1), ints(-1)), types=BOTH),
    Trial("Split", ((5, 2),), results=2),
    Trial("Squeeze", ((2, 1, 3),)),
    Trial("TensorScatter", ((1, 4, 3), (1, 2, 3)), opset=24),
    Trial("Tile", ((2, 3), ints(2))),
    Trial("Trilu", ((3, 3), ints(1)[0])),
    Trial("Upsample", ((1, 1, 2, 2), floats([1, 1, 2, 2])), opset=9),
    Trial("FusedMatMul", ((2, 3), (3, 4)), {"alpha": 0.5}, domain=MICROSOFT),
    Trial("QLinearConv", (_QUANTISED, *_SCALED, (0, 255, _U8, (3, 2, 2)), *_SCALED, *_SCALED), domain=MICROSOFT),
    Trial("QLinearReduceMean", (_QUANTISED, *_SCALED, *_SCALED), {"axes": [1]}, domain=MICROSOFT),
)  # fmt: skip
"""What ONNX's reference evaluator does not compute, or has no need to."""


def _trials() -> dict[str, list[Trial]]:
    found: dict[str, list[Trial]] = {}
    for trial in (*TRIALS, *MORE, *TRIED):
        found.setdefault(f"{trial.domain}.{trial.operator}".lstrip("."), []).append(trial)
    return found


def _section(name: str, trials: Sequence[Trial]) -> list[str]:
    operator = TABLE[trials[0].domain, trials[0].operator]
    lines = [" ".join([f"# {name}", *["commutative"] * operator.commutative, *["impure"] * (not operator.pure)])]
    with np.errstate(all="ignore"):
        for before, trial in enumerate(trials):
            said = [line for line in _lines_of(trial, before) if line not in lines]  # Once for each operator.
            lines += [_title(trial), *said]
    return lines


def _recorded() -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            section = sections.setdefault(line.split()[1], [])
        section.append(line)
    return sections


TRIALS_OF = _trials()


@pytest.mark.parametrize("name", sorted(TRIALS_OF))
def test_as_much_is_known_as_is_recorded(name: str) -> None:
    assert _section(name, TRIALS_OF[name]) == _recorded()[name]


def test_every_operator_is_recorded() -> None:
    assert set(_recorded()) == set(TRIALS_OF) == {f"{domain}.{name}".lstrip(".") for domain, name in TABLE}


_INPUTS = """float[2, 3] x, float[2, 3] z, float[2, 1] w, float[3] v, float p, float[1, 2, 4, 4] i, int64[3] whole,
    bool[2, 3] c"""
_CONSTANTS = """float zero = {0}, float one = {1}, float two = {2}, float half = {0.5}, float small = {0.001},
    float large = {100}, float low = {-inf}, float[1, 2, 3] matrix = {1, 2, 3, 4, 5, 6}, int64 none = {0},
    int64 single = {1}, int64[1] start = {1}, int64[1] end = {2}, int64[1] axis = {1}, int64[1] rows = {0}, int64[1] count = {2},
    int64[2, 2] places = {0, 1, 1, 0}, int64[3] all = {0, 1, 2}, int64[1, 3, 2] row = {0, 0, 0, 1, 0, 2},
    int64[3] longer = {2, 1, 3}, int64[2] shape = {2, 3}, int64[2] ones = {1, 1}"""
_KINDS = {"around zero": (-2, 3), "positive": (0.5, 3), "unknown": (-np.inf, np.inf)}


def _known_after(nodes: str) -> list[str]:
    """Return what is known of y after some nodes, also where float32 is taken for float16."""
    said: dict[str, list[str]] = {}
    model = parsed(nodes, *(text.replace("\n", " ") for text in (_INPUTS, "float y", _CONSTANTS)), opset=18)
    for element_type, (kind, ends) in product(("float32", "float16"), _KINDS.items()):
        given = {}
        for value in model.graph.input:
            declared = value.type.tensor_type
            shape = tuple(size.dim_value for size in declared.shape.dim)
            name = named_type(declared.elem_type, element_type)
            given[value.name] = _of(name, shape, *ends, may_nan=kind == "unknown")
        interpreter = Interpreter(model, model, given, {}, narrowed=element_type)
        told = described(interpreter.run().values["y"])
        said.setdefault(told, []).append(f"{kind} {element_type}".removesuffix(" float32"))
    return [f"  {', '.join(words)}: {told}" for told, words in said.items()]


def _graphs() -> dict[str, list[str]]:
    """Return what is recorded of each line of nodes, comments apart."""
    found: dict[str, list[str]] = {}
    for line in GRAPHS.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            found[nodes].append(line)
        elif line and not line.startswith("#"):
            nodes = line
            found[nodes] = []
    return found


@pytest.mark.parametrize("nodes", _graphs())
def test_as_much_is_known_after_some_nodes(nodes: str) -> None:
    assert _known_after(nodes) == _graphs()[nodes]


if __name__ == "__main__":
    lines = [line for name, trials in sorted(TRIALS_OF.items()) for line in _section(name, trials)]
    RECORDED.write_text("\n".join(lines) + "\n", encoding="utf-8")
    kept = [line for line in GRAPHS.read_text(encoding="utf-8").splitlines() if not line.startswith("  ")]
    lines = [told for line in kept for told in (line, *(_known_after(line) if line and line[0] != "#" else ()))]
    GRAPHS.write_text("\n".join(lines) + "\n", encoding="utf-8")
