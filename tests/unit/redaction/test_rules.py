"""Rules: a canary of each category is found whole, and what only looks alike stays."""

import random

import pytest

from sourcebook.redaction.categories import CATEGORIES, DEFAULT_CATEGORIES
from sourcebook.redaction.redactor import Redactor

EVERYTHING = Redactor(CATEGORIES)
LINES = "\n".join(["MIIEowIBAAKCAQEA" * 4] * 12)
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{LINES}\n-----END RSA PRIVATE KEY-----"

CANARIES = [
    ("email", "write to ana.lópez+x@mail.example.org today", "ana.lópez+x@mail.example.org"),
    ("email", "请联系zhang@example.com谢谢", "zhang@example.com"),
    ("email", "ana [at] example [dot] org", "ana [at] example [dot] org"),
    ("phone", "call +49 (30) 1234-567 now", "+49 (30) 1234-567"),
    ("phone", "Telefon: 030 1234567", "030 1234567"),
    ("phone", "Phone:\n905-674-3793\n", "905-674-3793"),
    ("phone", "(579)888-3058 fax", "(579)888-3058"),
    ("phone", "fax 463-612-6138x036 works", "463-612-6138x036"),
    ("card", "pay with 4111 1111 1111 1111, please", "4111 1111 1111 1111"),
    ("card", "3782-822463-10005", "3782-822463-10005"),
    ("card", "4454794511390933", "4454794511390933"),
    ("card", "my card 503802053770 expires", "503802053770"),
    ("iban", "to GB82 WEST 1234 5698 7654 32 BANK", "GB82 WEST 1234 5698 7654 32"),
    ("iban", "DE89370400440532013000", "DE89370400440532013000"),
    ("national_id", "SSN 078-05-1121", "078-05-1121"),
    ("national_id", "codice fiscale RCCMNL83S18D969H", "RCCMNL83S18D969H"),
    ("national_id", "AHV 756.9217.0769.85", "756.9217.0769.85"),
    ("national_id", "CPF 390.533.447-05", "390.533.447-05"),
    ("national_id", "HETU 131052-308T", "131052-308T"),
    ("national_id", "DNI 54362315K", "54362315K"),
    ("national_id", "BSN 111222333", "111222333"),
    ("national_id", "PESEL: 44051401359", "44051401359"),
    ("ip", "from 106.31.73.20 at noon", "106.31.73.20"),
    ("ip", "DNS 8.8.8.8", "8.8.8.8"),
    ("ip", "6e40:4041:c617:e898:c11:40d2:c669:2eb4", "6e40:4041:c617:e898:c11:40d2:c669:2eb4"),
    ("private_ip", "ssh 192.168.1.20", "192.168.1.20"),
    ("private_ip", "fe80::1c2d is ours", "fe80::1c2d"),
    ("internal_url", "see http://jenkins:8080/job/7 and", "http://jenkins:8080/job/7"),
    ("internal_url", "at https://wiki.corp/x?y=1.", "https://wiki.corp/x?y=1"),
    ("mac", "ether 00:1A:2b:3C:4d:5E up", "00:1A:2b:3C:4d:5E"),
    ("token", "key AKIAIOSFODNN7EXAMPLE leaked", "AKIAIOSFODNN7EXAMPLE"),
    ("token", "use sk-Tq7Zp2Lm9Xc4Vb8Nd1Rk here", "sk-Tq7Zp2Lm9Xc4Vb8Nd1Rk"),
    ("token", "token_ghp_16C7e42F292c6912E7710c838347Ae178B4a", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
    ("private_key", f"it is\n{KEY}\nand so on", KEY),
    ("private_key", KEY.replace("\n", "\\n"), KEY.replace("\n", "\\n")),
    ("private_key", KEY.partition("-----END")[0] + "\n\nThe end is missing.", KEY.partition("\n-----END")[0]),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.s5c_x", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.s5c_x"),
    ("password", "https://ana:pa55%40word@git.example.org/a.git", "pa55%40word"),
    ("password", "password: hunter2 fails", "hunter2"),
    ("password", "PGPASSWORD='correct-horse 9'", "correct-horse 9"),
    ("password", '{"passwd": "tr0ub4dor&3"}', "tr0ub4dor&3"),
    ("password", "Authorization: Basic YW5hOnBhNTVAd29yZA==", "YW5hOnBhNTVAd29yZA=="),
    ("secret", "client_secret = 9fQ2xL7vR4tY8wZ1mN6bK3cJ5hG0dS", "9fQ2xL7vR4tY8wZ1mN6bK3cJ5hG0dS"),
]


