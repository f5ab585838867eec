"""Small judged sets of many kinds, by which the fusion of both legs is measured: made from what a Debian machine has.

Besides the shared sets (science, encyclopaedia in four languages, questions and answers): questions of FAQs and
headings of documentation with their sections, descriptions of manual pages with their pages, docstrings with their
functions, messages with their translations. What a document is asked for with is left out of it.
"""

import ast
import gettext
import gzip
import html
import re
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final

from benchmarks.corpora.judged_sets import RetrievalSet, read_retrieval_sets

PACKAGES: Final = (
    *("debian-faq", "debian-faq-de", "debian-faq-fr", "debian-faq-it", "debian-faq-ru"),
    *("python3.11-doc", "python-django-doc", "postgresql-doc-15", "git-doc", "sqlite3-doc"),
)
"""Packages of Debian 12 whose files are read, unpacked into one folder."""
REPORTED: Final = frozenset(
    {"code-packages", "covidfaq-en", "docs-postgresql", "faq-debian-it", "faq-debian-ru", "man-fr", "trecqa"}
)
"""Sets that nothing was chosen by."""
LONG: Final = ("covidqa",)
"""Shared sets whose documents are too long for a small set."""
DOCUMENTS: Final = 300
"""Documents of a set, at most, unless more are relevant to its questions."""
QUESTIONS: Final = 150
_LONGEST: Final = 1_500
"""Characters of a document that is made."""
_SEED: Final = 44
_FAQS: Final = "usr/share/doc/debian/FAQ"
_HEADING: Final = re.compile(r"<h([1-6])\b[^>]*>(.*?)</h\1>", re.DOTALL | re.IGNORECASE)
_CONTENTS: Final = re.compile(r'<div class="toc">.*?</dl>\s*</div>', re.DOTALL)
"""Tables of contents, which hold the questions and do not answer them."""
_TAG: Final = re.compile(r"<(script|style|head|nav)\b.*?</\1>|<[^>]+>", re.DOTALL | re.IGNORECASE)
_NUMBER: Final = re.compile(r"^(?:(?:Chapter|Kapitel|Chapitre|Capitolo|Глава)\W+)?[\d.]+\s*")
_ROFF: Final = re.compile(r"\\f\(..|\\f.|\\&|\\[%|/,]|\\s[-+]?\d+")
_ROFF_SIGNS: Final = {
    **{rf"\(:{letter}": f"{letter}\u0308" for letter in "aouAOUei"},
    **{rf"\('{letter}": f"{letter}\u0301" for letter in "aeiouE"},
    **{rf"\(`{letter}": f"{letter}\u0300" for letter in "aeuA"},
    **{rf"\(^{letter}": f"{letter}\u0302" for letter in "aeiou"},
    r"\(ss": "ß",
    r"\(,c": "ç",
    r"\(aq": "'",
    r"\(en": "–",
    r"\(em": "—",
    r"\(bu": "•",
    r"\-": "-",
    r"\e": "\\",
    r"\(cq": "’",
    r"\(oq": "‘",
    r"\(lq": "“",
    r"\(rq": "”",
    r"\(dq": '"',
    r"\(Fo": "«",
    r"\(Fc": "»",
    r"\ ": " ",
}

Pairs = Iterable[tuple[str, str]]
"""Questions with the documents that answer them."""


def read_fusion_sets(shared: Path | None, unpacked: Path | None) -> dict[str, RetrievalSet]:
    """Return the sets by name.

    Args:
        shared: folder of the shared judged sets.
        unpacked: folder into which `PACKAGES` are unpacked.
    """
    sets = read_retrieval_sets(shared) if shared else {}
    python = Path(sysconfig.get_path("stdlib"))
    made: dict[str, Pairs] = {
        "code-stdlib": _functions(sorted(python.glob("*.py"))),
        "code-packages": _functions(sorted(Path(sysconfig.get_path("purelib")).glob("[a-z]*/[a-z]*.py"))),
        "messages-de": _messages("de"),
        **{f"man-{language}": _manual_pages(language) for language in ("en", "de", "fr")},
    }
    if unpacked:
        docs = unpacked / "usr/share/doc"
        debian = {language: _debian_faq(unpacked / _FAQS, language) for language in ("en", "de", "fr", "it", "ru")}
        others = [*docs.glob("python3.11/html/faq/*.html"), docs / "git-doc/gitfaq.html", docs / "sqlite3/faq.html"]
        made |= {
            **{f"faq-debian-{language}": each.values() for language, each in debian.items()},
            "faq-german-english": [
                (question, debian["en"][key][1]) for key, (question, _) in debian["de"].items() if key in debian["en"]
            ],
            "faq-programs": _sections(sorted(others), asks=True),
            "docs-django": _sections(sorted(docs.glob("python-django-doc/html/topics/**/*.html"))),
            "docs-postgresql": _sections(sorted(docs.glob("postgresql-doc-15/html/*.html"))),
        }
    sets |= {name: _set_of(pairs) for name, pairs in made.items()}
    return {name: _sampled(each) for name, each in sets.items()}


