"""Questions whose exact place is known: headings and sentences of documentations and shared documents, and recordings.

    python -m benchmarks.corpora.place_questions PACKAGES DOCUMENTS     writes place_questions.jsonl beside this file

PACKAGES is a folder with the unpacked packages of `debian_documentations`, DOCUMENTS that of the shared data sets.
Half of the questions of a documentation are headings, without the titles of pages, that stand on one of its drawn pages
alone, as headings or in the text. The others, and all of proposals and PDFs, are runs of twelve words of a paragraph
whose words no other section, or page, of their document holds together. Questions of recordings are the words of a
clip; `place_recordings` knows the second at which it begins. These rules are decided from the sources alone, before
anything is searched, and by other means than those of the library: pages by `reference_page`, headings of Markdown by a
pattern, pages of PDFs by PDFium. Every other question of each source is kept apart, to be reported. The 30 questions
of PDFs are followed by 400 further ones, 200 of either part, each with a seed of its own.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Final, Literal

from benchmarks.corpora.debian_documentations import DOCUMENTATIONS, Documentation
from benchmarks.corpora.place_recordings import make_recordings
from benchmarks.corpora.reference_page import ReferencePage, letters, read_page, words

FILE: Final = Path(__file__).with_suffix(".jsonl")
_SEED, _WORDS, _PAGES = 16, 12, 40
_OF_A_DOCUMENTATION, _OF_PROPOSALS, _OF_PDFS, _OF_RECORDINGS = 50, 20, 30, 20
_PDFS: Final = ("documents/pdf/redp5110_sampled.pdf", "documents/pdf/multi_page.pdf")
_PLAIN_WORD: Final = re.compile(r"[A-Za-z]{2,}")

Kind = Literal["heading", "sentence", "speech"]
Part = Literal["work", "report"]
_SEEDS_OF_FURTHER_PAGES: Final[dict[Part, str]] = {"work": f"{_SEED} further", "report": f"{_SEED} pages"}
_OF_FURTHER_PAGES: Final = 200
"""In each part."""


@dataclass(frozen=True)
class PlaceQuestion:
    """A question, and the place that answers it."""

    source: str
    """Name of a documentation, `proposals`, `pdfs` or `recordings`."""
    path: str
    """Path of the document below the folder of its source."""
    kind: Kind
    text: str
    anchor: str | None
    """An id of the section, or the anchor that GitHub gives its heading."""
    page: int | None
    """Page of a PDF, from 1."""
    second: float | None
    """Time in a recording."""
    part: Part


def read_questions() -> list[PlaceQuestion]:
    """Return the committed questions."""
    return [PlaceQuestion(**json.loads(line)) for line in FILE.read_text(encoding="utf-8").splitlines()]


def reference(rules: Documentation, file: Path) -> ReferencePage:
    """Read a page of a documentation inside its container."""
    return read_page(
        file.read_bytes(), inside=rules.inside, without=rules.without, optional=rules.optional, notes=rules.notes
    )


def make_questions(packages: Path, shared: Path) -> Iterator[PlaceQuestion]:
    """Yield the questions of every source, drawn at random."""
    for rules in DOCUMENTATIONS:
        yield from _divided(_of_documentation(rules, packages / "usr/share/doc" / rules.folder), _OF_A_DOCUMENTATION)
    yield from _divided(_of_proposals(shared / "relations/eips"), _OF_PROPOSALS)
    yield from _divided(_of_pdfs(shared), _OF_PDFS)
    yield from _divided(_of_recordings(shared / "speech"), _OF_RECORDINGS)
    yield from _of_further_pages(shared)


_Made = tuple[str, str, str, Kind, str, str | None, int | None, float | None]


def _divided(made: Sequence[_Made], count: int) -> Iterator[PlaceQuestion]:
    """Draw questions, half of each kind where there are two, and keep every second one apart."""
    random = Random(_SEED)
    kinds = sorted({question[3] for question in made})
    for kind in kinds:
        of_kind = [question for question in made if question[3] == kind]
        for number, (source, _, path, _, text, anchor, page, second) in enumerate(
            random.sample(of_kind, min(count // len(kinds), len(of_kind)))
        ):
            part: Part = "report" if number % 2 else "work"
            yield PlaceQuestion(source, path, kind, text, anchor, page, second, part)


def _of_documentation(rules: Documentation, folder: Path) -> list[_Made]:
    random = Random(_SEED)
    files = sorted(file for file in folder.rglob("*.html") if not file.is_symlink())
    made: list[_Made] = []
    pages: list[str] = []
    for file in random.sample(files, len(files)):
        page = reference(rules, file)
        text = _Places(page)
        sections = [heading for heading in page.headings if heading.start in page.anchored]
        if len(sections) < 4:
            continue
        path = str(file.relative_to(folder))
        ends = [*(section.start for section in sections[1:]), len(page.letters)]
        parts = [text.between(section.start, end) for section, end in zip(sections, ends, strict=True)]
        held = [set(words(part)) for part in (*parts, text.between(0, sections[0].start))]
        for number, (heading, end) in enumerate(zip(sections, ends, strict=True)):
            anchor = next(name for name, place in page.ids.items() if heading.start <= place < heading.end)
            title = " ".join(text.between(heading.start, heading.end).split())
            if heading is not page.headings[0] and len(_PLAIN_WORD.findall(title)) >= 2 and len(title) < 80:
                made.append((rules.name, title, path, "heading", title, anchor, None, None))
            others = held[:number] + held[number + 1 :]
            if sentence := drawn_run(text.between(heading.end, end), random, others):
                made.append((rules.name, title, path, "sentence", sentence, anchor, None, None))
        pages.append(page.letters)
        if len(pages) == _PAGES:
            break
    return [each for each in made if each[3] == "sentence" or sum(letters(each[1]) in page for page in pages) == 1]


class _Places:
    """The text of a page by places, which count its letters and digits."""

    def __init__(self, page: ReferencePage) -> None:
        self._text = page.text
        self._characters = [number for number, letter in enumerate(page.text) if letter.isalnum()]

    def between(self, start: int, end: int) -> str:
        """Return the text between two places."""
        return self._text[self._characters[start] : self._characters[end - 1] + 1] if start < end else ""


def drawn_run(text: str, random: Random, others: Sequence[AbstractSet[str]]) -> str | None:
    """Return a run of words of one paragraph, with few signs in it; None where there is none.

    Args:
        text: text of a section or page.
        random: draws the run.
        others: words of each other section or page, none of which may hold all words of the run.
    """
    paragraphs = [paragraph.split() for paragraph in re.split(r"\n\s*\n", text)]
    runs = [part[start : start + _WORDS] for part in paragraphs for start in range(len(part) - _WORDS + 1)]
    if len(runs) < _WORDS:
        return None
    run = random.choice(runs)
    found = " ".join(run)
    is_plain = sum(bool(_PLAIN_WORD.fullmatch(word)) for word in run) >= _WORDS * 2 // 3
    is_alone = not any(other >= set(words(found)) for other in others)
    return found if is_plain and is_alone else None


def _of_proposals(folder: Path) -> list[_Made]:
    random = Random(_SEED)
    made: list[_Made] = []
    for file in random.sample(sorted(folder.glob("*.md")), _PAGES):
        text = file.read_text(encoding="utf-8")
        titles = re.findall(r"^##+ +(.+?) *$", text, re.MULTILINE)
        parts = re.split(r"^##+ +.+$", text, flags=re.MULTILINE)
        held = [set(words(part)) for part in parts]
        for number, (title, own) in enumerate(zip(titles, parts[1:], strict=True), 1):
            plain = re.fullmatch(r"[A-Za-z0-9 ]+", title) and titles.count(title) == 1
            level = len(re.search(rf"^(##+) +{re.escape(title)} *$", text, re.MULTILINE)[1])  # type: ignore[index]
            others = held[:number] + held[number + 1 :]
            if plain and level <= 3 and "```" not in own and (sentence := drawn_run(own, random, others)):
                anchor = title.lower().replace(" ", "-")
                made.append(("proposals", title, file.name, "sentence", sentence, anchor, None, None))
    return made


def _of_pdfs(shared: Path) -> list[_Made]:
    return [
        ("pdfs", path, path, "sentence", run, None, number, None)
        for path, number, runs in _runs_of_pages(shared, Random(_SEED), tries=8)
        for run in runs[:4]
    ]


def _of_further_pages(shared: Path) -> Iterator[PlaceQuestion]:
    """Yield more questions for pages of the same PDFs: thirty are too few to tell 99 percent from 97.

    Those of the work part have the seed by which 411 runs were drawn for an earlier figure, and whose wrong answers
    were looked at; those of the report part were drawn when that was done.
    """
    asked = {made[4] for made in _of_pdfs(shared)}
    for part, seed in _SEEDS_OF_FURTHER_PAGES.items():
        made = [
            PlaceQuestion("pdfs", path, "sentence", run, None, number, None, part)
            for path, number, runs in _runs_of_pages(shared, Random(seed), tries=30)
            for run in runs
            if run not in asked
        ]
        yield from Random(seed).sample(made, _OF_FURTHER_PAGES)
        asked.update(question.text for question in made)


def _runs_of_pages(shared: Path, random: Random, tries: int) -> Iterator[tuple[str, int, list[str]]]:
    """Yield the path of a PDF, the number of a page from 1, and runs of words of it, in alphabetical order."""
    import pypdfium2  # type: ignore[import-untyped] # has no stubs

    for path in _PDFS:
        with pypdfium2.PdfDocument(shared / path) as document:
            texts = [page.get_textpage().get_text_bounded() for page in document]
        held = [set(words(text)) for text in texts]
        for number, text in enumerate(texts, 1):
            middle = "\n".join(text.splitlines()[3:-3])  # heads and feet are on every page
            others = held[: number - 1] + held[number:]
            yield path, number, sorted({run for _ in range(tries) if (run := drawn_run(middle, random, others))})


def _of_recordings(clips: Path) -> list[_Made]:
    return [
        ("recordings", recording.name, recording.name, "speech", said, None, None, second)
        for recording in make_recordings(clips)
        for said, second in recording.spoken
    ]


def main(arguments: Sequence[str], write: Callable[[str], object] = print) -> None:
    """Write the questions."""
    packages, shared = map(Path, arguments)
    lines = [json.dumps(asdict(question), ensure_ascii=False) for question in make_questions(packages, shared)]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    write(f"{len(lines)} questions in {FILE}")


if __name__ == "__main__":
    main(sys.argv[1:])
