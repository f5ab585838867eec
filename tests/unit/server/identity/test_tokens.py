"""Signed tokens: which are taken, and every way to forge one that is refused. Keys and the issuer are real."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from sourcebook.server.identity.tokens import LONGEST, Tokens
from sourcebook.server.problems import TokenError
from tests.token_issuer import Issuer, issuing, public_jwk, rsa_key, unsigned


@pytest.fixture(scope="module")
def keys() -> dict[str, Any]:
    return {
        "rsa": rsa_key(),
        "other": rsa_key(),
        "curve": ec.generate_private_key(ec.SECP256R1()),
        "edwards": ed25519.Ed25519PrivateKey.generate(),
    }


@pytest.fixture
def issuer(keys: dict[str, Any]) -> Iterator[Issuer]:
    published = {name: key for name, key in keys.items() if name != "other"}
    with issuing(**published) as issuer:
        yield issuer


def refused(tokens: Tokens, token: str) -> str:
    with pytest.raises(TokenError) as error:
        tokens.grant_of(token)
    return str(error.value)


@pytest.mark.parametrize(
    ("key", "algorithm"), [("rsa", "RS256"), ("rsa", "PS256"), ("curve", "ES256"), ("edwards", "EdDSA")]
)
def test_a_token_says_for_whom_its_bearer_asks_and_opens_what_the_settings_say(
    issuer: Issuer, key: str, algorithm: str
) -> None:
    tokens = Tokens(issuer.settings(collections=["handbook"]))
    grant = tokens.grant_of(issuer.token(key, algorithm, groups=["board", "Tide & co"]))
    assert grant.asker.principals == frozenset({"everyone", "user:anna@example.org", "group:board", "group:Tide & co"})
    assert (grant.asker.name, grant.scopes, grant.collections) == ("user:anna@example.org", ("read",), ("handbook",))
    assert [grant.allows(scope) for scope in ("read", "write", "admin", "unredacted")] == [True, False, False, False]


def test_the_keys_are_fetched_once_by_the_discovery_or_from_the_url_of_the_settings(issuer: Issuer) -> None:
    tokens = Tokens(issuer.settings())
    for _ in range(3):
        tokens.grant_of(issuer.token())
    assert issuer.asked == ["/.well-known/openid-configuration", "/keys"]
    Tokens(issuer.settings(jwks_url=f"{issuer.url}/elsewhere")).grant_of(issuer.token())
    assert issuer.asked[2:] == ["/elsewhere"]


def test_other_claims_name_the_user_and_the_groups_where_the_settings_say_so(issuer: Issuer) -> None:
    tokens = Tokens(issuer.settings(user_claim="email", groups_claim="https://example.org/roles"))
    token = issuer.token(email="Anna@example.org", **{"https://example.org/roles": ["board"]})
    assert tokens.grant_of(token).asker.principals == frozenset({"everyone", "user:Anna@example.org", "group:board"})
    for verified, is_taken in ((True, True), ("true", True), (False, False), ("false", False), (1.5, False)):
        token = issuer.token(email="anna@example.org", email_verified=verified)
        if is_taken:
            tokens.grant_of(token)
        else:
            assert "has not verified the address" in refused(tokens, token)
    assert "claim email is missing" in refused(tokens, issuer.token())


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"aud": "another"}, "another audience"),
        ({"aud": ["another", "third"]}, "another audience"),
        ({"aud": None}, "lacks one of"),
        ({"aud": 5}, "another audience"),
        ({"iss": "https://evil.example"}, "another issuer"),
        ({"iss": None}, "lacks one of"),
        ({"exp": None}, "lacks one of"),
        ({"exp": int(time.time()) - 3_600}, "expired"),
        ({"nbf": int(time.time()) + 3_600}, "not valid yet"),
        ({"iat": int(time.time()) + 3_600}, "not valid yet"),
        ({"exp": "soon"}, "cannot be read"),
        ({"exp": 1e400}, "cannot be read"),
        ({"sub": None}, "names no user"),
        ({"sub": 7}, "cannot be read"),
        ({"sub": ""}, "no principal"),
        ({"sub": "anna\0"}, "no principal"),
        ({"sub": "x" * 600}, "no principal"),
        ({"groups": "board"}, "no list of names"),
        ({"groups": {"board": True}}, "no list of names"),
        ({"groups": ["board", 7]}, "no list of names"),
        ({"groups": [["board"]]}, "no list of names"),
        ({"groups": True}, "no list of names"),
        ({"groups": ["board", ""]}, "no principal"),
        (
            {"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://graph.example"}}},
            "overage",
        ),
        ({"hasgroups": True}, "overage"),
    ],
)
def test_a_token_that_is_signed_well_is_refused_for_what_it_says(
    issuer: Issuer, claims: dict[str, Any], reason: str
) -> None:
    said = refused(Tokens(issuer.settings()), issuer.token(**claims))
    assert reason in said
    assert "anna" not in said
    assert "evil" not in said


def test_clocks_may_differ_by_the_leeway_and_no_more(issuer: Issuer) -> None:
    tokens, now = Tokens(issuer.settings()), int(time.time())
    for taken in ({"exp": now - 30}, {"nbf": now + 30}, {"iat": now + 30}):
        tokens.grant_of(issuer.token(**taken))
    for late in ({"exp": now - 75}, {"nbf": now + 120}):
        refused(tokens, issuer.token(**late))
        refused(Tokens(issuer.settings(leeway=0)), issuer.token(**late))
    assert "expired" in refused(Tokens(issuer.settings(leeway=0)), issuer.token(exp=now - 2))


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "", "nOnE"])
def test_a_token_without_a_signature_is_refused(issuer: Issuer, algorithm: str) -> None:
    tokens = Tokens(issuer.settings())
    for signature in (b"", b"x"):
        said = refused(tokens, unsigned({"alg": algorithm, "typ": "JWT", "kid": "rsa"}, issuer.claims(), signature))
        assert "algorithm" in said or "cannot be read" in said
    assert issuer.asked == [], "no key was fetched for it"


def test_the_public_key_is_no_secret_to_sign_with(issuer: Issuer, keys: dict[str, Any]) -> None:
    """HS256 with the public key, in each form in which a verifier may hold it, as secret (key confusion)."""
    tokens, public = Tokens(issuer.settings()), keys["rsa"].public_key()
    formats = [
        public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo),
        public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.PKCS1),
        public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo),
        str(public_jwk(keys["rsa"], "rsa")["n"]).encode(),
    ]
    for secret in formats:
        for algorithm in ("HS256", "RS256"):
            signing = unsigned({"alg": algorithm, "kid": "rsa"}, issuer.claims()).rpartition(".")[0]
            digest = hmac.new(secret, signing.encode(), hashlib.sha256).digest()
            forged = unsigned({"alg": algorithm, "kid": "rsa"}, issuer.claims(), digest)
            assert ("algorithm" if algorithm == "HS256" else "signature") in refused(tokens, forged)


def test_a_secret_in_the_key_set_signs_nothing(issuer: Issuer) -> None:
    secret = b"0123456789abcdef0123456789abcdef"
    shown = base64.urlsafe_b64encode(secret).rstrip(b"=").decode()
    issuer.body = json.dumps({"keys": [{"kty": "oct", "kid": "s", "k": shown}]}).encode()
    token = jwt.encode(issuer.claims(), secret, "HS256", {"kid": "s"})
    assert "algorithm" in refused(Tokens(issuer.settings()), token)
    with pytest.raises(ValueError, match="algorithms"):
        issuer.settings(algorithms=["HS256"])


def test_a_key_signs_by_its_own_algorithm_alone(issuer: Issuer, keys: dict[str, Any]) -> None:
    tokens = Tokens(issuer.settings())
    assert "not valid" in refused(tokens, jwt.encode(issuer.claims(), keys["curve"], "ES256", {"kid": "rsa"}))
    assert "not valid" in refused(tokens, jwt.encode(issuer.claims(), keys["rsa"], "RS256", {"kid": "curve"}))
    issuer.body = issuer.published().replace(b'"use": "sig"', b'"use": "sig", "alg": "RS512"')
    assert "algorithm" in refused(Tokens(issuer.settings()), issuer.token())
    issuer.body = issuer.published().replace(b'"use": "sig"', b'"use": "enc"')
    issuer.body = issuer.body.replace(b'"use": "enc"', b'"use": "sig"', 1)
    assert "does not have" in refused(Tokens(issuer.settings()), issuer.token("curve", "ES256"))


def test_another_key_under_a_known_name_is_refused(issuer: Issuer, keys: dict[str, Any]) -> None:
    forged = jwt.encode(issuer.claims(), keys["other"], "RS256", {"kid": "rsa"})
    assert "signature" in refused(Tokens(issuer.settings()), forged)


def test_keys_and_addresses_in_the_header_of_a_token_are_not_read(issuer: Issuer, keys: dict[str, Any]) -> None:
    tokens = Tokens(issuer.settings())
    with issuing(own=keys["other"]) as evil:
        headers = {
            "jku": f"{evil.url}/keys",
            "x5u": f"{evil.url}/chain",
            "jwk": public_jwk(keys["other"], "own"),
            "x5c": ["MIIB"],
        }
        for name in ("own", "rsa"):
            refused(tokens, jwt.encode(issuer.claims(), keys["other"], "RS256", {"kid": name, **headers}))
        tokens.grant_of(issuer.token("rsa", "RS256", headers))
        assert evil.asked == []


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/passwd",
        "/dev/null",
        "' OR 1=1 --",
        "rsa\0",
        "http://evil.example/key",
        "x" * 10_000,
        "",
        "toString",
    ],
)
def test_the_name_of_a_key_is_a_name_and_no_path_or_statement(issuer: Issuer, keys: dict[str, Any], name: str) -> None:
    for key in (keys["other"], keys["rsa"]):
        token = jwt.encode(issuer.claims(), key, "RS256", {"kid": name})
        assert "does not have" in refused(Tokens(issuer.settings()), token)


@pytest.mark.parametrize("name", [None, 7, ["rsa"], {"a": 1}])
def test_a_token_that_names_no_key_is_refused_where_there_are_several(
    issuer: Issuer, keys: dict[str, Any], name: Any
) -> None:
    token = unsigned({"alg": "RS256", "kid": name}, issuer.claims(), b"x")
    assert "not valid" in refused(Tokens(issuer.settings()), token) or name is None
    nameless = jwt.encode(issuer.claims(), keys["rsa"], "RS256")
    assert "does not have" in refused(Tokens(issuer.settings()), nameless)
    with issuing(only=keys["rsa"]) as single:
        Tokens(single.settings()).grant_of(jwt.encode(single.claims(), keys["rsa"], "RS256"))


def test_large_tokens_are_bounded(issuer: Issuer) -> None:
    tokens = Tokens(issuer.settings())
    groups = [f"g{number}" for number in range(10_000)]
    large = issuer.token(groups=groups)
    assert 100_000 < len(large) < LONGEST
    principals = tokens.grant_of(large).asker.principals
    assert principals is not None
    assert len(principals) == 10_002
    assert "signature" in refused(tokens, large[:-8] + "AAAAAAAA")
    assert "longer than" in refused(tokens, issuer.token(junk="x" * LONGEST))
    assert "more than" in refused(tokens, issuer.token(groups=[f"{number:x}" for number in range(20_001)]))


@pytest.mark.parametrize(
    "token",
    [
        "",
        ".",
        "..",
        "...",
        "a.b.c",
        "e30.e30.",
        "e30.e30.e30",
        "\u00e4.\u00f6.\u00fc",
        "sb_x",
        "=.=.=",
        "eyJ.eyJ.x",
        " " * 50,
    ],
)
def test_what_is_no_token_is_refused_with_the_same_sentence(issuer: Issuer, token: str) -> None:
    assert refused(Tokens(issuer.settings()), token) in {
        "the token is not valid: it cannot be read",
        "the token is not valid: its algorithm is not allowed",
    }


def test_a_header_that_is_nested_without_end_or_critical_is_refused(issuer: Issuer, keys: dict[str, Any]) -> None:
    deep = base64.urlsafe_b64encode(b'{"a":' * 30_000).decode()
    assert "cannot be read" in refused(Tokens(issuer.settings()), f"{deep}.e30.eA")
    token = issuer.token("rsa", "RS256", {"crit": ["exp"], "exp": 1})
    assert "not valid" in refused(Tokens(issuer.settings()), token)


def test_a_short_key_is_refused() -> None:
    short = rsa.generate_private_key(65537, 1024)  # noqa: S505 - it is the weak one
    with issuing(rsa=short) as weak, pytest.warns(jwt.InsecureKeyLengthWarning):
        token = weak.token()
    with issuing(rsa=short) as weak_again:
        tokens = Tokens(weak_again.settings(issuer=weak.url, jwks_url=f"{weak_again.url}/keys"))
        assert "not valid" in refused(tokens, token)


def test_two_audiences_are_taken_where_the_settings_name_them_or_the_resource(issuer: Issuer) -> None:
    tokens = Tokens(issuer.settings(audience=["a", "b"], resource="https://search.example.org/mcp"))
    for audience in ("a", ["x", "b"], "https://search.example.org/mcp"):
        tokens.grant_of(issuer.token(aud=audience))
    assert "another audience" in refused(tokens, issuer.token(aud="https://search.example.org"))
