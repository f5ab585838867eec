"""The Python examples of the docs, run as they stand."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai import OpenAI

from sourcebook.admin.access_keys import create_key
from tests.chat_server import ChatServer
from tests.checkout import DOCS, EXAMPLES
from tests.integration.http_server import serving
from tests.integration.stages import Stages
from tests.tiny_cross_encoder import build_cross_encoder

REPORT = (EXAMPLES / "library" / "reports" / "annual-review-2024.pdf").read_bytes()
PAGES = (
    *("searching.md", "reranking.md", "search-service.md", "filters.md", "context.md", "answers.md"),
    *("chat-completions.md", "llm-log.md", "other-programs.md"),
    pytest.param("python.md", marks=pytest.mark.changes_files),
)
CHAT = ChatServer()
"""The model that answers from the documents."""


@pytest.fixture(scope="module", autouse=True)
def chat() -> Iterator[None]:
    with CHAT:
        yield


def fill(stages: Stages) -> None:
    stages.write("power.md", "# Power\n\nThe batteries last thirty hours. Two directors may sign a contract.\n")
    stages.write("reports/annual-review-2024.pdf", REPORT)
    stages.configure(
        "collections:\n  handbook:\n    files: [{root: ./docs}]\n"
        f"    answering: {{base_url: '{CHAT.url}', model: reader, timeout: 20s}}\n"
    )
    stages.run()


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(
    page: str,
    filled: Stages,
    exported_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """On a knowledge base with a collection `handbook` each ends without an error, and prints what was found."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(exported_model))
    if page in {"python.md", "reranking.md"}:
        (tmp_path / "models").mkdir()
        build_cross_encoder(tmp_path / "models" / "ms-marco-MiniLM-L6-v2", ("batteries", "hours", "last"))
    text = (DOCS / page).read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert examples
    with filled.connection() as connection:
        key = create_key(connection, "reader", ("read",), actor="test")[1]
    with serving(filled.knowledge, requires_key=False) as client:
        for number, example in enumerate(examples):
            code = re.sub(r"http://(127\.0\.0\.1|localhost):8320", f"http://127.0.0.1:{client.port}", example)
            code = code.replace("sb_…", key)
            names: dict[str, object] = {"__name__": "__main__"}
            exec(compile(code, f"{page}, example {number}", "exec"), names)  # noqa: S102 - the project's own text
            if isinstance(opened := names.get("client"), OpenAI):
                opened.close()
            if "print(" in example:
                assert re.search(
                    "power|handbook|annual-review|notes/today|thirty hours|^1 ", capsys.readouterr().out, re.IGNORECASE
                ), example
