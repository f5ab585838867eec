"""Templates of the sentences that reach the page from below it, collected from the places where they are made."""

import ast
import re
from collections.abc import Iterator
from typing import Final

from sourcebook.config.collection import CollectionSettings
from sourcebook.config.explain import _allowed as allowed
from sourcebook.contract.faces import ADVICE
from sourcebook.server.page.settings_form import SINGLE, SOURCES
from tests.checkout import CHECKOUT
from tests.references.error_sentences import sentences_of, texts_of, tree

_ERRORS: Final = (
    "AccessError", "AmbiguousDocumentError", "ChangedSettingsError", "ConflictError", "DatabaseBusyError",
    "DatabaseConnectionLostError", "DatabaseDeadlockError", "DatabaseUnavailableError", "EmptyUploadError",
    "FetchError", "ForbiddenError", "GoneCollectionError", "ListingError", "LoginError", "NoAccessError",
    "NoAnswerError", "NoDocumentError", "NotFoundError", "OriginalError", "OriginalGoneError", "ParseError",
    "ParserError", "PreconditionError", "ProviderError", "PydanticCustomError", "QueryError", "RecordingError",
    "RequestFailedError", "SettingsError", "SitemapError", "SpeechError", "StoreError", "StoreNetworkError",
    "TakenDocumentError", "TemporaryParseError", "TemporaryRecordingError", "TooManyBytesError",
    "TooManyRequestsError", "TooMuchWorkError", "UnknownCollectionError", "UnknownDocumentError",
    "UnknownSourceError", "UnknownUploadError", "UploadError", "UploadNameError", "UploadSpaceError", "WithheldError",
)  # fmt: skip
"""Errors whose sentences a visitor of the page may read, at once or later, as the reason of a failure."""
_ELSEWHERE: Final = (
    r"orchestration/|sourcebook/(cli|client|context|evaluation|frameworks|transfer|database/(lock|schema|seen))"
    r"|sourcebook/(server/(mcp|widget|adapters|identity)|admin/doctor|parsing/docling|speech/(checkpoint|weights))/?"
    r"|sourcebook/admin/(tenants|titles|readings|crawl_reports|logged_queries|usage|related|document_labels)"
    r"|sourcebook/(answering/(answer_schema|tools|logged_calls|recorded_calls)|embedding/remote|search/embed_texts)"
    r"|sourcebook/contract/(filter|reranking|narrowing|search|fusion)(?!ing/periods)"
    r"|sourcebook/(model/(web_origins|cursors)|files/watching|knowledge_base|parsing/pdf/docling_pipeline)"
)
"""Files of other faces, of the server's operator, and of what no page asks for."""
_CALLS: Final = {"PydanticCustomError": 1, "Refusal": 0, "fail": 1, "_postpone": 1, "problem": 1, "RefusedBodyError": 1}
"""Functions besides that are given a reason, and its place among the arguments."""
_WHOLE: Final = (
    "admin/differences/documents", "config/api_collection", "contract/filling", "database/refusals",
    "database/replica:note_on_lateness", "embedding/opening", "files/confinement", "files/listing",
    "files/object_readers", "files/store_errors", "files/walk", "model/held_back",
    "search/long_query:condensed",
    "server/problems:_on_http_error", "search/query_syntax:relaxed", "search/ranking/find_candidates",
    "search/ranking/judge", "search/ranking/order", "search/ranking/required_terms", "search/ranking/vector_leg",
    "stages/crawled_pages", "stages/raw_files/read", "stages/documents/maker", "stages/documents/reader",
    "web/fetching/breaker", "web/fetching/errors", "web/fetching/host_rules", "web/fetching/retries", "web/outcome",
    "web/session", "web/traps", "web/visit",
)  # fmt: skip
"""Modules, or functions in them, all of whose sentences are said on the page."""
_NO_SENTENCE: Final = re.compile(r"%s|%d|\\b|charset=|\bSELECT\b|\||//|stamina|tsquery|Iterator")
_NAMED: Final = re.compile(r"\{[a-z_]+\}")
_PLACE: Final = re.compile(r"^…([a-z_.]*: )?(?=\w)(?<=: )")
"""The place of a setting, which the form shows by the field that the sentence stands beside."""
_ALLOWED: Final = ("allowed: %(1)s", "%(1)s; allowed: %(2)s")
_FORM: Final = (
    "a mapping with the keys …",
    "there is no such key; allowed: …",
    "the key is missing; it holds …",
)
"""Sentences of `sourcebook.config.explain` without values, from what settings are described by."""


def sentences_of_page() -> dict[str, str]:
    """Return the templates, with `%(1)s` for the first value, each with the name of the module that has it first."""
    found = dict.fromkeys(_ALLOWED, "sourcebook/config/explain.py")
    for place, text in (*_of_errors(), *_of_modules(), *_of_settings()):
        if template := _template(text):
            found.setdefault(template, place)
    return found


def _template(text: str) -> str:
    """Return a sentence with numbers in place of its values; nothing for one without a word of its own."""
    pieces = re.split("…+", " ".join(_PLACE.sub("", text).split()))
    shown = pieces[0] + "".join(f"%({number})s{piece}" for number, piece in enumerate(pieces[1:], start=1))
    return shown if len(re.findall(r"[A-Za-z]{2,}", "".join(pieces))) > 1 else ""


def _of_errors() -> Iterator[tuple[str, str]]:
    places = {name: slice(place, place + 1) for name, place in (dict.fromkeys(_ERRORS, 0) | _CALLS).items()}
    for name, path, text in sentences_of(places, _ELSEWHERE, translated=False):
        yield str(path.relative_to(CHECKOUT)), _NAMED.sub("…", text) if name == "PydanticCustomError" else text


def _of_modules() -> Iterator[tuple[str, str]]:
    for each in _WHOLE:
        name, _, function = each.partition(":")
        path = CHECKOUT / "sourcebook" / f"{name}.py"
        roots = [
            node
            for node in ast.walk(tree(path))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef if function else ast.Module)
            and getattr(node, "name", "") == function
        ]
        assert roots, each
        for root in roots:
            for node in _strings(root):
                for text in texts_of(node, path):
                    if len(re.findall("[a-z]+", text)) > 2 and " " in text and not _NO_SENTENCE.search(text):
                        yield str(path.relative_to(CHECKOUT)), text


def _strings(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the texts in a part of a module that are no docstrings."""
    if isinstance(node, ast.JoinedStr | ast.Constant) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)):
        if not isinstance(node, ast.Constant) or isinstance(node.value, str):
            yield node
    elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        for each in ast.iter_child_nodes(node):
            yield from _strings(each)


def _of_settings() -> Iterator[tuple[str, str]]:
    """Yield what the settings of the form's fields allow, and the advice of notes to a visitor of the page."""
    yield from (("sourcebook/config/explain.py", each) for each in _FORM)
    yield from (("sourcebook/contract/faces.py", each["page"]) for each in ADVICE.values() if "page" in each)
    paths = [*SINGLE, *(f"{kind}.0.{each.name}" for kind, fields in SOURCES.items() for each in fields)]
    for path in paths:
        steps = tuple(int(each) if each.isdigit() else each for each in path.split("."))
        for length in range(1, len(steps) + 1):
            told = allowed(CollectionSettings, steps[:length])
            if not told.startswith("a mapping with the keys"):
                yield "sourcebook/config", told.replace("…", "...")
