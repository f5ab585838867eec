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
