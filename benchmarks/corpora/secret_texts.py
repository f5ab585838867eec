"""Texts with invented keys, tokens and passwords in the forms that issuers document, and texts that only look alike."""

import base64
import hashlib
import random
import string
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

_ALPHANUMERIC: Final = string.ascii_letters + string.digits
_UPPER: Final = string.ascii_uppercase + string.digits
_BASE32: Final = string.ascii_uppercase + "234567"
_HEX: Final = "0123456789abcdef"
_WEB: Final = _ALPHANUMERIC + "-_"

TOKENS: Final[dict[str, tuple[tuple[str, str, int], ...]]] = {
    "AWS access key": (("AKIA", _BASE32, 16),),
    "AWS session key": (("ASIA", _BASE32, 16),),
    "GitHub personal": (("ghp_", _ALPHANUMERIC, 36),),
    "GitHub app": (("ghs_", _ALPHANUMERIC, 36),),
    "GitHub fine-grained": (("github_pat_", _ALPHANUMERIC, 22), ("_", _ALPHANUMERIC, 59)),
    "GitLab": (("glpat-", _WEB, 20),),
    "Slack bot": (("xoxb-", string.digits, 12), ("-", string.digits, 12), ("-", _ALPHANUMERIC, 24)),
    "Slack webhook": (("https://hooks.slack.com/services/T", _UPPER, 8), ("/B", _UPPER, 8), ("/", _ALPHANUMERIC, 24)),
    "Stripe": (("sk_live_", _ALPHANUMERIC, 24),),
    "Stripe restricted": (("rk_test_", _ALPHANUMERIC, 24),),
    "OpenAI project": (("sk-proj-", _WEB, 74), ("T3BlbkFJ", _WEB, 74)),
    "OpenAI": (("sk-", _ALPHANUMERIC, 20), ("T3BlbkFJ", _ALPHANUMERIC, 20)),
    "Anthropic": (("sk-ant-api03-", _WEB, 93), ("AA", "", 0)),
    "OpenRouter": (("sk-or-v1-", _HEX, 64),),
    "Groq": (("gsk_", _ALPHANUMERIC, 52),),
    "Hugging Face": (("hf_", string.ascii_letters, 34),),
    "Google API": (("AIza", _WEB, 35),),
    "Google OAuth secret": (("GOCSPX-", _WEB, 28),),
    "npm": (("npm_", _ALPHANUMERIC, 36),),
    "PyPI": (("pypi-AgEIcHlwaS5vcmc", _WEB, 140),),
    "Docker Hub": (("dckr_pat_", _WEB, 27),),
    "DigitalOcean": (("dop_v1_", _HEX, 64),),
    "SendGrid": (("SG.", _WEB, 22), (".", _WEB, 43)),
    "Mailgun": (("key-", _HEX, 32),),
    "Twilio": (("SK", _HEX, 32),),
    "Telegram": (("", "123456789", 9), (":AA", _WEB, 33)),
    "Shopify": (("shpat_", _HEX, 32),),
    "Square": (("sq0csp-", _WEB, 43),),
    "Linear": (("lin_api_", _ALPHANUMERIC, 40),),
    "Notion": (("ntn_", _ALPHANUMERIC, 46),),
    "Figma": (("figd_", _WEB, 40),),
    "Postman": (("PMAK-", _HEX, 24), ("-", _HEX, 34)),
    "Airtable": (("pat", _ALPHANUMERIC, 14), (".", _HEX, 64)),
    "Grafana": (("glsa_", _ALPHANUMERIC, 32), ("_", _HEX, 8)),
    "Databricks": (("dapi", _HEX, 32),),
    "Vault": (("hvs.", _WEB, 90),),
    "New Relic": (("NRAK-", _UPPER, 27),),
    "Doppler": (("dp.pt.", _ALPHANUMERIC, 43),),
    "Tailscale": (("tskey-auth-", _ALPHANUMERIC, 17), ("-", _ALPHANUMERIC, 32)),
    "Azure storage": (
        ("DefaultEndpointsProtocol=https;AccountName=a;AccountKey=", _ALPHANUMERIC + "+/", 86),
        ("==", "", 0),
    ),
}
"""Forms of tokens by issuer: (prefix, characters, number of random characters), one after another."""

