"""Which candidates change places: those of one document that stand behind the first ten, with others between them."""

from sourcebook.search.fusion import Candidate
from sourcebook.search.query_terms import query_terms
from sourcebook.search.search_scope import find_scope
from sourcebook.search.settled_list import FIRST, settle_places
from tests.integration.stages import Stages

QUERY = "angular conversion"


def test_a_section_takes_its_place_past_candidates_that_are_not_looked_at(stages: Stages) -> None:
    """Between the first ten and the section stand passages without its words, which only the vector leg found."""
    filler = " ".join(f"value{number} of the table is read from the left." for number in range(18))
    contents = "\n".join(f"- [angular conversion {number}](#angular-conversion)" for number in range(6))
    stages.write("math.md", f"# Mathematics\n\n{contents}\n\n## Angular conversion\n\n{filler}\n")
    for number in range(FIRST + 2):
        stages.write(f"other-{number:02}.md", f"# Page {number}\n\nThe ferry of harbour {number} leaves at noon.\n")
    stages.configure()
    stages.run()
    rows = stages.rows(
        "SELECT chunk.id, document.uri, chunk.anchor FROM chunk JOIN document ON document.id = chunk.document_id "
        "ORDER BY document.uri, chunk.ordinal"
    )
    contents_of_page, *_, section = [row["id"] for row in rows if row["uri"].endswith("/math.md")]
    others = [row["id"] for row in rows if not row["uri"].endswith("/math.md")]
    assert section != contents_of_page
    before, between = others[: FIRST - 1], others[FIRST - 1 :]
    chunks = [before[0], contents_of_page, *before[1:], *between, section]
    by_words = {contents_of_page: (1, 4.0), section: (2, 3.0)}
    candidates = [
        Candidate(chunk, 1 - place / 100, 100, None, place + 1, 0.5, *by_words.get(chunk, (None, None)))
        for place, chunk in enumerate(chunks)
    ]
    with stages.connection() as connection:
        scope = find_scope(connection, [stages.collection])
        terms = query_terms(connection, scope, QUERY)
        settled = settle_places(connection, scope, QUERY, terms, candidates, candidates[:FIRST])
    assert [each.chunk_id for each in settled.candidates] == [
        before[0],
        section,
        *before[1:],
        *between,
        contents_of_page,
    ]
    assert {section, contents_of_page} <= set(settled.highlights)
