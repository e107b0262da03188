"""Whether the names in an ONNX file are text: protobuf's reader hands what is not UTF-8 on as bytes."""

from __future__ import annotations

from typing import Any

from onnx import TensorProto

from vinculum.errors import ModelError


def check_text(message: Any) -> None:
    """Refuse a message in which a text field, at any depth, holds bytes that are not UTF-8."""
    if isinstance(message, TensorProto):
        # Its data, which may be large, is not text; listing the fields would copy it.
        _check("name of a tensor", message.name)
        _check("doc_string of a tensor", message.doc_string)
        for entry in message.external_data:
            check_text(entry)
        return
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for item in (value,) if hasattr(value, "ListFields") else value:
                check_text(item)
        elif field.type == field.TYPE_STRING:
            for item in (value,) if isinstance(value, str | bytes) else value:
                _check(f"{field.name} in {message.DESCRIPTOR.name}", item)


def _check(field: str, value: str | bytes) -> None:
    if isinstance(value, bytes):
        raise ModelError(f"the ONNX file has a {field} that is not UTF-8 text; the file is damaged")
