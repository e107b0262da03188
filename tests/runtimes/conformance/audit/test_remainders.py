"""ONNX Runtime dies of MIN/-1 in int32 where it falls into the remainder after packets of 4: no seed hides that."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np
import pytest
from onnx import TensorProto

from tests.conformance.audit.models import ratio
from vinculum.conformance.audit.record import Audit
from vinculum.models.sampling.input_sets import edge_sets
from vinculum.models.values import ModelTensor
from vinculum.sandbox import End
from vinculum.spec.element_types import INT32

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors give MIN")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("shape", "dies"), [(("N",), True), ((1001,), True), ((5,), True), ((1000,), False)], ids=str)
def test_int32(audited: Callable[..., Audit], seed: int, shape: Sequence[int | str], dies: bool) -> None:
    size = shape[0] if isinstance(shape[0], int) else 3
    given = {"a": np.arange(size, dtype=np.int32), "b": np.full(size, 3, np.int32)}
    tensors = [ModelTensor(name, INT32, tuple(shape)) for name in "ab"]
    found = audited(
        ratio(TensorProto.INT32, *shape), "onnxruntime", given, edges=islice(edge_sets(tensors, {}, seed), 12)
    )
    assert found.finds == dies
    assert (found.edges.died is not None and found.edges.died.end is End.CRASHED) == dies
    assert found.nodes[0].sizes[-1] == (size if isinstance(shape[0], int) else 1001)
    assert not dies or any("divides -2147483648 / -1 at" in sentence for sentence in found.edges.suspects)
