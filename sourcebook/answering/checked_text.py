"""The text of an answer while it is written: sentence by sentence, each without what does not hold.

Nothing leaves before its sentence is whole and checked, and nothing at all before the first citation that holds. Links
and pictures that a document might have planted are taken out: a page that shows the answer must load and offer none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from sourcebook.answering.citations import Mark, check, speaks_of
from sourcebook.answering.sources import Sources
from sourcebook.contract.answers import Citation, RemovedCitation

_OPENING: Final = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
_CLOSING: Final = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_LONGEST: Final = len("</thinking>")
NO_ANSWER: Final = "NO_ANSWER"
"""Word by which a model says that the sources do not answer."""
_BEFORE_WORDS: Final = " \n\"'`*"
_MARK: Final = re.compile(
    r"[ \t]*(?:\[|【)\s*(?P<numbers>\d{1,4}(?:\s*[,;]\s*\d{1,4}){0,9})(?:†[^\]】\n]{0,40})?"
    r"(?:\s*[:,]?\s*(?P<quote>[\"“„«][^\n]{1,600}?[\"”“»]))?\s*(?:\]|】)(?P<target>\([^)\s]{0,2000}\))?"
)
_SENTENCE_END: Final = re.compile(
    r"(?:(?<=[.!?…])[\"'”’»)]*+(?>(?:[ \t]*(?:\[|【)[^\]】\n]{1,640}+(?:\]|】))*)(?=[ \t]+[^\s\[【])"
    r"|(?<=[。！？])(?>(?:[ \t]*(?:\[|【)[^\]】\n]{1,640}+(?:\]|】))*)(?=[^\s\[【])|\n+(?=[^\n\[【]))"
)
_REACH: Final = 700
"""Characters behind which a place that ends no sentence will end none whatever follows, where no mark is closed."""
_PICTURE: Final = re.compile(r"!\[([^\]\n]*)\](?:\([^)\n]*\)?|\[[^\]\n]*\])?")
_LINK: Final = re.compile(r"\[([^\]\n]*)\]\([^)\n]*\)?")
_HALF_LINK: Final = re.compile(r"\]\([^)\n]*\)?")
_REFERENCE: Final = re.compile(r"^[ \t]{0,3}\[[^\]\n]+\]:[ \t]*\S+.*$", re.MULTILINE)
_TAG: Final = re.compile(
    r"<\s*/?\s*(?:a|area|audio|base|body|button|embed|form|frame|frameset|html|iframe|image|img|input|link|map|math|meta"
    r"|object|picture|portal|script|source|style|svg|template|track|video)\b[^<>\n]*>?"
    r"|<[a-z][^<>\n]*[\s\"'/](?:on(?:load|error|click|mouse|pointer|key|focus|blur|toggle|begin|anim|trans|touch|drag"
    r"|wheel|scroll|input|change|submit|play|page|resize)[a-z]*|style|src|srcset|href|action|formaction|background)"
    r"\s*=[^<>\n]*>?",
    re.IGNORECASE,
)
_OPEN_MARK: Final = re.compile(r"(?:\[|【)\s*\d[^\]】\n]{0,640}$")
_CODE: Final = re.compile(r"`[^`\n]+`")
_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)")
_ADDRESS: Final = re.compile(
    r"(?:\b(?:[a-z][a-z0-9+.-]{1,20}://|(?:mailto|javascript|data|tel|sms):)|(?<![\w/.@-])(?://|www\.)"
    r"|(?<=[\w/.@-])//(?=[\w-]{1,63}\.\w))[^\s<>\"'`)\]}]+",
    re.IGNORECASE,
)
"""URLs, also those without a scheme, at the end of a word where a host seems to follow."""
_NUMBER: Final = re.compile(r"\d+")
_LEFT_OUT: Final = "[link removed]"
_REPLACED: Final = (
    (_PICTURE, _LEFT_OUT),
    (_REFERENCE, ""),
    (_LINK, r"\1"),
    (_HALF_LINK, "]"),
    (_TAG, ""),
)
_ROUNDS: Final = 8
"""Times that a text is searched for tags and links: what is left of one in another one may be one itself."""
_LONGEST_SENTENCE: Final = 4_000
"""Characters after which a text without an end of a sentence is checked as one."""


@dataclass(slots=True)
class CheckedText:
    """Takes the pieces of an answer and gives back what may be shown of it."""

    sources: Sources
    question: str
    has_begun: bool = False
    """Whether there was a citation that holds, in this turn or an earlier one, so that nothing is held back."""
    is_doubtful: bool = False
    """Whether nothing that was found is clearly relevant: then the first citation must speak of the question, too."""
    citations: list[Citation] = field(default_factory=list)
    removed: list[RemovedCitation] = field(default_factory=list)
    removed_links: int = 0
    uncited: int = 0
    """Sentences without a citation that holds."""
    shown: str = ""
    """Text that was given back so far."""
    _begin: str = ""
    _waiting: str = ""
    _settled: int = 0
    """Place in the waiting text before which no sentence ends."""
    _held: str = ""
    _is_code: bool = False

    def add(self, piece: str) -> Iterator[str]:
        """Add a piece of the model's text; yield what may be shown now."""
        self._waiting += piece
        self._begin = (self._begin + piece).lstrip(_BEFORE_WORDS)[: len(NO_ANSWER)]
        while (end := self._sentence_end()) is not None:
            sentence, self._waiting = self._waiting[:end], self._waiting[end:]
            yield from self._show(sentence)

    def end(self, *, is_answer: bool = True) -> Iterator[str]:
        """Check the rest; yield it, or drop what was held back where the turn ended in calls of tools."""
        rest, self._waiting = self._waiting, ""
        if is_answer:
            yield from self._show(rest)
        self._held = ""

    @property
    def says_no_answer(self) -> bool:
        """Whether the model has begun by saying that the sources do not answer."""
        return self._begin == NO_ANSWER

    def _sentence_end(self) -> int | None:
        for found in _SENTENCE_END.finditer(self._waiting, self._settled):
            if found.end() and _OPEN_MARK.search(self._waiting, max(0, found.end() - _REACH), found.end()) is None:
                self._settled = 0
                return found.end()
        is_marked = "]" in self._waiting or "】" in self._waiting
        self._settled = 0 if is_marked else max(0, len(self._waiting) - _REACH)
        if len(self._waiting) > _LONGEST_SENTENCE:
            self._settled = 0
        return len(self._waiting) if len(self._waiting) > _LONGEST_SENTENCE else None

    def _show(self, sentence: str) -> Iterator[str]:
        if not sentence:
            return
        text = self._checked(sentence)
        if not (self.has_begun or any(map(self._bears_it_out, self.citations))):
            self._held += text
            return
        self.has_begun = True
        text, self._held = self._held + text, ""
        self.shown += text
        yield text

    def _bears_it_out(self, citation: Citation) -> bool:
        return not self.is_doubtful or speaks_of(citation.quote, self.question)

    def _checked(self, sentence: str) -> str:
        """Return a sentence with the citations that hold, and without links."""
        if _FENCE.match(sentence):
            self._is_code = not self._is_code
        elif not self._is_code:
            sentence = self._with_checked_marks(sentence)
        return self._without_links(sentence)

    def _with_checked_marks(self, sentence: str) -> str:
        """Return a sentence in which each mark is the numbers of the citations that hold."""
        statement = _MARK.sub("", sentence).strip()
        code = [found.span() for found in _CODE.finditer(sentence)]
        pieces, last, is_cited = [], 0, False
        for found in _MARK.finditer(sentence):
            if any(start <= found.start() < end for start, end in code):
                continue
            kept = self._kept(found, statement)
            is_cited |= bool(kept)
            lead = found[0][: len(found[0]) - len(found[0].lstrip())] if kept else ""
            pieces += [sentence[last : found.start()], lead, *(f"[{number}]" for number in kept)]
            self.removed_links += found["target"] is not None
            last = found.end()
        self.uncited += any(map(str.isalnum, statement)) and not is_cited
        return "".join([*pieces, sentence[last:]])

    def _kept(self, mark: re.Match[str], statement: str) -> list[int]:
        """Check a mark, note its citations, and return the numbers of those that hold."""
        numbers = tuple(map(int, _NUMBER.findall(mark["numbers"])))
        quote = mark["quote"]
        kept, removed = check(Mark(numbers, quote and quote[1:-1]), statement, self.question, self.sources)
        self.removed += removed
        self.citations += [each for each in kept if each not in self.citations]
        return [each.number for each in kept]

    def _without_links(self, text: str) -> str:
        text, count = without_links(text, self.sources)
        self.removed_links += count
        return text


