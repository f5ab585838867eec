"""Request of a search: the query with its operators and the options, checked before anything runs."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

from sourcebook.config.relation_kinds import RELATION_KINDS
from sourcebook.contract.filters import Filters
from sourcebook.contract.fusion import Fusion, Method
from sourcebook.contract.reranking import Reranking
from sourcebook.contract.windows import MOST_NEIGHBOURS
from sourcebook.errors import QueryError

Mode = Literal["hybrid", "vector", "keyword"]
Grouping = Literal["document"]
SnippetChoice = Literal["words", "meaning"]
StrategyChoice = Literal["fixed", "auto"]
SupersededChoice = Literal["shown", "behind"]

MOST_CHARACTERS = 10_000
"""Characters of a query, at most."""
MOST_RESULTS = 1_000
"""Results of a page, at most."""
LARGEST_OFFSET = 10_000
"""Results before a page, at most."""
DEFAULT_FUSION = Fusion()

_CLAUSE: Final = re.compile(
    r"""
    (?:(?<=\s)|(?<=\A))          # an operator begins a word; within a word it is a letter
    (?P<minus>-(?=[^\s\d-]))?    # `-5` is a number, `--` and `- ` are dashes
    (?P<title>title:(?=\S))?
    (?:"(?P<phrase>[^"]*)"|(?P<word>\S+))
    |(?P<rest>\S+)               # rest of a word that begins with a phrase
    """,
    re.VERBOSE | re.IGNORECASE,
)
_END_OF_SENTENCE: Final = re.compile(r"[.?!…。？！।॥؟۔։።។။][\"'”’»)\]]*\Z")
_WORDS_OF_A_SENTENCE: Final = 5
"""Words outside phrases and exclusions from which a text that ends like a sentence is prose."""
_WORDS_OF_PROSE: Final = 12
"""Words outside phrases and exclusions from which any text is prose."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query and its operators."""

    text: str
    """The query without operators: the vector leg embeds it, the keyword leg takes its words."""
    phrases: tuple[str, ...] = ()
    """Phrases that a passage must hold, word after word."""
    titles: tuple[str, ...] = ()
    """Words and phrases that the title of its document must hold."""
    excluded: tuple[str, ...] = ()
    """Words and phrases that a passage must not hold."""
    excluded_titles: tuple[str, ...] = ()
    """Words and phrases that the title of its document must not hold."""
    prose: bool = False
    """Whether quotation marks or dashes are text because the query is running text."""

    @property
    def has_operators(self) -> bool:
        """Whether it has required or excluded terms."""
        return bool(self.phrases or self.titles or self.excluded or self.excluded_titles)

    def relaxed(self) -> "Iterator[tuple[ParsedQuery, str]]":
        """Yield the query with fewer conditions, and what it then leaves out, for a search that found nothing."""
        required = [*self.phrases, *(f"title:{title}" for title in self.titles)]
        excluded = [*self.excluded, *(f"title:{title}" for title in self.excluded_titles)]
        if not self.text:
            return
        if required:
            said = (
                f"no passage fulfils the query with {_listed(required)}; these are the passages without that condition"
            )
            yield replace(self, phrases=(), titles=()), said
        if excluded:
            said = f"no passage fulfils the query without {_listed(excluded)}; these passages were found without that"
            yield ParsedQuery(self.text), said

    def __str__(self) -> str:
        """Return the text and the terms of each operator."""
        parts = [repr(self.text)]
        for name, terms in self.as_dict().items():
            if isinstance(terms, list) and terms:
                parts.append(f"{name.replace('_', ' ')}: {', '.join(terms)}")
        return "; ".join(parts)

    def as_dict(self) -> dict[str, str | list[str]]:
        """Return plain values."""
        return {
            "text": self.text,
            "phrases": list(self.phrases),
            "titles": list(self.titles),
            "excluded": list(self.excluded),
            "excluded_titles": list(self.excluded_titles),
        }


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search whose options are checked."""

    query: ParsedQuery
    collections: tuple[str, ...] | None
    """Names; None searches every collection."""
    limit: int
    mode: Mode
    offset: int = 0
    filters: Filters | None = None
    fusion: Fusion = DEFAULT_FUSION
    neighbours: int = 0
    group_by: Grouping | None = None
    diversity: float = 0.0
    rerank: Reranking | None = None
    typos: bool = False
    explain: bool = False
    keeps_conditions: bool = False
    """Whether the query's operators hold also where no passage fulfils them."""
    generations: tuple[int, ...] = ()
    """Ids of generations to search in place of the active ones of their collections."""
    facets: bool = False
    """Whether the documents found are counted by facet."""
    min_relevance: float | None = None
    """Relevance 0..1 of a result, at least; where None, a page is shown whole or, without a relevant passage, not."""
    snippets: SnippetChoice = "words"
    """How the snippet of a passage is chosen that has no word of the query."""
    strategy: StrategyChoice = "fixed"
    """Whether the form of the query decides on weights, parts and reranking."""
    logged: str | None = None
    """The query as it was written, for the query log; None where it stays out of it."""
    unredacted: bool = False
    """Whether personal data and secrets are shown also of collections that redact them."""
    superseded: SupersededChoice = "shown"
    """Whether superseded documents stand behind those that supersede them."""
    expand: tuple[str, ...] = ()
    """Kinds of relations of the documents that are named beside the results."""

    @classmethod
    def checked(
        cls,
        query: str,
        collections: Sequence[str] | str | None = None,
        limit: int = 5,
        mode: str = "hybrid",
        *,
        offset: int = 0,
        filters: Filters | Mapping[str, Any] | None = None,
        fusion: Fusion | str | None = None,
        strategy: str = "fixed",
        neighbours: int = 0,
        group_by: str | None = None,
        diversity: float = 0.0,
        rerank: Reranking | str | None = None,
        literal: bool | None = None,
        typos: bool = False,
        explain: bool = False,
        generation: int | Sequence[int] | None = None,
        facets: bool = False,
        min_relevance: float | None = None,
        snippets: str = "words",
        log: bool = True,
        unredacted: bool = False,
        superseded: str = "shown",
        expand: Sequence[str] | str = (),
    ) -> "SearchRequest":
        """Return the request.

        Raises:
            QueryError: the query is empty or too long, a number is out of range, or an option has an unknown value.
        """
        if not isinstance(query, str):
            raise QueryError(f"the query is {type(query).__name__}; it must be text")
        # PostgreSQL cannot hold NUL and lone surrogates, and no document has them.
        text = query.replace("\0", " ").encode("utf-8", "replace").decode().strip()
        if not text:
            raise QueryError("the query is empty: give it at least one word")
        if len(text) > MOST_CHARACTERS:
            raise QueryError(f"the query has {len(text):,} characters, at most {MOST_CHARACTERS:,} are searched")
        for name, value in (
            ("literal", literal),
            ("typos", typos),
            ("explain", explain),
            ("facets", facets),
            ("log", log),
            ("unredacted", unredacted),
        ):
            if not isinstance(value, bool) and not (name == "literal" and value is None):
                allowed = "True, False or None" if name == "literal" else "True or False"
                raise QueryError(f"{name} is {value!r}; it must be {allowed}")
        if mode not in get_args(Mode):
            raise QueryError(f"the mode is {mode!r}; it must be one of {', '.join(get_args(Mode))}")
        _one_of("snippets", snippets, get_args(SnippetChoice))
        if strategy not in get_args(StrategyChoice):
            raise QueryError(f"the strategy is {strategy!r}; it must be one of {', '.join(get_args(StrategyChoice))}")
        if group_by is not None and group_by not in get_args(Grouping):
            raise QueryError(f"group_by is {group_by!r}; it must be {', '.join(get_args(Grouping))}, or None")
        if not _is_number(diversity) or not 0 <= diversity <= 1:
            raise QueryError(f"the diversity is {diversity!r}; it must be 0 to 1")
        if min_relevance is not None and not (_is_number(min_relevance) and 0 <= min_relevance <= 1):
            raise QueryError(f"min_relevance is {min_relevance!r}; it must be 0 to 1, or None")
        return cls(
            parse_query(text, literal=literal),
            checked_names(collections),
            _whole("limit", limit, 1, MOST_RESULTS),
            mode,  # type: ignore[arg-type]
            _whole("offset", offset, 0, LARGEST_OFFSET),
            None if filters is None else Filters.checked(filters),
            _fusion(fusion),
            _whole("neighbours", neighbours, 0, MOST_NEIGHBOURS),
            group_by,  # type: ignore[arg-type]
            float(diversity),
            _reranking(rerank),
            typos,
            explain,
            literal is False,
            _generations(generation),
            facets,
            None if min_relevance is None else float(min_relevance),
            snippets,  # type: ignore[arg-type]
            strategy,  # type: ignore[arg-type]
            text if log else None,
            unredacted,
            _one_of("superseded", superseded, get_args(SupersededChoice)),  # type: ignore[arg-type]
            _kinds(expand),
        )


