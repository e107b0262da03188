"""Random damage to files: of bytes, and of the fields of ONNX models."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from onnx import ModelProto, defs

NUMBERS = (0, 1, -1, 2, 3, 7, 64, 65, 127, 128, 255, 2**16, 2**31 - 1, -(2**31), 2**31, 2**40, 2**63 - 1, -(2**63))
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-45, 3.4e38, float("inf"), float("-inf"), float("nan"))
TEXTS = ("", "x", "\x00", "a\nb", "ai.onnx", "ai.onnx.ml", "..", "/", "é", "a" * 300, "0", "-1", "NaN", "FLOAT", "n")
OPERATORS = tuple(sorted({schema.name for schema in defs.get_all_schemas() if schema.domain == ""}))
LARGEST = 1 << 20
_MANY = 500
TELLING = (b"\x00", b"\xff", b"\x7f", b"\x80", b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x80" * 10, b"<", b'"', b"&")

Message = Any  # Type checkers know no common base of protobuf's classes.


def mutate_proto(content: bytes, random: Random) -> bytes:
    """Return the content of a model with one to a few changes of its fields."""
    model = ModelProto.FromString(content)
    for _ in range(random.randint(1, 4)):
        messages = list(_messages(model))
        _change(random.choice(messages), messages, random)
    changed: bytes = model.SerializeToString()
    return changed if len(changed) <= LARGEST else content


def _messages(message: Message, depth: int = 0) -> Iterator[Message]:
    """Yield a message and all messages in it."""
    yield message
    if depth > 20:
        return
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for item in value if _is_repeated(field) else (value,):
                yield from _messages(item, depth + 1)


def _is_repeated(field: Any) -> bool:
    return bool(field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED)


def _change(message: Message, messages: list[Message], random: Random) -> None:
    fields = list(message.DESCRIPTOR.fields)
    # Mostly change a field that is present.
    present = [field for field, _ in message.ListFields()]
    field = random.choice(present if present and random.randint(0, 3) else fields)
    if _is_repeated(field):
        _change_items(message, field, messages, random)
    elif random.randint(0, 5) == 0:
        message.ClearField(field.name)
    elif field.type == field.TYPE_MESSAGE:
        _graft(getattr(message, field.name), messages, random)
    else:
        setattr(message, field.name, _scalar(field, messages, random))


def _change_items(message: Message, field: Any, messages: list[Message], random: Random) -> None:
    """Remove, double, exchange or add elements; those that stay are copied, since protobuf's own are views."""
    if field.type == field.TYPE_MESSAGE:
        items: list[Any] = [_copy(item) for item in getattr(message, field.name)]
        new = type(items[0])() if items else None
        if new is not None:
            _graft(new, messages, random)
    else:
        items = list(getattr(message, field.name))
        new = _scalar(field, messages, random)
    place, other = (random.randint(0, max(0, len(items) - 1)) for _ in range(2))
    action = random.choice(("lose", "double", "many", "exchange", "replace", "add", "clear"))
    if action == "lose":
        del items[place : place + 1]
    elif action == "double":
        items[place:place] = items[other : other + 1]
    elif action == "many":
        items += items[place : place + 1] * _MANY
    elif action == "exchange" and items:
        items[place], items[other] = items[other], items[place]
    elif action == "replace" and items and new is not None:
        items[place] = new
    elif action == "add" and new is not None:
        items.insert(place, new)
    elif action == "clear":
        items = []
    message.ClearField(field.name)
    getattr(message, field.name).extend(items)


def _graft(message: Message, messages: list[Message], random: Random) -> None:
    """Overwrite a message with another of its type; so a graph may become part of itself."""
    same = [other for other in messages if other.DESCRIPTOR is message.DESCRIPTOR and other is not message]
    if same:
        message.CopyFrom(_copy(random.choice(same)))


def _copy(message: Message) -> Message:
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def _scalar(field: Any, messages: list[Message], random: Random) -> Any:
    if field.type == field.TYPE_STRING:
        return _text(field, messages, random)
    if field.type == field.TYPE_BYTES:
        return random.choice((b"", b"\x00", b"\xff" * 8, b"\xc3", b"abc", b"SAME_UPPER", b"\x00\x00\x80\x3f" * 6))
    if field.type in (field.TYPE_FLOAT, field.TYPE_DOUBLE):
        return random.choice(FLOATS)
    if field.type == field.TYPE_ENUM:
        return random.choice([value.number for value in field.enum_type.values])
    small = random.randint(-3, 30)
    number = random.choice((*NUMBERS, small, small, small))
    bits = 31 if field.type in (field.TYPE_INT32, field.TYPE_UINT32) else 63
    lowest = 0 if field.type in (field.TYPE_UINT32, field.TYPE_UINT64) else -(2**bits)
    return min(max(number, lowest), 2**bits - 1)


def _text(field: Any, messages: list[Message], random: Random) -> str:
    """Return a text, mostly one that the model uses in such a field or as a name."""
    if field.name == "op_type" and random.randint(0, 3):
        return random.choice(OPERATORS)
    if random.randint(0, 3) == 0:
        return random.choice(TEXTS)
    names: list[str] = [n for m in messages if m.DESCRIPTOR.name == "NodeProto" for n in (*m.input, *m.output)]
    names += [m.name for m in messages if m.DESCRIPTOR.name in ("ValueInfoProto", "TensorProto", "AttributeProto")]
    return random.choice(names or [""])


def mutate_bytes(content: bytes, random: Random) -> bytes:
    """Return the content with one to a few changes."""
    for _ in range(random.randint(1, 4)):
        start = random.randint(0, len(content))
        end = min(len(content), start + random.choice((1, 1, 2, 4, 8, 50)))
        piece = content[start:end]
        flipped = bytes(byte ^ 1 << random.randint(0, 7) for byte in piece[:1]) + piece[1:]
        other = random.choice(TELLING) + piece[1:]
        new = random.choice((flipped, other, piece * random.choice((2, 3, 100)), b""))
        content = content[:start] + new + content[end:]
    return content[: random.randint(0, len(content))] if random.randint(0, 9) == 0 else content
