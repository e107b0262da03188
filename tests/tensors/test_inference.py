"""Inference of shapes, compared with the broadcasting rule for all sizes of the symbols; element types."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.cases import case
from vinculum import AttributeValueError, BroadcastError, ElementTypeError, Operator, SpecLookupError
from vinculum.spec.element_types import DOUBLE, ELEMENT_TYPES, FLOAT, REAL, ElementType
from vinculum.spec.model import Dialect, OperatorSpec
from vinculum.spec.rows import ROWS
from vinculum.tensors.broadcasting import join
from vinculum.tensors.type_checking import check_element_types

SymbolicShape = tuple[int | str | None, ...]

OPERATORS = [
    Operator("Div"),
    Operator("Div", opset=6),
    *(Operator("Div", opset=6, broadcast=1, axis=axis) for axis in (None, 0, 1, 5)),
    *(Operator("Divide", auto_broadcast="pdpd", axis=axis) for axis in (-1, 0, 1, 5)),
    Operator("Divide", auto_broadcast="none"),
    Operator("Div", dialect="sonnx", variant="float"),
]
DIMENSIONS = st.sampled_from([0, 1, 2, 3, "N", "M", None])
SHAPES = st.lists(DIMENSIONS, max_size=3).map(tuple)
# 7 stands for a size that no shape states.
SIZES = (0, 1, 2, 3, 7)


def sized(shape: SymbolicShape, operand: str) -> list[tuple[str, str] | int]:
    """Return a shape with a key for each symbol: a name is the same everywhere, an unknown is its own."""
    keys = [("name", d) if isinstance(d, str) else (operand, str(i)) for i, d in enumerate(shape)]
    return [d if isinstance(d, int) else key for d, key in zip(shape, keys, strict=True)]


def results(operator: Operator, a: SymbolicShape, b: SymbolicShape) -> list[tuple[dict[Any, int], tuple[int, ...]]]:
    """Return every assignment of sizes to the symbols that the rule allows, with the result's shape."""
    keyed_a, keyed_b = sized(a, "a"), sized(b, "b")
    keys = sorted({d for d in (*keyed_a, *keyed_b) if not isinstance(d, int)})
    rule = operator.spec.broadcasting_rule(operator.attributes)
    axis: Any = operator.attributes.get("axis")
    allowed = []
    for sizes in product(SIZES, repeat=len(keys)):
        values = dict(zip(keys, sizes, strict=True))
        x, y = (tuple(d if isinstance(d, int) else values[d] for d in shape) for shape in (keyed_a, keyed_b))
        try:
            allowed.append((values, join(rule, x, y, axis).shape))
        except BroadcastError:
            continue
    return allowed


