"""The redactor: placeholders, overlaps, places, patterns of one's own, and texts that are meant to hang it."""

import random
import time
from pathlib import Path

import pytest

from sourcebook.errors import ConfigurationError
from sourcebook.redaction.categories import CATEGORIES
from sourcebook.redaction.finds import Find, Span, clipped, without_overlaps
from sourcebook.redaction.redactor import RedactionMemory, Redactor, replaced

EIGHTH_OF_A_MEGABYTE = 125_000


def test_the_same_value_has_the_same_placeholder() -> None:
    redacted = Redactor().redact("ana@example.org, bo@example.org; ANA@example.org")
    assert redacted.text == "[EMAIL_1], [EMAIL_2]; [EMAIL_1]"
    assert redacted.finds[1] == Find("email", 17, 31, "[EMAIL_2]")


def test_texts_of_a_document_share_their_memory() -> None:
    memory, redactor = RedactionMemory(), Redactor()
    assert redactor.redact("ana@example.org", memory).text == "[EMAIL_1]"
    assert redactor.redact("bo@example.org and ana@example.org", memory).text == "[EMAIL_2] and [EMAIL_1]"


def test_a_value_that_a_word_gave_away_is_found_without_the_word_too() -> None:
    text = "# Server h4nter2x\n\npassword: h4nter2x and call 030 1234567\n\nh4nter2x (or xh4nter2x), 030 1234567"
    assert Redactor().redact(text).text == (
        "# Server [PASSWORD_1]\n\npassword: [PASSWORD_1] and call [PHONE_1]\n\n[PASSWORD_1] (or xh4nter2x), [PHONE_1]"
    )


def test_only_the_categories_that_were_asked_for_are_found() -> None:
    text = "ana@example.org from 106.31.73.20"
    assert Redactor(["ip"]).redact(text).text == "ana@example.org from [IP_1]"
    with pytest.raises(ValueError, match="there is no category names"):
        Redactor(["names"])


def test_overlapping_finds_become_one_of_the_category_that_stands_first() -> None:
    """Nothing that only one of them covers is left."""
    spans = [Span(4, 9, "email", "EMAIL"), Span(0, 6, "token", "TOKEN"), Span(9, 12, "ip", "IP")]
    assert without_overlaps(spans) == [Span(0, 9, "token", "TOKEN"), Span(9, 12, "ip", "IP")]


def test_places_move_with_the_placeholders() -> None:
    text = "to ana@example.org, or not"
    redacted = Redactor().redact(text)
    assert redacted.text == "to [EMAIL_1], or not"
    assert redacted.text[redacted.place(text.index("or ")) :] == "or not"
    assert (redacted.place(0), redacted.place(5), redacted.end_place(5), redacted.end_place(18)) == (0, 3, 12, 12)
    assert redacted.end_place(3) == 3


def test_a_part_of_a_text_hides_its_part_of_a_find() -> None:
    """A secret that a border of passages cuts in two leaves neither half."""
    text = "the card 4111 1111 1111 1111 expires"
    finds = Redactor().redact(text).finds
    first, second = text[:18], text[18:]
    assert replaced(first, clipped(finds, 0, 18), RedactionMemory()).text == "the card [CARD_1]"
    assert replaced(second, clipped(finds, 18, len(text)), RedactionMemory()).text == "[CARD_1] expires"


@pytest.fixture
def patterns(tmp_path: Path) -> Path:
    path = tmp_path / "patterns.yaml"
    path.write_text("EMPLOYEE: 'E-[0-9]{6}'\nPROJECT: 'project (\\w+)'\n")
    return path


def test_patterns_of_ones_own_have_their_labels(patterns: Path) -> None:
    redacted = Redactor(patterns=patterns).redact("E-123456 of project falcon, E-123456")
    assert redacted.text == "[EMPLOYEE_1] of project [PROJECT_1], [EMPLOYEE_1]"
    assert [find.category for find in redacted.finds] == ["employee", "project", "employee"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("EMPLOYEE: '(?<=x)y'", "the pattern of EMPLOYEE is none of RE2"),
        ("EMPLOYEE: 'x*'", "matches the empty text"),
        ("employee: 'x'", "'employee' is no label"),
        ("- x", "no mapping from labels to patterns"),
        ("EMPLOYEE: [x]", "the pattern of EMPLOYEE is a text"),
        ("EMPLOYEE: '", "cannot be read"),
    ],
)
def test_a_mistake_in_the_file_of_patterns_is_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "patterns.yaml"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match=message):
        Redactor(patterns=path)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+b", "a[^b]*b|a", "(.*)(.*)(.*)(.*)z"])
