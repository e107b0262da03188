"""A progress bar for what lasts: on standard error, only on a terminal, only after a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from vinculum.reporting.terminal import console

_PATIENCE = 1.0  # Seconds; a bar that flashes up for less says nothing.

Advance = Callable[[int, str], None]


@contextmanager
def progress(title: str, total: int) -> Iterator[Advance]:
    """Show how far a task of `total` steps is, once it has lasted a second; the bar vanishes at the end.

    What it yields is called with the number of steps done and a few words, which costs little.
    """
    shown = console(stderr=True)
    if not shown.is_interactive:
        yield lambda done, words: None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[words]}", markup=False),
        TimeElapsedColumn(),
    )
    bar = Progress(*columns, console=shown, transient=True)
    # One step more, for what comes after the last: a bar that is full stops its clock.
    task = bar.add_task(title, total=total + 1 if total else None, words="")
    timer = Timer(_PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done, words: bar.update(task, completed=done, words=words)
    finally:
        timer.cancel()
        timer.join()  # It may be about to start the bar, which would then never stop.
        bar.stop()
