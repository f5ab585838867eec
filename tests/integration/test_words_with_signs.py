"""Names with signs, numbers, days and parts of names, found by the keyword leg of a real search."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations

import pytest
from psycopg import Connection

from sourcebook import KnowledgeBase
from sourcebook.config.passages import EmbeddingSettings
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.queries import queries
from sourcebook.search.ranking import word_lexemes
from sourcebook.search.ranking.word_lexemes import lexemes_of_words
from sourcebook.search.scope import ScopedGeneration, SearchScope
from sourcebook.stages.search_index import publish
from tests.integration.word_corpus import WordCorpus, Written, new_corpus, word_database

Find = Callable[[str, WordCorpus], list[int]]


@pytest.fixture(scope="module")
def database(server: EmbeddedServer) -> Iterator[Database]:
    with word_database(server) as database:
        yield database


@pytest.fixture(scope="module")
def connection(database: Database) -> Iterator[Connection]:
    with database.connection() as connection:
        yield connection


@pytest.fixture
def find(database: Database) -> Find:
    knowledge = KnowledgeBase(database)

    def find(query: str, corpus: WordCorpus) -> list[int]:
        hits = knowledge.search(query, corpus.collection, limit=50, mode="keyword")
        return [int(hit.uri.rsplit("/", 1)[1]) for hit in hits]

    return find


def written(connection: Connection, *texts: str, language: str | None = "en") -> WordCorpus:
    corpus = new_corpus(connection)
    corpus.write({number: Written((text,), language=language) for number, text in enumerate(texts)})
    return corpus


PROGRAMS = (
    "The lock is simulated in C++ by two people.",
    "The booking desk is written in C# and runs on Windows.",
    "The siren has a chip that is programmed in C.",
    "The till needs .NET on the counter.",
    "The ledger is an F# program.",
    "The ferry's way is found by the A* search.",
    "The net in the cellar is mended.",
    "The budget of R&D, and of AT&T's line.",
    "Join commands with && in the shell.",
)


def test_names_of_programs_are_words(connection: Connection, find: Find) -> None:
    """`C++` is no C, and a sign is a word where nothing else is asked for; a phrase and an exclusion have it, too."""
    corpus = written(connection, *PROGRAMS)
    for query, number in (
        ("C++", 0), ("C#", 1), ("who uses C#?", 1), ("C", 2), ("F#", 4), ("A*", 5), ("R&D", 7),
        ("&&", 8), ('"in C++"', 0),
    ):  # fmt: skip
        assert find(query, corpus) == [number], query
    assert find(".NET", corpus) == [3, 6]
    assert set(find('written simulated -"C++"', corpus)) == {1}
    assert find("🚀", corpus) == []


UNITS = (
    "Screws M8x1.25 hold the cover.",
    "A 10 kΩ resistor and 1920×1080 pixels.",
    "The pipe is ½\" wide.",
    "Baked at 220 °C.",
    "The berth is €30 a night.",
    "Pressure ≥ 3 bar opens it.",
    "The boat was launched 🚢.",
    "Fig. 8, 10 and 1.25: vitamin C.",
)  # fmt: skip


def test_numbers_units_and_signs(connection: Connection, find: Find) -> None:
    """With a space or without, in whichever sign; a degree is not the letter behind it."""
    corpus = written(connection, *UNITS)
    for query, number in (
        ("M8 x 1.25", 0), ("10kΩ", 1), ("1920 x 1080", 1), ("1/2\"", 2), ("¼ or ½", 2), ("°C", 3),
        ("30 €", 4), (">=", 5), ("🚢", 6),
    ):  # fmt: skip
        assert find(query, corpus)[0] == number, query
    assert find("°C", corpus) == [3]


DAY = ("7 June 2024", "2024-06-07", "07.06.2024", "June 7th, 2024", "7. Juni 2024", "2024年6月7日",
       "7 de junio de 2024",
       "7 juin 2024", "7 июня 2024 г.", "2024. június 7.", "٧ يونيو ٢٠٢٤", "7 जून 2024", "2024/6/7")  # fmt: skip


def test_a_day_is_one_word_in_every_form(connection: Connection, find: Find) -> None:
    """Also without its year, and as part of its month."""
    others = ("6 July 2024", *(f"2023-{month:02}-{day:02}" for month in (1, 6, 7) for day in range(8, 29)))
    corpus = written(connection, *(f"The board met on {day} in the harbour." for day in (*DAY, *others)))
    everyone, last = set(range(len(DAY))), len(DAY)
    for query in DAY:
        found = find(query, corpus)
        assert set(found[: len(DAY)]) == everyone, query
    assert set(find("June 7th", corpus)[: len(DAY)]) == everyone
    assert set(find("2024-06", corpus)[: len(DAY)]) == everyone
    assert find("06.07.2024", corpus)[0] == last


def test_an_ambiguous_day_is_first_that_of_the_language(connection: Connection, find: Find) -> None:
    texts = ("It met on 5 April 2024.", "It met on 4 May 2024.")
    english, german = written(connection, *texts), written(connection, *texts, language="de")
    assert find("04/05/2024", english) == [0, 1]
    assert find("04/05/2024", german) == [1, 0]


@pytest.mark.parametrize(
    "form", ["KX-{}-{}", "2023-{:02}-{:02}", "10.{}.{}.7", "/srv/{}/{}/log", "{}a{}f9", "rel_{}_{}", "{}/{}-Z"]
)
def test_a_run_is_matched_in_its_order(connection: Connection, find: Find, form: str) -> None:
    """Part numbers, days, addresses, paths, digests: another one of the same numbers is not first."""
    pairs = list(permutations(range(1, 6), 2))
    corpus = written(connection, *(f"The item {form.format(*pair)} was checked." for pair in pairs))
    for number, pair in enumerate(pairs):
        assert find(f"was {form.format(*pair)} checked?", corpus)[0] == number, pair


OTHERWISE = (
    "Order KX-4471-B has shackles.",
    "Order KX-4417-B has ropes.",
    "The pier costs 1,250,000 euros.",
    "No boat may be faster than 5 kn.",
    "Release 2.10.3 reads twice.",
    "The chemists of R&D test paints.",
    "How many people work here, and how many people come: forty people.",
    "Bookings are written in C# by four people, and by nobody else in the whole of the long office on the old pier.",
)


def test_a_name_is_found_as_others_write_it(connection: Connection, find: Find) -> None:
    """And one with signs is what a plain question is about, whatever else a passage says more often."""
    corpus = written(connection, *OTHERWISE)
    for query, number in (
        ("kx4471b", 0), ("1250000", 2), ("5kn", 3), ("v2.10.3", 4), ("who is in R & D?", 5), ("how many C# people", 7),
    ):  # fmt: skip
        assert find(query, corpus)[:1] == [number], query


def test_parts_of_names_are_found(connection: Connection, find: Find) -> None:
    """The whole is, too, and before them."""
    corpus = written(
        connection, "def parseHttpHeader(x): ...", "os.path.splitext", "TCP/IP of the gauge", "tide_level = 3", "header"
    )
    for query, number in (
        ("http header", 0), ("splitext", 1), ("path", 1), ("IP", 2), ("level", 3), ("tide_level", 3),
        ("parseHttpHeader", 0),
    ):  # fmt: skip
        assert find(query, corpus)[0] == number, query


def test_forms_of_letters_and_joiners(connection: Connection, find: Find) -> None:
    """A zero-width non-joiner parts Persian words; kaf and yeh are one letter; digits are digits."""
    persian = written(connection, "درخت‌های بلند", "کتاب یک", "سال ۱۴۰۳", language="fa")
    assert find("درخت", persian) == [0]
    assert find("كتاب", persian) == find("كتاب يك", persian) == [1]
    assert find("1403", persian) == [2]
    arabic = written(connection, "الكِتَابُ", "البيت", language="ar")
    assert find("کتاب", arabic) == find("الكتاب", arabic) == [0]
    hindi = written(connection, "क\u094d\u200dषण", "फ़सल", language="hi")
    assert find("क\u094dषण", hindi) == [0]
    assert find("फसल", hindi) == [1]


def test_entries_of_an_earlier_reading_are_read_again(connection: Connection, find: Find) -> None:
    """Their lexemes alone change: no vector is computed, no chunk is cut."""
    corpus = written(connection, "simulated in C++", "booked in C#")
    kept = "SELECT chunk_id, vector::text FROM search_entry WHERE generation_id = %s ORDER BY 1"
    before = connection.execute(kept, [corpus.generation.id]).fetchall()
    connection.execute(
        "UPDATE search_entry SET lexemes = to_tsvector('english', 'simulated in C') WHERE generation_id = %s",
        [corpus.generation.id],
    )
    connection.execute(
        "UPDATE indexed_document SET words_version = NULL WHERE generation_id = %s", [corpus.generation.id]
    )
    assert find("C++", corpus) == []
    report = publish(connection, corpus.generation, thorough=True)
    assert report.changed == 2
    assert find("C++", corpus) == [0]
    assert connection.execute(kept, [corpus.generation.id]).fetchall() == before
    assert publish(connection, corpus.generation, thorough=True).changed == 0


def test_the_option_of_a_query_is_what_it_is_about(connection: Connection, find: Find) -> None:
    """Before a passage that is better by the other words."""
    corpus = written(
        connection,
        "store_pages mydb",
        "The command store_pages -Kq writes pages in a form of its own, which is read by several processes at once.",
    )
    assert find("store_pages Kq mydb", corpus) == [0, 1]
    assert find("store_pages -Kq mydb", corpus) == [1, 0]


def test_statements_of_a_search_read_words_as_the_index_does(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They take shorter ways, by which words of letters alone, and lexemes in their order, are the same.

    Words that a process has read it remembers: its passages repeat them.
    """
    words = ["running", "Running", "RUNNING", "runningFast", "C++", "2024-05-03", "naïve", "Äpfel", "дома", "don't"]
    texts = ["an in-house café-au-lait bar", "GPU vs CPU on 2024-05-03", "C++ & .NET", "知識庫", "дома и ёлка", ""]
    names = ["english", "german", "russian", "serbian", "simple", "turkish"]
    read = "SELECT word, array_agg(DISTINCT lexeme) FROM unnest(%s::text[]) AS word, unnest(%s::text[]) AS name, "
    read += "unnest(search_lexemes(name::regconfig, word)) GROUP BY word"
    wanted: dict[str, list[str]] = dict(connection.execute(read, [words, names]).fetchall())
    scoped = {"words": words, "configurations": names}
    assert dict(connection.execute(queries["lexemes_of_words"], scoped).fetchall()) == wanted
    generation = ScopedGeneration("any", 1, "any", EmbeddingSettings(), 2, tuple(names))
    scope = SearchScope((generation,), words_version=-1)
    some = {word: lexemes[-1] for word, lexemes in wanted.items()}
    tokens = set(some.values())
    held = {word: [each for each in lexemes if each in tokens] for word, lexemes in wanted.items()}
    assert lexemes_of_words(connection, scope, words[:4], tokens) == {word: held[word] for word in words[:4]}
    assert lexemes_of_words(connection, scope, [*words, "\u2028"], tokens) == held
    with monkeypatch.context() as patched:
        patched.setattr(word_lexemes, "queries", {})  # nothing may be asked
        assert lexemes_of_words(connection, scope, [*words, "\u2028"], tokens) == held
        with pytest.raises(KeyError):
            lexemes_of_words(connection, replace(scope, words_version=-2), words, tokens)
    order = "SELECT text, lexemes_in_order(name::regconfig, text) FROM unnest(%s::text[]) text, unnest(%s::text[]) name"
    found = connection.execute(queries["lexemes_of_texts"], {"texts": texts, "configurations": names}).fetchall()
    assert sorted(found) == sorted(connection.execute(order, [texts, names]).fetchall())
