"""Categories of what redaction finds."""

from types import MappingProxyType
from typing import Final

LABELS: Final = MappingProxyType(
    {
        "private_key": "PRIVATE_KEY",
        "jwt": "JWT",
        "token": "TOKEN",
        "password": "PASSWORD",
        "secret": "SECRET",
        "iban": "IBAN",
        "card": "CARD",
        "national_id": "NATIONAL_ID",
        "internal_url": "INTERNAL_URL",
        "email": "EMAIL",
        "phone": "PHONE",
        "ip": "IP",
        "private_ip": "PRIVATE_IP",
        "mac": "MAC",
        "name": "NAME",
    }
)
"""Label of the placeholders by category; of finds that overlap, the category that stands first here names the whole."""
CATEGORIES: Final = tuple(name for name in LABELS if name != "name")
"""Categories that rules find."""
KNOWN_CATEGORIES: Final = tuple(LABELS)
"""Those, and `name`, which a model of language finds; it needs the extra `names`."""
DEFAULT_CATEGORIES: Final = tuple(name for name in CATEGORIES if name not in {"private_ip", "internal_url"})
"""Categories where the settings name none: addresses of private networks stay."""
SECRETS: Final = ("private_key", "jwt", "token", "password", "secret")
"""Categories of what opens something, which no language model reads."""
