"""The language of prose is told where there is enough of it."""

import pytest

from sourcebook.parsing.language import detect_language
from sourcebook.parsing.types import Block

ENGLISH = "The committee decided to postpone the meeting until everybody has read the report."
GERMAN = "Der Ausschuss hat beschlossen, die Sitzung zu verschieben, bis alle den Bericht gelesen haben."


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (ENGLISH, "en"),
        (GERMAN, "de"),
        ("Комитет решил отложить заседание, пока все не прочитают отчёт.", "ru"),
        ("委員会は全員が報告書を読むまで会議を延期することを決定した。", "ja"),
        ("위원회는 모두가 보고서를 읽을 때까지 회의를 연기하기로 했다.", "ko"),
        ("Short.", None),
        ("12345 67890 " * 20, None),
        ("kubectl get pods -n default --watch --output yaml", None),
    ],
)
def test_tells_the_language_or_none(text: str, language: str | None) -> None:
    """A two-letter code, or None where the text does not say."""
    assert detect_language(text, [Block("paragraph", 0, len(text))]) == language


def test_prose_counts_before_lists_and_code_never() -> None:
    """A document in German with English code is German."""
    code = "for item in the list of all items: print the item and continue with the next one"
    markdown = f"{code}\n\n{GERMAN}"
    blocks = [Block("code", 0, len(code)), Block("paragraph", len(code) + 2, len(markdown))]
    assert detect_language(markdown, blocks) == "de"
    assert detect_language(code, [Block("code", 0, len(code))]) is None
