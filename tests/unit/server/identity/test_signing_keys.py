"""Keys of an issuer: rotation, outages, and servers that answer badly."""

import threading
import time
from collections.abc import Iterator

import pytest

from sourcebook.server.identity import signing_keys
from sourcebook.server.identity.issuer_requests import MOST_BYTES
from sourcebook.server.identity.signing_keys import FRESH, PAUSE, USABLE, SigningKeys
from sourcebook.server.problems import IssuerError, TokenError
from tests.token_issuer import Issuer, issuing, rsa_key


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with issuing(old=rsa_key()) as issuer:
        yield issuer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(issuer: Issuer, clock: Clock) -> SigningKeys:
    return SigningKeys(issuer.settings(jwks_url=f"{issuer.url}/keys"), clock)


def test_a_rotated_key_is_fetched_when_a_token_names_it(issuer: Issuer, clock: Clock, keys: SigningKeys) -> None:
    keys.find("old")
    issuer.keys["new"] = rsa_key()
    clock.now += PAUSE
    assert keys.find("new")["kid"] == "new"
    assert keys.find("old")["kid"] == "old"
    assert len(issuer.asked) == 2


def test_unknown_names_cause_one_fetch_in_ten_seconds(issuer: Issuer, clock: Clock, keys: SigningKeys) -> None:
    keys.find("old")
    for number in range(500):
        clock.now += 0.1
        with pytest.raises(TokenError, match="does not have"):
            keys.find(f"forged {number}")
    assert len(issuer.asked) <= 1 + 50 / PAUSE


def test_a_key_that_was_withdrawn_opens_nothing_after_ten_minutes(
    issuer: Issuer, clock: Clock, keys: SigningKeys
) -> None:
    keys.find("old")
    issuer.keys = {"new": rsa_key()}
    clock.now += FRESH - 1
    keys.find("old")
    clock.now += 1
    with pytest.raises(TokenError, match="does not have"):
        keys.find("old")


def test_known_keys_last_for_an_hour_where_the_issuer_is_away_and_then_nothing_opens(
    issuer: Issuer, clock: Clock, keys: SigningKeys
) -> None:
    keys.find("old")
    issuer.status = 500
    clock.now += FRESH + 1
    keys.find("old")
    with pytest.raises(IssuerError, match="status 500"):
        keys.find("new")
    clock.now += USABLE
    with pytest.raises(IssuerError, match="status 500") as error:
        keys.find("old")
    assert error.value.seconds == PAUSE
    issuer.status = 200
    with pytest.raises(IssuerError):
        keys.find("old")
    clock.now += PAUSE
    keys.find("old")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "no JSON"),
        (b'{"keys": [', "no JSON"),
        (b"<html>Sign in</html>", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'{"keys": []}', "no key that signs"),
        (b'{"keys": {"old": 1}}', "no key that signs"),
        (b'{"keys": [null, 7, "x", {"kty": "oct", "k": "AAAA", "kid": "old"}]}', "no key that signs"),
        (b"null", "no key that signs"),
        (b'{"keys": "' + b"x" * MOST_BYTES + b'"}', "more than 1 MiB"),
    ],
)
def test_an_answer_that_is_no_key_set_opens_nothing(
    issuer: Issuer, keys: SigningKeys, body: bytes, reason: str
) -> None:
    issuer.body = body
    with pytest.raises(IssuerError, match=reason):
        keys.find("old")


@pytest.mark.parametrize("status", [301, 302, 307, 401, 404, 429, 500, 503])
def test_a_status_other_than_200_opens_nothing_and_no_redirect_is_followed(
    issuer: Issuer, keys: SigningKeys, status: int
) -> None:
    issuer.status, issuer.location = status, f"{issuer.url}/elsewhere"
    with pytest.raises(IssuerError, match=f"status {status}"):
        keys.find("old")
    assert issuer.asked == ["/keys"]


def test_a_key_set_that_trickles_is_given_up(
    issuer: Issuer, keys: SigningKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signing_keys, "SECONDS", 0.3)
    issuer.seconds_a_byte = 0.05
    began = time.monotonic()
    with pytest.raises(IssuerError, match="in time"):
        keys.find("old")
    assert time.monotonic() - began < 10


def test_a_server_that_is_not_there_opens_nothing(issuer: Issuer, clock: Clock) -> None:
    with issuing(old=rsa_key()) as gone:
        settings = gone.settings()
    with pytest.raises(IssuerError, match="cannot be reached"):
        SigningKeys(settings, clock).find("old")


@pytest.mark.parametrize(
    "told",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"jwks_uri": None},
        {"jwks_uri": "http://evil.example/keys"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": ["https://evil.example/keys"]},
    ],
)
def test_a_discovery_of_another_issuer_or_without_tls_is_refused(
    issuer: Issuer, clock: Clock, told: dict[str, object]
) -> None:
    issuer.discovery = told
    with pytest.raises(IssuerError, match="discovery"):
        SigningKeys(issuer.settings(), clock).find("old")
    assert issuer.asked == ["/.well-known/openid-configuration"]


def test_many_requests_at_once_cause_one_fetch(issuer: Issuer, keys: SigningKeys) -> None:
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(keys.find("old")["kid"])) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["old"] * 16
    assert issuer.asked == ["/keys"]
