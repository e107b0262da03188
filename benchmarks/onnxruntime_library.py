"""Measure ONNX Runtime with our library against plain ONNX Runtime: single divisions, and whole models.

Both run in turns in one process, each on one thread unless told; a ratio is the median of the pairs.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.parser
import onnxruntime
import typer

from benchmarks.engines import transformer
from vinculum.onnxruntime import register

EXAMPLES = Path(__file__).parents[1] / "examples"
SECONDS = 0.1  # of each turn, about
TURNS = 15

Case = tuple[str, bytes, dict[str, npt.NDArray[Any]]]


def divisions() -> Iterator[Case]:
    """Yield models of one division or remainder."""
    rng = np.random.default_rng(0)
    types = {"int32": "int32", "int64": "int64", "float32": "float", "float64": "double", "float16": "float16"}
    for name, element in types.items():
        for operator in ("Div", "Mod") if name.startswith("int") else ("Div",):
            for size in (16, 1000, 1_000_000):
                text = f"{element}[n] a, {element}[n] b) => ({element}[n] c) {{ c = {operator}(a, b) }}"
                model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 14]> model ({text}')
                a, b = rng.uniform(-6e4, 6e4, size), rng.uniform(1, 100, size)
                yield (
                    f"{operator} of {name}, {size:,}",
                    model.SerializeToString(),
                    {"a": a.astype(name), "b": b.astype(name)},
                )


def models() -> Iterator[Case]:
    """Yield whole models: tiny ones, a transformer, and light models of onnx's own tests."""
    rng = np.random.default_rng(0)
    for name in ("layer_norm", "rms_norm"):
        x = np.load(EXAMPLES / name / "x.npy")
        yield name, onnx.load(EXAMPLES / name / "model.onnx").SerializeToString(), {"x": x}
    for layers, hidden, length in ((2, 64, 16), (12, 256, 128)):
        x = rng.standard_normal((1, length, hidden), np.float32)
        yield f"transformer of {layers} layers", transformer(layers, hidden, 4).SerializeToString(), {"x": x}
    light = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    for file in sorted(light.glob("light_*.onnx")):
        model = onnx.load(file)
        weights = {weight.name for weight in model.graph.initializer}
        (given,) = (value for value in model.graph.input if value.name not in weights)
        shape = [size.dim_value for size in given.type.tensor_type.shape.dim]
        yield file.stem, model.SerializeToString(), {given.name: rng.random(shape, np.float32)}


def runner(case: Case, threads: int, **settings: Any) -> Callable[[], None]:
    """Return a run of a session, with the library if there are settings, and its operands bound once."""
    _, model, inputs = case
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    if settings:
        register(options, **settings)
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, value in inputs.items():
        binding.bind_cpu_input(name, value)
    for output in session.get_outputs():
        binding.bind_output(output.name)
    return lambda: session.run_with_iobinding(binding)


def compare(plain: Callable[[], None], ours: Callable[[], None]) -> tuple[float, float]:
    """Return the best time of plain ONNX Runtime, and the ratio of ours to it."""
    times: list[tuple[float, float]] = []
    plain()
    count = max(1, round(SECONDS / max(timed(plain, 3), 1e-6)))
    ours()
    for turn in range(TURNS):
        first, second = (plain, ours) if turn % 2 else (ours, plain)
        pair = timed(first, count), timed(second, count)
        times.append(pair if turn % 2 else pair[::-1])
    return min(time for time, _ in times), statistics.median(ours / plain for plain, ours in times)


def timed(run: Callable[[], None], count: int) -> float:
    """Return the seconds of a run."""
    begin = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - begin) / count


def main(threads: Annotated[int, typer.Option(min=1)] = 1, only: str = "") -> None:
    """Print each ratio; a name of which --only is a part is measured."""
    print(f"onnxruntime {onnxruntime.__version__}, {threads} thread(s)")
    print(f"{'':32} {'plain, us':>10} {'exact':>6} {'fused':>6}")
    for case in (*divisions(), *models()):
        if only not in case[0]:
            continue
        plain = runner(case, threads)
        best, exact = compare(plain, runner(case, threads, fusions=False))
        _, fused = compare(plain, runner(case, threads, fusions=True))
        print(f"{case[0]:32} {best * 1e6:10.1f} {exact:6.2f} {fused:6.2f}", flush=True)


if __name__ == "__main__":
    typer.run(main)
