"""Small PyTorch modules, hazards and their guarded twins, exported by both exporters.

They need PyTorch and onnxscript: ``python -m tests.runtimes.analysis.corpus.make_exports`` writes
tests/analysis/corpus/models.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import torch
from torch import nn

_MODELS = Path(__file__).parents[3] / "analysis" / "corpus" / "models"
_TRACE = "pkg.torch.onnx.stack_trace"
_X = torch.linspace(-1, 2, 12).reshape(3, 4)
_MASK = torch.tensor([[1, 1, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]])


class _Function(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *operands: Any) -> Any:
        return self.function(*operands)


class _Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.query, self.key, self.value = (nn.Linear(4, 4) for _ in range(3))
        self.norm = nn.LayerNorm(4)

    def forward(self, x: Any) -> Any:
        scores = self.query(x) @ self.key(x).transpose(-1, -2) / 2.0
        return self.norm(x + torch.softmax(scores, -1) @ self.value(x))


def _router(x: Any) -> Any:
    weights, _ = torch.topk(torch.softmax(x, -1), 2, dim=-1)
    return weights / weights.sum(-1, keepdim=True)


def _straight_through(x: Any) -> Any:
    soft = torch.softmax(x, -1)
    hard = torch.nn.functional.one_hot(soft.argmax(-1), 4).to(soft.dtype)
    assignment = hard - soft.detach() + soft
    return assignment / (assignment.sum(-1, keepdim=True) + 1)


MODULES: dict[str, tuple[nn.Module, tuple[Any, ...]]] = {
    "normalize": (_Function(lambda x: nn.functional.normalize(x, dim=-1)), (_X,)),
    "normalize_without_guard": (_Function(lambda x: x / x.norm(dim=-1, keepdim=True)), (_X,)),
    "masked_mean": (_Function(lambda x, mask: (x * mask).sum(1) / mask.sum(1)), (_X, _MASK)),
    "masked_mean_clamped": (_Function(lambda x, mask: (x * mask).sum(1) / mask.sum(1).clamp(min=1)), (_X, _MASK)),
    "router": (_Function(_router), (_X,)),
    "straight_through": (_Function(_straight_through), (_X,)),
    "rms": (_Function(lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)), (_X,)),
    "standardise": (_Function(lambda x: (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)), (_X,)),
    "standardise_guarded": (
        _Function(lambda x: (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)),
        (_X,),
    ),
    "layer_norm": (nn.LayerNorm(4), (_X,)),
    "group_norm": (nn.GroupNorm(2, 4), (_X.reshape(3, 4, 1).expand(3, 4, 5).contiguous(),)),
    "batch_norm": (nn.BatchNorm1d(4).eval(), (_X,)),
    "attention": (_Attention().eval(), (_X.reshape(1, 3, 4),)),
    "softmax": (nn.Softmax(-1), (_X,)),
    "cosine_similarity": (_Function(lambda x: nn.functional.cosine_similarity(x[:, :2], x[:, 2:], dim=-1)), (_X,)),
    "inverse": (_Function(lambda x: 1 / x), (_X,)),
    "inverse_of_exponential": (_Function(lambda x: 1 / (1 + torch.exp(-x))), (_X,)),
    "floor_divide": (_Function(lambda n: n // 3), (_MASK,)),
    "floor_divide_by_input": (_Function(lambda n, m: n // m), (_MASK, _MASK + 1)),
    "truncating_divide": (_Function(lambda n: torch.div(n, 3, rounding_mode="trunc")), (_MASK,)),
    "true_divide_floor": (_Function(lambda n: torch.floor(n / 3).long()), (_MASK,)),
    "remainder": (_Function(lambda n, m: torch.remainder(n, m)), (_MASK, _MASK + 1)),
    "where_zero": (_Function(lambda x: 1 / torch.where(x == 0, torch.ones_like(x), x)), (_X,)),
    "dice": (_Function(lambda x: 2 * (x.sigmoid() * x.sigmoid()).sum(-1) / (x.sigmoid().sum(-1) + 1.0)), (_X,)),
    "log_softmax": (nn.LogSoftmax(-1), (_X,)),
    "logit": (_Function(lambda x: torch.log(x.clamp(0.01, 0.99) / (1 - x.clamp(0.01, 0.99)))), (_X,)),
}


_EXPORTERS: dict[str, dict[str, Any]] = {
    "dynamo": {"dynamo": True, "external_data": False},
    "script": {"dynamo": False},
    "script11": {"dynamo": False, "opset_version": 11},
}
_ALIKE = ("floor_divide", "floor_divide_by_input", "truncating_divide")
"""What the older exporter writes alike, whether the program floors or truncates: nothing tells them apart."""


def main() -> None:
    """Write every module as each exporter writes it."""
    _MODELS.mkdir(exist_ok=True)
    _write_floor_without_correction()
    for name, (module, operands) in MODULES.items():
        for exporter, options in _EXPORTERS.items():
            if exporter == "dynamo" or name not in _ALIKE:
                path = _MODELS / f"{name}.{exporter}.onnx"
                with warnings.catch_warnings(), torch.no_grad():
                    warnings.simplefilter("ignore")
                    torch.onnx.export(module, operands, str(path), verbose=False, **options)
                model = onnx.load(path)
                shorten(model)
                onnx.save(model, path)


def _write_floor_without_correction() -> None:
    """Write what exporters wrote that left out the correction, the user's line at the node."""
    text = '<ir_version: 10, opset_import: ["" : 18]> g (int64[3] n, int64[3] m) => (int64[3] q) { q = Div(n, m) }'
    model = onnx.parser.parse_model(text)
    frame = 'File "model.py", line 7, in forward\n    return positions // strides'
    model.graph.node[0].metadata_props.add(key=_TRACE, value=frame)
    onnx.save(model, _MODELS / "floor_without_correction.onnx")


def shorten(model: onnx.ModelProto) -> None:
    """Leave out what the exporter writes of its own machine, but for the user's lines."""
    for node in (*model.graph.node, *(node for function in model.functions for node in function.node)):
        kept = [entry.value for entry in node.metadata_props if entry.key == _TRACE]
        del node.metadata_props[:]
        for value in kept:
            frames = re.sub(r'File "[^"]*?((?:site-packages|tests)/[^"]*)"', r'File "\1"', value)
            node.metadata_props.add(key=_TRACE, value=frames)
    del model.metadata_props[:]
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info, *model.graph.initializer):
        del value.metadata_props[:]
    del model.graph.metadata_props[:]


if __name__ == "__main__":
    main()
