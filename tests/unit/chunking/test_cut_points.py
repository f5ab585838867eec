"""Where a passage that is too long is cut."""

import pytest

from sourcebook.chunking.cut_points import best_cut


@pytest.mark.parametrize("between", [",", "", "|"])
def test_links_without_a_space_between_them_stay_whole(between: str) -> None:
    """Such as the references back from a footnote: an address that is cut leads nowhere."""
    text = between.join(f"[{number}](https://example.com/a/long/address.html#id{number})" for number in range(40))
    cut = best_cut(text, "paragraph", 0, 500)
    assert 400 < cut <= 500
    assert text[cut:].startswith("[")


def test_a_word_without_an_end_is_cut_at_the_limit() -> None:
    assert best_cut("x" * 900, "paragraph", 0, 500) == 500


@pytest.mark.parametrize("end", ["।", "॥", "؟", "۔", "։", "።", "။", "។", ".»"])
def test_a_passage_is_cut_behind_the_sentence_of_any_script(end: str) -> None:
    sentence = f"यह एक वाक्य है जो समाप्त होता है{end} "
    text = sentence * 30
    assert best_cut(text, "paragraph", 0, 500) == 500 // len(sentence) * len(sentence)
