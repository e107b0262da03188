"""``vinculum run --batch N``: run a model over stored arrays larger than memory, locally or on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from numpy.typing import NDArray
from rich.console import RenderableType
from rich.text import Text

from vinculum.cli.answers import tell
from vinculum.cli.input_files import input_files, read_inputs
from vinculum.cli.options import policies_advised
from vinculum.cli.output_files import output_paths
from vinculum.models import load
from vinculum.models.model import Engine
from vinculum.models.stored_batches import run_stored
from vinculum.ops.policies import Policies
from vinculum.reporting.progress import progress
from vinculum.reporting.tables import counted
from vinculum.stored.arrays import Place
from vinculum.stored.clusters import client_of
from vinculum.text import shape_text


@dataclass(frozen=True)
class Batches:
    """The values of ``--batch`` and the options that belong to it."""

    size: int
    stored_as: str
    workers: int | None
    cluster: str | None
    engine: Engine
    policies: Policies


def run_batches(model: Path, options: Sequence[str], folder: Path, batches: Batches, *, in_json: bool) -> None:
    """Run a model over stored arrays, write its outputs to a folder, and print a summary."""
    loaded = load(model)
    files = input_files(options, loaded.inputs)
    read = {name: file for name, file in files.items() if file.path.suffix.lower() in (".npz", ".pb")}
    inputs: dict[str, Place | NDArray[Any]] = dict(read_inputs(read, loaded.inputs))
    # The processes of a cluster may have other working directories.
    inputs |= {name: Place.parse(str(file), absolute=True) for name, file in files.items() if name not in read}
    names = [tensor.name for tensor in loaded.outputs]
    sources = (model, *(file.path for file in files.values()))
    paths = output_paths(folder, names, sources, f".{batches.stored_as}")

    def place(name: str) -> Place:
        path = str(paths[name].absolute())
        return Place.parse(f"{path}:/{paths[name].stem}" if batches.stored_as == "h5" else path)

    made = not folder.exists()
    start = perf_counter()
    with (
        policies_advised(),
        client_of(batches.cluster, batches.workers) as client,
        progress("Running", 1000) as advance,
    ):
        folder.mkdir(exist_ok=True)
        try:
            report = run_stored(
                model,
                inputs,
                place,
                batch=batches.size,
                policies=batches.policies,
                engine=batches.engine,
                client=client,
                advance=lambda done, items: advance(1000 * done // items, f"{done:,} of {items:,} items"),
            )
        except BaseException:
            if made and not any(folder.iterdir()):
                folder.rmdir()
            raise
    written = {name: str(paths[name]) for name in report.outputs}
    told = {"model": str(model), **asdict(report), "files": written, "seconds": perf_counter() - start}
    tell(in_json, dict, _page, told)


def _page(told: dict[str, Any]) -> RenderableType:
    """Return a summary of the result: the outputs, the number of items and blocks, and the time."""
    outputs = told["outputs"].items()
    lines = [f"{told['files'][name]}: {kind}, shape {shape_text(shape)}" for name, (kind, shape) in outputs]
    before = f", {told['resumed']:,} of them by an earlier run" if told["resumed"] else ""
    taken = f"{counted(told['items'], 'item')} in {counted(told['blocks'], 'block')}{before}, {told['seconds']:.1f} s"
    return Text("\n".join([*lines, taken]))
