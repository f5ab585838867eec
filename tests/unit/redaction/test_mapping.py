"""Redaction that can be undone: encrypted, and in the development mode alone."""

from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from sourcebook.errors import ConfigurationError
from sourcebook.redaction.mapping import DEVELOPMENT, KEY, restored, sealed_mapping
from sourcebook.redaction.redactor import RedactionMemory, Redactor
from tests.integration.cli.command import run

TEXT = "Ana (ana@example.org) paid with 4111 1111 1111 1111; again Ana@example.org."


def _environment() -> dict[str, str]:
    return {DEVELOPMENT: "1", KEY: Fernet.generate_key().decode()}


def test_a_mapping_restores_what_was_redacted_and_shows_none_of_it() -> None:
    memory, environment = RedactionMemory(), _environment()
    redacted = Redactor().redact(TEXT, memory).text
    assert redacted == "Ana ([EMAIL_1]) paid with [CARD_1]; again [EMAIL_1]."
    sealed = sealed_mapping(memory, environment)
    assert b"example" not in sealed
    assert restored(redacted, sealed, environment) == TEXT.replace("Ana@", "ana@")
    assert restored("[EMAIL_1] and [EMAIL_2]", sealed, environment) == "ana@example.org and [EMAIL_2]"
    with pytest.raises(ConfigurationError, match="damaged, or SOURCEBOOK_REDACTION_KEY is another key") as error:
        restored(redacted, sealed, _environment())
    assert "example" not in str(error.value)
    with pytest.raises(ConfigurationError, match="damaged"):
        restored(redacted, sealed[:-9], environment)


@pytest.mark.parametrize("without", [DEVELOPMENT, KEY])
def test_outside_of_development_and_without_a_key_nothing_is_kept(without: str) -> None:
    environment = _environment()
    environment[without] = "0"
    with pytest.raises(ConfigurationError, match=without):
        sealed_mapping(RedactionMemory(), environment)


def test_the_command_redacts_and_restores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(DEVELOPMENT, raising=False)
    Path("letter.txt").write_text(TEXT)
    Path("sourcebook.yaml").write_text(
        "collections: {mail: {files: [{root: .}], redaction: {categories: [card]}}, open: {files: [{root: .}]}}"
    )
    assert run("redact", "letter.txt").out == "Ana ([EMAIL_1]) paid with [CARD_1]; again [EMAIL_1]."
    assert run("redact", "-c", "mail", stdin=TEXT).out == TEXT.replace("4111 1111 1111 1111", "[CARD_1]")
    assert [find["category"] for find in run("redact", "letter.txt", "--json").json["finds"]] == [
        "email",
        "card",
        "email",
    ]
    assert "open has no redaction" in run("redact", "letter.txt", "-c", "open").err
    refused = run("redact", "letter.txt", "--mapping", "map")
    assert (refused.code, refused.out) == (2, "")
    assert "in development alone" in refused.err
    assert not Path("map").exists()
    for name, value in _environment().items():
        monkeypatch.setenv(name, value)
    redacted = run("redact", "letter.txt", "--mapping", "map").out
    assert Path("map").stat().st_mode & 0o077 == 0
    assert run("redact", "--restore", "map", stdin=redacted).out == TEXT.replace("Ana@", "ana@")
