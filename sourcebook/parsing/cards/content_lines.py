"""Content lines of iCalendar (RFC 5545) and vCard (RFC 6350): folded lines with a name, parameters and a value."""

import re
from binascii import a2b_qp
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sourcebook.parsing.text.decode import DecodedText, decode

_FOLD_IN_LETTER = re.compile(rb"(?<=[\x80-\xff])\r?\n[ \t](?=[\x80-\xbf])")
_FOLD = re.compile(r"\n[ \t]")
_SOFT_BREAK = re.compile(r"^([^:\n]*;ENCODING=QUOTED-PRINTABLE[^:\n]*:(?:[^\n]*=\n)+)", re.IGNORECASE | re.MULTILINE)
"""Value of vCard 2.1 that goes on in the next line."""
_LINE = re.compile(r'(?:[\w-]+\.)?([A-Za-z0-9-]+)((?:;(?:[^":;\n]|"[^"\n]*")*)*):([^\n]*)')
_BOUND = re.compile(r"(?:BEGIN|END):", re.IGNORECASE)
_PARAMETER = re.compile(r';([\w-]+)(?:=((?:[^";\n]|"[^"\n]*")*))?')
_ESCAPE = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Property:
    """A property of an event or a contact."""

    name: str
    """In upper case."""
    parameters: dict[str, str]
    """By their names in upper case; several values are joined by commas."""
    raw: str

    @property
    def text(self) -> str:
        """The value without its escapes."""
        return _unescaped(self.raw).strip()

    def parts(self, separator: str) -> list[str]:
        """Return the parts of a value between separators that are not escaped, without their escapes."""
        return [_unescaped(part).strip() for part in re.findall(rf"(?:\\.|[^\\{separator}])+", self.raw)]


@dataclass(slots=True)
class Component:
    """A calendar, an event or a contact with its properties."""

    kind: str
    """In upper case, such as VEVENT."""
    properties: list[Property] = field(default_factory=list)

    def first(self, name: str) -> Property | None:
        """Return the first property of a name that has a value."""
        return next((found for found in self.properties if found.name == name and found.raw.strip()), None)


def decoded_lines(content: bytes) -> DecodedText:
    """Decode the lines; programs fold them also between the bytes of a letter."""
    return decode(_FOLD_IN_LETTER.sub(b"", content))


def components(text: str) -> list[Component]:
    """Return the components in the order of their begin; an end that is missing ends with the text."""
    found: list[Component] = []
    open_ones: list[Component] = []
    for line in _lines(text):
        if line.name == "BEGIN":
            found.append(Component(line.raw.strip().upper()))
            open_ones.append(found[-1])
        elif line.name == "END":
            if open_ones:
                open_ones.pop()
        elif open_ones:
            open_ones[-1].properties.append(line)
    return found


def shown_lines(component: Component, labels: dict[str, str]) -> Sequence[str]:
    """Return a line for each property with a label, in the order of the labels: `Where: Lock 7`."""
    lines = []
    for name, label in labels.items():
        values = [" ".join(found.text.split()) for found in component.properties if found.name == name]
        if shown := ", ".join(dict.fromkeys(value for value in values if value)):
            lines.append(f"{label}: {shown}")
    return lines


def _lines(text: str) -> Iterator[Property]:
    text = _SOFT_BREAK.sub(lambda found: found[1].replace("=\n", ""), text)
    joined = [["BEGIN:"]]  # a line that is no property goes on with the one before, whose fold was not marked
    for line in map(str.strip, _FOLD.sub("", text).split("\n")):
        if _LINE.fullmatch(line):
            joined.append([line])
        elif line and not _BOUND.match(joined[-1][0]):
            joined[-1].append(line)
    for first, *more in joined[1:]:
        if matched := _LINE.fullmatch(first):
            parameters = {name.upper(): value.strip('"') for name, value in _PARAMETER.findall(matched[2])}
            yield Property(matched[1].upper(), parameters, _decoded("\n".join([matched[3], *more]), parameters))


def _decoded(value: str, parameters: dict[str, str]) -> str:
    """Return a value of vCard 2.1 without its quoted-printable encoding."""
    if "QUOTED-PRINTABLE" not in {parameters.get("ENCODING", "").upper(), *map(str.upper, parameters)}:
        return value
    raw = a2b_qp(value.encode("utf-8", "replace"))
    try:
        return raw.decode(parameters.get("CHARSET") or "utf-8")
    except (UnicodeDecodeError, LookupError):
        return raw.decode("latin-1")


def _unescaped(value: str) -> str:
    return _ESCAPE.sub(lambda found: "\n" if found[1] in "nN" else found[1], value)
