"""Sequences and optional values: what is known of them holds of every tensor in them."""

from __future__ import annotations

from collections.abc import Mapping

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, anything
from vinculum.analysis.domain.dimensions import resized
from vinculum.analysis.domain.joining import join, unknown_size
from vinculum.analysis.transfer.call import Call, Operand
from vinculum.analysis.transfer.operator import Operator
from vinculum.analysis.transfer.shared import axis_of, boolean, counts, hulled


def _construct(call: Call, *items: Operand) -> AbstractTensor:
    given = [item for item in items if item is not None]
    result = hulled(given[0], given[0].shape) if given else anything("", None)
    for item in given[1:]:
        result = join(result, item)
    return result


def _empty(call: Call) -> AbstractTensor:
    code = int(call.attribute("dtype", 1))
    return anything(call.element_type(code), None)


def _insert(call: Call, sequence: AbstractTensor, item: AbstractTensor, place: Operand = None) -> AbstractTensor:
    return join(sequence, item)


def _whole(call: Call, sequence: Operand = None, *_: Operand) -> AbstractTensor:
    return hulled(sequence, sequence.shape) if sequence is not None else anything("", None)


def _length(call: Call, sequence: AbstractTensor) -> AbstractTensor:
    return counts(())


def _one_after_another(call: Call, sequence: AbstractTensor) -> AbstractTensor:
    return hulled(sequence, None)


def _split(call: Call, a: AbstractTensor, sizes: Operand = None) -> AbstractTensor:
    if a.shape is None:
        return hulled(a, None)
    axis = axis_of(call.attribute("axis", 0), len(a.shape))
    if sizes is None and not call.attribute("keepdims", 1):
        return hulled(a, resized(a.shape, axis))
    return hulled(a, resized(a.shape, axis, unknown_size()))


def _has_element(call: Call, value: Operand = None) -> AbstractTensor:
    return boolean(())


TABLE: Mapping[str, Operator] = {
    "ConcatFromSequence": Operator(_one_after_another),
    "Optional": Operator(_whole),
    "OptionalGetElement": Operator(_whole),
    "OptionalHasElement": Operator(_has_element),
    "SequenceAt": Operator(_whole),
    "SequenceConstruct": Operator(_construct),
    "SequenceEmpty": Operator(_empty),
    "SequenceErase": Operator(_whole),
    "SequenceInsert": Operator(_insert),
    "SequenceLength": Operator(_length),
    "SplitToSequence": Operator(_split),
}
