"""Checks of candidates: checksums, forms, and what stands around them.

Each takes a candidate and returns how many characters from its start stand as a find; 0 refuses it.
"""

import math
import re
from collections import Counter
from collections.abc import Callable
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

from sourcebook.redaction.context import Candidate

Check = Callable[[Candidate], int]

_SEPARATORS: Final = re.compile(r"[ \xa0./()–-]")
_KEY_LINES: Final = re.compile(
    r"(?:\s|\\n|\\r|[\"',+>#*;|-])*(?:[\w-]+: [^\n]{1,200}\s+)*"
    r"(?:[A-Za-z0-9+/=]{8,}(?:\s|\\n|\\r|[\"',+>#*;|-]){0,12})*"
)
_LONGEST_KEY: Final = 20_000
"""Bytes behind the header of a key in which its end is looked for; more only where lines of a key go further."""
_LAST_LINE: Final = 100
_REST_OF_SECRET: Final = re.compile(rb"[0-9A-Za-z_+/.~=-]*")
_REST_OF_WORD: Final = re.compile(rb"[^\s\"'`,;&|<>)\]}]*")
_REST_OF_QUOTED: Final = re.compile(rb"[^\s\"'`]*")
_PLACEHOLDER_FORM: Final = re.compile(
    r"""(?ix) ^[\[<({$%*…] | ^\.\. | ^__ | [*.…•]{3} | \$\{ | \{\{ | ^\w+\( | ^\w+\[['"]
    | ^(?:env|os|process|config|settings|self|secrets?|vault|getenv|get|var)[.\[(]"""
)
_PLACEHOLDER_WORD: Final = re.compile(
    r"""(?ix) ^(?:your|my|the|some|any|new|old|a|an|this|that|example|sample|dummy|fake|test|change|replace|insert|enter
        |none|null|nil|true|false|undefined|required|optional|string|str|bytes|int|bool|xxx+|todo|redacted|hidden|secret
        |password|passwd|pass|pwd|pw|token|foo|bar)(?:$|[^A-Za-z0-9])"""
)
_VERSION_BEFORE: Final = re.compile(
    r"(?i)(?:\b(?:versions?|release|v|ver|section|chapter|clause|paragraph|appendix|table|figure|rfc|oid|firmware|build)"
    r"\.?:?\s*|[§=~^<>]\s*|\bv)$"
)
_ADDRESS_BEFORE: Final = re.compile(
    r"(?i)\b(?:ips?|ipv4|addr(?:ess(?:es)?)?|hosts?|servers?|dns|ping|clients?|from|subnet|gateway|inet|nameservers?"
    r"|routes?|resolvers?|proxy|peers?|nodes?|listen\w*|bind|connect\w*)\W*$|://$|@$"
)
_LARGEST_OF_VERSIONS: Final = 31
_HASH_BEFORE: Final = re.compile(
    r"(?i)\b(?:sha-?\d*|md5|commit|hash|digest|checksum|etag|integrity|fingerprint|revision|blob|tree)\b"
)
_SECRET_BEFORE: Final = re.compile(
    r"(?i)secret|token|credential|password"
    r"|(?:api|access|private|account|auth|signing|encryption|license|client)[ _-]?key"
)
_HEX: Final = re.compile(r"(?:0x)?[0-9a-fA-F-]+\Z")
_FILE_ENDINGS: Final = frozenset(
    {"png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "css", "js", "ts", "py", "md", "txt", "html", "json", "yaml"}
)
_INTERNAL_ENDINGS: Final = frozenset(
    {"local", "localdomain", "internal", "intern", "intranet", "lan", "corp", "home", "private", "svc"}
)
"""Last labels of names that no registry of the internet gives away, among them those of RFC 6762, appendix G."""
_ARPA: Final = frozenset({"home.arpa"})
_OWN_MACHINE: Final = frozenset({"localhost", "0.0.0.0", "127.0.0.1", "::1", "::"})  # noqa: S104 - nothing is bound to it
"""Names that mean whatever machine the reader has."""
_CARD_GROUPS: Final = frozenset([(4, 4, 4, 4), (4, 4, 4, 4, 3), (4, 6, 5), (4, 6, 4)])


def private_key(candidate: Candidate) -> int:
    """Take the key to its end line, or as far as lines of a key go where the end line is missing."""
    header, size, known = candidate.value, _LONGEST_KEY, -1
    while True:
        rest = candidate.after(size)
        end = rest.find("-----END ")
        begin = rest.find("-----BEGIN ")
        if end >= 0 and not 0 <= begin < end:
            close = rest.find("-----", end + 9)
            if 0 <= close <= end + 60:
                return len(header) + close + 5
        lines = _KEY_LINES.match(rest)
        reached = lines.end() if lines is not None else 0
        if reached + _LAST_LINE < len(rest) or len(rest) == known:
            break
        known, size = len(rest), size * 2
    length = len(rest[:reached].rstrip(" \t\r\n\"',>#*;|-"))
    return len(header) + length if length >= 16 else 0


def jwt(candidate: Candidate) -> int:
    """Take what begins with a JSON object in base64."""
    import base64
    import binascii

    head = candidate.value.split(".", 1)[0]
    try:
        decoded = base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))
    except (binascii.Error, ValueError):
        return 0
    return len(candidate.value) if decoded.startswith(b'{"') else 0


