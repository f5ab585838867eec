"""Assembly of a context: passages by relevance, as many as the budget holds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from sourcebook.context.duplicates import Duplicates
from sourcebook.context.fence import Fence
from sourcebook.context.layout import LaidSource, Run, lay_out
from sourcebook.context.passages import ContextPassage
from sourcebook.context.rendering import FORMATS, Format, Rendered
from sourcebook.context.tally import Tally
from sourcebook.context.tokens import TokenCounter
from sourcebook.contract.context_results import LeftOut, Reason
from sourcebook.contract.search import ContextRequest

_FULL: Final = 0.9
"""Share of the budget from which a context is full: what fits no more is left out whole."""
_FULL_ENOUGH: Final = 0.97
"""Share of it from which nothing is looked for that fills the rest."""
_SHORT_BUDGET: Final = 400
"""Tokens below which sources are attributed by their titles alone."""
_CRUMB: Final = 0.5
"""Share of the room below which a part of the next sentence, which is long, stands behind whole ones."""
_LEAST: Final = 16
"""Tokens of room from which another passage is looked at."""
_HOPELESS: Final = 2
"""Times the room, by its characters, from which a passage that is not cut is not counted."""
_LINKED_SHARE: Final = 0.25
"""Share of the budget for passages of linked documents, until every found passage had its turn."""
_LONGER_LINE: Final = "00"
"""Digits that the line of a run has more, at most, with a further passage."""
_ROUNDS: Final = 4
"""Times that room which is left after counting is filled again."""

Hashes = dict[tuple[int, int], str]


@dataclass
class Assembled:
    """A context within its budget, and what was left out of it."""

    rendered: Rendered
    tokens: int
    sources: list[LaidSource]
    left_out: list[LeftOut]
    notes: list[str]
    boundary: str


@dataclass
class Assembly:
    """The choice of passages for one request."""

    request: ContextRequest
    counter: TokenCounter
    hashes: Hashes
    form: Format
    chosen: list[ContextPassage] = field(default_factory=list)
    waiting: list[ContextPassage] = field(default_factory=list)
    """Passages that did not fit, in the order of relevance."""
    repeated: list[tuple[ContextPassage, Reason, ContextPassage]] = field(default_factory=list)
    known: Duplicates = field(default_factory=Duplicates)
    keys: set[tuple[int, int, int]] = field(default_factory=set)
    """Keys of the chosen passages."""
    documents: set[tuple[int, int]] = field(default_factory=set)
    """Documents of the chosen passages."""
    uncut: set[tuple[int, int, int]] = field(default_factory=set)
    """Keys of the chosen passages that are whole: their neighbours become one run with them."""
    costed: int = 0
    """Tokens of everything that was counted for its cost."""
    characters: int = 0
    """Characters of it, without what stands around."""
    over: int = 0
    """Tokens by which passages that fitted by their cost were more than the budget, all rounds together."""

    def __post_init__(self) -> None:
        """Begin to count."""
        self.tally = Tally(self.counter, self.form)

    def count(self, text: str) -> int:
        """Return the tokens of a text."""
        return self.counter.count(text)

    def cost(self, passage: ContextPassage) -> int:
        """Return what a passage adds to the tokens, nearly."""
        document = passage.document
        source = LaidSource(len(self.documents) + 1, (Run((passage,)),), self.hashes.get(document))
        before, behind = self.form.around(source, is_new=document not in self.documents)
        if self.joins(passage):
            before = _LONGER_LINE
        counted = self.tally.of(passage)
        cost = counted.tokens + self.count(f"{before}{counted.rest}{behind}")
        self.costed += cost
        self.characters += len(passage.own)
        return cost

    def joins(self, passage: ContextPassage) -> bool:
        """Return whether a passage becomes one run with a chosen one, and needs no line of its own."""
        beside = ((*passage.document, passage.ordinal + step) for step in (-1, 1))
        return not passage.is_cut and any(key in self.uncut for key in beside)

    def is_too_long(self, passage: ContextPassage, room: int) -> bool:
        """Return whether a passage alone is longer than the room: much longer by those counted before, or counted."""
        if len(passage.own) * self.costed > _HOPELESS * room * self.characters:
            return True
        return self.tally.of(passage).tokens > room

    def fill(self, passages: Sequence[ContextPassage], room: int) -> int:
        """Choose the passages that fit, best first, and return the room that is left.

        Once one did not fit, none is looked at where the context is full enough without.
        """
        worth = self.request.max_tokens - int(self.request.max_tokens * _FULL)
        enough = self.request.max_tokens - int(self.request.max_tokens * _FULL_ENOUGH)
        least = min(_LEAST, worth)
        for passage in passages:
            if passage.key in self.keys:
                continue
            if room <= least or (room <= worth and self.is_too_long(passage, room)):
                self.waiting.append(passage)
                least = max(least, enough)
                continue
            repeats = self.known.find(passage)
            if repeats is not None:
                self.repeated.append((passage, *repeats))
                continue
            cost = self.cost(passage)
            fitting: ContextPassage | None = passage
            if cost > room:
                fitting = self._cut(passage, room) if room > worth else None
                cost = 0 if fitting is None else self.cost(fitting)
            if fitting is None or cost > room:
                self.waiting.append(passage)
                least = max(least, enough)
                continue
            self.choose(fitting, passage)
            room -= cost
        return room

    def fill_with_linked(self, passages: Sequence[ContextPassage], linked: Sequence[ContextPassage], room: int) -> int:
        """Choose passages and, within their share of the room, linked ones; return the room that is left."""
        reserved = int(room * _LINKED_SHARE) if linked else 0
        left = self.fill(passages, room - reserved)
        if not linked:
            return left
        waiting, self.waiting = self.waiting, []
        left += self.fill(linked, reserved)
        waiting, self.waiting = [*waiting, *self.waiting], []
        return self.fill(waiting, left)

    def choose(self, part: ContextPassage, whole: ContextPassage) -> None:
        """Take a passage, or a part of it, into the context."""
        self.chosen.append(part)
        self.keys.add(part.key)
        self.documents.add(part.document)
        if not part.is_cut:
            self.uncut.add(part.key)
        self.known.add(whole)

    def _cut(self, passage: ContextPassage, room: int) -> ContextPassage | None:
        """Return the sentences around the best one that fit; None where it fits not itself."""
        sentences = passage.sentences
        if not sentences:
            return None
        best = next((at for at, (_, end) in enumerate(sentences) if end > passage.best), len(sentences) - 1)
        first = last = best
        left = room - self.cost(passage.part(*sentences[best]))
        if left < 0:
            return None
        while True:
            for at in (last + 1, first - 1):
                if 0 <= at < len(sentences):
                    cost = self.count(passage.shown.text[slice(*map(passage.shown.place, sentences[at]))]) + 1
                    if cost <= left:
                        first, last, left = min(first, at), max(last, at), left - cost
                        break
            else:
                break
        while last > best or first < best:
            if self.cost(passage.part(sentences[first][0], sentences[last][1])) <= room:
                break
            first, last = (first, last - 1) if last > best else (first + 1, last)
        part = passage.part(sentences[first][0], sentences[last][1])
        if self.cost(part) < room * _CRUMB and last + 1 < len(sentences):
            return self.cut_at_words(passage, room, sentences[first][0]) or part
        return part

    def cut_at_words(self, passage: ContextPassage, room: int, start: int | None = None) -> ContextPassage | None:
        """Return as much as fits from the best sentence on, to the end of a word where there are spaces."""
        if start is None:
            start = next((begin for begin, end in passage.sentences if end > passage.best), 0)
        low, high = 0, len(passage.own) - start
        while low < high:
            middle = (low + high + 1) // 2
            if self.cost(passage.part(start, start + middle)) <= room:
                low = middle
            else:
                high = middle - 1
        space = passage.own.rfind(" ", start, start + low + 1)
        end = space if space > start + low // 2 else start + low
        return passage.part(start, end) if passage.own[start:end].strip() else None


def assemble(
    request: ContextRequest,
    counter: TokenCounter,
    passages: Sequence[ContextPassage],
    hashes: Hashes,
    more: Callable[[], Sequence[ContextPassage]],
    linked: Sequence[ContextPassage] = (),
) -> Assembled:
    """Return the context of passages.

    Args:
        request: the question, the budget and the format.
        counter: counts the tokens.
        passages: best first.
        hashes: hexadecimal sha256 of the content by generation and document; filled by `more` as well.
        more: returns the passages behind these; none where there are no more.
        linked: passages of documents that the best ones refer to; a part of the budget is theirs.
    """
    every = (*passages, *linked)
    fence = Fence.around(text for each in every for text in (each.own, each.result.title, each.result.uri))
    form = FORMATS[request.format](fence, request.search.query, is_short=request.max_tokens < _SHORT_BUDGET)
    assembly = Assembly(request, counter, hashes, form)
    budget = request.max_tokens
    frame = assembly.count(form.render([]).counted)
    if frame < budget:
        room = assembly.fill_with_linked(passages, linked, budget - frame)
        while room > budget - int(budget * _FULL) and not assembly.waiting and (further := more()):
            room = assembly.fill(further, room)
    else:
        assembly.waiting = [*passages, *linked]
    rendered, tokens, sources = _rendered(assembly)
    for _ in range(_ROUNDS):
        if tokens > budget * _FULL_ENOUGH or not assembly.waiting or frame >= budget:
            break
        waiting, assembly.waiting = assembly.waiting, []
        room = budget - (tokens or frame) - assembly.over
        before = len(assembly.chosen)
        assembly.fill(waiting, room)
        if len(assembly.chosen) == before:
            if tokens >= budget * _FULL:
                break
            part = next(filter(None, (assembly.cut_at_words(each, room) for each in assembly.waiting[:3])), None)
            if part is None or assembly.cost(part) > room:
                break
            assembly.choose(part, part)
            assembly.waiting = [each for each in assembly.waiting if each.key != part.key]
        rendered, tokens, sources = _rendered(assembly)
    if sources and not rendered.citations:
        rendered = form.render(sources)
    return Assembled(rendered, tokens, sources, _left_out(assembly, sources), _notes(assembly, frame), fence.boundary)


def _rendered(assembly: Assembly) -> tuple[Rendered, int, list[LaidSource]]:
    """Return the chosen passages in their frame; those chosen last go where they are more than the budget.

    Sentences are cited where all passages stay, as in most contexts; the others would be cited for nothing.
    """
    every, over = len(assembly.chosen), 0
    while assembly.chosen:
        sources = lay_out(assembly.chosen, assembly.hashes)
        rendered = assembly.form.render(sources, cites=len(assembly.chosen) == every)
        tokens = assembly.tally.whole(rendered.counted, chain.from_iterable(source.passages for source in sources))
        if tokens <= assembly.request.max_tokens:
            assembly.over += over
            return rendered, tokens, sources
        over = tokens - assembly.request.max_tokens
        last = assembly.chosen.pop()
        assembly.keys.discard(last.key)
        assembly.uncut.discard(last.key)
        assembly.documents = {each.document for each in assembly.chosen}
        assembly.waiting.insert(0, last)
    return Rendered(), 0, []


def _left_out(assembly: Assembly, sources: Sequence[LaidSource]) -> list[LeftOut]:
    """Return the passages that were found and are left out, then the copies of those that are in the context."""
    numbers = {source.runs[0].first.document: source.number for source in sources}
    found = [(passage, reason, numbers.get(other.document)) for passage, reason, other in assembly.repeated]
    found += [(passage, "no_room", None) for passage in assembly.waiting]
    found += [(passage, "cut", numbers.get(passage.document)) for passage in assembly.chosen if passage.is_cut]
    return [
        LeftOut(
            passage.result.document_id,
            passage.result.collection,
            passage.result.title,
            passage.result.uri,
            passage.ordinal,
            reason,
            of,
        )
        for passage, reason, of in sorted(found, key=lambda each: (each[0].rank, each[0].ordinal))
    ] + [
        LeftOut(copy.document_id, copy.collection, copy.title or "", copy.uri, copy.ordinal, "duplicate", of)
        for passage in assembly.chosen
        if passage.ordinal == passage.result.ordinal and (of := numbers.get(passage.document)) is not None
        for copy in passage.result.also_in
    ]


def _notes(assembly: Assembly, frame: int) -> list[str]:
    budget = assembly.request.max_tokens
    if not assembly.chosen:
        if not assembly.waiting:
            return []
        least = frame + min(assembly.cost(each.part(*_shortest(each))) for each in assembly.waiting[:20])
        tokens = "1 token" if budget == 1 else f"{budget:,} tokens"
        return [f"nothing fits into {tokens}: the shortest sentence with its frame needs about {least:,}"]
    cut = sum(passage.is_cut for passage in assembly.chosen)
    if not cut:
        return []
    said = "one passage is" if cut == 1 else f"{cut} passages are"
    return [f"{said} longer than the room that was left, and cut"]


def _shortest(passage: ContextPassage) -> tuple[int, int]:
    return min(passage.sentences, key=lambda span: span[1] - span[0], default=(0, len(passage.own)))
