"""Labels of pages are kept as entries from which they are counted on, and a page is cited by both its numbers."""

from collections.abc import Sequence

import pytest

from sourcebook.model.page_labels import page_label, page_labels, page_words


@pytest.mark.parametrize(
    ("labels", "entries"),
    [
        (["i", "ii", "iii", "1", "2"], {"1": "i", "4": "1"}),
        (["Cover", "viii", "ix", "x", "XLIX", "L"], {"1": "Cover", "2": "viii", "5": "XLIX"}),
        (["A-9", "A-10", "A-11", "009", "010"], {"1": "A-9", "4": "009"}),
        (["a", "b", "", "7"], {"1": "a", "2": "b", "3": "", "4": "7"}),
        (["41", "42", "43"], {"1": "41"}),
        (["1", "2", "3"], {}),
        (["", "", ""], {}),
        ([], {}),
    ],
)
def test_entries(labels: Sequence[str], entries: dict[str, str]) -> None:
    """Each label comes back from the entries."""
    assert page_labels(labels) == entries
    if entries:
        metadata = {"page_labels": entries}
        assert [page_label(number, metadata) or "" for number in range(1, len(labels) + 1)] == list(labels)


def test_words() -> None:
    """The number in the file is said where the page shows another one."""
    metadata = {"page_labels": {"2": "i", "4": "4"}}
    assert [page_words(page, metadata) for page in (None, 1, 3, 4)] == [
        "",
        "page 1",
        "page ii (3 of the file)",
        "page 4",
    ]
    assert page_words(3, {}) == "page 3"
