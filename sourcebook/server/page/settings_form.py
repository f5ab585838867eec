"""Settings of a collection as the fields of a form, and the fields of a form as settings.

A field has the name of its setting: `sites.0.url` is `url` of the first site. The form shows what people set most;
other settings of a source stay as they are, and all other settings of the collection are a text in YAML.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from sourcebook.config.yaml_file import parsed_configuration_text
from sourcebook.errors import ConfigurationError, SettingsError
from sourcebook.server.page.audience_field import read_audience, shown_audience

Kind = Literal["text", "number", "words", "lines", "names", "tick", "audience"]
MOST_ROWS: Final = 20
"""Sources that a form has fields for; a kind of which there are more has them in the YAML."""
OTHER: Final = "other"
"""Name of the field with the settings that have none of their own."""


class FormField(NamedTuple):
    """One field of a form."""

    name: str
    label: str
    kind: Kind = "text"
    hint: str = ""


_ALLOWED: Final = FormField("allowed", "Seen by", "audience", "hr/**: group:hr\n**: everyone")
_DENIED: Final = FormField("denied", "Never seen by", "words", "user:eve@example.org")
SOURCES: Final[dict[str, tuple[FormField, ...]]] = {
    "files": (
        FormField("root", "Folder", hint="/srv/handbook"),
        FormField("tags", "Tags", "words", "with commas between"),
        FormField("include", "Only files like", "lines", "**/*.md"),
        FormField("exclude", "No files like", "lines", "drafts/**"),
        _ALLOWED,
        _DENIED,
    ),
    "sites": (
        FormField("url", "Address", hint="https://docs.example.com/"),
        FormField("tags", "Tags", "words", "with commas between"),
        FormField("max_pages", "Pages at most", "number", "1000"),
        FormField("max_depth", "Links deep", "number", "3"),
        FormField("refresh", "Look again after", hint="1d"),
        FormField("include", "Only paths like", "lines", "/docs/**"),
        FormField("exclude", "No paths like", "lines", "/archive/**"),
        _ALLOWED,
        _DENIED,
    ),
    "repositories": (
        FormField("url", "Address", hint="https://github.com/org/handbook.git"),
        FormField("revision", "Branch or tag", hint="that of the repository"),
        FormField("path", "Folder in it", hint="docs"),
        FormField("tags", "Tags", "words", "with commas between"),
        FormField("include", "Only files like", "lines", "**/*.md"),
        FormField("exclude", "No files like", "lines", "drafts/**"),
        _ALLOWED,
        _DENIED,
    ),
    "records": (
        FormField("name", "Identifier", hint="tickets"),
        FormField("key", "Field with the key", hint="id"),
        FormField("table.url", "Database", hint="${NOTES_DATABASE_URL}"),
        FormField("table.name", "Table", hint="notes"),
        # SQL here: what a person may write.
        FormField("table.query", "Query, in place of a table", hint="SELECT id, body FROM notes"),
        FormField("pushed", "Handed over by programs of yours, in place of a table", "tick"),
        FormField("title", "Field with the title", hint="heading"),
        FormField("text", "Field with the text", hint="body"),
        FormField("template", "Template, in place of a field", "text", "{{ body }}"),
        FormField("url", "Field with the link", hint="link"),
        FormField("updated", "Field that rises with each change", hint="changed"),
        FormField("metadata", "Fields that filters compare", "names", "status, author"),
        FormField("tags", "Tags", "words", "with commas between"),
        FormField("refresh", "Look again after", hint="5m"),
        FormField("allowed", "Seen by, or the field that says it", "audience", "group:board"),
        _DENIED,
    ),
    "from": (
        FormField("collection", "Collection"),
        FormField("tags", "With one of these tags", "words", "any document"),
        FormField("tags_all", "With all of these tags", "words"),
    ),
}
"""Fields of each kind of source; the first one names it, and a row without it is none."""
TITLES: Final = {
    "files": "Folders",
    "sites": "Web sites",
    "repositories": "Git repositories",
    "records": "Records of tables",
    "from": "Documents of other collections",
}
SINGLE: Final[dict[str, FormField]] = {
    "description": FormField("description", "Description", hint="what is in it, by which agents choose"),
    "allowed": _ALLOWED,
    "denied": _DENIED,
    "embedding.model": FormField("embedding.model", "Embedding model"),
    "chunking.tokens": FormField("chunking.tokens", "Tokens of a passage", "number", "256"),
    "chunking.overlap": FormField("chunking.overlap", "Tokens that overlap", "number", "0"),
    "search.limit": FormField("search.limit", "Results, at most", "number", "5"),
    "search.neighbours": FormField("search.neighbours", "Passages before and after each", "number", "0"),
    "search.min_relevance": FormField("search.min_relevance", "Least relevance", "number", "0.2"),
}
"""Fields of the collection itself, by the path of their setting."""
_UNPLACED: Final = {"the settings: ": OTHER, "a collection's name is ": "name"}
"""Fields of the sentences that begin without the place of a setting."""
_PLACE: Final = re.compile(r"^([a-z_]+(?:\[(?:\d+|…)\]|\.[a-z_]+)*): ")


@dataclass(frozen=True, slots=True)
class Written:
    """Settings that a form sent, and where each row of the form stands in them."""

    settings: dict[str, Any]
    rows: dict[str, list[int]] = field(default_factory=dict)
    """Numbers of the rows of the form by the places of their sources, by kind."""


def form_values(settings: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, int]]:
    """Return what the fields show of settings, and the number of rows of each kind."""
    values: dict[str, str] = {}
    counts: dict[str, int] = {}
    rest = dict(settings)
    for path in SINGLE:
        section, _, key = path.partition(".")
        held = rest.get(section)
        if key and isinstance(held, Mapping) and key in held:
            values[path] = str(held[key])
            left = {name: value for name, value in held.items() if name != key}
            rest = {name: value for name, value in rest.items() if name != section} | ({section: left} if left else {})
        elif not key and held is not None:
            values[path] = _shown(SINGLE[path], rest.pop(section))
    for kind, fields in SOURCES.items():
        listed = _entries(rest.get(kind))
        if listed is None or sum(counts.values()) + len(listed) > MOST_ROWS:
            continue
        rest.pop(kind, None)
        counts[kind] = len(listed)
        for at, entry in enumerate(listed):
            values |= {f"{kind}.{at}.{each.name}": _shown(each, _held(entry, each.name)) for each in fields}
    values[OTHER] = as_yaml(rest) if rest else ""
    return values, counts


def written_settings(fields: Mapping[str, str], before: Mapping[str, Any]) -> Written:
    """Return the settings that the fields of a form say.

    Args:
        fields: values by name.
        before: the settings that the form was made from: what it has no field for stays.

    Raises:
        SettingsError: the YAML is none, or sets what has a field.
    """
    settings, rows = _others(fields.get(OTHER, "")), dict[str, list[int]]()
    taken = {name for name in settings if name in SOURCES or name in SINGLE}
    taken &= {name.partition(".")[0] for name, value in fields.items() if value.strip()}
    if taken:
        raise SettingsError(f"{OTHER}: {min(taken)} has fields of its own above: set it in one place")
    for path, each in SINGLE.items():
        value = _read(each, fields.get(path, ""))
        if value is not None:
            _set(settings, path, value)
    for kind, shown in SOURCES.items():
        if kind not in settings:
            entries, rows[kind] = _sources(kind, shown, fields, _entries(before.get(kind)) or [])
            settings |= {kind: entries} if entries else {}
    return Written(settings, rows)


def _set(settings: dict[str, Any], path: str, value: Any) -> None:
    """Set the value of a path of one or two names."""
    section, _, key = path.partition(".")
    if not key:
        settings[section] = value
        return
    held = settings.get(section)
    if held is not None and (not isinstance(held, dict) or key in held):
        raise SettingsError(f"{OTHER}: {path} has a field of its own above: set it in one place")
    settings[section] = {**(held or {}), key: value}


def _sources(
    kind: str, shown: tuple[FormField, ...], fields: Mapping[str, str], known: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the sources of a kind that fields say, and the row of each; a row that is empty but known is none."""
    entries, rows = [], []
    for at in range(MOST_ROWS + 1):
        sent = {each.name: _read(each, fields.get(f"{kind}.{at}.{each.name}", "")) for each in shown}
        written: dict[str, Any] = {}
        for name, value in sent.items():
            if value is not None:
                _set(written, name, value)
        if shown[0].name not in written and (at < len(known) or not written):
            continue
        kept = _without(known[at], sent) if at < len(known) else {}
        entries.append({**kept, **written, **{name: {**kept[name], **written[name]} for name in _both(kept, written)}})
        rows.append(at)
    return entries, rows