_AROUND: Final = (
    "https://hooks.slack.com/services/",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=",
)
"""Texts before a token that are no secret themselves."""
_PLACES: Final = (
    "export API={}",
    'client = Client("{}")',
    "The deploy failed with {} in the log.",
    '{{"value": "{}", "retries": 3}}',
    "- `{}` is the one of the test machine",
    "curl https://api.example.org/v1/items?key={}&page=2",
    "| staging | {} | until May |",
)
_KEY_KINDS: Final = ("RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY")
_ALIKE: Final = (
    "commit {sha1} fixes the build",
    "sha256:{sha256}  sourcebook.tar.gz",
    "the request {uuid} took 30 ms",
    "integrity sha512-{base64}==",
    "call sk_learn_fit_transform_with_defaults() first",
    "see the task-force-report-of-the-second-quarter",
    "the token bucket refills at 100 tokens a second",
    "password: see the handbook, chapter three",
    "set PASSWORD=${{DATABASE_PASSWORD}} in the environment",
    "password = os.environ['DATABASE_PASSWORD']",
    "def login(user: str, password: str) -> None:",
    "-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----",
    "version 2.14.3.1 of 2024-11-25 12:30:45 replaces 1.9.0.4",
    "order 2024-1125-0093 of 12 345 678 pieces at 1.250.000,00",
    "ISBN 978-3-16-148410-0, DOI 10.1000/182, arXiv 2004.04906v3",
    "data:image/png;base64,{base64}",
    "the key of the row is {number}, its parent {number}",
    "-----BEGIN PUBLIC KEY-----\n{lines}\n-----END PUBLIC KEY-----",
)


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text with the spans of what must be found in it."""

    text: str
    spans: tuple[tuple[int, int, str], ...] = ()
    """(start, end, category)."""


def secret_texts(seed: int, each: int = 7) -> Iterator[LabelledText]:
    """Yield texts with tokens, keys and passwords, `each` of every form, and `each` of every form that looks alike."""
    chance = random.Random(seed)
    for parts in TOKENS.values():
        for number in range(each):
            first, *others = (prefix + "".join(chance.choices(signs or "a", k=count)) for prefix, signs, count in parts)
            known = next((form for form in _AROUND if first.startswith(form)), "")
            place = _PLACES[number % len(_PLACES)].replace("{}", f"{known}{{}}")
            yield _in_place(place, "".join([first.removeprefix(known), *others]), "token")
    for kind in _KEY_KINDS:
        for number in range(each):
            key = f"-----BEGIN {kind}-----\n{_lines(chance, 4 + 3 * number)}\n-----END {kind}-----"
            yield _in_place(
                ("{}", "key: |\n{}\nname: deploy", "It was\n\n```\n{}\n```\nin May.")[number % 3], key, "private_key"
            )
    for number in range(3 * each):
        yield _in_place(_PLACES[number % len(_PLACES)], _jwt(chance), "jwt")
        password = "".join(chance.choices(_ALPHANUMERIC + "._~+", k=chance.randint(8, 20))) + "7"
        yield _in_place(
            (
                "postgresql://app:{}@db.example.org:5432/app",
                'password = "{}"',
                "DB_PASSWORD={}",
                "password: {}\nport: 5432",
                '{{"password": "{}"}}',
                "Authorization: Bearer {}",
            )[number % 6],
            password,
            "password",
        )
    for number in range(each * len(_ALIKE)):
        yield LabelledText(_alike(chance, _ALIKE[number % len(_ALIKE)]))


def _in_place(place: str, secret: str, category: str) -> LabelledText:
    before = place.index("{}")
    text = place.replace("{{", "{").replace("}}", "}") if "{{" in place else place
    before -= place[:before].count("{{")
    text = text[:before] + secret + text[before + 2 :]
    return LabelledText(text, ((before, before + len(secret), category),))


def _lines(chance: random.Random, count: int) -> str:
    return "\n".join(base64.b64encode(chance.randbytes(48)).decode() for _ in range(count))


def _jwt(chance: random.Random) -> str:
    parts = [b'{"alg":"HS256","typ":"JWT"}', f'{{"sub":"{chance.randrange(10**9)}"}}'.encode(), chance.randbytes(32)]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


def _alike(chance: random.Random, form: str) -> str:
    noise = chance.randbytes(32)
    values: dict[str, Callable[[], object]] = {
        "sha1": lambda: hashlib.sha1(noise, usedforsecurity=False).hexdigest(),
        "sha256": lambda: hashlib.sha256(noise).hexdigest(),
        "uuid": lambda: uuid.UUID(bytes=noise[:16]),
        "base64": lambda: base64.b64encode(noise * 3).decode().rstrip("="),
        "lines": lambda: _lines(chance, 6),
        "number": lambda: chance.randrange(10**6, 10**7),
    }
    return form.format(**{name: value() for name, value in values.items()})
