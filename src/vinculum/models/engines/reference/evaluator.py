"""ONNX's reference evaluator with Vinculum's divisions, and with errors that name their node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from onnx import NodeProto
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun, RuntimeContextError
from onnx.reference.ops import load_op

from vinculum.errors import BroadcastError, ModelError
from vinculum.models.engines.reference.legacy import KNOWN_SINCE, with_legacy_rules
from vinculum.models.engines.reference.operators import Div, Interruption, Loop, Reciprocal, Scan
from vinculum.models.engines.reference.repairs import REPAIRED, check_operands, check_result_size
from vinculum.models.execution import LimitError
from vinculum.models.onnx.scopes import title
from vinculum.text import one_line, quoted

_OPERATORS: list[type[OpRun]] = [Div, Reciprocal, Loop, Scan, *REPAIRED]


class Evaluator(ReferenceEvaluator):
    """The reference evaluator with Vinculum's operators at every depth, and with errors that name their node.

    The base class evaluates subgraphs with its own class and does not pass `new_ops` on to functions. So the operators
    belong to this class and are not an argument.
    """

    def __init__(
        self,
        proto: Any,
        opsets: dict[str, int] | None = None,
        functions: list[Any] | None = None,
        verbose: int = 0,
        new_ops: object = None,
    ) -> None:
        self._not_given: dict[str, str] = {}
        try:
            super().__init__(proto, opsets=opsets, functions=functions, verbose=verbose, new_ops=_OPERATORS)
        except (Interruption, RuntimeContextError, RecursionError):
            raise
        except Exception as error:
            # The evaluator itself builds some operators that ONNX defines as functions of others.
            raise Interruption(ModelError(f"the model cannot be run: {one_line(error)}")) from None
        _protect(self.rt_inits_.values())

    def run(self, output_names: Any, feed_inputs: dict[str, Any], *args: Any, **options: Any) -> Any:
        """Return the outputs."""
        try:
            return super().run(output_names, feed_inputs, *args, **options)
        except RecursionError:
            raise
        except RuntimeError:
            # The evaluator did not find a value; errors of nodes are interruptions by now.
            missing = (f"{maker} does not produce its output {quoted(name)}" for name, maker in self._not_given.items())
            known = next(missing, "the model cannot be run: a node of an enclosing graph does not produce its output")
            raise Interruption(ModelError(f"{known}, which is used")) from None

    def _load_impl(self, node: NodeProto, input_types: Any = None) -> Callable[..., Any]:
        with _naming(node):
            try:
                first = KNOWN_SINCE.get(node.op_type, 0) if node.domain == "" else 0
                if self.opsets.get("", 0) < first:
                    implementation = load_op("", node.op_type, first)
                else:
                    implementation = super()._load_impl(node, input_types)
            except NotImplementedError:
                raise ValueError("the onnx package's reference evaluator does not implement it") from None

        def construct(*args: Any) -> Any:
            with _naming(node):
                instance = with_legacy_rules(implementation(*args), node, self.opsets)
            instance.run = _named_run(instance.run, node, self._not_given)
            _protect(vars(instance).values())
            return instance

        return construct


def _protect(values: Iterable[object]) -> None:
    """Make constants read-only, so that no run changes them for the next one."""
    for value in values:
        if isinstance(value, np.ndarray):
            value.flags.writeable = False


def _named_run(run: Callable[..., Any], node: NodeProto, not_given: dict[str, str]) -> Callable[..., Any]:
    def named(*operands: Any, **options: Any) -> Any:
        with _naming(node):
            check_operands(node, operands)
            check_result_size(node, operands)
            results = run(*operands, **options)
            not_given.update((name, title(node)) for name in node.output[len(results) :] if name)
            # The value of an output without a name would become the value of every omitted input.
            return tuple(value if name else None for name, value in zip(node.output, results, strict=False))

    return named


@contextmanager
def _naming(node: NodeProto) -> Iterator[None]:
    """Turn any error of a node into an interruption that names it."""
    try:
        yield
    except (Interruption, RuntimeContextError, RecursionError):
        raise
    except LimitError as error:
        raise Interruption(error) from None
    except Exception as error:
        # Shapes that do not fit are the caller's fault, any other error is the model's.
        kind = BroadcastError if isinstance(error, BroadcastError) else ModelError
        raise Interruption(kind(f"{title(node)} cannot be run: {one_line(error)}")) from None