class TestAgainstTheRule:
    """Symbols stand for sizes, so the rule on sizes decides what may be inferred."""

    @example(Operator("Div"), ("N",), ("M",))
    @example(Operator("Div", opset=6, broadcast=1, axis=0), ("N", "M", 4), (2, 3))
    @example(Operator("Div", opset=6, broadcast=1, axis=0), (2, 3), ("N", 3))
    @example(Operator("Div", opset=6, broadcast=1, axis=0), (2, 3), (1, "N"))
    @example(Operator("Div", opset=6, broadcast=1, axis=0), ("N", 3), ("M", 3))
    @example(Operator("Div", opset=6, broadcast=1), (2, "N"), (3,))
    @example(Operator("Divide", auto_broadcast="pdpd", axis=-1), (2, "N"), (3,))
    @example(Operator("Divide", auto_broadcast="pdpd", axis=-1), (3,), (1, "N"))
    @example(Operator("Divide", auto_broadcast="pdpd", axis=-1), (3,), ("N", None))
    @example(Operator("Divide", auto_broadcast="pdpd", axis=0), (3,), (3, "N"))
    @example(Operator("Divide", auto_broadcast="pdpd", axis=0), (3,), (3, 1))
    @given(st.sampled_from(OPERATORS), SHAPES, SHAPES)
    def test_what_is_inferred_holds_for_all_sizes(self, operator: Operator, a: SymbolicShape, b: SymbolicShape) -> None:
        allowed = results(operator, a, b)
        try:
            _, shape = operator.infer([FLOAT, FLOAT], [a, b])
        except BroadcastError:
            assert not allowed
            return
        assert shape is not None
        for values, result in allowed:
            assert len(shape) == len(result)
            for inferred, size in zip(shape, result, strict=True):
                assert inferred is None or size == (inferred if isinstance(inferred, int) else values["name", inferred])

    @given(st.sampled_from(OPERATORS), SHAPES, SHAPES)
    def test_what_no_sizes_allow_is_refused(self, operator: Operator, a: SymbolicShape, b: SymbolicShape) -> None:
        """Two occurrences of a name are not compared before the run, so all symbols are different here."""
        a, b = (tuple(None if isinstance(d, str) else d for d in shape) for shape in (a, b))
        if not results(operator, a, b):
            with pytest.raises(BroadcastError):
                operator.infer([FLOAT, FLOAT], [a, b])

    @given(st.sampled_from(OPERATORS), st.lists(st.sampled_from([0, 1, 2, 3]), max_size=4).map(tuple))
    def test_an_unknown_rank(self, operator: Operator, shape: SymbolicShape) -> None:
        """The result has A's shape where B is broadcast onto A, or where the shapes are equal."""
        numpys = operator.spec.title in ("Div-14",)
        assert operator.infer([FLOAT, FLOAT], [shape, None])[1] == (None if numpys else shape)
        merges = operator.spec.broadcasting_rule(operator.attributes).name == "EQUAL"
        assert operator.infer([FLOAT, FLOAT], [None, shape])[1] == (shape if merges else None)
        assert operator.infer([FLOAT, FLOAT], [None, None])[1] is None

    def test_dimension_by_dimension(self) -> None:
        """Aligned at the last one."""
        a, b = (5, "N", "N", "N", 2, 1, 1), ("N", "M", 1, "K", "K", 1)
        for shapes in ([a, b], [b, a]):
            assert Operator("Div").infer([FLOAT, FLOAT], shapes)[1] == (5, "N", None, "N", 2, "K", 1)
        with pytest.raises(BroadcastError, match=r"^A of shape \('N', 2\) and B of shape \(3,\) .*: 2 meets 3, and"):
            Operator("Div").infer([FLOAT, FLOAT], [("N", 2), (3,)])

    def test_of_equal_shapes_what_either_knows(self) -> None:
        none = Operator("Divide", auto_broadcast="none")
        assert none.infer([FLOAT, FLOAT], [("N", None, "M", 3), (2, "K", None, None)])[1] == (2, "K", "M", 3)
        with pytest.raises(BroadcastError, match=r"^A has shape \('N', 2\) and B \('N', 3\)"):
            none.infer([FLOAT, FLOAT], [("N", 2), ("N", 3)])