def entropy(text: str) -> float:
    """Return Shannon's entropy of the characters of a text, in bits a character."""
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


def _is_placeholder(value: str) -> bool:
    if _PLACEHOLDER_FORM.search(value) or len(set(value)) <= 2:
        return True
    is_mixed = any(map(str.isdigit, value)) and any(map(str.isupper, value)) and any(map(str.islower, value))
    return not is_mixed and _PLACEHOLDER_WORD.search(value) is not None


def varied(candidate: Candidate) -> int:
    """Take a token whose characters vary as random ones do."""
    value = candidate.value
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return len(value) if mixed and entropy(value) >= 3 and not _is_placeholder(value) else 0


def assigned(candidate: Candidate) -> int:
    """Take credentials of a header that are no placeholder."""
    return 0 if _is_placeholder(candidate.value) else len(candidate.value)


def url_password(candidate: Candidate) -> int:
    """Take the password of a URL, to the last @ before the path."""
    return 0 if _is_placeholder(candidate.value) else len(candidate.value)


def password(candidate: Candidate) -> int:
    """Take the value of a password: one with digits or signs, or a quoted word that is no placeholder."""
    value = candidate.value.rstrip(".:!?")
    if _is_placeholder(value) or "://" in value or value.count(" ") > 5:
        return 0
    quoted = candidate.before(1)[-1:] in ("'", '"', "`") and candidate.after(1)[:1] in ("'", '"', "`")
    if re.fullmatch(r"[A-Za-zÀ-ɏ_.-]+(?:\(.*)?", value):
        # A word is a value only where nothing else can be meant: quoted, and not a name of a program's.
        return len(value) if quoted and "_" not in value and "." not in value and len(value) >= 6 else 0
    if " " in value and not any(map(str.isdigit, value)):
        return 0
    if re.fullmatch(r"[\d.,]+", value) and not quoted and len(value) < 4:
        return 0
    if re.search(r"[(\[]\S*[)\]]?$|^[/\\]|^~/|^--|->", value):
        return 0
    is_open = candidate.before(1)[-1:] in ("'", '"', "`") and not quoted
    longer = candidate.with_rest(_REST_OF_QUOTED if is_open else _REST_OF_WORD)
    is_whole = (quoted or candidate.after(1)[:1] == "<") and len(longer) == len(candidate.value)
    return len(longer if is_whole else longer.rstrip(".:!?"))


def secret(candidate: Candidate) -> int:
    """Take a string of high entropy: letters and digits, and no hash that is called so."""
    value = candidate.value.rstrip(".=-~")
    length = len(candidate.with_rest(_REST_OF_SECRET).rstrip(".~-"))
    if len(value) < 16 or _is_placeholder(value):
        return 0
    digits, letters = sum(map(str.isdigit, value)), sum(map(str.isalpha, value))
    if digits < 2 or letters < 2:
        return 0
    around = candidate.before(60)
    if _HEX.match(value):
        return length if _SECRET_BEFORE.search(around) and not _HASH_BEFORE.search(around) else 0
    if "/" in value and re.search(r"^\.{0,2}/|\.\w{1,5}$|(?:^|/)[a-z]+/[a-z]+(?:/|$)", value):
        return 0
    words = re.findall(r"[A-Za-z]{4,}", value)
    in_words = sum(len(word) for word in words if word.islower() or word.istitle() or word.isupper())
    if in_words > 0.6 * len(value):
        return 0
    return length if entropy(value) >= min(3.5, 0.8 * math.log2(len(value))) else 0


def iban(candidate: Candidate) -> int:
    """Take the longest beginning whose country, structure and checksum are those of an account number."""
    from stdnum import iban as numbers

    value = candidate.value
    if not (value.isupper() or value.islower()):
        return 0
    ends = [place + 1 for place, sign in enumerate(value) if sign.isalnum()]
    for end in reversed(ends[14:]):
        if not value[end : end + 1].isalnum() and numbers.is_valid(
            value[:end].replace("\xa0", " "), check_country=False
        ):
            return end
    return 0


