"""The Python examples of the docs, run as they stand."""

import re
from pathlib import Path

import pytest

from tests.checkout import DOCS, EXAMPLES
from tests.integration.http_server import serving
from tests.integration.stages import Stages
from tests.tiny_cross_encoder import build_cross_encoder

REPORT = (EXAMPLES / "library" / "reports" / "annual-review-2024.pdf").read_bytes()
PAGES = ("searching.md", "reranking.md", "search-service.md", "filters.md", "context.md", "python.md")


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(
    page: str,
    stages: Stages,
    exported_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """On a knowledge base with a collection `handbook` each ends without an error, and prints what was found."""
    stages.write("power.md", "# Power\n\nThe batteries last thirty hours. Two directors may sign a contract.\n")
    stages.write("reports/annual-review-2024.pdf", REPORT)
    stages.configure()
    stages.run()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(exported_model))
    (tmp_path / "models").mkdir()
    build_cross_encoder(tmp_path / "models" / "ms-marco-MiniLM-L6-v2", ("batteries", "hours", "last"))
    text = (DOCS / page).read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert examples
    with serving(stages.knowledge, requires_key=False) as client:
        for number, example in enumerate(examples):
            code = example.replace("http://127.0.0.1:8320", f"http://127.0.0.1:{client.port}")
            exec(compile(code, f"{page}, example {number}", "exec"), {"__name__": "__main__"})  # noqa: S102 - the project's own text
            if "print(" in example:
                assert re.search("power|handbook|annual-review|notes/today", capsys.readouterr().out, re.IGNORECASE), (
                    example
                )