def parse_query(query: str, *, literal: bool | None = None) -> ParsedQuery:
    """Return the terms of a query; every text is a query.

    `"a phrase"` must stand in a passage, `-word` and `-"a phrase"` must not, `title:word` and `title:"a phrase"` must
    stand in the document's title (`-title:` must not). An unpaired quotation mark, an operator without a
    word, and operators of other query languages (AND, *, ~, ^, brackets) are text.

    In running text, quotation marks and dashes are text. A query without `title:` is running text where at least twelve
    of its words are outside phrases and exclusions, or five and it ends like a sentence.

    Args:
        query: as a person writes it.
        literal: whether all of it is text; False reads operators in running text, too.
    """
    if literal:
        return ParsedQuery(query.strip())
    texts: list[str] = []
    found: dict[tuple[bool, bool], list[str]] = {
        (without, title): [] for without in (False, True) for title in (False, True)
    }
    phrases: list[str] = []
    plain_words = 0
    for clause in _CLAUSE.finditer(query):
        without, title, phrase = bool(clause["minus"]), bool(clause["title"]), clause["phrase"]
        content = (phrase or clause["word"] or clause["rest"] or "").strip()
        if not content.strip('"'):
            continue
        if not without:
            texts.append(content)
        if without or title:
            found[without, title].append(content)
        elif phrase is not None:
            phrases.append(content)
        elif any(map(str.isalnum, content)):
            plain_words += 1
    has_operators = bool(phrases) or any(found.values())
    if not texts and not has_operators:
        return ParsedQuery(query.strip())
    has_titles = bool(found[False, True] or found[True, True])
    if literal is None and has_operators and not has_titles and _is_prose(query.strip(), plain_words):
        return ParsedQuery(query.strip(), prose=True)
    return ParsedQuery(
        " ".join(texts),
        tuple(phrases),
        tuple(found[False, True]),
        tuple(found[True, False]),
        tuple(found[True, True]),
    )