def card(candidate: Candidate) -> int:
    """Take the number of a card: issuer, length and checksum fit; an unusual length needs a word beside it."""
    value = candidate.value
    digits = "".join(filter(str.isdigit, value))
    groups = tuple(map(len, re.split(r"\D", value)))
    if len(groups) > 1 and groups not in _CARD_GROUPS:
        return 0
    if not _has_luhn_checksum(digits):
        return 0
    usual = _issuer_has_length(digits) and len(digits) in (14, 15, 16)
    return len(value) if usual else 0


def unusual_card(candidate: Candidate) -> int:
    """Take the number of a card beside a word for it: its checksum fits, and its first digit is one of cards."""
    value = candidate.value
    return len(value) if value[0] in "123456" and _has_luhn_checksum(value) and len(set(value)) > 2 else 0


def _has_luhn_checksum(digits: str) -> bool:
    from stdnum import luhn

    return len(set(digits)) > 1 and luhn.is_valid(digits)


def _issuer_has_length(digits: str) -> bool:
    """Return whether the first digits are those of an issuer whose numbers have this length (ISO/IEC 7812)."""
    two, three, four = int(digits[:2]), int(digits[:3]), int(digits[:4])
    match len(digits):
        case 14:
            return two in (36, 38, 39) or 300 <= three <= 305
        case 15:
            return two in (34, 37) or four in (1800, 2131)
        case _:
            return (
                digits[0] == "4"
                or 51 <= two <= 55
                or 2221 <= four <= 2720
                or 3528 <= four <= 3589
                or four == 6011
                or two in (62, 65, 50, 60, 67)
                or 644 <= three <= 649
                or 300 <= three <= 305
            )


def _address(candidate: Candidate) -> IPv4Address | IPv6Address | None:
    value = candidate.value
    before, after = candidate.before(24), candidate.after(2)
    try:
        if ":" not in value:
            if re.match(r"\.\d", after) or before.endswith(".") or _VERSION_BEFORE.search(before):
                return None
            address = IPv4Address(value)
            # Four small numbers are a version or a section, unless something says that they are an address.
            is_named = _ADDRESS_BEFORE.search(before) or re.match(r"[:/]\d", after)
            return address if max(address.packed) > _LARGEST_OF_VERSIONS or is_named else None
        if before.endswith((":", ".")) or after.startswith(":"):
            return None
        groups = [group for group in value.split(":") if group]
        address6 = IPv6Address(value)
        is_short = len(groups) < 3 and not address6.is_link_local and value != "::1"
        return address6 if any(map(str.isdigit, value)) and not is_short else None
    except AddressValueError:
        return None


def _is_private(address: IPv4Address | IPv6Address) -> bool:
    return not address.is_global or address.is_multicast


def public_ip(candidate: Candidate) -> int:
    """Take an address that is routed in the internet."""
    address = _address(candidate)
    return len(candidate.value) if address is not None and not _is_private(address) else 0


def private_ip(candidate: Candidate) -> int:
    """Take an address of a private network, of this machine, of documentation, or of a group."""
    address = _address(candidate)
    return len(candidate.value) if address is not None and _is_private(address) else 0


def internal_url(candidate: Candidate) -> int:
    """Take the address of a machine that the internet does not know: by its name, its ending or its private number."""
    value = candidate.value.rstrip(".,;:!?)]")
    try:
        host = (urlsplit(value).hostname or "").rstrip(".").lower()
    except ValueError:
        return 0
    try:
        is_internal = _is_private(ip_address(host))
    except ValueError:
        labels = host.split(".")
        is_name = re.fullmatch(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*", host) is not None
        is_internal = is_name and (
            len(labels) == 1 or labels[-1] in _INTERNAL_ENDINGS or ".".join(labels[-2:]) in _ARPA
        )
    return len(value) if is_internal and host not in _OWN_MACHINE else 0


def mac(candidate: Candidate) -> int:
    """Take the address of a network card that is neither empty nor a part of a longer row."""
    value = candidate.value
    digits = set(value.lower()) - set(":-.")
    around = candidate.before(1)[-1:] + candidate.after(1)[:1]
    is_part = any(sign in around for sign in ":-")
    return len(value) if len(digits) > 1 and not is_part and any(map(str.isdigit, value)) else 0


def email(candidate: Candidate) -> int:
    """Take an address that is neither a login in a URL nor the name of a file or of a Git remote."""
    value = candidate.value
    local, _, domain = value.rpartition("@")
    if domain.rpartition(".")[2].lower() in _FILE_ENDINGS:
        return 0
    if re.search(r"://[^\s/@]*$", candidate.before(64) + local):
        return 0
    if local == "git" and candidate.after(1)[:1] in (":", "/"):
        return 0
    return len(value)


def phone(candidate: Candidate) -> int:
    """Take a number with a country code, one beside a word for phones, or one that is valid in a configured region."""
    from sourcebook.redaction.phone_numbers import phone_length

    return phone_length(candidate)
