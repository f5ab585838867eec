"""The catalogues of the page: `python -m tests.languages` brings them up to date, and says what is not translated.

A catalogue is `sourcebook/server/page/languages/LANGUAGE.po`, which people translate, and beside it the same as `.mo`,
which the server reads without another library. To add a language, name it in `LANGUAGES` of
`sourcebook/server/page/translation.py` and its plural forms in `PLURALS`, run this, translate, and run it again.
"""

import ast
import json
import re
import struct
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Final

from sourcebook.server.page.translation import CATALOGUES, LANGUAGES, SOURCE
from tests.page_texts import Text, texts_of_page

PLURALS: Final = {
    "de": "nplurals=2; plural=(n != 1);",
    "es": "nplurals=2; plural=(n != 1);",
    "fr": "nplurals=2; plural=(n > 1);",
    "zh": "nplurals=1; plural=0;",
}
"""Plural forms by language, as gettext writes them."""
Forms = tuple[str, ...]
_LINE: Final = re.compile(r'(?:(msgctxt|msgid_plural|msgid|msgstr(?:\[\d\])?)\s+)?(".*")')
_MARKS: Final = re.compile(r"%\(\w+\)s|%%|</?\w+[^>]*>|[\"<>&]")
"""What a translation has as often as its text: values, and all that HTML reads as a sign."""
_CODE: Final = re.compile(r"`[^`]*`|\{[^}]*\}|<[^>]*>|sourcebook \w+|--\w+|\w+\.\w+(?:: \w+)?")
_TERMS: Final = {
    r"collections?": {"de": "ammlung", "es": "olecci", "fr": "ollection", "zh": "文档集"},
    r"passages?": {"de": "extstelle", "es": "asaje", "fr": "assage", "zh": "段"},
    r"ingest": {"de": "inlesen|eingelesen", "es": "ingesta", "fr": "ingestion", "zh": "采集"},
    r"generations?": {"de": "eneration", "es": "eneraci", "fr": "énération", "zh": "索引代"},
    r"scope": {"de": "erechtigung", "es": "ermiso", "fr": "ermission", "zh": "权限"},
    r"conversations?": {"de": "nterhaltung", "es": "onversaci", "fr": "onversation", "zh": "对话"},
    r"tokens": {"de": "Token", "es": "oken", "fr": "oken", "zh": "词元"},
}
"""One word of each language for each of ours."""
_MISPRINTS: Final = {
    "es": r"^[^¿]*\w\?$|^[^¡]*\w!$",
    "fr": r" [:;!?»]|« |[a-zàé]'[a-zàé]",
    "zh": r"[\u4e00-\u9fff] ?[,;!?]|[,;!?] ?[\u4e00-\u9fff]|[\u4e00-\u9fff]\.$",
}
"""Punctuation that a language does not have: a plain space before a French colon, a Latin comma beside Chinese."""


def translations(language: str, folder: Path = CATALOGUES) -> dict[Text, Forms]:
    """Return the texts of a catalogue with their translations; none where there is no file."""
    path = folder / f"{language}.po"
    lines = path.read_text().splitlines() if path.exists() else []
    entries = (list(group) for is_blank, group in groupby(lines, lambda line: not line.strip()) if not is_blank)
    found = dict(map(_entry, entries))
    found.pop(Text("", "", ""), None)
    return found


def problems(language: str, folder: Path = CATALOGUES) -> list[str]:
    """Return what is wrong with a catalogue."""
    kept, wanted = translations(language, folder), texts_of_page()
    times = Counter((text.context, text.singular) for text in wanted)
    said = [f"{name!r} has and has not a plural" for (_, name), number in times.items() if number > 1]
    said += [f"{language}: not in the catalogue: {text.singular!r}" for text in wanted if text not in kept]
    said += [f"{language}: no longer on the page: {text.singular!r}" for text in kept if text not in wanted]
    for text, forms in kept.items():
        said += [f"{language}: {text.singular!r}: {each}" for each in _wrong(text, forms, _count(language))]
        said += [f"{language}: {text.singular!r}: {each}" for each in _unlike_itself(language, text, forms)]
    compiled = folder / f"{language}.mo"
    if not compiled.exists() or compiled.read_bytes() != as_mo(language, kept):
        said.append(f"{language}: the .mo is not that of the .po: run python -m tests.languages")
    return said


