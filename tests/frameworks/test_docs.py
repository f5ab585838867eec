"""The examples of docs/frameworks.md, run as they stand."""

import re
from pathlib import Path

import pytest

from tests.checkout import DOCS

pytest.importorskip("langchain_core", reason="langchain-core is not installed")
pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
pytest.importorskip("haystack", reason="haystack-ai is not installed")

EXAMPLES = re.findall(r"^```python\n(.*?)^```$", (DOCS / "frameworks.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_runs(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Each prints the passage that answers, and where it stands."""
    exec(compile(EXAMPLES[number], f"frameworks.md, example {number}", "exec"), {"__name__": "__main__"})  # noqa: S102 - the project's own text
    printed = capsys.readouterr().out
    assert "fourteen months" in printed
    assert re.search(r"power\.md|^\n?How|batteries", printed)


def test_every_metadata_is_in_the_docs(served: str) -> None:
    from sourcebook import KnowledgeBase
    from sourcebook.frameworks.langchain import SourcebookRetriever

    assert served
    with KnowledgeBase.connect() as knowledge:
        (document,) = SourcebookRetriever(knowledge=knowledge, k=1).invoke("batteries")
    text = Path(DOCS / "frameworks.md").read_text("utf-8")
    assert [name for name in document.metadata if f"`{name}`" not in text] == []