def without_links(text: str, sources: Sources) -> tuple[str, int]:
    """Return a text without links, pictures, tags and addresses that no source holds, and the number of them."""
    if not any(sign in text for sign in ("](", "<", ":", "//", "www.", "WWW.", "![")):
        return text, 0
    count = 0
    for _ in range(_ROUNDS):
        former = count
        for pattern, replacement in _REPLACED:
            text, number = pattern.subn(replacement, text)
            count += number
        if count == former:
            break
    else:
        text = text.replace("<", " ").replace("](", "] (")
    text, number = _without_foreign_urls(text, sources)
    return text, count + number


def _without_foreign_urls(text: str, sources: Sources) -> tuple[str, int]:
    """Take out URLs that no source holds, character by character: a model may have put anything into them."""
    count = 0

    def replace(found: re.Match[str]) -> str:
        nonlocal count
        url = found[0].rstrip(".,;:!?*_")
        if any(url in source.text or url == source.uri for source in sources.all):
            return found[0]
        count += 1
        return _LEFT_OUT + found[0][len(url) :]

    return _ADDRESS.sub(replace, text), count


class WithoutReasoning:
    """Takes the pieces of a model's text and gives back those of its answer."""

    def __init__(self) -> None:
        self._state: Literal["begins", "reasons", "answers"] = "begins"
        self._held = ""

    def add(self, piece: str) -> str:
        """Add a piece; return what is known to be of the answer."""
        if self._state == "answers":
            return piece
        self._held += piece
        if self._state == "begins":
            if _OPENING.match(self._held) is None:
                return "" if self._may_open() else self._answer(self._held)
            self._state = "reasons"
        closing = _CLOSING.search(self._held)
        if closing is not None:
            return self._answer(self._held[closing.end() :])
        self._held = self._held[-_LONGEST:]
        return ""

    def end(self) -> str:
        """Return what was held back as the beginning of a tag and was none."""
        return self._answer(self._held) if self._state == "begins" else ""

    def _may_open(self) -> bool:
        begun = self._held.lstrip().lower()
        return any(tag.startswith(begun) for tag in ("<think>", "<thinking>"))

    def _answer(self, text: str) -> str:
        self._state, self._held = "answers", ""
        return text