def update(language: str, folder: Path = CATALOGUES) -> None:
    """Put the texts of the page into a catalogue, keep their translations, and write it in both forms."""
    kept, empty = translations(language, folder), ("",) * _count(language)
    present = {
        text: (kept.get(text, empty if text.plural else ("",)), place) for text, place in texts_of_page().items()
    }
    ordered = sorted(present.items(), key=lambda item: (item[1][1], item[0]))
    entries = [_as_po(text, forms, place) for text, (forms, place) in ordered]
    (folder / f"{language}.po").write_text("\n".join([_as_po(Text("", "", ""), (_header(language),), ""), *entries]))
    (folder / f"{language}.mo").write_bytes(as_mo(language, {text: forms for text, (forms, _) in present.items()}))


def as_mo(language: str, kept: Mapping[Text, Forms]) -> bytes:
    """Return a catalogue as gettext reads it (its manual, "The Format of GNU MO Files"); what is empty is left out."""
    told = {_key(text): "\0".join(forms).encode() for text, forms in kept.items() if all(forms)}
    pairs = sorted({b"": _header(language).encode(), **told}.items())
    at = 28 + 16 * len(pairs)
    tables: list[list[bytes]] = [[], []]
    content = b""
    for side, table in enumerate(tables):
        for pair in pairs:
            table.append(struct.pack("<2I", len(pair[side]), at + len(content)))
            content += pair[side] + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    return head + b"".join(tables[0] + tables[1]) + content


def _wrong(text: Text, forms: Forms, count: int) -> Iterator[str]:
    if len(forms) != (count if text.plural else 1) or not all(forms):
        yield "not translated"
        return
    wanted = [sorted(_MARKS.findall(each)) for each in (text.singular, text.plural or text.singular)]
    for form in forms:
        if sorted(_MARKS.findall(form)) not in wanted:
            yield f"other values or other HTML: {form!r}"
        if (form[:1] == " ", form[-1:] == " ") != (text.singular[:1] == " ", text.singular[-1:] == " "):
            yield f"other spaces at its ends: {form!r}"


def _unlike_itself(language: str, text: Text, forms: Forms) -> Iterator[str]:
    words = _CODE.sub("", text.singular) if forms[0] else ""
    for term, ours in _TERMS.items():
        if re.search(rf"\b{term}\b", words, re.IGNORECASE) and not re.search(ours[language], forms[0]):
            yield f"{term} is {ours[language]} elsewhere: {forms[0]!r}"
    for form in forms:
        if found := re.search(_MISPRINTS.get(language, r"(?!)"), _CODE.sub("", form)):
            yield f"punctuation of another language, {found[0]!r}: {form!r}"


def _entry(lines: list[str]) -> tuple[Text, Forms]:
    fields: dict[str, str] = {}
    name = ""
    for line in lines:
        if found := _LINE.fullmatch(line):
            name = found[1] or name
            fields[name] = fields.get(name, "") + ast.literal_eval(found[2])
    forms = tuple(value for key, value in sorted(fields.items()) if key.startswith("msgstr"))
    return Text(fields.get("msgctxt", ""), fields["msgid"], fields.get("msgid_plural", "")), forms


def _as_po(text: Text, forms: Forms, place: str) -> str:
    named = [("msgctxt", text.context), ("msgid", text.singular), ("msgid_plural", text.plural)]
    lines = [f"#: {place}"] if place else []
    lines += [f"{name} {_quoted(value)}" for name, value in named if value or name == "msgid"]
    lines += [f"msgstr{f'[{at}]' if text.plural else ''} {_quoted(form)}" for at, form in enumerate(forms)]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _header(language: str) -> str:
    return f"Language: {language}\nContent-Type: text/plain; charset=UTF-8\nPlural-Forms: {PLURALS[language]}\n"


def _count(language: str) -> int:
    return int(PLURALS[language][len("nplurals=")])


def _key(text: Text) -> bytes:
    """Return the text under which a catalogue is searched."""
    singular = f"{text.context}\4{text.singular}" if text.context else text.singular
    return f"{singular}\0{text.plural}".encode() if text.plural else singular.encode()


if __name__ == "__main__":
    wrong: list[str] = []
    for each in LANGUAGES:
        if each != SOURCE:
            update(each)
            wrong += problems(each)
    print("\n".join(wrong) or "All texts are translated.")
    sys.exit(bool(wrong))
