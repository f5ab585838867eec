"""Documents of an invented pump maker, made by a seeded generator."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from random import Random

from benchmarks.corpora import mixed_words as words
from benchmarks.corpora.mixed_texts import RULES

_SEED = 34
_MODIFIED = 1_750_000_000
_PARTS_OF_A_KIND = 48
_BULLETINS = 60
_MINUTES = 40
_STAFF = 120


@dataclass(frozen=True)
class SparePart:
    """A part that can be ordered."""

    number: str
    description: str
    material: str
    catalogue: str
    """Path of its page in the catalogue."""
    price_list: str


@dataclass(frozen=True)
class Manual:
    """Operating manual of a product."""

    path: str
    name: str
    model: str
    codes: dict[str, tuple[str, str]]
    """(meaning, remedy) by error code."""


@dataclass(frozen=True)
class Person:
    """A member of the staff."""

    name: str
    department: str
    role: str
    extension: int
    path: str
    """Path of the list that has the person."""


@dataclass
class MixedLibrary:
    """Documents by path, and where each fact stands."""

    documents: dict[str, str] = field(default_factory=dict)
    parts: list[SparePart] = field(default_factory=list)
    manuals: list[Manual] = field(default_factory=list)
    superseded: dict[str, str] = field(default_factory=dict)
    """Replaced part number by path of the bulletin that says so."""
    bulletin_codes: dict[str, tuple[str, str]] = field(default_factory=dict)
    """(error code, model) by path of the bulletin."""
    remarks: dict[str, str] = field(default_factory=dict)
    """Closing sentence by path of the bulletin."""
    functions: dict[str, str] = field(default_factory=dict)
    """Path of the page by name of the function that it defines."""
    settings: dict[str, str] = field(default_factory=dict)
    named_files: list[str] = field(default_factory=list)
    """Paths of files that are asked for by their names."""
    staff: list[Person] = field(default_factory=list)

    def write(self, folder: Path) -> None:
        """Write each document."""
        for path, text in self.documents.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            os.utime(file, (_MODIFIED, _MODIFIED))


def make_library() -> MixedLibrary:
    """Return the library; it is the same each time."""
    library = MixedLibrary({f"rules/{name}.md": text for name, text in RULES.items()})
    for make in (_catalogue, _manuals, _bulletins, _api, _release_notes, _staff, _forms, _minutes):
        make(library, Random(f"{_SEED} {make.__name__}"))
    return library


def _table(heads: str, rows: Sequence[Sequence[object]]) -> str:
    columns = heads.split(", ")
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


def _catalogue(library: MixedLibrary, random: Random) -> None:
    """Add catalogue pages and price lists; numbers of neighbouring parts differ in a digit or in the last letter."""
    for number, kind in enumerate(words.KINDS):
        parts = []
        for place in range(_PARTS_OF_A_KIND):
            code = f"HV-{4400 + number * 3 + place // 16}-{11 + place // 3 % 6}{'ABC'[place % 3]}"
            size = random.choice([16, 20, 22, 28, 32, 40, 50, 65])
            page = f"{kind.replace(' ', '-')}-{place // 16 + 1}.md"
            described = f"{random.choice(words.FEATURES)} {kind} {size} mm"
            part = SparePart(
                code, described, random.choice(words.MATERIALS), f"catalogue/{page}", f"prices/2024-{page}"
            )
            parts.append(part)
        library.parts += parts
        for page_number in range(1, 4):
            page_parts = parts[page_number * 16 - 16 : page_number * 16]
            rows = [
                (part.number, part.description, part.material, f"{random.randint(2, 90) / 10} kg")
                for part in page_parts
            ]
            title = f"{kind.capitalize()}s, sheet {page_number}"
            table = _table("part number, description, material, weight", rows)
            text = f"# Parts catalogue: {title}\n\nDrawings on request.\n\n{table}\n"
            library.documents[page_parts[0].catalogue] = text
            for year in (2023, 2024):
                costs = [
                    (part.number, f"{random.randint(900, 48000) / 100:.2f}", f"{random.randint(2, 40)} days")
                    for part in page_parts
                ]
                path = f"prices/{year}-{page_parts[0].catalogue.rpartition('/')[2]}"
                validity = ", no longer valid" if year == 2023 else ""
                library.documents[path] = (
                    f"# Price list {year}: {title}\n\nPrices per piece in euros, without tax{validity}.\n\n"
                    f"{_table('part number, price, lead time', costs)}\n"
                )


def _manuals(library: MixedLibrary, random: Random) -> None:
    """Add a manual for each product; a family shares its codes' meanings, other families give them others."""
    for family in words.FAMILIES:
        numbers = random.sample(range(101, 131), len(words.MEANINGS))
        meanings = dict(
            zip(
                (f"E{number}" for number in sorted(numbers)),
                random.sample(words.MEANINGS, len(words.MEANINGS)),
                strict=True,
            )
        )
        for size in words.SIZES:
            name, model = f"{family} {size}", f"{family[:3].upper()}-{size}"
            codes = {code: meanings[code] for code in sorted(random.sample(sorted(meanings), 10))}
            path = f"manuals/{family.lower()}-{size}.md"
            spare = random.sample(library.parts, 6)
            library.manuals.append(Manual(path, name, model, codes))
            degrees = random.randint(50, 95)
            library.documents[path] = "\n\n".join([
                f"# Operating manual {name} ({model})",
                f"The {name} moves clean water of up to {degrees} degrees. Keep this manual beside the machine.",
                "## Technical data",
                _table("quantity, value", [
                    ("maximum head", f"{random.randint(12, 98)} m"), ("flow", f"{size * 2} m³/h"),
                    ("power consumption", f"{random.randint(11, 220) / 10} kW"),
                    ("speed", f"{random.choice([1450, 2900])} rpm"),
                ]),
                "## Error codes",
                _table("code, meaning, remedy", [(code, *said) for code, said in codes.items()]),
                "## Maintenance",
                f"Grease the bearings every {random.randint(3, 9) * 500} hours and look for drips each week.",
                "## Spare parts",
                _table("part number, description", [(part.number, part.description) for part in spare]),
            ]) + "\n"  # fmt: skip


