"""The pages and the JSON of conversions and hardenings."""

from __future__ import annotations

from pathlib import Path

from onnx import ModelProto

from tests.reporting.printing import Told
from vinculum.models.convert import Change, FileConversion, Verification
from vinculum.ops.policies import Policies
from vinculum.repair import Decision, HardenedFile, Hardening
from vinculum.repair.decision import Facts
from vinculum.repair.validation import Validation
from vinculum.reporting.models.rewriting import conversion_as_json, conversion_page, hardening_as_json, hardening_page
from vinculum.spec.element_types import FLOAT, INT64

OLD, NEW = Path("old.onnx"), Path("new.onnx")
CHANGE = Change("node 'ratio' (Div)", "axis dropped", "Div-13 has none")
RISKY = Decision("ratio", "If:then_branch", "Div-14", Facts("Div", 17, INT64), "x/0 gives 0", "it may be 0", "narrowed")
SAFE = Decision("floats", "", "Div-14", Facts("Div", 17, FLOAT), None, "cannot crash", "not rounded")
LEFT = Decision("rest", "F", "Mod-13", None, None, "its element type is not known")
VALIDATION = Validation(("onnxruntime", "reference"), 1, 8, 12345, "loaded")
HOSTILE = "[red]a[/red]\x1b[31m\n"


def hardened(
    *decisions: Decision, validation: Validation | None = VALIDATION, inlined: int = 0, functions: tuple[str, ...] = ()
) -> HardenedFile:
    model = ModelProto()
    for name in functions:
        model.functions.add(domain="vinculum", name=name)
    model.functions.add(domain="own", name="Other")
    hardening = Hardening(model, "portable", Policies("zero", "wrap"), decisions, inlined)
    return HardenedFile(hardening, validation)


def conversion(*changes: Change, verification: Verification | None = None) -> tuple[FileConversion, Path, Path]:
    return FileConversion("6", "13", changes, verification), OLD, NEW


COMPARED = conversion(CHANGE, verification=Verification(12, 3000, 1, "a reason"))
BAD = Decision(HOSTILE, HOSTILE, "Div-14", RISKY.facts, "what", "why")
INLINED = hardened(RISKY, LEFT, inlined=2, functions=("Div_int64", "Mod_int8"))

TOLD: Told = {
    "a conversion": lambda _: conversion_page(*COMPARED),
    "a conversion, as JSON": lambda _: conversion_as_json(*COMPARED),
    "a conversion that changes nothing": lambda _: conversion_page(*conversion(verification=Verification(1, 1, 0))),
    "a conversion, not verified": lambda _: conversion_page(*conversion(CHANGE, CHANGE)),
    "a conversion, hostile names": lambda _: conversion_page(*conversion(Change(HOSTILE, "a", "b"))),
    "a hardening": lambda _: hardening_page(hardened(RISKY, SAFE), OLD, NEW),
    "a plan": lambda _: hardening_page(hardened(RISKY, SAFE, validation=None), OLD, None),
    "a hardening that changes nothing": lambda _: hardening_page(hardened(SAFE, validation=None), OLD, NEW),
    "functions, and what is left": lambda _: hardening_page(INLINED, OLD, NEW),
    "a hardening, as JSON": lambda _: hardening_as_json(INLINED, OLD, None),
    "a hardening, hostile names": lambda _: hardening_page(hardened(BAD), OLD, NEW),
}
