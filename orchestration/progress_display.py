"""The display of `sourcebook ingest`: bars in a terminal, else a line every ten seconds; then the results."""

import sys
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from sourcebook.cli.crawl_reports import note_lines
from sourcebook.cli.output import one_line, without_controls
from sourcebook.cli.progress_lines import ProgressLines, is_terminal
from sourcebook.model.counted import counted
from sourcebook.model.place import stamp
from sourcebook.model.progress import listening

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from orchestration.ingest import IngestedCollection
    from sourcebook.admin.pending import Pending

_UNITS = {
    "raw_files": "files",
    "crawled_pages": "pages",
    "transcripts": "seconds of sound",
    "documents": "documents",
    "chunks": "documents",
    "embeddings": "chunks",
    "search_index": "documents",
}
_MOST_FAILURES = 3
"""Failures that are printed with their reasons."""
_MOST_DAMAGE = 10
"""Damaged items that are printed one by one."""


class ProgressDisplay:
    """Progress on stderr; a quiet display prints nothing, for programs."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._bars: dict[str, TaskID] = {}
        self._progress: Progress | None = None
        self._lines = None if quiet or is_terminal() else ProgressLines()
        self._listening = listening(self._show)
        self._warnings: list[str] = []

    def __enter__(self) -> Self:
        """Listen to the progress of this process."""
        if not self._quiet:
            self._listening.__enter__()
        if self._lines is not None:
            self._lines.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Remove the bars."""
        self._end_bars()
        if self._lines is not None:
            self._lines.__exit__(kind, error, traceback)
        if not self._quiet:
            self._listening.__exit__(None, None, None)
        if kind is KeyboardInterrupt:
            self._say("Interrupted. What is done stays, and the next ingest goes on from there.")

    def warn(self, warnings: Sequence[str]) -> None:
        """Print what can be said before any work: missing folders, and patterns that match nothing."""
        self._warnings = list(warnings)
        for warning in warnings:
            self._say(warning)

    def waiting(self, collection: str) -> None:
        """Print that another process is ingesting the collection."""
        self._say(f"{collection}: another process is ingesting it; waiting until it has finished …")

    def speech_is_busy(self, collection: str) -> None:
        """Print that recordings wait for those of another collection."""
        self._say(f"{collection}: waiting until the recordings of another collection are transcribed")

    def started(self, collection: str, pending: "Pending") -> None:
        """Print the pending work of a collection."""
        counts = [
            f"{counted(number, noun)} {what}".rstrip()
            for number, noun, what in (
                (pending.changed_files, "new or changed file", ""),
                (pending.gone_files, "file", "gone"),
                (pending.pages, "page", "to ask for"),
                (0 if pending.changed_files else pending.recordings, "recording", "to transcribe"),
                (0 if pending.changed_files else pending.documents, "document", "to make or remove"),
                (0 if pending.changed_files else pending.index, "document", "to index"),
                (pending.damaged, "damaged item", "to mend"),
            )
            if number
        ]
        if pending.suspicious and not counts:
            counts = ["rows that somebody else has changed are compared"]
        self._say(f"{collection}: {', '.join(counts) or 'processing again'}")
        if self._lines is not None:
            self._lines.begin(collection)

    def finished(self, done: "IngestedCollection") -> None:
        """Print the result of a collection."""
        self._end_bars()
        if done.run_id is None and done.unmatched and not done.assets["documents"]["unchanged"]:
            pass  # the sentences below are all there is to say
        elif done.run_id is None:
            self._say(
                f"{done.name}: nothing changed, {done.assets['documents']['unchanged']:,} documents are up to date"
            )
        else:
            entries, vectors = done.assets["search_index"], done.assets["embeddings"]
            for asset, what in (("crawled_pages", "pages"), ("transcripts", "recordings")):
                if any(done.assets[asset].values()):
                    self._say(f"{done.name}: {what}: {_changes(done.assets[asset])}")
            searchable = entries["unchanged"] + entries["added"] + entries["changed"]
            reused = f", {vectors['reused']:,} vectors reused" if vectors["reused"] else ""
            self._say(
                f"{done.name}: documents: {_changes(done.assets['documents'])}; "
                f"{counted(searchable, 'passage')} searchable, {vectors['computed']:,} embedded{reused}"
            )
        for finding in done.pending.damage[:_MOST_DAMAGE]:
            self._say(f"{done.name}: was damaged: {one_line(str(finding), 500)}")
        self._show_failures(done)
        for reason in done.pending.unlisted:
            self._say(f"{done.name}: {reason}; nothing of it was removed")
        notes = (*note_lines(done.crawl_notes), *done.left_out, *done.generation_notes)
        unmatched = (each for each in done.unmatched if not self._was_said(f"{done.name}: {each}"))
        for reason in (*unmatched, *done.unread_sites, *notes):
            self._say(f"{done.name}: {reason}")

    def _show_failures(self, done: "IngestedCollection") -> None:
        """Print the number of failures, and the first ones with their reasons, the new ones before the others."""
        if not done.failed_items:
            return
        number = len(done.new_failures)
        kinds = f"{number:,} new" if number else "none of them new"
        self._say(f"{done.name}: {done.failed_items:,} failed, {kinds}")
        first = [*done.new_failures.items(), *done.old_failures.items()][:_MOST_FAILURES]
        for uri, reason in first:
            self._say(f"  {one_line(uri, 500)}: not indexed because {one_line(reason, 500)}")
        more = done.failed_items - len(first)
        all_of_them = f"sourcebook documents --failed -c {done.name}"
        self._say(f"  and {more:,} more:  {all_of_them}" if more else f"  when they are tried again:  {all_of_them}")

    def _was_said(self, line: str) -> bool:
        """Return whether a warning before the work began with a line."""
        return any(warning.startswith(line) for warning in self._warnings)

    def _say(self, line: str) -> None:
        if not self._quiet:
            sys.stderr.write(without_controls(line) + "\n")

    def _show(self, stage: str, collection: str, done: int, total: int, failed: int) -> None:
        if self._lines is not None:
            self._lines.show(stage.replace("_", " "), done, total, unit=_UNITS.get(stage, "items"), failed=failed)
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.table import Column

        if self._progress is None:
            # The bar takes what the numbers leave, so that 80 columns suffice.
            self._progress = Progress(
                TextColumn("{task.description:>13}", table_column=Column(no_wrap=True)),
                BarColumn(bar_width=None, table_column=Column(ratio=1)),
                MofNCompleteColumn(table_column=Column(no_wrap=True)),
                TextColumn("{task.fields[rate]}", table_column=Column(no_wrap=True)),
                TimeRemainingColumn(compact=True, table_column=Column(no_wrap=True)),
                console=Console(stderr=True),
                transient=True,
                expand=True,
            )
            self._progress.start()
        if stage not in self._bars:
            self._bars[stage] = self._progress.add_task(stage.replace("_", " "), total=total, rate="")
        bar = self._bars[stage]
        self._progress.update(bar, completed=done, total=total)
        speed = next((task.finished_speed or task.speed for task in self._progress.tasks if task.id == bar), None)
        rate = f"{speed:,.{0 if speed >= 10 else 1}f} {_UNITS.get(stage, 'items')}/s" if speed else ""
        if stage == "transcripts":
            rate = f"{stamp(done)} of {stamp(total)}; {speed or 0:,.1f} × real time"
        if failed:
            rate = f"{failed:,} failed; {rate}"
        self._progress.update(bar, rate=rate)

    def _end_bars(self) -> None:
        if self._progress is not None:
            self._progress.stop()
        self._progress = None
        self._bars = {}
        if self._lines is not None:
            self._lines.begin("")


def _changes(counts: Mapping[str, Any]) -> str:
    """Return the counts of an asset in words, without those that are 0: `3 new, 2 changed, 1 removed`."""
    words = {"added": "new", "changed": "changed", "removed": "removed", "unchanged": "unchanged"}
    words |= {"failed": "failed", "postponed": "postponed"}
    return ", ".join(f"{counts[name]:,} {word}" for name, word in words.items() if counts.get(name)) or "nothing"
