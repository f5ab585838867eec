"""What is printed is what was meant: nothing in a document obeys a terminal, nothing secret gets out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.cli.output import one_line, without_controls
from sourcebook.cli.redaction import redact
from sourcebook.model.counted import counted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nand lines", "plain\ttext\nand lines"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;https://evil.example\x07link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x1b\\after", "after"),
        ("\x1b]52;c;bmV2ZXI=\x07copied", "copied"),
        ("\x9b2Jcleared", "cleared"),
        ("bell\x07 back\x08 return\rover", "bell back returnover"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("[bold]markup[/bold] :smile:", "[bold]markup[/bold] :smile:"),
        ("windows\r\nlines", "windows\nlines"),
    ],
)
def test_terminal_sequences_go_and_text_stays(text: str, shown: str) -> None:
    """Escape sequences, controls and reordering marks are dropped; everything a person reads is kept."""
    assert without_controls(text) == shown


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_no_control_survives(text: str) -> None:
    """Whatever a document holds, no control but tab and line end is left, and cleaning twice is cleaning once."""
    shown = without_controls(text)
    assert not [sign for sign in shown if (ord(sign) < 32 and sign not in "\t\n") or 127 <= ord(sign) < 160]
    assert without_controls(shown) == shown


def test_one_line_is_short() -> None:
    """A snippet is one line of at most the length asked for."""
    assert one_line("a\n b\t c", 10) == "a b c"
    assert one_line("word " * 50, 20) == "word word word word…"
    assert len(one_line("x" * 100, 20)) == 20


def test_counted() -> None:
    """Numbers agree with their nouns."""
    assert [counted(0, "item"), counted(1, "item"), counted(2000, "entry", "entries")] == [
        "0 items",
        "1 item",
        "2,000 entries",
    ]


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://user:Sekr%21t@host:5432/db",
        "postgres//user:Sekr%21t@host/db",
        "host=h user=u password=Sekr%21t dbname=d",
        "host=h password='Sekr%21t' dbname=d",
        "postgresql://host/db?user=u&password=Sekr%21t",
        "postgresql://user:Sekr%21t@Sekr!t@host/db",
        "postgresql://user:x/Sekr%21t@host/db",
    ],
)
def test_passwords_are_left_out(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """In whatever form the URL is written, its password is not printed, encoded or decoded."""
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", url)
    told = redact(f'missing "=" after "{url}", password Sekr!t')
    assert "Sekr" not in told
    assert "missing" in told


def test_the_rest_of_an_unencoded_password_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """libpq takes what follows the first @ for the host, and shows it alone."""
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", "postgresql://user:head@tail@host/db")
    assert redact('failed to resolve host "tail@host"') == 'failed to resolve host "***@host"'


def test_any_url_loses_its_password() -> None:
    """A URL that the environment does not hold is treated alike; an address without a password is left alone."""
    assert redact("s3://key:word@bucket/x failed") == "s3://key:***@bucket/x failed"
    assert redact("https://host:8080/a@b and file:///x") == "https://host:8080/a@b and file:///x"
