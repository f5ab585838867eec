"""The query language: operators and literal text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.search.query_syntax import ParsedQuery, parse_query


@pytest.mark.parametrize(
    ("query", "understood"),
    [
        ("tide gauge", ParsedQuery("tide gauge")),
        ('"tide gauge" battery', ParsedQuery("tide gauge battery", phrases=("tide gauge",))),
        ("tide -gauge", ParsedQuery("tide", excluded=("gauge",))),
        ('tide -"stilling well"', ParsedQuery("tide", excluded=("stilling well",))),
        ("title:tide gauge", ParsedQuery("tide gauge", titles=("tide",))),
        ('TITLE:"tide gauge"', ParsedQuery("tide gauge", titles=("tide gauge",))),
        ("tide -title:draft", ParsedQuery("tide", excluded_titles=("draft",))),
        ('tide -title:"first draft"', ParsedQuery("tide", excluded_titles=("first draft",))),
        ("-gauge", ParsedQuery("-gauge")),
        ("pg_dump -Fc mydb", ParsedQuery("pg_dump -Fc mydb")),
        ("tar -xvf archive", ParsedQuery("tar -xvf archive")),
        ("java -XX:+UseG1GC heap", ParsedQuery("java -XX:+UseG1GC heap")),
        ("rm -rf", ParsedQuery("rm -rf")),
        ("gcc -std=c99 -Wno-unused file", ParsedQuery("gcc -std=c99 file", excluded=("Wno-unused",))),
        ("Pumpe -Motor", ParsedQuery("Pumpe", excluded=("Motor",))),
        ("насос -мотор", ParsedQuery("насос", excluded=("мотор",))),
        ('" tide  gauge "', ParsedQuery("tide  gauge", phrases=("tide  gauge",))),
    ],
)
def test_operators(query: str, understood: ParsedQuery) -> None:
    assert parse_query(query) == understood
    assert parse_query(query).has_operators == (understood != ParsedQuery(understood.text))


@pytest.mark.parametrize(
    "query",
    [
        "state-of-the-art",
        "5 -3 degrees",
        "wells - and gauges -- both",
        "subtitle:x",
        "the title: tides",
        'the 5" pipe',
        'the 5" and the 7" pipe',
        "tide AND gauge OR NOT ice* ~3 ^2 [a TO b] {c}",
        "don't",
        "'tide gauge'",
        "a & b | !c <-> (d:*)",
    ],
)
def test_what_is_no_operator_is_text(query: str) -> None:
    """Hyphens within words, numbers below zero, dashes, inches, other languages' operators."""
    assert parse_query(query) == ParsedQuery(query)


@pytest.mark.parametrize("query", ['"', '""', '"""', '" "', '-"', '-""', 'title:""', '-title:"'])
def test_a_query_of_operators_alone_is_text(query: str) -> None:
    """It demands nothing, and a search still has something to look for."""
    assert parse_query(query) == ParsedQuery(query)


def test_half_a_quotation_is_text() -> None:
    assert parse_query('"tide gauge').text == '"tide gauge'
    assert not parse_query('"tide gauge').has_operators
    assert parse_query('"tide gauge" "well').phrases == ("tide gauge",)


def test_what_follows_a_quotation_without_a_space_is_text() -> None:
    """As in scripts without spaces."""
    assert parse_query('"東京タワー"の高さ') == ParsedQuery("東京タワー の高さ", phrases=("東京タワー",))
    assert parse_query('"tide gauge", batteries').text == "tide gauge , batteries"
    assert parse_query('"tide"-gauge') == ParsedQuery("tide -gauge", phrases=("tide",))


@pytest.mark.parametrize(
    "query",
    [
        'Why was the student group called "the Methodists?"',
        "Welche Gruppen leiten, neben Privatpersonen und -organisationen, Ergänzungsschulen?",
        "jet interference with supersonic flow -dash experimental papers .",
        'В какие десятилетия Дадли Симпсон был участником "Доктора Кто"?',
        'we saw "connection reset" again on Monday when the nightly backup of the second server ran',
    ],
)
def test_quotation_marks_and_dashes_in_running_text_are_text(query: str) -> None:
    """A sentence, or a dozen words, is no list of conditions; what was typed as operators can still be asked for."""
    assert parse_query(query) == ParsedQuery(query, prose=True)
    assert parse_query(query, literal=False).has_operators


@pytest.mark.parametrize(
    "query",
    [
        '"sick leave"?',
        "vacation days -germany?",
        'title:policy Who may sign a contract with "customers"?',
        '"a" b c d e f',
    ],
)
def test_short_queries_and_titles_keep_their_operators(query: str) -> None:
    assert parse_query(query).has_operators


def test_a_query_is_relaxed_step_by_step() -> None:
    """First without what must be there, then without what must not; each step says what it leaves out."""
    steps = list(parse_query('"power cut" -diesel title:ink').relaxed())
    assert [query.has_operators for query, _ in steps] == [True, False]
    assert "'power cut', 'title:ink'" in steps[0][1]
    assert "'diesel'" in steps[1][1]
    assert not list(parse_query("power cut").relaxed())
    assert not list(parse_query("-diesel").relaxed())


def test_taken_literally_all_is_text() -> None:
    query = '"tide gauge" -well title:x'
    assert parse_query(f" {query} ", literal=True) == ParsedQuery(query)


def test_how_it_was_understood_is_shown() -> None:
    shown = str(parse_query('tide "well ice" -salt title:gauge'))
    assert shown == "'tide well ice gauge'; phrases: well ice; titles: gauge; excluded: salt"
    assert parse_query("tide -ebb").as_dict() == {
        "text": "tide",
        "phrases": [],
        "titles": [],
        "excluded": ["ebb"],
        "excluded_titles": [],
    }


@given(st.text(st.sampled_from('b "-:title\t\u3000\u200f水\x1f'), max_size=40))
def test_every_text_is_a_query(query: str) -> None:
    """None is lost: letters stand in what is to be found or in what must not be."""
    parsed = parse_query(query)
    kept = "".join((parsed.text, *parsed.excluded, *parsed.excluded_titles))
    for letter in "b水":  # those of `title:` may be an operator's
        assert kept.count(letter) == query.count(letter)
    assert all(text.strip('" ') for text in parsed.phrases + parsed.titles + parsed.excluded + parsed.excluded_titles)
    if not parsed.has_operators:
        assert bool(parsed.text.strip()) == bool(query.strip())
