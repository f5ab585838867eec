"""Questions and answers as the page shows them: the answer's text with citations that lead to the passages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from markupsafe import Markup

from sourcebook.contract.answers import Answer, Source
from sourcebook.contract.ask_sessions import AskTurn
from sourcebook.contract.search_results import printable
from sourcebook.model.page_labels import labelled
from sourcebook.server.page.document_text import rendered
from sourcebook.server.page.found_on_page import readable
from sourcebook.server.page.rendering import address, short_uri
from sourcebook.server.page.said_places import said_place
from sourcebook.server.page.translation import gettext

_NUMBER: Final = re.compile(r"\[(\d{1,4})\]")
_LONGEST_QUOTE: Final = 300


@dataclass(frozen=True, slots=True)
class PageSource:
    """A passage that an answer cites."""

    number: int
    """Number in the answer's text; 0 where it is not known."""
    title: str
    address: str
    """Address on this server that leads to it."""
    place: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class PageTurn:
    """A question and its answer."""

    said: AskTurn
    content: Markup
    sources: tuple[PageSource, ...]
    notes: tuple[str, ...] = ()
    """Sentences about what was taken out of the answer."""

    @property
    def as_text(self) -> str:
        """The answer with its sources, for other programs."""
        lines = [f"[{each.number}] {each.title}{f', {each.place}' if each.place else ''}" for each in self.sources]
        return printable("\n".join([self.said.answer, *([""] if lines else []), *lines]))


def turn_of_answer(answer: Answer, collections: list[str]) -> PageTurn:
    """Return the turn of a new answer."""
    sources = tuple(_source(answer, each) for each in answer.sources)
    uris = [each.uri for each in answer.sources]
    said = AskTurn(answer.question, answer.text, answer.reason, uris, collections, datetime.now(UTC))
    return PageTurn(said, _content(_shown(said), sources), sources, () if answer.refused else tuple(_notes(answer)))


def turn_of_kept(turn: AskTurn) -> PageTurn:
    """Return a turn that was kept: its sources are those that the numbers in its text name, in their order."""
    numbers = sorted({int(each) for each in _NUMBER.findall(turn.answer)})
    if len(numbers) != len(turn.sources):
        numbers = [0] * len(turn.sources)
    collection = turn.collections[0] if len(turn.collections) == 1 else None
    sources = tuple(
        PageSource(number, printable(short_uri(uri)), address("/cited", {"document": uri, "collection": collection}))
        for number, uri in zip(numbers, turn.sources, strict=True)
    )
    return PageTurn(turn, _content(_shown(turn), sources), sources)


def _shown(turn: AskTurn) -> str:
    """Return the text of an answer; a refusal is in the visitor's language."""
    return gettext(turn.answer) if turn.reason else turn.answer


def _content(text: str, sources: tuple[PageSource, ...]) -> Markup:
    return rendered(text, {each.number: (each.address, each.title) for each in sources if each.number})


def _source(answer: Answer, source: Source) -> PageSource:
    cited = next((each for each in answer.citations if each.number == source.number), None)
    at = source.start_char if cited is None or cited.start_char is None else cited.start_char
    headings = " › ".join(each for each in source.heading_path if each != source.title)
    words = (headings, said_place(labelled(source.page, source.page_label)), source.time_span or "", source.collection)
    quote = "" if cited is None else cited.quote
    return PageSource(
        source.number,
        printable(source.title or short_uri(source.uri)),
        address("/cited", {"document": str(source.document_id), "at": None if at is None else str(at)}),
        printable(" · ".join(each for each in words if each)),
        readable(quote if len(quote) <= _LONGEST_QUOTE else quote[:_LONGEST_QUOTE] + "…"),
    )


def _notes(answer: Answer) -> Iterator[str]:
    counted = {
        gettext("Citations that do not hold, and were taken out"): len(answer.removed_citations),
        gettext("Links, pictures and addresses that stand in no source, and were taken out"): answer.removed_links,
        gettext("Sentences without a citation"): answer.uncited_sentences,
    }
    for words, number in counted.items():
        if number:
            yield f"{words}: {number}."
