"""Layout of the chosen passages: one number a document, reading order within it, neighbours as one run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from sourcebook.context.fence import one_line, safe_address
from sourcebook.context.passages import ContextPassage
from sourcebook.contract.context_results import ContextSource, SourceRun
from sourcebook.model.page_labels import page_label, page_words
from sourcebook.model.passage_part import PassagePart
from sourcebook.model.place import address_of, joined_lines, line_words, time_span

_LONGEST_TITLE: Final = 160
"""Characters of a title in the context."""
_LONGEST_HEADING: Final = 80
_LONGEST_ADDRESS: Final = 400
_DIGITS: Final = 12
"""Hexadecimal digits of the content hash in the context."""


@dataclass(frozen=True)
class Run:
    """Adjacent passages of a document, without what they repeat of each other."""

    passages: tuple[ContextPassage, ...]

    @property
    def first(self) -> ContextPassage:
        """The passage that it begins with."""
        return self.passages[0]

    @property
    def place(self) -> PassagePart:
        """Place of its beginning; of a recording or a text file until the end of its last passage."""
        last = self.passages[-1].place_at(len(self.passages[-1].own))
        place = replace(self.first.place, anchor=joined_lines(self.first.place.anchor, last.anchor))
        return place if place.end_seconds is None else replace(place, end_seconds=last.end_seconds)

    @property
    def words(self) -> list[str]:
        """Headings, page, time, anchor and characters, as far as there are any, as harmless lines."""
        place, title = self.place, self.first.result.title
        headings = [one_line(each, _LONGEST_HEADING) for each in place.heading_path if each != title]
        said = [" › ".join(headings)] if headings else []
        said += [lines] if (lines := line_words(place.anchor)) else []
        said += [page] if (page := page_words(place.page, self.first.result.metadata)) else []
        said += [span] if (span := time_span(place.start_seconds, place.end_seconds)) else []
        return [*said, f"characters {self.first.start}–{self.passages[-1].end}"]

    def between(self, number: int) -> str:
        """Return the white space before one of its passages."""
        if number == 0:
            return ""
        gap = self.passages[number].start - self.passages[number - 1].end
        return "" if gap <= 0 else "\n" if gap == 1 else "\n\n"

    def described(self) -> SourceRun:
        """Return the run as a result names it."""
        place = self.place
        return SourceRun(
            tuple(passage.ordinal for passage in self.passages),
            self.first.start,
            self.passages[-1].end,
            place.heading_path,
            place.anchor,
            place.page,
            place.start_seconds,
            place.end_seconds,
            time_span(place.start_seconds, place.end_seconds),
            any(passage.is_cut for passage in self.passages),
            page_label(place.page, self.first.result.metadata),
        )


@dataclass(frozen=True)
class LaidSource:
    """A document of the context."""

    number: int
    runs: tuple[Run, ...]
    content_hash: str | None

    @property
    def passages(self) -> list[ContextPassage]:
        """Its passages in reading order."""
        return [passage for run in self.runs for passage in run.passages]

    @cached_property
    def title(self) -> str:
        """Its title as a harmless line, else the end of its address."""
        result = self.runs[0].first.result
        return one_line(result.title or result.uri.rstrip("/").rpartition("/")[2], _LONGEST_TITLE)

    @cached_property
    def address(self) -> str:
        """Its URI, with the place of its run where it has one alone."""
        result = self.runs[0].first.result
        uri = address_of(result.uri, self.runs[0].place) if len(self.runs) == 1 else result.uri
        return safe_address(uri, _LONGEST_ADDRESS)

    @property
    def version(self) -> str:
        """Its version, with the beginning of the hash of its content."""
        version = str(self.runs[0].first.result.version)
        return f"{version} ({self.content_hash[:_DIGITS]})" if self.content_hash else version

    def described(self) -> ContextSource:
        """Return the source as a result names it."""
        result = self.runs[0].first.result
        return ContextSource(
            self.number,
            result.document_id,
            result.collection,
            result.uri,
            address_of(result.uri, self.runs[0].place),
            result.title,
            result.version,
            self.content_hash,
            max(passage.result.relevance for passage in self.passages),
            tuple(run.described() for run in self.runs),
            result.kind,
            result.media_type,
            result.language,
            result.link,
            all(passage.is_linked for passage in self.passages),
        )


def lay_out(chosen: Iterable[ContextPassage], hashes: dict[tuple[int, int], str]) -> list[LaidSource]:
    """Return the sources of the chosen passages.

    Args:
        chosen: in the order in which they were chosen.
        hashes: hexadecimal sha256 of the content by generation and document; of some, none.
    """
    by_document: dict[tuple[int, int], list[ContextPassage]] = {}
    for passage in chosen:
        by_document.setdefault(passage.document, []).append(passage)
    return [
        LaidSource(number, tuple(_runs(passages)), hashes.get(document))
        for number, (document, passages) in enumerate(by_document.items(), start=1)
    ]


def _runs(passages: Sequence[ContextPassage]) -> list[Run]:
    runs: list[list[ContextPassage]] = []
    for passage in sorted(passages, key=lambda each: (each.ordinal, each.start)):
        last = runs[-1][-1] if runs else None
        if last is None or passage.ordinal != last.ordinal + 1 or passage.is_cut or last.is_cut:
            runs.append([passage])
            continue
        repeated = last.end - passage.start
        if repeated >= len(passage.own):
            continue
        if repeated > 0:
            passage = passage.part(repeated, len(passage.own), is_cut=False)
        elif passage.lead.strip() and any(passage.lead.strip() in each.lead + each.own for each in runs[-1]):
            passage = passage.without_lead()
        runs[-1].append(passage)
    return [Run(tuple(run)) for run in runs]
