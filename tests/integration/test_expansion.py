"""Abbreviations that documents explain, and synonyms of the settings, in searches of the real index."""

from pathlib import Path

import pytest

from sourcebook.contract.explanation import ExpandedWords
from tests.integration.stages import Stages

DOCUMENTS = {
    "privacy.md": "# Privacy\n\nThe General Data Protection Regulation (GDPR) applies to all who keep addresses.\n",
    "deletion.md": "# Deletion\n\nUnder the general data protection regulation an address is deleted within a month.\n",
    "fines.md": "# Fines\n\nA breach of the GDPR was fined with two per cent last year.\n",
    "offices.md": "# Offices\n\nThe United States (US) office opens at nine; contact us and tell us who you are.\n",
    "america.md": "# Holidays\n\nOffices in the United States close on the fourth of July.\n",
    "contact.md": "# Contact\n\nWrite to us, call us, or ask us to call: we answer within a day.\n",
    "cars.md": "# Fleet\n\nEach automobile of the fleet is washed on Mondays.\n",
    "court.md": "# Cases\n\nIn Harris vs Cole the judges decided for the older man.\n",
    "web.md": "# Web\n\nThe newer protocol sends several answers over one connection, unlike version 1.1.\n",
    "garden.md": "# Garden\n\nThe hedge is cut in June, and the lawn once a week.\n",
    "deals.md": "# Board\n\nMergers and acquisitions are decided by seven people of the board, once a quarter.\n",
    "ledger.md": "# Ledger\n\nHow many people know row M and seat A is not said; the board numbers them.\n",
    "gate.md": "# Gate\n\nThe gate is watched around the clock.\n",
    "calendar.md": "# Calendar\n\nThe day 24 and the page 7 are missing.\n",
    "kitchen.md": "# Kitchen\n\nFood and beverage are bought on Mondays.\n",
    "budget.md": "# Budget\n\nThe F & B budget grows.\n",
    "datenschutz.md": "# Datenschutz\n\nDie Auftragsverarbeitungsvereinbarung (AVV) wird vor dem Beginn der Arbeiten "
    "zwischen den beiden Unternehmen geschlossen und jedes Jahr geprüft.\n",
}
SYNONYMS = """collections:
  handbook:
    files: [{root: ./%s}]
    synonyms:
      groups: [[car, automobile, motor vehicle]]
      one_way: {falcon: [hedge and lawn]}
"""


@pytest.fixture(scope="module")
def filled(shared_stages: Stages) -> Stages:
    for name, text in DOCUMENTS.items():
        shared_stages.write(name, text)
    shared_stages.configure(SYNONYMS % shared_stages.root.name)
    shared_stages.run()
    return shared_stages


def expanded(base: Stages, query: str) -> dict[str, ExpandedWords]:
    explanation = base.search(query, explain=True).explanation
    assert explanation is not None
    return {each.by: each for each in explanation.expansions}


def found_by_words(base: Stages, query: str) -> set[str]:
    return {Path(hit.uri).name for hit in base.search(query, mode="keyword")}


def test_an_abbreviation_finds_what_spells_it_out(filled: Stages) -> None:
    """And the other way round; `explain` says which words by which, and where that is explained."""
    assert {"privacy.md", "deletion.md", "fines.md"} <= found_by_words(filled, "GDPR")
    assert "fines.md" in found_by_words(filled, "general data protection regulations")
    one = expanded(filled, "GDPR fines")["General Data Protection Regulation"]
    assert (one.words, one.title, one.share, one.collection) == ("GDPR", "Privacy", 1.0, "handbook")
    assert expanded(filled, "AVV")["Auftragsverarbeitungsvereinbarung"].title == "Datenschutz"


def test_capitals_decide_where_small_letters_are_a_word(filled: Stages) -> None:
    """`gdpr` is an abbreviation however it is written, `us` is a word."""
    assert expanded(filled, "gdpr fines")
    assert expanded(filled, "holidays in the US")["United States"].words == "US"
    assert not expanded(filled, "how do I contact us?")
    assert not expanded(filled, "HOW DO I CONTACT US?")
    assert not expanded(filled, '"GDPR" fines')


def test_synonyms_of_the_settings(filled: Stages) -> None:
    """Groups go both ways, in any form of the words; a pair goes one way; several words count as one."""
    assert "cars.md" in found_by_words(filled, "cars")
    assert "cars.md" in found_by_words(filled, "when are motor vehicles washed")
    assert expanded(filled, "automobiles").keys() == {"car", "motor vehicle"}
    assert "garden.md" in found_by_words(filled, "falcon")
    assert not expanded(filled, "hedge and lawn")


def test_usual_abbreviations_need_no_explanation(filled: Stages) -> None:
    """Letters that one of them joins are no words of their own, unless a passage writes it with spaces."""
    for query, name in (
        ("how many people decide M&A?", "deals.md"), ("M&A", "deals.md"), ("24/7", "gate.md"),
        ("who watches the gate 24/7?", "gate.md"),
    ):  # fmt: skip
        assert Path(filled.search(query)[0].uri).name == name, query
    assert found_by_words(filled, "M&A") == {"deals.md"}
    assert found_by_words(filled, "F&B") == {"kitchen.md", "budget.md"}
    assert str(expanded(filled, "M&A")["mergers and acquisitions"]).endswith("(a usual abbreviation)")
    assert not expanded(filled, '"M&A"')
    assert not expanded(filled, "mergers and acquisitions (M&A)")


def test_what_is_compared_is_looked_for(filled: Stages) -> None:
    """`vs` puts two things side by side; it is a word where there is no other."""
    assert Path(filled.search("HTTP/2 vs HTTP/1.1")[0].uri).name == "web.md"
    assert Path(filled.search("Harris versus Cole")[0].uri).name == "court.md"
    assert found_by_words(filled, "vs") == {"court.md"}


def test_pairs_follow_their_documents(filled: Stages) -> None:
    """A pair is gone with the words that explain it, and comes back with them."""
    filled.write("privacy.md", "# Privacy\n\nThe GDPR applies.\n")
    filled.run()
    assert not expanded(filled, "GDPR")
    filled.write("privacy.md", DOCUMENTS["privacy.md"])
    filled.run()
    assert expanded(filled, "GDPR")
    (filled.root / "privacy.md").unlink()
    filled.run()
    assert not expanded(filled, "GDPR")
    with filled.connection() as connection:
        assert connection.execute("SELECT count(*) FROM document_abbreviation").fetchone() == (2,)
