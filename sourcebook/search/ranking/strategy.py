"""Strategy of a search by the form of its query: weight of the vector leg, parts that are searched by themselves.

A query that names a thing, by a code, a part number, a file name or in quotation marks, is answered by passages that
hold its letters; the nearest vectors are those of its neighbours. A question of several parts has an answer for each.
`docs/decisions/0034-strategy-by-query.md` has the figures.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from sourcebook.contract.fusion import Fusion
from sourcebook.model.media_types import media_type_of_name
from sourcebook.search.query_syntax import ParsedQuery
from sourcebook.search.ranking.fusion import Candidate

Kind = Literal["fixed", "code", "file name", "quoted", "several parts", "question"]

WORDS_FIRST: Final = 0.3
"""Factor on the weight of the vector leg where the query names a thing."""
CLOSE: Final = 0.3
"""Share of the first score by which the second is lower, at most, where the two are close."""
_MOST_OTHERS, _MOST_OTHERS_ASKING = 5, 8
"""Words beside codes and file names, at most, and in a question: a longer text is prose that mentions one."""
_SHORTEST_PART, _MOST_PARTS = 3, 4
"""Words of a part, at least; parts, at most."""

_AROUND: Final = "\"'“”„«»‘’`,;:!?¿¡….()[]{}<>"
"""Signs around a word that are not of it."""
_CODE: Final = re.compile(
    r"""
    (?=.*\d)(?=.*[^\W\d_])[^\W_]+(?:[-/.\#:][^\W_]+)*   # E117, HV-4402-17B, ISO/9001
    | \d{5,} | \d+(?:[-/.]\d+){2,}                       # 440217, 10.2.4
    | \w*[^\W_]_+[^\W_]\w*                               # set_limit, MAX_SIZE
    | \w*[a-z][A-Z]\w*                                   # FlowController
    | [^\W\d_]{2,}\w*(?:(?:\.|::|->)[^\W\d_]{2,}\w*)+    # telemetry.export, Flow::reset
    | \w+\(\) | --[\w-]{2,} | \$\w+                       # reset(), --strict, $HOME
    | \.{0,2}/[\w./-]+ | (?:[\w.-]+/){2,}[\w.-]*           # /etc/hosts, docs/guide/start
    | [\w.+-]+@[\w-]+(?:\.[\w-]+)+                       # e-mail address
    """,
    re.VERBOSE,
)
_SPOKEN: Final = re.compile(
    r"(?:\d+(?:st|nd|rd|th|s|er|e|te[rns]?|ème|º|ª)?|[^\W\d_A-Z]+)(?:-(?:\d+(?:st|nd|rd|th|s|er|e)?|[^\W\d_A-Z]+))*"
)
"""`19th`, `1990s`, `8-year`, `mid-1990s`: numbers that are said, and no codes."""
_ASKING: Final = (
    "what|which|who|whose|whom|where|when|why|how|"
    "was|welche[rsnm]?|wer|wem|wen|wo|wann|warum|wie|wieviele?|"
    "qué|cuál(?:es)?|quién(?:es)?|dónde|cuándo|cómo|cuánt[oa]s?|por qué|"
    "quels?|quelles?|qui|où|quand|pourquoi|comment|combien|"
    "что|какой|какая|какие|какое|кто|где|когда|почему|как|сколько"
)
_BORDER: Final = re.compile(
    rf"""
    [?？؟]+[\s]+(?=\S)                                               # a question ends, and more follows
    | [,;]?\s+(?:and|und|y|e|et|и)\s+(?=(?:{_ASKING})\b)             # ", and what …"
    | \s*;\s+(?=(?:{_ASKING})\b)                                     # "; what …"
    """,
    re.VERBOSE | re.IGNORECASE,
)
_QUESTION_MARK: Final = re.compile("[?？؟]")
_BEGINNING: Final = re.compile(rf"(?:{_ASKING})\b", re.IGNORECASE)
_JOINING: Final = re.compile(r"\A(?:and|und|y|e|et|и)\s+", re.IGNORECASE)
_REFERRING: Final = re.compile(
    r"\b(?:it|its|he|she|his|her|hers|they|them|their|this|that|these|those|there|er|sie|es|ihr|ihre|sein|seine|dort|"
    r"él|ella|ellos|ellas|su|sus|il|elle|ils|elles|leurs?|он|она|они|его|её|их)\b|\bones?$",
    re.IGNORECASE,
)
"""Words that speak of what another part has named."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """How a query is searched."""

    kind: Kind
    reason: str
    vector: float = 1.0
    """Factor on the weight of the vector leg."""
    parts: tuple[str, ...] = ()
    """Parts that are searched beside the whole query, and merged with it; none where it has one part."""
    files: tuple[str, ...] = ()
    """Names of files, whose passages are searched beside all passages, and merged with them."""
    reranks: bool = True
    """Whether a reranking model, where one is given, reads the first results."""
    first_results: str = ""
    """Reason why it does or does not; empty without a model."""

    @property
    def changes_search(self) -> bool:
        """Whether candidates may come in another order than without it."""
        return self.vector != 1 or bool(self.parts or self.files)

    def weighted(self, fusion: Fusion) -> Fusion:
        """Return a fusion with the weights of this strategy."""
        return fusion if self.vector == 1 else replace(fusion, vector=fusion.vector * self.vector)

    def with_reranking(self, candidates: Sequence[Candidate]) -> "Strategy":
        """Return the strategy for a search with a reranking model, which reads the first results where they are close.

        Args:
            candidates: in the order of the fusion.
        """
        if len(candidates) < 2:
            return replace(self, reranks=False, first_results="not reranked: there is nothing to order")
        first, second = candidates[0].score, candidates[1].score
        behind = (first - second) / first if first > 0 else 0.0
        if behind <= CLOSE:
            return replace(self, first_results=f"reranked: the second result is {behind:.0%} behind the first")
        said = f"not reranked: the second result is {behind:.0%} behind the first, more than {CLOSE:.0%}"
        return replace(self, reranks=False, first_results=said)

    def __str__(self) -> str:
        """Return kind, reason and effects."""
        said = [f"{self.kind}: {self.reason}"]
        if self.vector != 1:
            said.append(f"the vector leg has {self.vector:g} of its weight")
        if self.parts:
            said.append(f"searched by part, too, and merged: {' | '.join(self.parts)}")
        if self.files:
            said.append("files of this name are searched, too, and merged")
        return "; ".join([*said, self.first_results] if self.first_results else said)


FIXED: Final = Strategy("fixed", "as asked for")


def strategy_of(query: ParsedQuery) -> Strategy:
    """Return the strategy for a query."""
    if query.phrases or query.titles:
        required = ", ".join((*query.phrases, *query.titles))
        return Strategy("quoted", f"a passage must hold {required!r}", WORDS_FIRST)
    if parts := parts_of(query.text):
        return Strategy("several parts", f"{len(parts)} questions", parts=parts)
    words = [word for word in map(_bare, query.text.split()) if word]
    files = [word for word in words if _is_file_name(word)]
    codes = [word for word in words if is_code(word)]
    named = {*files, *codes}
    most = _MOST_OTHERS_ASKING if _asks(query.text) else _MOST_OTHERS
    if named and len(words) - len(named) <= most:
        if files:
            said = f"{', '.join(files)} is the name of a file"
            return Strategy("file name", said, WORDS_FIRST, files=() if query.has_operators else tuple(files))
        return Strategy("code", f"{', '.join(codes)} is a code or a number", WORDS_FIRST)
    return Strategy("question", "words or one question")


def is_code(word: str) -> bool:
    """Whether a word is a code, a number of a thing, or a name of a program rather than a word of a language."""
    return bool(_CODE.fullmatch(word)) and not (_SPOKEN.fullmatch(word) and not word.isdigit())


def parts_of(text: str) -> tuple[str, ...]:
    """Return the questions of a text that has several; nothing where one speaks of what another has named."""
    if not _asks(text):
        return ()
    parts = tuple(_JOINING.sub("", part.strip(" ,;?")) for part in _BORDER.split(text))
    if not 2 <= len(parts) <= _MOST_PARTS:
        return ()
    if any(len(part.split()) < _SHORTEST_PART or _REFERRING.search(part) for part in parts):
        return ()
    return parts


def _bare(word: str) -> str:
    """Return a word without the signs around it; the parentheses of a call are of it."""
    bare = word.strip(_AROUND)
    return f"{bare}()" if bare and f"{bare}()" in word else bare


def _asks(text: str) -> bool:
    return bool(_BEGINNING.match(text) or _QUESTION_MARK.search(text))


def _is_file_name(word: str) -> bool:
    stem, dot, _ = word.rpartition(".")
    return bool(dot and stem.strip("./")) and media_type_of_name(word) is not None
