"""The results of every transfer function for chosen operands are recorded in `known.txt` and must not change.

Other tests show that they are sound; here each gain and each loss of precision shows as a changed line. To add a trial,
write its line as `tests/analysis/operators.py` reads it. ``python -m tests.analysis.transfer.test_known`` records all
results anew.
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

from tests.analysis.hazardous import parsed
from tests.analysis.operators import RECORDED, TRIALS_OF, Trial, recorded
from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, constant, tensor
from vinculum.analysis.domain.dimensions import Dimension, Shape, Size, bounds, unknown_size, variable
from vinculum.analysis.domain.facts import Fact, Kind
from vinculum.analysis.domain.formats import FORMATS, is_discrete, type_range
from vinculum.analysis.domain.numbering import Numbering
from vinculum.analysis.interpreter import Interpreter
from vinculum.analysis.transfer.call import NOTHING, Call, Operand, named_type
from vinculum.analysis.transfer.declarations import Hidden, Operator
from vinculum.analysis.transfer.errors import Computed, NoBoundError, Rule
from vinculum.analysis.transfer.operators import TABLE

GRAPHS = Path(__file__).parent / "graphs.txt"
_MOST_LISTED = 3
"""The most ends of a box that are written out; of more, the extremes and a checksum are."""
_OFF = 2.0**-8
"""The error of each operand, where errors are bounded."""

Profile = Callable[[str, Shape, int], AbstractTensor]


def _of(element_type: str, shape: Shape | None, low: Any, high: Any, **more: Any) -> AbstractTensor:
    """Return a tensor of numbers between two ends; of a discrete type the ends are rounded and limited."""
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


def _negative(element_type: str, shape: Shape, place: int) -> AbstractTensor:
    box = _element_by_element("float32", shape, place).box
    return _of(element_type, shape, box.low - 3, box.high - 3, may_nan=True)


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
    return _of(element_type, shape, -most, 0 if element_type == "float16" else most)


def _tiny(element_type: str, shape: Shape, place: int) -> AbstractTensor:
    least = FORMATS[element_type].smallest_subnormal if element_type in FORMATS else 0
    return _of(element_type, shape, least, 4 * least)


def _held(element_type: str, shape: Shape, place: int) -> AbstractTensor:
    known = _element_by_element(element_type, shape, place)
    values = np.broadcast_to(known.high, [int(bounds(size)[0]) for size in shape])
    return constant(values.astype(getattr(ml_dtypes, element_type, element_type)))


def _open_sizes(element_type: str, shape: Shape, place: int) -> AbstractTensor:
    sizes = [variable(f"N{size}", 1, 9) if size != 1 else 1 for size in shape]
    return _of(element_type, (*sizes[:-1], unknown_size(0, 4)) if len(sizes) > 1 else tuple(sizes), -1, 2)


PROFILES: Mapping[str, Profile] = {
    "each": _element_by_element,
    "positive": lambda element_type, shape, place: _of(element_type, shape, 0.5, 3),
    "in rows": _in_rows,
    "negative": _negative,
    "whole": lambda element_type, shape, place: _of(element_type, shape, -3, 5, mag=1, integral=True),
    "many": _many,
    "huge": _huge,
    "infinite": lambda element_type, shape, place: _of(element_type, shape, 1, np.inf, bounds_from=BoundsFrom.TYPE),
    "tiny": _tiny,
    "held": _held,
    "open sizes": _open_sizes,
    "no rank": lambda element_type, shape, place: _of(element_type, None, -2, 2),
    "anything": lambda element_type, shape, place: anything(element_type, shape),
}
"""Abstract operands, made from an element type, a shape and a place; ends are short binary fractions."""
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
    if given in ("first", "in letters") and array.dtype.kind == "i" and array.ndim <= 1 and array.size:
        entries = tuple(variable("E", 2, 7) if value > 1 else int(value) for value in array.reshape(-1).tolist())
        low, high = (np.reshape(ends, array.shape) for ends in zip(*map(bounds, entries), strict=True))
        return tensor(array.dtype.name, array.shape, low, high, integral=True).known(entries=entries)
    return anything(array.dtype.name, array.shape)


def _cases(trial: Trial, before: int) -> Iterator[tuple[str, list[Operand]]]:
    """Yield what is known of a trial's operands, in words and as it is.

    - `before`: how many trials of its operator there are before it; of the first every profile is taken, but not of
      ONNX Runtime's own operators.
    """
    types = [*trial.types, *("float16" if name == "float32" else name for name in trial.types)]
    profiles = list(PROFILES.values())
    opened = sum(isinstance(operand, tuple) for operand in trial.operands)
    chosen = list(enumerate(PROFILES))[before % 4 :: 4] if before or trial.domain else list(enumerate(PROFILES))
    for place, name in chosen if opened else chosen[:1]:
        element_type = types[(place + place // len(types) + before) % len(types)]
        yield name, _operands(trial, element_type, [profiles[place]], "as it is")
        if opened > 1 and (place % 4 == 0 or before):
            turned = [profiles[(place + _APART * k) % len(profiles)] for k in range(len(trial.operands))]
            yield f"{name} and others", _operands(trial, types[0], turned, "as it is")
    if any(isinstance(operand, np.ndarray | np.generic) for operand in trial.operands):
        for given, profile in (("first", "in rows"), ("in letters", "each"), ("not known", "in rows")):
            yield given, _operands(trial, types[0], [PROFILES[profile]], given)


def _lines_of(trial: Trial, before: int) -> Iterator[str]:
    """Yield the results of a trial, those cases together that have the same results."""
    operator, said = TABLE[trial.domain, trial.operator], dict[str, list[str]]()
    for words, operands in _cases(trial, before):
        said.setdefault(_told(trial, operator, operands), []).append(words)
    yield from (f"{', '.join(cases)}: {told}" for told, cases in said.items())


def _told(trial: Trial, operator: Operator, operands: Sequence[Operand]) -> str:
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


def _hidden(found: Hidden | None) -> str:
    if found is None:
        return ""
    about = f"; divides by {described(found.divisor)} of {found.operand}"
    return about + " where it is 0" * found.of_zero + " guarded" * bool(found.guarded_by)


def _error(rule: Rule, call: Call, operands: Sequence[Any], result: AbstractTensor) -> str:
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
    """Return four digits of a number that is not whole, and whether it is a little more or less."""
    whole = abs(value) < 2**53 and value == int(value)
    text = f"{value + 0.0:.{16 if whole else 4}g}"
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
    ends = {one.name: f"?{one.low:g}-{one.high:g}" for monomial, _ in size.terms for one in monomial}
    return re.sub(r"\?\d+", lambda found: ends[found[0]], str(size)).replace(" ", "")


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
    parts += ["whole"] * (known.integral and known.form is not None)
    parts += ["not whole"] * (not known.integral and is_discrete(known.element_type))
    parts += ["held"] * (known.constant is not None)
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


def _section(name: str, trials: Sequence[Trial]) -> list[str]:
    operator = TABLE[trials[0].domain, trials[0].operator]
    lines = [" ".join([f"# {name}", *["commutative"] * operator.commutative, *["impure"] * (not operator.pure)])]
    with np.errstate(all="ignore"):
        for before, trial in enumerate(trials):
            said = [line for line in _lines_of(trial, before) if line not in lines]  # Once for each operator.
            lines += [trial.line, *said]
    return lines


@pytest.mark.parametrize("name", sorted(TRIALS_OF))
def test_as_much_is_known_as_is_recorded(name: str) -> None:
    assert _section(name, TRIALS_OF[name]) == recorded()[name]


def test_every_operator_isrecorded() -> None:
    assert set(recorded()) == set(TRIALS_OF) == {f"{domain}.{name}".lstrip(".") for domain, name in TABLE}


_INPUTS = """float[2, 3] x, float[2, 3] z, float[2, 1] w, float[3] v, float p, float[1, 2, 4, 4] i, int64[3] whole,
    bool[2, 3] c, float[K, L] u"""
_CONSTANTS = """float zero = {0}, float one = {1}, float two = {2}, float half = {0.5}, float small = {0.001},
    float large = {100}, float low = {-inf}, float normal = {1.17549435e-38},
    float[1, 2, 3] matrix = {1, 2, 3, 4, 5, 6}, int64 none = {0}, int64 single = {1}, int64 most = {3},
    int64 least = {-2}, int64[1] start = {1}, int64[1] end = {2}, int64[1] axis = {1}, int64[1] rows = {0},
    int64[1] count = {2}, int64[1] flat = {-1}, int64[2, 2] places = {0, 1, 1, 0}, int64[3] all = {0, 1, 2},
    int64[1, 3, 2] row = {0, 0, 0, 1, 0, 2}, int64[3] longer = {2, 1, 3}, int64[2] shape = {2, 3},
    int64[2] ones = {1, 1}, int64[2] line = {1, 3}, float[2] pair = {1, 2}, float[3] levels = {-1, 0, 1},
    float[3] steep = {-5, 0, 5},
    int64 three = {3}, bool go = {1}, int64[1] limit = {2147483647},
    float[3, 1] tenths = {0.1, -0.7, 0.3}, float[1, 1] tenth = {0.1}"""
_KINDS = {"around zero": (-2, 3), "positive": (0.5, 3), "unknown": (-np.inf, np.inf)}


def _known_after(nodes: str) -> list[str]:
    """Return what is known of y after some nodes, also where float32 is taken for float16."""
    said: dict[str, list[str]] = {}
    model = parsed(nodes, _INPUTS, "float y", _CONSTANTS, opset=6 if "broadcast = 1" in nodes else 18)
    for element_type, (kind, ends) in product(("float32", "float16"), _KINDS.items()):
        given = {}
        for value in model.graph.input:
            declared = value.type.tensor_type
            shape = tuple(size.dim_value or variable(size.dim_param) for size in declared.shape.dim)
            name = named_type(declared.elem_type, element_type)
            given[value.name] = _of(name, shape, *ends, may_nan=kind == "unknown")
        interpreter = Interpreter(model, model, given, {}, narrowed=element_type)
        told = described(interpreter.run().values["y"])
        assert set(interpreter.unknown) <= {"own.Thing"}
        said.setdefault(told, []).append(f"{kind} {element_type}".removesuffix(" float32"))
    return [f"  {', '.join(words)}: {told}" for told, words in said.items()]


def _graphs() -> dict[str, list[str]]:
    """Return what is recorded of each line of nodes, comments apart."""
    nodes, found = "", dict[str, list[str]]()
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
