"""What the tests of models share: small model files, and the demand that an error be one clear line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from onnx import ModelProto, NodeProto, helper

Tensors = Mapping[str, tuple[int, Sequence[int | str | None] | None]]


@pytest.fixture
def onnx_model() -> Callable[..., ModelProto]:
    """Return a function that builds a model of nodes, its tensors given as ``{name: (element type, shape)}``."""

    def build(
        nodes: Sequence[NodeProto],
        inputs: Tensors,
        outputs: Tensors,
        *,
        opset: int = 17,
        ir_version: int = 9,
        domains: Sequence[str] = (),
        functions: Sequence[Any] = (),
        initializers: Sequence[Any] = (),
    ) -> ModelProto:
        declared = [
            [helper.make_tensor_value_info(name, *tensor) for name, tensor in group.items()]
            for group in (inputs, outputs)
        ]
        graph = helper.make_graph(nodes, "graph", declared[0], declared[1], list(initializers))
        imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
        return helper.make_model(graph, opset_imports=imports, ir_version=ir_version, functions=list(functions))

    return build


@pytest.fixture
def onnx_file(tmp_path: Path, onnx_model: Callable[..., ModelProto]) -> Callable[..., Path]:
    """Return a function that builds a model as `onnx_model` does and returns the path of its file."""

    def save(*args: Any, **options: Any) -> Path:
        path = tmp_path / "model.onnx"
        path.write_bytes(onnx_model(*args, **options).SerializeToString())
        return path

    return save


@pytest.fixture
def ir_file(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes an IR file of layers and edges, given as XML, and its data."""

    def save(layers: str, edges: str = "", data: bytes | None = b"", version: str = "11") -> Path:
        path = tmp_path / "model.xml"
        body = f"<layers>{layers}</layers><edges>{edges}</edges>"
        path.write_text(f'<?xml version="1.0"?><net name="m" version="{version}">{body}</net>')
        if data is not None:
            path.with_suffix(".bin").write_bytes(data)
        return path

    return save


@pytest.fixture
def one_line() -> Callable[..., AbstractContextManager[None]]:
    """Return a context manager that demands an error of exactly one class, its message one line with a text in it."""

    @contextmanager
    def demand(kind: type[Exception], *parts: str) -> Iterator[None]:
        with pytest.raises(kind) as caught:
            yield
        message = str(caught.value)
        assert type(caught.value) is kind
        assert "\n" not in message
        for part in parts:
            assert part in message

    return demand
