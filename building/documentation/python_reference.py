"""The Python reference: a page for each part of the public face, from the docstrings."""

from __future__ import annotations

from building.documentation.made import MadePage

_PARTS = {
    "Division": (
        "division",
        "Each function takes arrays of any library and returns exact quotients; see "
        "[Arrays of other libraries](../../how-to/arrays.md).",
        ("div", "reciprocal", "divide", "floor_divide", "remainder", "divmod", "Operator"),
    ),
    "SONNX": ("sonnx", "The safety-related profile: every constraint is checked, and named.", ("sonnx",)),
    "Models": (
        "models",
        "Models are loaded, run, converted and hardened; see [Models](../models.md).",
        ("load", "models.Model", "convert", "harden", "openvino", "backend", "reference_ops"),
    ),
    "ONNX Runtime": (
        "onnxruntime",
        "A library for its sessions; see [Exact divisions in ONNX Runtime](../../how-to/exact-onnxruntime.md).",
        ("onnxruntime",),
    ),
    "PyTorch": (
        "torch",
        "Divisions that PyTorch follows, and PyTorch's own; see [PyTorch](../../how-to/pytorch.md).",
        ("torch",),
    ),
    "Checks": (
        "checks",
        "Hazards of division, before a run and in one, and audits of runtimes; see [Checks and traces](../check.md).",
        ("check", "trace", "audit"),
    ),
    "Stored arrays": (
        "stored",
        "Arrays in files that memory does not hold; see [Stored arrays](../stored.md).",
        ("stored",),
    ),
    "Threads": (
        "threads",
        "Quotients do not depend on the number of threads.",
        ("set_threads", "get_threads", "threads"),
    ),
    "Errors": (
        "errors",
        "Every error is a `VinculumError`, and the built-in error that a Python user would catch.",
        ("errors",),
    ),
    "Reference": (
        "reference",
        "The same divisions in exact rationals: slow, and independent of the kernels.",
        ("reference",),
    ),
    "Testing": (
        "testing",
        "For runtimes of your own; see [A runtime of your own](../../how-to/runtime.md).",
        ("testing",),
    ),
}


def python_pages() -> list[MadePage]:
    """Return the pages, the folder's own first."""
    links = "".join(f"- [{title}]({file}.md): {says}\n" for title, (file, says, _) in _PARTS.items())
    overview = f"# Python\n\nThe public face of the package, from its docstrings.\n\n{links}"
    parts = [
        MadePage(title, f"{file}.md", f"# {title}\n\n{says}\n\n" + "".join(map(_section, names)))
        for title, (file, says, names) in _PARTS.items()
    ]
    return [MadePage("Python", "index.md", overview), *parts]


def _section(name: str) -> str:
    return f"::: vinculum.{name}\n    options:\n      heading_level: 2\n\n"
