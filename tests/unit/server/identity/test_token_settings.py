"""The file of the issuer of signed tokens: what it may say, and how a mistake is told."""

import pickle
from datetime import timedelta
from pathlib import Path

import pytest

from sourcebook.errors import ConfigurationError
from sourcebook.server.identity.resource_metadata import metadata_url
from sourcebook.server.identity.sign_in_settings import SECRET_VARIABLE
from sourcebook.server.identity.token_settings import load_token_settings
from sourcebook.server.serve_settings import ServeSettings

ISSUER = "issuer: https://login.example.org/realms/staff\n"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "tokens.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_issuer_and_an_audience_are_enough(tmp_path: Path) -> None:
    settings = load_token_settings(written(tmp_path, ISSUER + "audience: sourcebook\n"))
    assert settings.discovery_url == "https://login.example.org/realms/staff/.well-known/openid-configuration"
    assert (settings.audiences, settings.scopes, settings.collections) == (("sourcebook",), ("read",), None)
    assert (settings.user_claim, settings.groups_claim, settings.leeway) == ("sub", "groups", 60)
    assert all(algorithm[:2] in {"RS", "PS", "ES", "Ed"} for algorithm in settings.algorithms)
    assert metadata_url(settings) is None


def test_the_settings_reach_each_process_of_a_server(tmp_path: Path) -> None:
    text = ISSUER + "audience: [a, b]\nresource: https://search.example.org/kb/mcp\ncollections: [handbook]\n"
    settings = load_token_settings(written(tmp_path, text))
    assert pickle.loads(pickle.dumps(ServeSettings(tokens=settings))).tokens == settings  # noqa: S301 - it is our own
    assert settings.audiences == ("a", "b", "https://search.example.org/kb/mcp")
    assert metadata_url(settings) == "https://search.example.org/.well-known/oauth-protected-resource/kb/mcp"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no mapping"),
        ("- a\n", "no mapping"),
        (ISSUER, "audience"),
        ("audience: a\n", "issuer"),
        (ISSUER + "audience: []\n", "audience"),
        (ISSUER + "audience: ''\n", "audience"),
        ("issuer: http://login.example.org\naudience: a\n", "no https URL"),
        ("issuer: http://localhost.example.org\naudience: a\n", "no https URL"),
        ("issuer: https://anna:secret@login.example.org\naudience: a\n", "no https URL"),
        ("issuer: file:///etc/passwd\naudience: a\n", "no https URL"),
        (ISSUER + "audience: a\njwks_url: http://192.0.2.1/keys\n", "no https URL"),
        (ISSUER + "audience: a\nalgorithms: [HS256]\n", "algorithms"),
        (ISSUER + "audience: a\nalgorithms: [none]\n", "algorithms"),
        (ISSUER + "audience: a\nalgorithms: []\n", "algorithms"),
        (ISSUER + "audience: a\nleeway: 3600\n", "leeway"),
        (ISSUER + "audience: a\nscopes: [write]\n", "scopes"),
        (ISSUER + "audience: a\nscopes: []\n", "scopes"),
        (ISSUER + "audience: a\ncollections: []\n", "collections"),
        (ISSUER + "audience: a\nverify: false\n", "verify"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigurationError, match=said) as error:
        load_token_settings(path)
    assert str(path) in str(error.value)
    assert "secret" not in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no file .*tokens\.yaml"):
        load_token_settings(tmp_path / "tokens.yaml")


SIGN_IN = ISSUER + "audience: a\nsign_in:\n  client_id: page\n"


def test_the_page_signs_in_with_a_client_and_its_own_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = SIGN_IN + "  url: https://search.example.org/\n  lasts: 2h\n  scope: [openid, groups]\n"
    found = load_token_settings(written(tmp_path, text)).sign_in
    assert found is not None
    assert (found.return_url, found.lasts) == ("https://search.example.org/sign-in/return", timedelta(hours=2))
    assert (found.scope, found.name, found.secret) == (("openid", "groups"), None, None)
    monkeypatch.setenv(SECRET_VARIABLE, " s3cret\n")
    assert found.secret == "s3cret"
    assert "s3cret" not in repr(found) + pickle.dumps(found).decode("latin-1"), "no process is sent it"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "url"),
        ("  url: http://search.example.org\n", "no https URL"),
        ("  url: https://search.example.org/kb\n", "has a path"),
        ("  url: https://search.example.org?a=b\n", "has a path"),
        ("  url: https://anna@search.example.org\n", "no https URL"),
        ("  url: https://a.example.org\n  scope: [profile]\n", "lacks openid"),
        ("  url: https://a.example.org\n  scope: ['openid profile']\n", "scope"),
        ("  url: https://a.example.org\n  scope: []\n", "scope"),
        ("  url: https://a.example.org\n  lasts: 8d\n", "lasts"),
        ("  url: https://a.example.org\n  lasts: 0s\n", "lasts"),
        ("  url: https://a.example.org\n  client_secret: s3cret\n", "client_secret"),
    ],
)
def test_a_mistake_about_signing_in_is_told_where_it_stands(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        load_token_settings(written(tmp_path, SIGN_IN + text))
    assert said in str(error.value)
    assert "s3cret" not in str(error.value)