@pytest.mark.parametrize(("category", "text", "value"), CANARIES)
def test_a_canary_is_found_whole_and_alone(category: str, text: str, value: str) -> None:
    spans = EVERYTHING.spans(text)
    assert [(span.category, text[span.start : span.end]) for span in spans] == [(category, value)]


def test_there_is_a_canary_of_each_category() -> None:
    assert {category for category, *_ in CANARIES} == set(CATEGORIES)


@pytest.mark.parametrize(
    "text",
    [
        "version 2.14.3.1 replaces 1.9.0.4",
        "- 2.3.8.1 Resource constraints",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixes the token",
        "sha256 key: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "the request 3f2b8c1e-9a4d-4e5f-8b7a-1c2d3e4f5a6b took 30 ms",
        "password: str, token: str | None",
        "set PASSWORD=${DATABASE_PASSWORD} or password=<your password>",
        "the password is the one of the handbook",
        "4111 1111 1111 1112 has another check digit",
        "GB82 WEST 1234 5698 7654 33",
        "ISBN 978-3-16-148410-0 of 2024-11-25 12:30:45",
        "icon@2x.png and @pytest.fixture",
        "git@github.com:owner/name.git",
        "std::vector<int>::iterator, a::b::c",
        "call test_every_option_of_a_search_is_in_the_docs",
        "-----BEGIN CERTIFICATE-----\nMIIDXTCCAkWgAwIBAgIJAJC1HiIAZAiIMA0GCSqGSIb3DQEBCwUA\n-----END CERTIFICATE-----",
        "LM317T 1N4007 SM-1250-50, error 404 in 3.11.4",
        "00:00:00:00:00:00 and the fingerprint 16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48",
        "1,234,567 of 12 345 678 rows",
    ],
)
def test_what_only_looks_alike_stays(text: str) -> None:
    assert EVERYTHING.spans(text) == []


def test_numbers_without_a_country_code_are_known_by_region() -> None:
    text = "Mara, 030 901820, Berlin"
    assert Redactor().spans(text) == []
    assert [text[span.start : span.end] for span in Redactor(regions=["DE"]).spans(text)] == ["030 901820"]


def test_private_addresses_are_found_on_request_alone() -> None:
    assert Redactor(DEFAULT_CATEGORIES).spans("192.168.1.20 and 127.0.0.1") == []


def test_redaction_finds_nothing_in_its_own_placeholders() -> None:
    for _, text, _ in CANARIES:
        once = EVERYTHING.redact(text).text
        assert EVERYTHING.redact(once).text == once


@pytest.mark.parametrize("text", [text for _, text, _ in CANARIES])
def test_a_find_in_the_middle_of_other_scripts_has_places_in_characters(text: str) -> None:
    before = "Ünïcødé 漢字 😀\n"
    moved = EVERYTHING.spans(before + text)
    assert [(span.start - len(before), span.end - len(before)) for span in moved] == [
        (span.start, span.end) for span in EVERYTHING.spans(text)
    ]


def test_random_characters_do_not_break_it() -> None:
    """Lone surrogates, too."""
    chance = random.Random(7)
    signs = "ab1@.:/-= \n\ud800é漢😀+password"
    for _ in range(300):
        text = "".join(chance.choices(signs, k=200))
        redacted = EVERYTHING.redact(text)
        assert all(0 <= find.start < find.end <= len(text) for find in redacted.finds)
