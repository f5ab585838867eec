"""Questions about a change between versions."""

import pytest

from sourcebook.search.ranking.version_questions import change_question


@pytest.mark.parametrize(
    ("query", "topic", "orders"),
    [
        ("What changed between v1 and v2 of the lease?", "lease", [(4, (1,)), (4, (2,))]),
        ("What's new in version 3 of the travel policy?", "travel policy", [(4, (3,))]),
        ("compare the old and new supplier contract", "supplier contract", []),
        ("Changes from rev. 1.2 to rev. 1.3 of the mooring guide", "mooring guide", [(4, (1, 2)), (4, (1, 3))]),
        ("Was hat sich im Mietvertrag von 2023 zu 2024 geändert?", "Mietvertrag", [(3, (2023,)), (3, (2024,))]),
        ("qué cambió entre v1 y v2 del contrato", "contrato", [(4, (1,)), (4, (2,))]),
        ("What has changed in the privacy policy?", "privacy policy", []),
    ],
)
def test_a_question_about_a_change_is_read(query: str, topic: str, orders: list[object]) -> None:
    found = change_question(query)
    assert found is not None
    assert (found.topic, list(found.orders)) == (topic, orders)


@pytest.mark.parametrize(
    "query",
    [
        "What are the differences between lithium and lead batteries?",
        "How do I change my password?",
        "difference between TLS 1.2 and TLS 1.3",
        "Which version of the driver is needed?",
        "climate change",
    ],
)
def test_other_questions_are_none(query: str) -> None:
    assert change_question(query) is None
