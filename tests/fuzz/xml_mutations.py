"""IR files changed at random elements: attributes, texts and tags exchanged or hostile, elements lost or doubled."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from xml.etree.ElementTree import Element, fromstring, tostring

TEXTS = (
    "", "0", "1", "-1", "2", "3", "12", "1.5", "1e3", "?", "...", "..", "1..", "..4", "2..1", "1,2", "1,2,3,?", ",",
    " ", "9" * 19, "9" * 5000, "-9223372036854775808", "9223372036854775807", "true", "false", "nan", "f32", "f16",
    "bf16", "f64", "i64", "i32", "i4", "u4", "u64", "boolean", "f8e4m3", "string", "dynamic", "numpy", "none", "pdpd",
    "opset1", "opset8", "opset14", "Parameter", "Const", "Convert", "Divide", "Result", "Reshape", "Unsqueeze",
    "Squeeze", "Broadcast", "Multiply", "Add", "Subtract", "Mod", "FloorMod", "Select", "ShapeOf", "é", "a\nb",
    "a" * 300,
)  # fmt: skip
ATTRIBUTES = ("id", "name", "type", "version", "shape", "element_type", "destination_type", "offset", "size", "axis",
              "auto_broadcast", "m_pythondiv", "pythondiv", "names", "from-layer", "from-port", "to-layer", "to-port",
              "special_zero", "output_type", "mode")  # fmt: skip
TAGS = ("layer", "data", "input", "output", "port", "dim", "edge", "layers", "edges", "net", "rt_info", "x")
_MANY = 200


def mutate_xml(content: bytes, random: Random) -> bytes:
    """Return the content of an IR file with one to a few changes of its elements."""
    root = fromstring(content)
    for _ in range(random.randint(1, 4)):
        elements = [element for element in root.iter() if element.tag != "rt_info"]
        _change(random.choice(elements), elements, random)
    return bytes(tostring(root, encoding="utf-8"))


def _change(element: Element, elements: list[Element], random: Random) -> None:
    action = random.randint(0, 9)
    if action < 5:
        name = random.choice([*element.keys(), random.choice(ATTRIBUTES)])
        element.set(name, _text(name, elements, random))
        if action == 0:
            del element.attrib[name]
    elif action == 5:
        element.text = random.choice(TEXTS)
    elif action == 6:
        element.tag = random.choice(TAGS)
    else:
        _change_children(element, elements, random)


def _text(name: str, elements: list[Element], random: Random) -> str:
    """Return a text, most often one that another element has there."""
    own = [element.get(name) for element in elements]
    known = [text for text in own if text is not None]
    return random.choice(known) if known and random.randint(0, 1) else random.choice(TEXTS)


def _change_children(element: Element, elements: list[Element], random: Random) -> None:
    children = list(element)
    place = random.randint(0, max(0, len(children) - 1))
    action = random.choice(("lose", "double", "many", "move", "graft"))
    if action == "lose":
        del element[place : place + 1]
    elif action == "double" and children:
        element.insert(place, deepcopy(children[place]))
    elif action == "many" and children:
        element.extend(deepcopy(children[place]) for _ in range(_MANY))
    elif action == "move" and children:
        element.remove(children[place])
        element.append(children[place])
    elif action == "graft":
        element.append(deepcopy(random.choice(elements)))