def _is_prose(query: str, plain_words: int) -> bool:
    least = _WORDS_OF_A_SENTENCE if _END_OF_SENTENCE.search(query) else _WORDS_OF_PROSE
    return plain_words >= least


def _listed(terms: Sequence[str]) -> str:
    return ", ".join(repr(term) for term in terms)


def _fusion(fusion: Fusion | str | None) -> Fusion:
    if isinstance(fusion, str):
        return Fusion(method=fusion)  # type: ignore[arg-type] # its check names the methods
    if fusion is None or isinstance(fusion, Fusion):
        return DEFAULT_FUSION if fusion is None else fusion
    raise QueryError(f"the fusion is {fusion!r}; it must be a Fusion or one of {', '.join(get_args(Method))}")


def _reranking(rerank: Reranking | str | None) -> Reranking | None:
    if rerank is None or isinstance(rerank, Reranking):
        return rerank
    if isinstance(rerank, str):
        return Reranking(rerank)
    raise QueryError(f"rerank is {rerank!r}; it must be a Reranking or the name or folder of a model")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(name: str, value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise QueryError(f"the {name} is {value!r}; it must be {least} to {most:,}")
    return value


def _one_of(name: str, value: object, known: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in known:
        raise QueryError(f"{name} is {value!r}; it must be one of {', '.join(known)}")
    return value


def _kinds(expand: Sequence[str] | str) -> tuple[str, ...]:
    kinds = expand if isinstance(expand, list | tuple | set | frozenset) else [expand]
    return tuple(dict.fromkeys(_one_of("expand", kind, RELATION_KINDS) for kind in kinds))


def _generations(generation: int | Sequence[int] | None) -> tuple[int, ...]:
    if generation is None:
        return ()
    numbers = [generation] if isinstance(generation, int) else list(generation)
    return tuple(dict.fromkeys(_whole("generation", number, 1, 2**63 - 1) for number in numbers))


def checked_names(collections: Sequence[str] | str | None) -> tuple[str, ...] | None:
    """Return names of collections as the database can hold them; None for every collection.

    Raises:
        QueryError: it is neither a name nor a list of names, or the list is empty.
    """
    if collections is None:
        return None
    if not isinstance(collections, Iterable):
        raise QueryError(f"the collections are {collections!r}; they must be names")
    names = (collections,) if isinstance(collections, str) else tuple(collections)
    if not names:
        raise QueryError("the list of collections is empty: leave it out to search all of them")
    for name in names:
        if not isinstance(name, str):
            raise QueryError(f"the collection {name!r} is no name")
    return tuple(name.replace("\0", " ").encode("utf-8", "replace").decode() for name in names)