def test_a_pattern_that_backtracks_elsewhere_takes_linear_time(tmp_path: Path, pattern: str) -> None:
    path = tmp_path / "patterns.yaml"
    path.write_text(f"OWN: '{pattern}'\n")
    redactor = Redactor([], patterns=path)
    started = time.process_time()
    redactor.spans("a" * EIGHTH_OF_A_MEGABYTE)
    assert time.process_time() - started < 8


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "1",
        "a1",
        "1 ",
        "1.",
        "1-",
        "a@",
        "@a.",
        "eyJ",
        "://a:",
        "password=",
        "AB12",
        "::",
        "-----BEGIN PRIVATE KEY-----",
    ],
)
def test_ten_megabytes_of_one_thing_take_linear_time(unit: str) -> None:
    """An eightieth of them here: a quadratic rule would take a minute."""
    text = unit * (EIGHTH_OF_A_MEGABYTE // len(unit))
    redactor = Redactor(CATEGORIES)
    started = time.process_time()
    redactor.spans(text)
    assert time.process_time() - started < 4


_MANY = "".join(random.Random(5).choices("ABCDEFGHabcdefgh0123456789+", k=900))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"api_key: {_MANY} end", "api_key: [SECRET_1] end"),
        (f"password: {_MANY} end", "password: [PASSWORD_1] end"),
        (f'{{"password": "{_MANY}", "user": "ana"}}', '{"password": "[PASSWORD_1]", "user": "ana"}'),
        (
            "-----BEGIN PRIVATE KEY-----\n" + f"{_MANY[:64]}\n" * 700 + "-----END PRIVATE KEY-----\nend",
            "[PRIVATE_KEY_1]\nend",
        ),
        ("-----BEGIN PRIVATE KEY-----\n" + f"{_MANY[:64]}\n" * 700 + "\n# Title\n", "[PRIVATE_KEY_1]\n\n# Title\n"),
    ],
)
def test_of_a_secret_longer_than_its_pattern_nothing_is_left(text: str, expected: str) -> None:
    assert Redactor().redact(text).text == expected


def test_of_a_match_longer_than_the_window_nothing_is_left(tmp_path: Path) -> None:
    """A pattern of one's own is tried on parts of a text; a match that goes beyond its part is found whole."""
    (tmp_path / "own.yaml").write_text("CASE: 'CASE [A-Z]+'\nPART: 'PART ([A-Z]+)'\nHEAD: '(HEAD)[^.]*'\n")
    redactor = Redactor((), patterns=tmp_path / "own.yaml")
    long = "X" * 50_000
    text = f"{'word ' * 700}CASE {long} and PART {long}, HEAD {long}."
    assert redactor.redact(text).text == f"{'word ' * 700}[CASE_1] and PART [PART_1], [HEAD_1] {long}."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ana@exam\u00adple.org, ana@example.org", "[EMAIL_1], [EMAIL_1]"),
        ("4111\u200b1111\u200b1111\u200b1111\u200b.", "[CARD_1]\u200b."),
        ("4111\u202f1111\u202f1111\u202f1111, 4111\u20111111\u20111111\u20111111", "[CARD_1], [CARD_1]"),
        ("４１１１ １１１１ １１１１ １１１１", "[CARD_1]"),
        ("the token ghp\\_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8 \\_x", "the token [TOKEN_1] \\_x"),
        (r"{\"password\": \"Zx9kq88w!\"}", r"{\"password\": \"[PASSWORD_1]\"}"),
        ("Ribeirão, ana@example.org\\, Office", "Ribeirão, [EMAIL_1]\\, Office"),  # as many bytes as characters
        ("<db:password>Zx9kq88w!</db:password>", "<db:password>[PASSWORD_1]</db:password>"),
        ("# -----BEGIN PRIVATE KEY-----\n# " + "MIIEvQIBADANBg/kq" * 4, "# [PRIVATE_KEY_1]"),
    ],
)
def test_a_value_is_found_as_a_reader_sees_it(text: str, expected: str) -> None:
    """Without invisible characters and escapes: a context for a model leaves them out, too."""
    assert Redactor().redact(text).text == expected
