"""Strategy by query with the real model: what is asked for by name, and questions of several parts."""

from pathlib import Path
from typing import Any

import pytest

from sourcebook.contract.reranking import Reranking
from sourcebook.search.ranking.relevance import RELEVANT_FROM
from sourcebook.search.ranking.strategy import WORDS_FIRST
from tests.integration.stages import Stages
from tests.tiny_cross_encoder import build_cross_encoder

DOCUMENTS = {
    "FRM-310_fault.md": "# Report of a fault\n\nDescribe noise, leakage and operating hours.\n",
    "minutes.md": "# Minutes\n\nThe machine was looked at; the figures are in FRM-310_fault.md and FRM-310_fault.md.\n",
    "batteries.md": "# Power\n\nThe batteries of the station last thirty hours when the mains fail.\n",
    "contracts.md": "# Signing\n\nContracts are signed by the two managing directors.\n",
    "leave.md": "# Leave\n\nUnused days of leave expire at the end of March.\n",
}
TWO = "How long do the batteries last and who may sign contracts?"


@pytest.fixture(scope="module")
def filled(shared_stages: Stages) -> Stages:
    """Five documents, read by all tests and changed by none."""
    for name, text in DOCUMENTS.items():
        shared_stages.write(name, text)
    shared_stages.configure()
    shared_stages.run()
    return shared_stages


def names(filled: Stages, query: str, **options: Any) -> list[str]:
    return [Path(hit.uri).name for hit in filled.search(query, **options)]


def test_a_file_is_found_by_its_name(filled: Stages) -> None:
    """Not only the documents that mention it; with filters and pages, too."""
    query = "where is FRM-310_fault.md"
    asked = filled.search(query, strategy="auto", min_relevance=None)
    assert not asked.nothing_relevant, "a file that is named is what was asked for"
    assert names(filled, query)[0] == "minutes.md"
    found = names(filled, query, strategy="auto")
    assert found[0] == "FRM-310_fault.md"
    assert sorted(found) == sorted(set(found)), "each passage once"
    assert names(filled, query, strategy="auto", limit=2, offset=1) == found[1:3]
    assert names(filled, query, strategy="auto", filters={"kind": "file"})[0] == "FRM-310_fault.md"
    assert names(filled, query, strategy="auto", filters={"documents": "leave.md"}) == ["leave.md"]


def test_each_part_of_a_question_has_its_answer_first(filled: Stages) -> None:
    """What answers a part is relevant to it, and the pages are slices of one list."""
    hits = filled.search(TWO, strategy="auto", min_relevance=None)
    assert {Path(hit.uri).name for hit in hits[:2]} == {"batteries.md", "contracts.md"}
    assert all(hit.relevance > 2 * RELEVANT_FROM for hit in hits[:2])
    assert hits[0].highlights
    assert names(filled, TWO, strategy="auto", limit=1, offset=1) == [Path(hits[1].uri).name]
    grouped = names(filled, TWO, strategy="auto", group_by="document")
    assert len(grouped) == len(DOCUMENTS)


def test_it_is_explained(filled: Stages) -> None:
    """The kind of the query, the reason and the weights."""

    def explained(query: str, **options: Any) -> Any:
        return filled.search(query, explain=True, **options).explanation

    assert explained("batteries").strategy is None
    code = explained("E117 batteries", strategy="auto")
    assert code.strategy == "code: E117 is a code or a number; the vector leg has 0.3 of its weight"
    fixed = explained("E117 batteries").weights
    assert code.weights == pytest.approx({"vector": WORDS_FIRST * fixed["vector"], "keyword": 1.0}, abs=0.001)
    assert f"\nstrategy   {code.strategy}\n" in f"\n{code}\n"
    assert code.as_dict()["strategy"] == code.strategy
    two = explained(TWO, strategy="auto")
    assert two.strategy.endswith("merged: How long do the batteries last | who may sign contracts")
    assert two.weights["vector"] == 1.0
    plain = explained("How long do the batteries last?", strategy="auto")
    assert plain.strategy == "question: words or one question"


def test_an_operator_that_is_given_up_gives_up_its_strategy(filled: Stages) -> None:
    """Without the phrase that no passage holds, the words are a query like any other."""
    results = filled.search('"blue batteries" station', strategy="auto", explain=True)
    assert len(results) > 0
    assert results.explanation is not None
    assert results.explanation.strategy == "question: words or one question"
    assert results.explanation.weights["vector"] == 1.0


def test_a_model_reranks_close_first_results_alone(filled: Stages, tmp_path: Path) -> None:
    """A clear first result costs no reading."""
    folder = build_cross_encoder(tmp_path / "cross-encoder", ["the", "batteries", "leave", "contracts"])
    model = Reranking(str(folder), timeout=None)

    def search(query: str) -> tuple[bool, str]:
        results = filled.search(query, strategy="auto", rerank=model, explain=True)
        assert results.explanation is not None
        return results[0].rerank_score is not None, results.explanation.strategy or ""

    is_read, said = search("When do unused days of leave expire?")
    assert not is_read
    assert "; not reranked: the second result is " in said
    is_read, said = search(TWO)
    assert is_read
    assert "; reranked: the second result is " in said
