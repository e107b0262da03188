"""IR of any layers: our divisions, everything else in OpenVINO."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import openvino.opset13 as op
import pytest
from numpy.typing import NDArray

import vinculum
from tests.models.built_models import one_line
from vinculum.errors import ModelError
from vinculum.models import DivisionRecord, Model, load

Array = NDArray[Any]
Save = Callable[..., Path]
F32 = np.float32
X, Y = np.array([5, -7, 1], F32), np.array([3, 3, 49], F32)


def named(node: Any, name: str) -> Any:
    node.set_friendly_name(name)
    return node


def parameter(name: str, shape: Any = (3,), dtype: Any = F32) -> Any:
    return named(op.parameter(openvino.PartialShape(list(shape)), dtype), name)


def bits(array: Array) -> list[int]:
    return [int(word) for word in array.reshape(-1).view(f"u{array.dtype.itemsize}")]


def ran(model: Model, inputs: Mapping[str, Array], **options: Any) -> tuple[list[Array], list[DivisionRecord]]:
    """Return the outputs and a record of each division, after checking that its quotients are exact."""
    records: list[DivisionRecord] = []
    outputs = model.run(inputs, observer=records.append, **options)
    for record in records:
        assert record.division in model.divisions
        floor = record.division.element_type is not None and record.division.element_type.is_integer
        assert record.dividend is not None
        own = vinculum.divide if floor else np.divide
        assert bits(record.quotient) == bits(own(record.dividend, record.divisor))
    return list(outputs.values()), records


def test_parts_a_chain_with_values_that_skip_parts(saved: Save) -> None:
    """Layers between divisions are run once, and values pass between parts unchanged."""
    x, y = parameter("x"), parameter("y")
    first = op.divide(op.abs(x), y)
    kept = op.negative(x)
    second = op.divide(op.add(first, kept), op.abs(first))
    path = saved([op.add(second, kept), first, x], [x, y])
    outputs, records = ran(load(path), {"x": X, "y": Y})
    assert len(records) == 2
    q = np.abs(X) / Y
    assert bits(outputs[0]) == bits((q - X) / np.abs(q) - X)
    assert (bits(outputs[1]), bits(outputs[2])) == (bits(q), bits(X))


def _if(condition: Any, x: Any, y: Any) -> Any:
    """Return an If that divides in one branch, in an If of its own, and does nothing in the other."""
    a, b, c = parameter("a"), parameter("b"), parameter("c", (), bool)
    inner_a, inner_b = parameter("ia"), parameter("ib")
    inner = op.if_op(c.output(0))
    yes = op.result(named(op.divide(op.abs(inner_a), inner_b), "deep"))
    no_a = parameter("na")
    no = op.result(op.negative(no_a))
    inner.set_then_body(openvino.Model([yes], [inner_a, inner_b], "yes"))
    inner.set_else_body(openvino.Model([no], [no_a], "no"))
    inner.set_input(a.output(0), inner_a, no_a)
    inner.set_input(b.output(0), inner_b, None)
    out = op.result(inner.set_output(yes, no))
    other = parameter("o")
    rest = op.result(op.abs(other))
    layer = op.if_op(condition.output(0))
    layer.set_then_body(openvino.Model([out], [a, b, c], "then"))
    layer.set_else_body(openvino.Model([rest], [other], "else"))
    layer.set_input(x.output(0), a, other)
    layer.set_input(y.output(0), b, None)
    layer.set_input(condition.output(0), c, None)
    return layer.set_output(out, rest)


class TestBodies:
    """Divisions in bodies are computed by this package in every iteration."""

    @pytest.mark.parametrize("chosen", [True, False])
    def test_if_in_if(self, saved: Save, chosen: bool) -> None:
        x, y, condition = parameter("x"), parameter("y"), parameter("c", (), bool)
        model = load(saved([op.relu(_if(condition, x, y))], [x, y, condition]))
        (division,) = model.divisions
        assert (division.name, division.path) == ("deep", "If:then_branch/If:then_branch")
        outputs, records = ran(model, {"x": X, "y": Y, "c": np.array(chosen)})
        assert len(records) == chosen
        assert bits(outputs[0]) == bits(np.abs(X) / Y if chosen else np.abs(X))

    def test_loop(self, saved: Save) -> None:
        x, y = parameter("x"), parameter("y")
        trips, go = parameter("n", (), np.int64), parameter("go", (), bool)
        carried, fixed, number = parameter("bx"), parameter("by"), parameter("i", (), np.int64)
        quotient = named(op.divide(op.add(carried, op.convert(number, "f32")), fixed), "inner")
        row = op.result(op.unsqueeze(quotient, op.constant(np.array([0]))))
        on, result = op.result(op.less(number, op.constant(np.int64(3)))), op.result(quotient)
        body = openvino.Model([on, result, row], [number, carried, fixed], "body")
        loop = op.loop(trips, go)
        loop.set_function(body)
        loop.set_special_body_ports([0, 0])
        loop.set_merged_input(carried, x.output(0), result.output(0))
        loop.set_invariant_input(fixed, y.output(0))
        outputs = [
            loop.get_iter_value(result.output(0), -1),
            loop.get_concatenated_slices(row.output(0), 0, 1, 1, -1, 0),
        ]
        model = load(saved(outputs, [x, y, trips, go]))
        assert model.divisions[0].path == "Loop:body"
        for count, going, expected in ((3, True, 3), (9, True, 4), (-1, True, 4), (9, False, 0), (0, True, 0)):
            given = {"x": X, "y": Y, "n": np.array(count), "go": np.array(going)}
            (last, rows), records = ran(model, given)
            assert len(records) == expected
            steps, value = [], X
            for index in range(expected):
                value = (value + F32(index)) / Y
                steps.append(value)
            assert bits(last) == bits(value)
            assert rows.shape == (expected, 3)
            assert bits(rows) == [word for step in steps for word in bits(step)]

    @pytest.mark.parametrize(
        ("start", "stride", "size", "end"), [(0, 1, 1, -1), (0, 2, 2, -1), (-1, -1, 1, 0), (-1, -3, 3, 0), (1, 2, 2, 4)]
    )
    def test_slices(self, saved: Save, start: int, stride: int, size: int, end: int) -> None:
        """A TensorIterator goes forwards and backwards, in steps of one row or several, through a part of an input."""
        x, rows = parameter("x", (2, 6)), parameter("rows", (2, size))
        result = op.result(op.divide(rows, op.constant(F32(3))))
        layer = op.tensor_iterator()
        layer.set_body(openvino.Model([result], [rows], "body"))
        layer.set_sliced_input(rows, x.output(0), start, stride, size, end, 1)
        model = load(saved([layer.get_concatenated_slices(result.output(0), start, stride, size, end, 1)], [x]))
        given = np.arange(12, dtype=F32).reshape(2, 6)
        (output,), records = ran(model, {"x": given})
        assert bits(output) == bits((given[:, 1:5] if start == 1 else given) / F32(3))
        assert len(records) == output.shape[1] // size


def test_every_run_starts_with_new_states(tmp_path: Path) -> None:
    x = parameter("x")
    total = op.add(op.read_value(op.constant(np.ones(3, F32)), "s", F32, [3]), x)
    results = [op.result(op.divide(total, op.constant(Y)))]
    model = openvino.Model(results, [op.assign(total, "s")], [x], "m")
    openvino.save_model(model, tmp_path / "model.xml", False)
    loaded = load(tmp_path / "model.xml")
    for _ in range(2):
        assert [bits(array) for array in loaded.run({"x": X}).values()] == [bits((X + F32(1)) / Y)]


def test_a_refusal_is_told_once(saved: Save) -> None:
    x = parameter("x", (-1,))
    model = load(saved([op.reshape(op.divide(x, op.constant(F32(3))), op.constant(np.array([7])), False)], [x]))
    with pytest.raises(ModelError) as caught:
        model.run({"x": X})
    assert str(caught.value).count("the model cannot be run by OpenVINO: ") == 1


def test_process_its_death_is_an_error_and_the_next_run_begins_anew(saved: Save) -> None:
    """If OpenVINO's process ends, that is an error, and the next run starts a new one."""
    x = parameter("x", dtype=np.int32)
    model = load(saved([op.abs(op.divide(x, op.constant(np.int32(3))))], [x]))
    given = {"x": np.array([7, 8, 9], np.int32)}

    def kill(record: DivisionRecord) -> None:
        (isolated,) = model._program._process._started.values()  # type: ignore[attr-defined]
        isolated._running[0].end()

    with one_line(ModelError, "the model cannot be run by OpenVINO: "):
        model.run(given, observer=kill)
    assert next(iter(model.run(given).values())).tolist() == [2, 2, 3]
