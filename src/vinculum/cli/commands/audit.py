"""``vinculum audit``: run a model in a foreign runtime and compare each of its divisions with the exact quotient."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

from vinculum.cli.options import Inputs, ModelFile, OneObject, end, flag, tell, value


def audit(
    model: ModelFile,
    backend: Annotated[
        str, value("NAME[KEY=VALUE,...]", "The runtime: onnxruntime, openvino, onnx-reference, module:attribute.")
    ],
    inputs: Inputs = None,
    seed: Annotated[int, value("N", "Seed of the edge cases and of the inputs without a file.", min=0)] = 0,
    dims: Annotated[
        list[str] | None, value("NAME=SIZE", "The size of a symbolic dimension. Default: about 1,000.", "--dim")
    ] = None,
    sets: Annotated[int, value("N", "How many sets of edge cases to run besides, each once.", min=0, max=111)] = 12,
    expand: Annotated[
        bool, flag("Expand nodes that divide inside to their ONNX function bodies and audit these.", "--expand")
    ] = False,
    limit: Annotated[float, value("SECONDS", "Time limit of each run on the inputs.", "--limit", min=0.1)] = 300.0,
    in_json: OneObject = False,
) -> None:
    """Run a model in another runtime, on inputs and on edge cases, and compare each quotient with the exact one.

    Exit code 1: a quotient is wrong, a run on the inputs failed, or a run on edge cases crashed the runtime.
    """
    # Modules that import the onnx package are imported here, so that --help does not wait for them.
    from vinculum.cli.inputs import model_inputs
    from vinculum.conformance.audit.audit import MEMORY, Auditor
    from vinculum.models.sampling.drawn_inputs import dimension_sizes
    from vinculum.models.sampling.input_sets import edge_sets
    from vinculum.reporting.models.audit import as_json, page
    from vinculum.reporting.progress import progress
    from vinculum.sandbox import Limits

    auditor = Auditor(model, backend, Limits(seconds=limit, memory=MEMORY), expand=expand)
    declared = auditor.subject.inputs
    given = model_inputs(declared, inputs or (), seed, dims or (), large=True)
    # Files may hold few numbers, so edge cases have their own sizes.
    edges = edge_sets(declared, dimension_sizes(dims or (), declared, {}), seed)
    with progress("Auditing", 0):
        found = auditor.audit(given.arrays, islice(edges, sets))
    tell(in_json, as_json, page, found, given.reports, given.seed)
    end(finds=found.finds)
