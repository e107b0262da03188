"""Python source that makes the ONNX model of an operation, from ONNX's textual syntax."""

from __future__ import annotations

from vinculum.conformance.cases.operation import Operation


def onnx_model_lines(operation: Operation) -> list[str]:
    """Return lines that make `model`, the ONNX model of an operation, from its text and the constants."""
    from onnx import printer

    from vinculum.conformance.runtimes.programs.onnx_model import onnx_model

    model = onnx_model(operation)
    del model.graph.initializer[:]
    stored = [f'numpy_helper.from_array({name.lower()}, "{name}")' for name in operation.constants]
    return [
        'model = parser.parse_model("""',
        *printer.to_text(model).splitlines(),
        '""")',
        *([f"model.graph.initializer.extend([{', '.join(stored)}])"] if stored else ()),
    ]


def inputs_source(operation: Operation) -> str:
    """Return a Python dictionary of the run-time operands: ``{"A": a, "B": b}``."""
    items = (f'"{name}": {name.lower()}' for name in operation.inputs)
    return f"{{{', '.join(items)}}}"
