"""The Python examples of the pages on search, run as they stand."""

import re
from pathlib import Path

import pytest

from tests.checkout import DOCS
from tests.integration.stages import Stages
from tests.tiny_cross_encoder import build_cross_encoder

EXAMPLES = [
    (page, number, example)
    for page in ("searching.md", "filters.md")
    for number, example in enumerate(
        re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    )
]


@pytest.mark.parametrize(("page", "number", "example"), EXAMPLES)
def test_an_example_of_the_docs_runs(
    page: str,
    number: int,
    example: str,
    stages: Stages,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """On a knowledge base with a collection `handbook` it ends without an error, and prints what was found."""
    stages.write("power.md", "# Power\n\nThe batteries last thirty hours. Two directors may sign a contract.\n")
    stages.configure()
    stages.run()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "home"))
    (tmp_path / "models").mkdir()
    build_cross_encoder(tmp_path / "models" / "ms-marco-MiniLM-L6-v2", ("batteries", "hours", "last"))
    exec(compile(example, f"{page}, example {number}", "exec"), {"__name__": "__main__"})  # noqa: S102 - the project's own text
    if "print(" in example:
        assert "power" in capsys.readouterr().out.lower()
