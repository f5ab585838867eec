"""Words of many languages, found by the keyword leg of a real search."""

from collections.abc import Callable, Iterator, Mapping

import pytest
from psycopg import Connection

from sourcebook import KnowledgeBase
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from tests.checkout import CHECKOUT
from tests.integration.word_corpus import WordCorpus, Written, new_corpus, word_database

Find = Callable[..., list[int]]
"""Search the collections of a test by keywords; return the numbers of the documents, best first."""


@pytest.fixture(scope="module")
def database(server: EmbeddedServer) -> Iterator[Database]:
    with word_database(server) as database:
        yield database


@pytest.fixture
def corpora(database: Database) -> Iterator[Callable[[Mapping[int, Written]], WordCorpus]]:
    with database.connection() as connection:

        def make(documents: Mapping[int, Written]) -> WordCorpus:
            return filled(connection, documents)

        yield make


def filled(connection: Connection, documents: Mapping[int, Written]) -> WordCorpus:
    corpus = new_corpus(connection)
    corpus.write(documents)
    return corpus


@pytest.fixture
def find(database: Database) -> Find:
    knowledge = KnowledgeBase(database)

    def find(query: str, *corpora: WordCorpus, **options: bool) -> list[int]:
        names = [corpus.collection for corpus in corpora]
        hits = knowledge.search(query, names, limit=50, mode="keyword", **options)  # type: ignore[arg-type]
        return [int(hit.uri.rsplit("/", 1)[1]) for hit in hits]

    return find


def of(language: str | None, *texts: str) -> dict[int, Written]:
    """Number the texts of documents in one language."""
    return {number: Written((text,), language=language) for number, text in enumerate(texts)}


Corpora = Callable[[Mapping[int, Written]], WordCorpus]


def test_german_words_and_compounds(corpora: Corpora, find: Find) -> None:
    """Plural, umlauts and ß; a compound that no passage holds finds its parts, a part the compounds it is in."""
    german = corpora(
        of(
            "de",
            "Die Wasserversorgung der Stadt ist alt.",
            "Der Pegel wird an der Messstation abgelesen.",
            "Drei Häuser stehen in der Straße.",
            "Ein Haus ohne Pegel.",
            "Die Prüfung dauert lange.",
            "Bericht über die Stadt.",
        )
    )
    assert find("Versorgung", german) == [0], "part of a compound"
    assert find("Haus", german) == [3, 2], "plural"
    assert set(find("Häusern", german)) == {2, 3}
    assert find("Strasse", german) == [2], "ss for ß"
    assert find("Pruefung", german) == find("Prüfung", german) == find("Prüfungen", german) == [4]
    assert set(find("Pegelbericht", german)) == {1, 3, 5}, "a compound that none holds finds its parts"
    assert set(find("Prüfungsbericht", german)) == {4, 5}, "with a letter that links them"
    assert find("Unwort", german) == []


def test_russian_inflection(corpora: Corpora, find: Find) -> None:
    """Cases and numbers of a noun, forms of a verb, and е for ё find one another."""
    nouns = ["станция", "станции", "станцию", "станцией", "станциями", "станций", "станциях"]
    verbs = ["измеряет", "измеряют", "измерял", "измеряли", "измерять"]
    russian = corpora(of("ru", *(f"Это {word} здесь" for word in [*nouns, *verbs]), "зелёный лёд", "зеленый лед"))
    for noun in nouns:
        assert set(find(noun, russian)) == set(range(len(nouns))), noun
    for verb in verbs:
        assert set(find(verb, russian)) == set(range(len(nouns), len(nouns) + len(verbs))), verb
    assert find("зеленый", russian) == find("зелёный", russian) == find("лёд", russian) == [12, 13]


@pytest.mark.parametrize(
    ("language", "written", "asked"),
    [
        ("es", "la estación de bombeo", "estacion"),
        ("es", "la estacion de bombeo", "estaciones estación"),
        ("fr", "les élèves étudient", "eleve"),
        ("fr", "un eleve etudie", "élèves"),
        ("pt", "as medições diárias", "medicoes"),
        ("pl", "żółta łódź", "zolta lodz"),
        ("en", "a naïve café", "naive cafe"),
        ("el", "η θάλασσα", "θαλασσα"),
        ("de", "Zürich", "Zurich"),
        (None, "Ångström", "angstrom"),
    ],
)
def test_accents_are_folded_both_ways(corpora: Corpora, find: Find, language: str, written: str, asked: str) -> None:
    """Where marks are marks, a word is found with and without them; so it is when they are loose characters."""
    corpus = corpora(of(language, written, "xyz"))
    for query in (asked, written, written.upper(), _decomposed(asked), _decomposed(written)):
        assert find(query, corpus) == [0], query


