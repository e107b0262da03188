"""The ONNX rows against the schemas of the installed ``onnx`` package, version by version.

The two documents and the schemas agree on everything compared here, the flags of version 1 included, so there
is no exception to name. Should they part, the document decides; the exception belongs here with its reason.
"""

from __future__ import annotations

from typing import Any

import onnx.defs
import onnx.helper
import pytest
from onnx.defs import OpSchema

from vinculum.spec.element_types import ELEMENT_TYPES, REAL
from vinculum.spec.model import Dialect, OperatorSpec
from vinculum.spec.rows import ROWS, find, versions

ONNX_ROWS = [row for row in ROWS if row.dialect is Dialect.ONNX]
NEWEST_OPSET = onnx.defs.onnx_opset_version()
every_version = pytest.mark.parametrize("row", ONNX_ROWS, ids=lambda row: row.title)


def schema_in_force(name: str, opset: int) -> OpSchema:
    """Return ONNX's own schema of an operator in an operator set."""
    return onnx.defs.get_schema(name, max_inclusive_version=opset, domain="")


def default_of(attribute: OpSchema.Attribute) -> Any:
    """Return the default of an attribute, None if it has none."""
    if attribute.default_value.type == onnx.AttributeProto.UNDEFINED:
        return None
    return onnx.helper.get_attribute_value(attribute.default_value)


@every_version
class TestAgainstTheSchema:
    """A row agrees with ONNX's own schema of its version."""

    def test_every_field(self, row: OperatorSpec) -> None:
        schema = schema_in_force(row.name, row.since_version)
        assert (row.since_version, row.domain) == (schema.since_version, schema.domain)
        assert str(schema.support_level) == f"SupportType.{row.support_level}"
        assert not schema.deprecated
        for ours, theirs in ((row.inputs, schema.inputs), (row.outputs, schema.outputs)):
            assert [(o.name, o.type_variable) for o in ours] == [(t.name, t.type_str) for t in theirs]
        assert schema.min_input == schema.max_input == len(row.inputs)
        assert schema.min_output == schema.max_output == len(row.outputs)
        assert {a.name: (f"AttrType.{a.type}", a.required, a.default) for a in row.attributes} == {
            name: (str(a.type), a.required, default_of(a)) for name, a in schema.attributes.items()
        }
        assert [(c.type_variable, {f"tensor({t})" for t in c.element_types}) for c in row.type_constraints] == [
            (c.type_param_str, set(c.allowed_type_strs)) for c in schema.type_constraints
        ]
        assert row.function == schema.has_function  # type: ignore[attr-defined]  # missing from onnx's stubs
        assert row.shape_inference == schema.has_type_and_shape_inference_function

    def test_the_documentation_is_in_our_own_words(self, row: OperatorSpec) -> None:
        theirs = " ".join((schema_in_force(row.name, row.since_version).doc or "").split())
        assert theirs
        assert [line for line in row.documentation if len(line.split()) > 4 and line in theirs] == []


def test_numbers_of_element_types() -> None:
    for element_type in ELEMENT_TYPES:
        if element_type is not REAL:
            assert element_type.onnx_code == onnx.TensorProto.DataType.Value(element_type.name.upper())


@pytest.mark.parametrize("name", ["Div", "Reciprocal"])
class TestVersions:
    """ONNX has the versions that we have, and no other."""

    def test_no_version_is_missing(self, name: str) -> None:
        theirs = {schema_in_force(name, opset).since_version for opset in range(1, NEWEST_OPSET + 1)}
        assert [row.since_version for row in versions(name)] == sorted(theirs)

    def test_every_operator_set_finds_the_version_in_force_there(self, name: str) -> None:
        for opset in range(1, NEWEST_OPSET + 1):
            assert find(name, opset=opset).since_version == schema_in_force(name, opset).since_version
