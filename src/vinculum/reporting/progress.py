"""A progress bar for long tasks, on standard error, and only if that is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from vinculum.reporting.terminal import console

_PATIENCE = 1.0  # Seconds; a shorter task shows no bar.

Advance = Callable[[int, str], None]


@contextmanager
def progress(title: str, total: int) -> Iterator[Advance]:
    """Show the progress of a task of `total` steps that takes more than a second; the bar disappears at the end.

    Yields a function to call with the number of steps done and a few words. Calls are cheap.
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
    # One step more than there are: a full bar stops its clock, and work may remain after the last step.
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
