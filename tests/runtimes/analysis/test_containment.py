"""What ONNX Runtime computes lies in what is known of it: by each transfer function, in models, where sums cancel."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest

from tests.analysis import random_graphs
from tests.analysis.containment import complaint, looked_at
from tests.analysis.operators import TRIALS
from tests.analysis.trying import complaints, of_every_type
from tests.cases import case
from tests.runtimes.analysis.sessions import is_taken, optimised, session
from vinculum.analysis.assumptions import read_assumptions

_FLOAT32_ALONE = ("GRU", "ScatterND")
"""What ONNX Runtime takes in float16 or float64 when it reads a model, and refuses when it runs it."""


@pytest.mark.parametrize(("seed", "rounds"), [(1, 12), pytest.param(2, 10_000, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("operator", sorted({trial.operator for trial in TRIALS}))
def test_what_is_computed_lies_inside(operator: str, seed: int, rounds: int) -> None:
    """On operands at the edges of their types."""
    tried = [
        (trial, name)
        for trial, name in of_every_type(operator)
        if name in trial.types or (operator not in _FLOAT32_ALONE and is_taken(trial, name))
    ]
    assert tried
    assert [said for trial, name in tried for said in complaints(trial, name, seed, rounds, session)] == []


def _said(seed: int, draws: int) -> list[str]:
    return list(
        random_graphs.complaints(seed, draws=draws, sessions=(session, optimised) if seed % 4 == 0 else (session,))
    )


@pytest.mark.parametrize("first", range(0, 100, 10))
def test_every_value_of_random_models_lies_inside(first: int) -> None:
    assert [said for seed in range(first, first + 10) for said in _said(seed, 4)] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(1_000_000, 1_100_000, 1000))
def test_of_a_hundred_thousand(first: int) -> None:
    assert [said for seed in range(first, first + 1000) for said in _said(seed, 2)] == []


def test_every_zero_divisor_that_a_run_meets_is_told_of() -> None:
    assert [said for seed in range(5000, 5060) for said in random_graphs.unreported(seed, session)] == []


_NORM = "float[2, 8, 16] x, float[8] w, float[8] b"
CASES = [
    # operands, node, how large
    *(
        (_NORM, f"y = GroupNormalization <num_groups = 2, epsilon = {epsilon}> (x, w, b)", middle, width)
        for epsilon in ("1e-5", "1e-20")
        for middle, width in ((0.0, 1.0), (0.0, 1e-3), (1000.0, 1.0), (1e7, 1e4), (1e8, 1.0))
    ),
    *(
        (operands, node, middle, width)
        for operands, node in (
            (_NORM, "y = InstanceNormalization (x, w, b)"),
            ("float[2, 8, 16] x, float[16] w, float[16] b", "y = LayerNormalization (x, w, b)"),
            ("float[2, 8, 4, 4] x", "y = LRN <size = 5, alpha = 1e-4, beta = 0.75> (x)"),
            ("float[2, 8, 4, 4] x", "y = LRN <size = 3, alpha = 1.0, bias = 2.0> (x)"),
            ("float[1, 1, 6, 6] x", 'y = Resize <mode = "cubic", cubic_coeff_a = -50.0> (x, none, twice)'),
            ("float[1, 1, 6, 6] x", 'y = Resize <mode = "cubic"> (x, none, twice)'),
        )
        for middle, width in ((0.0, 1.0), (0.0, 4e4), (0.0, 5e5), (1e7, 1e4), (1e8, 1.0))
    ),
    # Neighbours among float32, whose mean is one of them.
    ("float[64, 2] x, float[2] w", "y = LayerNormalization (x, w)", 1e10, 1e3),
    ("float[64, 4] x, float[4] w", "y = LayerNormalization (x, w)", 1e5, 0.01),
]


def test_what_cancels_lies_inside() -> None:
    """Running sums and means, E[x^2] - E[x]^2."""
    rng = np.random.default_rng(1)
    for operands, node, middle, width in CASES:
        model = onnx.parser.parse_model(
            f'<ir_version: 10, opset_import: ["" : 21]> g ({operands}) => (float y) '
            f"<float[4] twice = {{1, 1, 2, 2}}, float[0] none = {{}}> {{ {node} }}"
        )
        model.graph.output[0].type.tensor_type.ClearField("shape")
        with case(node, middle, width), np.errstate(all="ignore"):
            run = session(model)
            for _ in range(25):
                x, *given = (
                    rng.uniform(-1, 1, [d.dim_value for d in value.type.tensor_type.shape.dim]).astype(np.float32)
                    for value in model.graph.input
                )
                array = (middle + width * np.sign(x) * np.abs(x) ** rng.integers(1, 9)).astype(np.float32)
                arrays = dict(zip((v.name for v in model.graph.input), (array, *given), strict=True))
                low, high = float(array.min()), float(array.max())
                assume = [f"x={low!r}:{high!r}", *(f"{name}=-1:1" for name in list(arrays)[1:])]
                _, scope = looked_at(model, read_assumptions(assume, model).tensors("float32"), infer=False)
                assert complaint(scope.values["y"], run.run(None, arrays)[0]) == ""
