from pathlib import Path

from benchmarks.corpora.markdown_files import document, write_corpus


def test_the_same_numbers_give_the_same_files(tmp_path: Path) -> None:
    """Runs on two machines measure the same texts."""
    one, other = write_corpus(tmp_path / "one", 3), write_corpus(tmp_path / "other", 3)
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]
    assert [path.name for path in one] == [path.name for path in other]


def test_files_differ_and_have_about_the_size_asked_for() -> None:
    """No two files share their text, which would be embedded only once."""
    texts = [document(number)[1] for number in range(200)]
    assert len(set(texts)) == 200
    assert 1_800 < sum(map(len, texts)) / 200 < 2_300


def test_a_file_has_a_title_sections_and_now_and_then_a_list_a_table_and_code() -> None:
    """What a chunker meets in real notes."""
    texts = [document(number)[1] for number in range(200)]
    assert all(text.startswith("# ") for text in texts)
    for mark in ("\n## ", "\n- ", "\n|---", "\n```python"):
        assert sum(mark in text for text in texts) > 5
    assert not any("{" in text.partition("```")[0] for text in texts)
