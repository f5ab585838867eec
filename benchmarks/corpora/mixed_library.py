"""Documents of an invented pump maker, and 200 mixed queries with judged answers.

    python -m benchmarks.corpora.mixed_library FOLDER     writes the documents, and mixed_queries.jsonl beside this file

Documents are made by a seeded generator from lists of words, but for those of `mixed_rules/`, which are written by
hand: manuals with error codes and spare parts, a parts catalogue and price lists as tables, service bulletins, pages of
an API, release notes, lists of staff, minutes of meetings, stock counts as CSV. As in a real company, a part number
stands in several documents, and most have near neighbours: other variants of a part, other products with the same code.

The answer of a query is the document that the generator made it from (grade 2); a document that holds the whole code or
name without being the answer has grade 1. Nothing is searched to make them. Every second query of a kind is kept apart,
to be reported.
"""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Final, Literal

from benchmarks.corpora.mixed_documents import MixedLibrary, make_library
from benchmarks.corpora.mixed_texts import PAIRS, QUESTIONS, RULES

FILE: Final = Path(__file__).with_name("mixed_queries.jsonl")
_SEED: Final = 34
COUNTS: Final = {
    "part number": 30,
    "error code": 24,
    "code": 30,
    "table": 24,
    "file name": 16,
    "quoted": 16,
    "name": 20,
    "meaning": 20,
    "several parts": 20,
}
"""Queries of each kind."""

Part = Literal["work", "report"]


@dataclass(frozen=True)
class MixedQuery:
    """A query with its judged answers."""

    kind: str
    text: str
    relevant: dict[str, int]
    """Grade by path of a document."""
    part: Part


def read_queries() -> list[MixedQuery]:
    """Return the committed queries."""
    return [MixedQuery(**json.loads(line)) for line in FILE.read_text(encoding="utf-8").splitlines()]


def make_queries(library: MixedLibrary) -> Iterator[MixedQuery]:
    """Yield the queries of every kind, drawn at random, every second one of a kind to be reported."""
    made = {
        "part number": _part_numbers,
        "error code": _error_codes,
        "code": _code,
        "table": _tables,
        "file name": _file_names,
        "quoted": _quoted,
        "name": _names,
        "meaning": _meaning,
        "several parts": _several_parts,
    }
    for kind, count in COUNTS.items():
        random = Random(f"{_SEED} {kind}")
        found = made[kind](library, random)
        for number, (text, answers, *tokens) in enumerate(random.sample(found, count)):
            holding = [path for token in tokens for path in _holding(library, token)]
            grades = dict.fromkeys(holding, 1) | dict.fromkeys(answers, 2)
            yield MixedQuery(kind, text, grades, "report" if number % 2 else "work")


_Made = tuple[str, tuple[str, ...], *tuple[str, ...]]
"""(text, paths of the answers, then codes and names: their other documents have grade 1)."""


def _holding(library: MixedLibrary, token: str) -> list[str]:
    whole = re.compile(rf"(?<![\w-]){re.escape(token)}(?![\w-])")
    return [path for path, text in library.documents.items() if whole.search(text)]


def _part_numbers(library: MixedLibrary, random: Random) -> list[_Made]:
    made: list[_Made] = []
    for part in library.parts:
        catalogue, price = part.catalogue, part.price_list
        made.append((part.number, (catalogue,), part.number))
        made.append((f"{part.number} {random.choice(['material', 'weight', 'drawing'])}", (catalogue,), part.number))
        made.append(
            (
                random.choice(["price of {}", "how much is {}?", "{} lead time"]).format(part.number),
                (price,),
                part.number,
            )
        )
    made += [
        (random.choice(["what replaces {}?", "{} superseded by", "successor of {}"]).format(old), (path,), old)
        for path, old in library.superseded.items()
    ]
    # as many of bulletins as of the catalogue, which has far more parts
    return random.sample(made[: -len(library.superseded)], 60) + made[-len(library.superseded) :][:20]


def _error_codes(library: MixedLibrary, random: Random) -> list[_Made]:
    made: list[_Made] = []
    for manual in library.manuals:
        for code in random.sample(sorted(manual.codes), 2):
            form = random.choice(
                ["{1} {0}", "{0} on {1}", "what does {0} mean on the {2}?", "{2} shows {0}", "error {0} {2}"]
            )
            made.append((form.format(code, manual.model, manual.name), (manual.path,)))
    made += [(f"bulletin {code} {model}", (path,)) for path, (code, model) in sorted(library.bulletin_codes.items())]
    return made


