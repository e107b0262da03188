"""The text below the options in each command's help: examples, most of which run in a clone, and exit codes."""

from __future__ import annotations

from rich.markup import escape

EXAMPLES: dict[str, tuple[str, ...]] = {
    "run": (
        "vinculum run examples/layer_norm/model.onnx --input x=examples/layer_norm/x.npy",
        "vinculum run examples/openvino_image/model.xml --seed 0 --zero-divisor zero",
    ),
    "divide": ("vinculum divide a.npy b.npy -o c.npy", "vinculum divide a.zarr b.zarr -o c.zarr --operator Divide"),
    "convert": (
        "vinculum convert examples/layer_norm/model.onnx --opset 13 -o converted.onnx",
        "vinculum convert examples/rms_norm/model.onnx -o converted.xml",
    ),
    "harden": ("vinculum harden examples/windows/model.onnx --for onnxruntime -o hardened.onnx",),
    "check": (
        "vinculum check examples/windows/model.onnx",
        "vinculum check examples/layer_norm/model.onnx --as float16 --assume x=-10:10",
        "vinculum check examples/masked_mean/model.onnx --assume 'mask=0|1' --sarif report.sarif",
    ),
    "trace": ("vinculum trace examples/layer_norm/model.onnx --input x=examples/layer_norm/x.npy",),
    "conform": (
        "vinculum conform onnx-reference --only 'Div-14/int32/*'",
        "vinculum conform 'openvino[device=CPU]' --quick --html report.html",
    ),
    "report": ("vinculum conform numpy --quick --save run.json", "vinculum report run.json --html report.html"),
    "fingerprint": ("vinculum fingerprint numpy",),
    "audit": ("vinculum audit examples/masked_mean/model.onnx --backend onnxruntime --seed 0",),
    "spec": ("vinculum spec Div --version 7 --against 6", "vinculum spec Divide --trace"),
    "info": ("vinculum info --json",),
}

EXIT_CODES = (
    "Exit codes: 0 success; 1 a finding, such as an integer divided by zero or a comparison that fails; 2 wrong usage "
    "or unreadable input; 3 an internal error; 130 interrupted."
)


def epilog(command: str) -> str:
    """Return the text below a command's options: paragraphs of rich's markup."""
    return escape("\n\n".join(("Examples:", *(f"  {example}" for example in EXAMPLES[command]), EXIT_CODES)))
