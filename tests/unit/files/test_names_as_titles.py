"""The title of a document that has none is its file's name."""

import pytest

from sourcebook.files.reading import name_as_title


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("_auth.py", "_auth.py"),
        ("__init__.py", "__init__.py"),
        ("uv.lock", "uv.lock"),
        ("package-lock.json", "package-lock.json"),
        (".env.example", ".env.example"),
        (".gitignore", ".gitignore"),
        ("Makefile", "Makefile"),
        ("LICENSE-2.0", "LICENSE-2.0"),
        ("docker-compose.override.yml", "docker-compose.override.yml"),
        ("pyproject.toml", "pyproject.toml"),
        ("main.c%2B%2B", "main.c++"),
    ],
)
def test_code_data_and_settings_keep_their_whole_names(name: str, title: str) -> None:
    """They are known by them, and an underscore or the extension tells one from another."""
    assert name_as_title(f"file:///src/{name}") == title


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("quarterly_report-2024.pdf", "quarterly report-2024"),
        ("a_b-c.md", "a b-c"),
        ("C%2B%2B.md", "C++"),
        ("_index.md", "_index"),
        ("v1.2_notes.txt", "v1.2 notes"),
        ("__slots__.md", "__slots__"),
        ("board__meeting.m4a", "board meeting"),
        ("2024-03_%C3%9Cbersicht.docx", "2024-03 Übersicht"),
        ("_.md", "_"),
    ],
)
def test_texts_and_recordings_are_named_without_the_extension(name: str, title: str) -> None:
    """Underscores between words are spaces; signs at the ends are of the name."""
    assert name_as_title(f"file:///docs/{name}") == title


def test_a_page_without_a_title_is_named_by_its_address() -> None:
    """In words, with an ending or without one."""
    assert name_as_title("https://example.org/docs/set_up_guide?x=1#top") == "set up guide"
    assert name_as_title("https://example.org/docs/set_up.html") == "set up"
    assert name_as_title("https://example.org/src/_auth.py") == "_auth.py"