def _decomposed(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFD", text)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [("sv", "räka", "raka"), ("tr", "ışık", "isik"), ("fi", "sää", "saa"), ("da", "får", "far")],
)
def test_letters_of_their_own_are_not_folded(corpora: Corpora, find: Find, language: str, one: str, other: str) -> None:
    """`å` is no `a` in Swedish."""
    corpus = corpora(of(language, f"{one} xyz", f"{other} xyz"))
    assert find(one, corpus) == [0]
    assert find(other, corpus) == [1]
    assert find(_decomposed(one), corpus) == [0]


@pytest.mark.parametrize(
    ("language", "texts", "asked"),
    [
        ("zh", ("知識庫裡有很多水文資料。", "今天天氣很好。"), ("知識", "識庫", "知識庫", "水文資料", "文", "庫")),
        ("ja", ("東京タワーの高さは三百三十三メートル。", "猫が寝る。"), ("東京", "タワー", "高さ", "塔タワー", "京")),
        ("th", ("สถานีวัดระดับน้ำทำงานด้วยแบตเตอรี่", "แมวนอน"), ("สถานี", "แบตเตอรี่", "ระดับน้ำ")),
        ("ko", ("수위관측소는 배터리로 작동한다.", "고양이가 잔다."), ("관측소", "배터리", "수")),
        ("lo", ("ສະຖານີວັດແທກນ້ໍາ", "ແມວ"), ("ສະຖານີ",)),
        ("km", ("ស្ថានីយ៍ទឹក", "ឆ្មា"), ("ទឹក",)),
    ],
)
def test_scripts_without_spaces(
    corpora: Corpora, find: Find, language: str, texts: tuple[str, ...], asked: tuple[str, ...]
) -> None:
    """Parts of a run of letters are found, down to a single one; a text without them is not."""
    corpus = corpora(of(language, *texts))
    for query in asked:
        assert find(query, corpus) == [0], query
    assert find("鯨", corpus) == []


def test_a_phrase_in_a_script_without_spaces_is_what_stands_together(corpora: Corpora, find: Find) -> None:
    corpus = corpora(of("zh", "水庫的知識", "知識庫", "知識和識庫"))
    assert find('"知識庫"', corpus) == [1]
    assert set(find("知識庫", corpus)) == {0, 1, 2}
    assert set(find('"知識"庫', corpus)) == {0, 1, 2}, "what follows a phrase is searched, too"
    assert set(find("知識 -水庫", corpus)) == {1, 2}


def test_a_letter_that_stands_alone_somewhere_is_found_within_runs_too(corpora: Corpora, find: Find) -> None:
    corpus = corpora(of("zh", "第 1 章", "第一章", "最後"))
    assert set(find("第", corpus)) == {0, 1}


def test_mixed_scripts_in_one_query(corpora: Corpora, find: Find) -> None:
    corpus = corpora(
        {
            0: Written(("Python3入門の本",), language="ja"),
            1: Written(("станция Python",), language="ru"),
            2: Written(("Die Station misst.",), language="de"),
            3: Written(("nothing of it",), language="en"),
        }
    )
    assert set(find("入門 станции Stationen", corpus)) == {0, 1, 2}
    assert find("python3", corpus) == [0]


def test_what_is_another_way_to_write_a_letter_is_that_letter(corpora: Corpora, find: Find) -> None:
    """Ligatures of PDF files, full-width letters, soft hyphens: none of them hides a word."""
    corpus = corpora(of("en", "the ﬁrst oﬃce", "Ｗｉｎｄｏｗｓ ﾃｽﾄ", "ver\u00adsorgung un\u200bbreakable"))
    assert find("first office", corpus) == [0]
    assert find("windows", corpus) == find("テスト", corpus) == [1]
    assert find("versorgung", corpus) == find("unbreakable", corpus) == find("ver\u00adsorgung", corpus) == [2]


