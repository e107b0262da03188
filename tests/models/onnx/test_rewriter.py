"""New nodes and values have names of their own."""

from __future__ import annotations

from vinculum.models.onnx.rewriter import unique_name


def test_the_first_number_that_is_free() -> None:
    taken = {"a_3"}
    assert [unique_name("a", taken) for _ in range(4)] == ["a", "a_2", "a_4", "a_5"]
    assert taken == {"a", "a_2", "a_3", "a_4", "a_5"}
