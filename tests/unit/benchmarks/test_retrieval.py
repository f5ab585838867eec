import json
from pathlib import Path

from benchmarks.corpora.judged_sets import RetrievalSet, read_retrieval_set, read_retrieval_sets


def test_a_limit_leaves_out_questions_without_an_answer(tmp_path: Path) -> None:
    """A trial over few documents stays meaningful."""
    _write_set(tmp_path)
    known = read_retrieval_set(tmp_path, limit=2)
    assert list(known.documents) == ["0", "1"]
    assert known.questions == {"q": "first?"}
    assert known.relevant == {"q": {"0": 1}}


def test_all_sets_of_a_folder_are_read_by_their_names(tmp_path: Path) -> None:
    """Those in BEIR's form by their folder, XQuAD by its language; a paragraph answers its own questions."""
    _write_set(tmp_path / "scifact")
    (tmp_path / "xquad").mkdir()
    paragraphs = [
        {"context": "Ein Absatz.", "qas": [{"id": "x", "question": "Was?"}]},
        {"context": "Noch einer.", "qas": [{"id": "y", "question": "Wer?"}, {"id": "z", "question": "Wo?"}]},
    ]
    (tmp_path / "xquad" / "de.json").write_text(json.dumps({"data": [{"title": "A", "paragraphs": paragraphs}]}))
    sets = read_retrieval_sets(tmp_path)
    assert list(sets) == ["scifact", "xquad-de"]
    german = sets["xquad-de"]
    assert list(german.documents.values()) == [("", "Ein Absatz."), ("", "Noch einer.")]
    assert german.questions == {"x": "Was?", "y": "Wer?", "z": "Wo?"}
    assert german.relevant["z"] == {list(german.documents)[1]: 1}


def test_a_document_without_a_title_is_written_without_a_heading(tmp_path: Path) -> None:
    """Nothing is searched that the set does not hold."""
    RetrievalSet({"a": ("A  title", "Its text."), "b": ("", "Text alone.")}, {}, {}).write(tmp_path)
    assert (tmp_path / "000" / "a.md").read_text() == "# A title\n\nIts text.\n"
    assert (tmp_path / "000" / "b.md").read_text() == "Text alone.\n"


def _write_set(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    rows = [{"id": str(number), "title": f"t{number}", "text": "x"} for number in range(3)]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "queries.jsonl").write_text('{"id": "q", "text": "first?"}\n{"id": "r", "text": "last?"}\n')
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\t0\t1\nr\t2\t1\nq\t1\t0\n")
