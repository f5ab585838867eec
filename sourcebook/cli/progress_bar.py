"""A bar of progress on stderr; lines where that is no terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sourcebook.cli.progress_lines import ProgressLines, is_terminal


@contextmanager
def passage_bar(action: str, *, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for each collection, or lines where stderr is no terminal; yield the callback that moves it.

    Args:
        action: word before the name of the collection, such as `exporting`.
        quiet: whether to show nothing.
    """
    if quiet:
        yield lambda collection, done, total: None
        return
    if not is_terminal():
        with ProgressLines() as lines:
            lines.begin(action)
            yield lines.show
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
