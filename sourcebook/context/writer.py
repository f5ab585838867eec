"""Text of a context that grows passage by passage, and the citation of each of its sentences."""

from xml.sax.saxutils import escape

from sourcebook.context.passages import ContextPassage
from sourcebook.contract.context_results import ContextCitation


class Writer:
    """A text that grows, and the places of the sentences in it."""

    def __init__(self, *, cites: bool = True, has_places: bool = True) -> None:
        """Begin with no text.

        Args:
            cites: whether each sentence that is written is cited.
            has_places: whether citations name their places in the text.
        """
        self._cites = cites
        self._has_places = has_places
        self._parts: list[str] = []
        self._length = 0
        self._numbers: dict[int, int] = {}
        self.citations: dict[str, ContextCitation] = {}

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._parts)

    def write(self, text: str) -> None:
        """Add a text."""
        self._parts.append(text)
        self._length += len(text)

    def write_passage(self, source: int, passage: ContextPassage, *, as_xml: bool = False) -> None:
        """Add a passage, and cite each of its sentences."""
        lead, text = passage.shown_lead, passage.shown.text
        if as_xml:
            lead, as_xml = escape(lead), any(sign in text for sign in "&<>")
        if lead:
            self._cite(source, passage, None, self._length, self._length + len(lead))
            self.write(f"{lead}\n")
        text, done = text.rstrip(), 0
        for span in passage.sentences if self._cites else ():
            first, last = passage.shown.place(span[0]), passage.shown.place(span[1])
            if done < first:
                self.write(_shown(text[done:first], as_xml))
            base = self._length
            self.write(_shown(text[first:last], as_xml))
            self._cite(source, passage, span, base, self._length)
            done = last
        if done < len(text):
            self.write(_shown(text[done:], as_xml))

    def _cite(self, source: int, passage: ContextPassage, span: tuple[int, int] | None, start: int, end: int) -> None:
        if not self._cites:
            return
        block = self._numbers.get(source, 0)
        self._numbers[source] = block + 1
        self.citations[f"{source}.{block}"] = cited(
            source, block, passage, span, (start, end) if self._has_places else None
        )


def cited(
    source: int,
    block: int,
    passage: ContextPassage,
    span: tuple[int, int] | None,
    shown: tuple[int, int] | None,
) -> ContextCitation:
    """Return the citation of a sentence; of a passage's repeated context where it has no span."""
    start, end = span or (0, 0)
    return ContextCitation(
        source,
        block,
        passage.result.document_id,
        passage.start + start if span else None,
        passage.start + end if span else None,
        passage.own[start:end] if span else passage.lead.strip(),
        passage.address_at(start),
        shown[0] if shown else None,
        shown[1] if shown else None,
    )


def _shown(text: str, as_xml: bool) -> str:
    return escape(text) if as_xml else text
