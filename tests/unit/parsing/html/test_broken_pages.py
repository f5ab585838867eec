"""Pages that no parser likes are read all the same."""

import pytest

from sourcebook.parsing.html.cleaner import clean_page


@pytest.mark.parametrize(
    "page",
    [
        "<pre><code>ring&#7; the&#27;bell</code></pre>",
        "<ul><li><h2>Bell</h2></li><lin<div>the bell rings</ul>",
        "<dl><dt>a&#12;b&#x1;</dt><dd>the bell</dd></dl>",
    ],
)
def test_signs_and_names_that_a_tree_refuses_fail_no_page(page: str) -> None:
    assert "bell" in clean_page(f"<p>Bells.</p>{page}".encode()).markdown
