"""A bar of progress on stderr."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def passage_bar(action: str, *, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for each collection where stderr is a terminal; yield the callback that moves it.

    Args:
        action: word before the name of the collection, such as `exporting`.
        quiet: whether to show nothing.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda collection, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    from sourcebook.cli.output import without_controls

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True, markup=False), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def show(collection: str, done: int, total: int) -> None:
            if collection not in tasks:
                tasks[collection] = bar.add_task(f"{action} {without_controls(collection)}", total=total)
            bar.update(tasks[collection], completed=done, total=total)

        yield show