def test_stop_words_of_most_passages_are_no_rare_words_for_the_rest(corpora: Corpora, find: Find) -> None:
    """Ten short texts of unknown language among a hundred English ones: `the` says next to nothing."""
    english = {n: Written((f"the tide station number {n} of the coast",), language="en") for n in range(100)}
    unknown = {n: Written((f"the list of item {n}",)) for n in range(100, 110)}
    corpus = corpora({**english, **unknown, 110: Written(("salt marsh",), language="en")})
    assert find("what is the salt of the earth", corpus) == [110]
    assert find("the station of number 7", corpus)[0] == 7
    assert find('"the" salt', corpus) == [110], "nor is it required"
    assert find('"the tide station" "number 8"', corpus) == [8]


def test_two_collections_of_different_languages(corpora: Corpora, find: Find) -> None:
    """One query, each collection's own stemmer; scores are comparable."""
    german = corpora(of("de", "Die Batterien der Stationen.", "Salz"))
    english = corpora(
        {10: Written(("The batteries of the stations.",), language="en"), 11: Written(("salt",), language="en")}
    )
    assert set(find("Batterie battery", german, english)) == {0, 10}
    assert find("salt", german, english) == [11]
    assert find("salt", german) == []


def test_plain_letters_stay_plain_in_every_language(database: Database) -> None:
    """No stemmer makes an accent of ASCII that is to be folded, but the Serbian one, whose accents are looked for."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [first + second + third for first in letters for second in letters for third in letters]
    words += (CHECKOUT / "README.md").read_text(encoding="ascii", errors="ignore").split()
    words += [
        f"str{first}{second}ss{ending}" for first in letters for second in letters for ending in ("en", "ung", "i")
    ]
    with database.connection() as connection:
        found = connection.execute(
            "SELECT cfgname, lexeme FROM pg_ts_config, unnest(to_tsvector(pg_ts_config.oid::regconfig, %s)) "
            "WHERE octet_length(lexeme) <> length(lexeme)",
            [" ".join(words)],
        ).fetchall()
        folded = connection.execute("SELECT search_lexemes('serbian', 'ledja')::text").fetchone()
    assert {configuration for configuration, _ in found} <= {"serbian", "turkish"}
    assert folded is not None
    assert folded[0].isascii()


FOLDED = """
SELECT stemmed(%(configuration)s::regconfig, prepared) = (
    SELECT string_agg(quoted_lexeme(without_accents(lexeme)) || ':' || array_to_string(positions, ','), ' ')
    FROM unnest(to_tsvector(%(configuration)s::regconfig, CASE WHEN %(configuration)s::text IN ('english', 'simple')
                                                    THEN without_accents(prepared) ELSE prepared END)))::tsvector
FROM unnest(%(texts)s::text[]) AS given (text)
CROSS JOIN paired_letters(in_one_spelling(%(configuration)s::regconfig, text)) AS prepared
"""
CONFIGURATIONS = ("english", "simple", "german", "french", "russian", "greek", "serbian", "hindi")


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_texts_that_need_no_folding_have_the_lexemes_that_folding_gives(database: Database, configuration: str) -> None:
    """Every step may be left out that changes nothing: for quotation marks, symbols, and letters of other scripts."""
    texts = [
        "“The gauge’s level” – 5 µm ± 2 °C … ½ of the tide’s range…",
        "zero\u200bwidth, soft\u00adhyphen, ﬁnal ligature, ｆｕｌｌ width, №5 ™ © €",
        "résumé, Straße, Ångström, naïve café, combining e\u0301",
        "Приливы и отливы, ёлка, йод",
        "μέτρηση της στάθμης, α-helix",
        "潮汐表を読む 知識庫 น้ำขึ้น 조수",
        "ज्वार भाटा क़लम", "الجزر والمد", "גאות ושפל", "Việt Nam thủy triều", "đorđe džep njegov", "Ǆ ǅ ǆ Kelvin \u212a",
    ]  # fmt: skip
    with database.connection() as connection:
        found = connection.execute(FOLDED.encode(), {"configuration": configuration, "texts": texts}).fetchall()
    assert found == [(True,)] * len(texts)