def _held(entry: Mapping[str, Any], path: str) -> Any:
    """Return the value of a path of one or two names."""
    section, _, key = path.partition(".")
    held = entry.get(section)
    return held if not key else held.get(key) if isinstance(held, Mapping) else None


def _without(entry: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """Return what a source has beside the values of some paths."""
    left = dict(entry)
    for path in paths:
        section, _, key = path.partition(".")
        held = left.pop(section, None)
        if key and isinstance(held, Mapping) and (rest := {name: each for name, each in held.items() if name != key}):
            left[section] = rest
    return left


def _both(*entries: Mapping[str, Any]) -> list[str]:
    """Return the sections that two sources have."""
    first, second = entries
    return [name for name in first.keys() & second.keys() if isinstance(first[name], Mapping)]


def problems_by_field(problems: Iterable[str], rows: Mapping[str, list[int]]) -> dict[str, list[str]]:
    """Return sentences about settings by the name of the field beside which they are said; "" for none."""
    found: dict[str, list[str]] = {}
    for problem in problems:
        place = _PLACE.match(problem)
        unplaced = next((field for start, field in _UNPLACED.items() if problem.startswith(start)), "")
        name = unplaced if place is None else _field_of(place[1], rows)
        is_said = place is not None and (name != OTHER or place[1] == OTHER) and name != ""
        found.setdefault(name, []).append(problem[place.end() :] if place and is_said else problem)
    return found


def as_yaml(value: Any) -> str:
    """Return values as YAML, in their order."""
    from ruamel.yaml import YAML

    written, text = YAML(), StringIO()
    written.indent(mapping=2, sequence=4, offset=2)
    written.width = 120
    written.dump(value, text)
    return text.getvalue()


def _field_of(place: str, rows: Mapping[str, list[int]]) -> str:
    """Return the name of the field of a setting such as `files[0].include[1]`; that of all others where it has none."""
    steps: list[str] = re.findall(r"[a-z_]+|\d+", place)
    kind = steps[0]
    for path in (".".join(steps[:2]), kind):
        if path in SINGLE:
            return path
    if kind in SOURCES and kind in rows:
        at = int(steps[1]) if len(steps) > 1 and steps[1].isdigit() else None
        known = [each.name for each in SOURCES[kind]]
        if at is None or at >= len(rows[kind]):
            return kind
        exact = ".".join(steps[2:4])
        # What is said of `table` stands beside `table.url`.
        within = [each for each in known if each.partition(".")[0] in steps[2:3]]
        name = exact if exact in known else [*within, known[0]][0]
        return f"{kind}.{rows[kind][at]}.{name}"
    return kind if kind in {"embedding", "chunking", "name"} else OTHER


def _others(text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        content = parsed_configuration_text(text, Path("Other settings")).content
    except ConfigurationError as error:
        raise SettingsError(f"{OTHER}: {error}") from None
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise SettingsError(f"{OTHER}: write settings as `name: value`, each on a line of its own")
    return content


def _entries(held: Any) -> list[dict[str, Any]] | None:
    """Return sources as mappings; None where they are written as something else."""
    listed = [held] if isinstance(held, Mapping) else [] if held is None else held
    if not isinstance(listed, list | tuple) or not all(isinstance(each, Mapping) for each in listed):
        return None
    return [dict(each) for each in listed]


def _shown(each: FormField, value: Any) -> str:
    if value is None:
        return ""
    if each.kind == "tick":
        return "true" if value else ""
    if each.kind == "audience":
        return shown_audience(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={held}" for name, held in value.items())
    if isinstance(value, list | tuple):
        parts = [str(part) for part in value]
        return ", ".join(parts) if each.kind in {"words", "names"} else "\n".join(parts)
    return str(value)


def _read(each: FormField, text: str) -> Any:
    """Return the value of a field, None where it is empty; what is no number stays a text, which is refused later."""
    text = text.strip()
    if not text:
        return None
    match each.kind:
        case "number":
            if re.fullmatch(r"\d{1,9}\.\d{1,9}", text):
                return float(text)
            return int(text) if re.fullmatch(r"\d{1,18}", text) else text
        case "tick":
            return True
        case "audience":
            return read_audience(text)
        case "names" if "=" in text:
            return {name.strip(): held.strip() for name, _, held in (part.partition("=") for part in _words(text))}
        case "words" | "names":
            return _words(text)
        case "lines":
            return [part.strip() for part in text.splitlines() if part.strip()]
        case _:
            return text


def _words(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
