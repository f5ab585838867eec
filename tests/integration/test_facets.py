"""Facets of a search: the documents found, counted by kind, type, language, tag and year."""

from tests.integration.stages import Stages

TEXTS = {
    "a.md": "---\ntags: [policy, sea]\ndate: 2024-05-01\n---\n# Harbour\n\nThe harbour is open all year for the boats.",
    "b.md": "---\ntags: [policy]\ndate: 2023-05-01\n---\n# Quay\n\nThe quay of the harbour is closed to the boats.",
    "c.txt": "The boats leave the harbour at noon, and nobody waits for those who are late.",
}


def test_the_documents_found_are_counted(stages: Stages) -> None:
    """A document counts once, in each of its tags, whatever the page shows of them; without `facets` nothing counts."""
    for name, text in TEXTS.items():
        stages.write(name, text)
    stages.configure()
    stages.run()
    results = stages.search("harbour boats", limit=1, facets=True)
    assert len(results) == 1
    assert results.facets == {
        "collection": {"handbook": 3},
        "kind": {"file": 3},
        "type": {},
        "media_type": {"text/markdown": 2, "text/plain": 1},
        "language": {"en": 3},
        "tag": {"policy": 2, "sea": 1},
        "year": {"2023": 1, "2024": 1},
    }
    filtered = stages.search("harbour", filters={"tag": "sea"}, facets=True)
    assert filtered.facets is not None
    assert (filtered.facets["tag"], filtered.facets["year"]) == ({"policy": 1, "sea": 1}, {"2024": 1})
    assert stages.search("harbour").facets is None


def test_pages_totals_and_facets_count_what_is_found(stages: Stages) -> None:
    """What holds a word of the query, or is relevant: not whatever vector search compares, whichever face asks."""
    subjects = (
        "bread",
        "tea",
        "snow",
        "maps",
        "wool",
        "glass",
        "bees",
        "rope",
        "salt",
        "paint",
        "clay",
        "ink",
        "oak",
        "wax",
    )
    for number, subject in enumerate(subjects):
        stages.write(
            f"{subject}.md", f"# About {subject}\n\nNotes on {subject}, kept since the year {1900 + number}.\n"
        )
    for name in ("a", "b", "c", "d", "e", "f", "g"):
        stages.write(f"gauge-{name}.md", f"# Gauge {name}\n\nThe tide gauge {name} is read at noon.\n")
    stages.configure()
    stages.run()
    held = stages.search("gauge", limit=3, facets=True, min_relevance=None)
    assert (len(held), held.total_candidates, held.next_offset) == (3, 7, 3)
    assert held.facets is not None
    assert held.facets["collection"] == {"handbook": 7}
    walked: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = stages.search("gauge", limit=3, offset=offset, min_relevance=None)
        walked += [hit.uri for hit in page]
        offset = page.next_offset
        assert page.total_candidates == 7
    assert len(set(walked)) == len(walked) == 7
    none = stages.search("zymurgical", facets=True, min_relevance=None)
    assert none.nothing_relevant
    assert (len(none), none.total_candidates, none.next_offset, none.why_empty) == (
        0,
        0,
        None,
        "Nothing relevant was found.",
    )
    assert none.facets is not None
    assert not any(none.facets.values())
    everything = stages.search("zymurgical", min_relevance=0, limit=50, facets=True)
    assert len(everything) == everything.total_candidates == 21


def test_passages_beyond_those_ranked_by_words_count_for_a_word(stages: Stages) -> None:
    """Each leg ranks a hundred of more that hold the word: those that vectors alone rank count, however far."""
    things = ("bread", "lamp", "harbour", "tax", "goat", "window", "violin", "rain")
    others = ("ledger", "bridge", "onion", "clock", "saddle", "candle", "paper", "river")
    for number in range(200):
        sold, other = things[number % 8], others[(number // 8 + number + 3) % 8]
        text = f"The {sold} of number {number} was sold with the {other} by the old weir, and nobody asked for more."
        stages.write(f"{number}.md", f"# Note {number}\n\n{text}")
    stages.configure()
    stages.run()
    ranked = stages.search("weir", min_relevance=0).total_candidates
    assert ranked > 120
    assert stages.knowledge.search("weir", duplicates="show").total_candidates == ranked
