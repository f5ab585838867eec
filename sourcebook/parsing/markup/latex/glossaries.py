"""Terms and abbreviations that a LaTeX document defines (packages glossaries and acro), in place of their keys."""

import re
from dataclasses import dataclass

_GROUP = r"\{((?:[^{}]|\{[^{}]*\})*)\}\s*"
_ACRONYM = re.compile(rf"\\newacronym\s*(?:\[[^\]]*\])?\s*{_GROUP}{_GROUP}{_GROUP}")
_ENTRY = re.compile(rf"\\(?:newglossaryentry|DeclareAcronym)\s*{_GROUP}{_GROUP}")
_FIELD = re.compile(rf"\b(short|name|long|description)\s*=\s*(?:{_GROUP}|([^,]*))")
_USED = re.compile(r"\\(?:gls|acr?)(long|desc|l|full|f|short|s|name|text|plural|pl|p)?\*?\{([^{}]*)\}", re.IGNORECASE)
_PRINTED = re.compile(r"\\print(?:noidx)?(?:glossary|glossaries|acronyms)\b(?:\[[^\]]*\])?")


@dataclass(frozen=True, slots=True)
class _Term:
    short: str
    long: str
    meaning: str = ""

    def shown(self, form: str, *, is_first: bool) -> str:
        if self.long and form in {"long", "l"}:
            return self.long
        whole = form in {"full", "f"} or (is_first and form in {"", "pl", "p"})
        return f"{self.long} ({self.short})" if self.long and whole else self.short


def with_terms(text: str) -> str:
    """Return expanded LaTeX with terms for their keys: the first time `long form (short)`, then the short form."""
    terms = {key: _Term(short, long) for key, short, long in _ACRONYM.findall(text)}
    terms |= {key: _of_fields(key, fields) for key, fields in _ENTRY.findall(text)}
    seen: set[str] = set()

    def shown(use: re.Match[str]) -> str:
        term, is_first = terms.get(use[2]), use[2] not in seen
        seen.add(use[2])
        return term.shown((use[1] or "").lower(), is_first=is_first) if term else use[0]

    items = "".join(f"\\item[{term.short}] {term.long or term.meaning}\n" for term in terms.values())
    listed = f"\n\\begin{{description}}\n{items}\\end{{description}}\n"
    return _PRINTED.sub(lambda _: listed, _USED.sub(shown, text), count=1) if terms else text


def _of_fields(key: str, fields: str) -> _Term:
    found = {field: (braced or plain).strip() for field, braced, plain in _FIELD.findall(fields)}
    return _Term(found.get("short") or found.get("name", key), found.get("long", ""), found.get("description", ""))