class TestArguments:
    """Types by name or as rows; as many types as shapes as operands."""

    def test_names_of_types(self) -> None:
        infer = Operator("Div").infer
        assert infer(["float", "tensor(float)"], [(2,), (2,)]) == infer([FLOAT, FLOAT], [(2,), (2,)]) == (FLOAT, (2,))
        assert Operator("Div", dialect="sonnx", variant="real").infer(["real"] * 2, [(), ()]) == (REAL, ())

    @pytest.mark.parametrize(
        ("types", "words"),
        [
            *(([name] * 2, f"element type '{name}'") for name in ("float8", "", "string", "f32", "float32")),
            *(([no_type] * 2, "element type") for no_type in (None, 1, np.dtype("f4"), np.float32)),
            ([FLOAT, DOUBLE], "A float and B double"),
            ([FLOAT], r"takes 2 operands \(A, B\); 1 given"),
        ],
    )
    def test_no_such_types(self, types: Any, words: str) -> None:
        with pytest.raises((ElementTypeError, SpecLookupError), match=words):
            Operator("Div").infer(types, [(2,), (2,)])

    def test_one_shape_for_each_operand(self) -> None:
        with pytest.raises(AttributeValueError, match="2 element types but 3 shapes"):
            Operator("Div").infer([FLOAT, FLOAT], [(2,), (2,), (2,)])

    @pytest.mark.parametrize("shape", [3, 2.5, "ab", "", b"ab", (-1,), (True,), (2.0,), ((2,),), (b"N",), ([2],)])
    def test_what_is_no_shape(self, shape: Any) -> None:
        for shapes in ([shape, (1,)], [(1,), shape]):
            with pytest.raises(BroadcastError) as refusal:
                Operator("Div").infer([FLOAT, FLOAT], shapes)
            assert "\n" not in str(refusal.value)

    def test_shapes_of_numpy(self) -> None:
        shapes: Any = [np.array([2, 3]), (np.int64(3),)]
        assert Operator("Div").infer([FLOAT, FLOAT], shapes)[1] == (2, 3)

    def test_as_many_elements_as_63_bits_count(self) -> None:
        assert Operator("Div").infer([FLOAT, FLOAT], [(2**63 - 1,), (1,)])[1] == (2**63 - 1,)

    @pytest.mark.parametrize("shapes", [[(2**40, 1), (1, 2**40)], [(2**63,), (1,)], [("N", 2**62), (2**62, 1)]])
    def test_a_result_that_no_memory_holds(self, shapes: list[SymbolicShape]) -> None:
        with pytest.raises(BroadcastError, match=r"more than 2\^63 - 1 elements"):
            Operator("Div").infer([FLOAT, FLOAT], shapes)

    @pytest.mark.parametrize("shapes", [[(2, 3), (3,)], [("N", 3), (3,)], [None, (3,)], [(2, 3), None]])
    def test_a_negative_axis(self, shapes: list[SymbolicShape | None]) -> None:
        """[Div-6, negative-axis-undefined], whatever is known of the shapes."""
        with pytest.raises(AttributeValueError, match=r"axis.* -1"):
            Operator("Div", opset=6, broadcast=1, axis=-1).infer([FLOAT, FLOAT], shapes)


every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)


def refusal_of(row: OperatorSpec, *given: ElementType) -> str:
    """Return the one line with which a row refuses element types."""
    with pytest.raises(ElementTypeError) as refusal:
        check_element_types(row, given)
    line = str(refusal.value)
    assert "\n" not in line
    assert row.title in line
    return line


@every_row
class TestEveryRow:
    """Element types of every row."""

    def test_too_many_or_too_few(self, row: OperatorSpec) -> None:
        own = row.element_types[0]
        for count in {0, 1, 2, 3} - {len(row.inputs)}:
            assert refusal_of(row, *(own,) * count).endswith(f"; {count} given")

    def test_which_version_does(self, row: OperatorSpec) -> None:
        """The line names the first version that takes the type, in the words of the user's own standard.

        ONNX's Div takes bfloat16, so the line of SONNX must not say that no version of Div does.
        """
        for element_type in set(ELEMENT_TYPES) - set(row.element_types):
            like = [other for other in ROWS if (other.name, other.dialect) == (row.name, row.dialect)]
            first = next((other for other in like if element_type in other.element_types), None)
            if first is None:
                ending = f"; no {'SONNX' if row.dialect is Dialect.SONNX else 'version of'} {row.name} takes it"
            elif row.dialect is Dialect.SONNX:
                ending = f"; {first.title} does"
            else:
                ending = f"; {first.title} is the first that does (opset={first.since_version})"
            with case(element_type):
                assert refusal_of(row, *(element_type,) * len(row.inputs)).endswith(ending)