def _code(library: MixedLibrary, random: Random) -> list[_Made]:
    made: list[_Made] = []
    for name, path in library.functions.items():
        form = random.choice(["{}", "{}()", "{} arguments", "how do I use {}", "{} raises"])
        made.append((form.format(name), (path,), name))
    for key, path in library.settings.items():
        form = random.choice(["{}", "{} default", "what is {} for?"])
        made.append((form.format(key), (path,), key))
    return made


def _tables(library: MixedLibrary, random: Random) -> list[_Made]:
    made: list[_Made] = []
    for part in library.parts:
        form = random.choice(["{} {}", "weight of {} {}", "part number of {} in {}"])
        made.append((form.format(part.description, part.material), (part.catalogue,)))
    # a description that two parts share has two answers
    answers: dict[str, set[str]] = {}
    for part in library.parts:
        answers.setdefault(f"{part.description} {part.material}", set()).add(part.catalogue)
    unique = [
        each
        for each, part in zip(made, library.parts, strict=True)
        if len(answers[f"{part.description} {part.material}"]) == 1
    ]
    for manual in library.manuals:
        form = random.choice(["maximum head of the {}", "{} power consumption", "technical data {}"])
        unique.append((form.format(random.choice([manual.name, manual.model])), (manual.path,)))
    return random.sample(unique[: -len(library.manuals)], 40) + unique[-len(library.manuals) :]


def _file_names(library: MixedLibrary, random: Random) -> list[_Made]:
    made: list[_Made] = []
    for path in library.named_files:
        name = path.rpartition("/")[2]
        form = random.choice(["{}", "{}", "where is {}", "open {}"])
        made.append((form.format(name), (path,), name))
    return made


def _quoted(library: MixedLibrary, random: Random) -> list[_Made]:
    made: list[_Made] = []
    for name, text in RULES.items():
        words = re.findall(r"[\w'-]+[,.;:]?", text.partition("\n\n")[2])
        starts = [
            start for start in range(len(words) - 4) if not any(word[-1] in ",.;:" for word in words[start : start + 3])
        ]
        start = random.choice(starts)
        phrase = " ".join(words[start : start + 4]).rstrip(",.;:")
        made.append((f'"{phrase}"', (f"rules/{name}.md",)))
    for path, sentence in library.remarks.items():
        words = sentence.rstrip(".").split()
        phrase = " ".join(words[-4:])
        holding = [other for other, said in library.remarks.items() if said == sentence]
        made.append((f'"{phrase}" {random.choice(["bulletin", "service", "pump"])}', tuple(holding)))
        assert path in holding
    return random.sample(made[: len(RULES)], 12) + random.sample(made[len(RULES) :], 8)


def _names(library: MixedLibrary, random: Random) -> list[_Made]:
    made: list[_Made] = []
    extensions: list[_Made] = []
    for person in library.staff:
        family = person.name.split()[-1]
        is_only = sum(other.name.split()[-1] == family for other in library.staff) == 1
        forms = ["{0}", "{0} extension", "e-mail of {0}", "which room is {0} in?", "{0} phone"]
        made.append((random.choice(forms).format(person.name), (person.path,), person.name))
        if is_only:
            made.append((f"{family} {person.department}", (person.path,), person.name))
        extensions.append((f"who has extension {person.extension}?", (person.path,)))
    return made + random.sample(extensions, 30)


def _meaning(library: MixedLibrary, random: Random) -> list[_Made]:
    return [(question, (f"rules/{name}.md",)) for question, name in QUESTIONS.items()]


_Asked = tuple[str, str, *tuple[str, ...]]
"""(text, path of the answer, then codes and names)."""


def _several_parts(library: MixedLibrary, random: Random) -> list[_Made]:
    made: list[_Made] = [(text, (f"rules/{one}.md", f"rules/{two}.md")) for text, one, two in PAIRS]
    for manual, part, person in zip(
        random.sample(library.manuals, 10),
        random.sample(library.parts, 10),
        random.sample(library.staff, 10),
        strict=True,
    ):
        code = random.choice(sorted(manual.codes))
        code_asked: _Asked = (f"what does {code} mean on the {manual.name}", manual.path)
        part_asked: _Asked = (f"what is the price of {part.number}", part.price_list, part.number)
        person_asked: _Asked = (f"which room is {person.name} in", person.path, person.name)
        first, second = random.sample([code_asked, part_asked, person_asked], 2)
        link = random.choice([", and {}?", " and {}?", "? {}?", "; {}?"])
        asked = f"{first[0][0].upper()}{first[0][1:]}" + link.format(second[0])
        codes: tuple[str, ...] = (*first[2:], *second[2:])
        made.append((asked, (first[1], second[1]), *codes))
    return made


def main(folder: Path) -> None:
    """Write the documents and the queries."""
    library = make_library()
    library.write(folder)
    lines = [json.dumps(asdict(query), ensure_ascii=False) for query in make_queries(library)]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