def _bulletins(library: MixedLibrary, random: Random) -> None:
    old_parts = random.sample(library.parts, _BULLETINS // 2)
    for number in range(1, _BULLETINS + 1):
        path = f"bulletins/SB-{2022 + number // 25}-{number:03}.md"
        manual, remark = random.choice(library.manuals), random.choice(words.REMARKS)
        library.remarks[path] = remark
        if number % 2:
            old, new = old_parts[number // 2].number, random.choice(library.parts).number
            library.superseded[path] = old
            body = (
                f"From now on {new} is supplied in place of {old}, which is no longer made. It fits the {manual.name}."
            )
        else:
            code = random.choice(sorted(manual.codes))
            library.bulletin_codes[path] = (code, manual.model)
            part = random.choice(library.parts).number
            body = (
                f"Some {manual.model} show {code} although nothing is wrong ({manual.codes[code][0]}). Exchange {part}."
            )
        library.documents[path] = f"# Service bulletin {number:03}\n\n{body} {remark}\n"


def _api(library: MixedLibrary, random: Random) -> None:
    """Add pages of the API; their examples use functions of other pages."""
    names = [f"{verb}_{noun}" for verb, noun in product(words.VERBS, words.NOUNS)]
    extended = [f"{name}_{noun}" for name in names for noun in ("all", "raw", "now")]
    drawn = random.sample(names + extended, 160)
    for place, (module, page) in enumerate(product(words.MODULES, words.PAGES)):
        path = f"api/{module}.{page}.md"
        own = drawn[place * 4 : place * 4 + 4]
        library.functions |= dict.fromkeys(own, path)
        parts = [f"# {module}.{page}", f"Functions of the {page} of {module}."]
        for name in own:
            kind, error = random.choice(words.TYPES), random.choice(words.EXCEPTIONS)
            argument, wait = random.choice(words.NOUNS), random.randint(1, 30)
            returned = random.choice(words.TYPES)
            parts += [
                f"## {name}",
                f"```python\n{name}(channel: int, {argument}: {kind}, *, timeout: float = {wait}) -> {returned}\n```",
                f"Raises `{error}` where the {random.choice(words.NOUNS)} is out of range.",
            ]
        setting = f"{module}.{page}.{random.choice(words.SETTINGS)}"
        library.settings[setting] = path
        other = random.choice(drawn)
        parts += [
            f"## Settings\n\n`{setting}` is {random.randint(2, 500)} by default.",
            f"## Example\n\n```python\nvalue = {own[0]}(3, {random.randint(1, 99)})\n{other}(3, value)\n```",
        ]
        library.documents[path] = "\n\n".join(parts) + "\n"


def _release_notes(library: MixedLibrary, random: Random) -> None:
    functions, settings = list(library.functions), list(library.settings)
    for number in range(20):
        lines = [f"- `{random.choice(functions)}` {random.choice(words.CHANGES)}." for _ in range(5)]
        lines.append(f"- `{random.choice(settings)}` is read again after a restart.")
        version = f"{3 + number // 8}.{number % 8}"
        library.documents[f"releases/{version}.md"] = f"# Release {version}\n\n" + "\n".join(lines) + "\n"


def _staff(library: MixedLibrary, random: Random) -> None:
    names = random.sample([f"{given} {family}" for given, family in product(words.GIVEN, words.FAMILY_NAMES)], _STAFF)
    extensions = random.sample(range(4100, 4900), _STAFF)
    for place, name in enumerate(names):
        department = words.DEPARTMENTS[place % len(words.DEPARTMENTS)]
        path = f"staff/{department.lower().replace(' ', '-')}.md"
        library.staff.append(Person(name, department, random.choice(words.ROLES), extensions[place], path))
    for department in words.DEPARTMENTS:
        people = [person for person in library.staff if person.department == department]
        rows = [
            (person.name, person.role, f"{random.choice('ABCD')}{random.randint(100, 399)}", person.extension,
             f"{person.name.lower().replace(' ', '.')}@halvard.example")
            for person in people
        ]  # fmt: skip
        library.documents[people[0].path] = (
            f"# Staff: {department}\n\n{_table('name, role, room, extension, e-mail', rows)}\n"
        )


def _forms(library: MixedLibrary, random: Random) -> None:
    """Add forms, and stock counts as CSV, whose names people know."""
    for name, title, text in words.FORMS:
        library.named_files.append(f"forms/{name}")
        library.documents[f"forms/{name}"] = f"# {title}\n\n{text}\n"
    for town, month in product(words.TOWNS, ("2024-03", "2024-06")):
        path = f"stock/stock_{month}_{town}.csv"
        library.named_files.append(path)
        rows = [f"{part.number},{part.description},{random.randint(0, 60)}" for part in random.sample(library.parts, 8)]
        library.documents[path] = "\n".join(["part number,description,pieces", *rows]) + "\n"


def _minutes(library: MixedLibrary, random: Random) -> None:
    for number in range(_MINUTES):
        present = random.sample(library.staff, 4)
        said = random.sample(words.TOPICS, 3)
        file = random.choice(library.named_files).rpartition("/")[2]
        who = ", ".join(person.name for person in present)
        text = " ".join(f"{person.name} reported that {topic}." for person, topic in zip(present, said, strict=False))
        date = f"2024-{1 + number // 4:02}-{3 + number % 4 * 7:02}"
        library.documents[f"minutes/{date}.md"] = (
            f"# Minutes of {date}\n\nPresent: {who}.\n\n{text} The figures are in `{file}`.\n"
        )
