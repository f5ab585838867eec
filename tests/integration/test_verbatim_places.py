"""Which candidates change places: those of one document that stand behind the first ten, with others between them."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sourcebook.contract.search import SearchRequest
from sourcebook.search.observation import SearchObservation
from sourcebook.search.query_terms import query_terms
from sourcebook.search.query_vectors import QueryVectors
from sourcebook.search.ranking.fusion import Candidate
from sourcebook.search.ranking.reranking.reranker import Reranker
from sourcebook.search.ranking.state import SearchResources, SearchState
from sourcebook.search.ranking.verbatim_order import FIRST, read_first, verbatim_first
from sourcebook.search.scope import find_scope
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
    request = SearchRequest.checked(QUERY, stages.collection, limit=FIRST)
    pool, reranker = stages.database.pool, Reranker()
    with ThreadPoolExecutor(1) as executor, pool.hold() as held:
        resources = SearchResources(pool, executor, QueryVectors(Path()), reranker)
        state = SearchState(resources, request, SearchObservation(request), held)
        state.scope = find_scope(held.connection, [stages.collection])
        state.terms = query_terms(held.connection, state.scope, QUERY)
        read_first(state, candidates)
        ordered = verbatim_first(state, candidates)
    reranker.close()
    assert [each.chunk_id for each in ordered] == [before[0], section, *before[1:], *between, contents_of_page]
    assert {section, contents_of_page} <= set(state.highlights)