def _set_of(pairs: Pairs) -> RetrievalSet:
    """Return a set of pairs; a question that is asked twice, and a document that answers two, count once."""
    once = {" ".join(document.split()): (question, document) for question, document in pairs}
    by_question = {" ".join(question.split()): document for question, document in once.values()}
    texts = [(question, document.strip()) for question, document in sorted(by_question.items()) if document.strip()]
    documents = {f"{number:05}": ("", document[:_LONGEST]) for number, (_, document) in enumerate(texts)}
    questions = {f"q{number:05}": question for number, (question, _) in enumerate(texts)}
    return RetrievalSet(documents, questions, {question: {question[1:]: 1} for question in questions})


def _sampled(known: RetrievalSet) -> RetrievalSet:
    """Return a part of a set: some questions, what is relevant to them, and other documents."""
    random = Random(_SEED)
    questions = random.sample(sorted(known.questions), min(QUESTIONS, len(known.questions)))
    wanted = {document for question in questions for document in known.relevant[question]}
    others = random.sample(sorted(known.documents.keys() - wanted), len(known.documents) - len(wanted))
    kept = sorted({*wanted, *others[: max(DOCUMENTS - len(wanted), 0)]})
    return replace(
        known,
        documents={each: known.documents[each] for each in kept},
        questions={each: known.questions[each] for each in questions},
        relevant={each: known.relevant[each] for each in questions},
    )


def _debian_faq(folder: Path, language: str) -> dict[str, tuple[str, str]]:
    """Return sections by their anchors, which all translations share."""
    files = folder.glob("*.en.html") if language == "en" else (folder / language).glob("*.html")
    found = {}
    for file in sorted(files):
        for before, heading, text in _headed(file.read_text(encoding="utf-8")):
            anchor = re.search(r'name="([\w-]+)"|id="([\w-]+)"', heading + before[-300:])
            if anchor and len(text) > 100:
                found[anchor[1] or anchor[2]] = (_plain_heading(heading), text)
    return found


def _sections(files: Iterable[Path], *, asks: bool = False) -> Iterator[tuple[str, str]]:
    """Yield headings of at least two words, or questions, with the text up to the next heading."""
    for file in files:
        for _, heading, text in _headed(file.read_text(encoding="utf-8", errors="replace")):
            plain = _plain_heading(heading)
            if len(text) > 200 and (plain.endswith("?") if asks else len(plain.split()) >= 2):
                yield plain, text


def _headed(page: str) -> Iterator[tuple[str, str, str]]:
    parts = _HEADING.split(_CONTENTS.sub("", page))
    for number in range(1, len(parts) - 2, 3):
        yield parts[number - 1], parts[number + 1], _plain(parts[number + 2])


def _plain_heading(text: str) -> str:
    return _NUMBER.sub("", _plain(text).replace("\N{PILCROW SIGN}", "").strip())


def _plain(text: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", text)).split())


def _functions(files: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Yield the first sentence of docstrings with their functions, without them."""
    for file in files:
        try:
            tree = ast.parse(file.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef) or not (said := ast.get_docstring(node)) or len(node.body) < 3:
                continue
            sentence = re.split(r"\n\s*\n|(?<=[.])\s", said)[0]
            if 5 <= len(sentence.split()) <= 25:
                node.body = node.body[1:]
                yield sentence, f"```python\n{ast.unparse(node)[: _LONGEST - 20]}\n```"


def _manual_pages(language: str) -> Iterator[tuple[str, str]]:
    """Yield descriptions of commands and files with their pages."""
    folder = Path("/usr/share/man", "" if language == "en" else language)
    for file in sorted([*folder.glob("man[1578]/[a-z]*.gz")]):
        if file.is_symlink():
            continue
        lines = gzip.decompress(file.read_bytes()).decode("utf-8", "replace").splitlines()
        sections = re.split(r"^\.S[Hh] *", "\n".join(lines), flags=re.MULTILINE)[1:]
        if len(sections) < 3:
            continue
        described, *rest = (_plain_roff(each) for each in sections)
        _, dash, description = described.partition(" - ")
        text = " ".join(rest)
        if dash and len(description.split()) >= 3 and len(text) > 300:
            yield description.strip(), text


def _plain_roff(text: str) -> str:
    for sign, letter in _ROFF_SIGNS.items():
        text = text.replace(sign, letter)
    lines = [line for line in _ROFF.sub("", text).splitlines() if not re.match(r"[.']", line) or line[1:2].isupper()]
    return " ".join(" ".join(re.sub(r"^\.[A-Z]+\s*", "", line) for line in lines).replace('"', " ").split())


def _messages(language: str) -> Iterator[tuple[str, str]]:
    """Yield English messages of programs with their translations."""
    for file in sorted(Path("/usr/share/locale", language, "LC_MESSAGES").glob("*.mo")):
        with file.open("rb") as opened:
            try:
                catalog = gettext.GNUTranslations(opened)._catalog  # type: ignore[attr-defined]  # noqa: SLF001 - all pairs
            except UnicodeDecodeError:
                continue
        for message, translated in catalog.items():
            if isinstance(message, str) and 50 < len(message) < 300 and message != translated and "\n\n" not in message:
                yield message, translated
