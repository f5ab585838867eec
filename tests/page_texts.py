"""Texts that the page shows: those of its templates, of its code and of its scripts, and words for values."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, get_args

from jinja2 import Environment

from sourcebook.contract.access import AccessKey
from sourcebook.contract.answers import REFUSALS
from sourcebook.contract.filters import Kind
from sourcebook.contract.generations import State as GenerationState
from sourcebook.contract.listing import ItemKind, ItemState
from sourcebook.contract.plans import Reason
from sourcebook.contract.search_results import NOTHING_FOUND, NOTHING_RELEVANT
from sourcebook.contract.work import WorkState
from sourcebook.errors import FailureClass
from sourcebook.model import usage
from sourcebook.model.access import OnBehalf
from sourcebook.model.left_out import NAMES
from sourcebook.server.page import (
    document,
    documents,
    errors,
    forms,
    found_on_page,
    home,
    keys,
    narrowing,
    provider_sign_in,
    said_places,
    script_texts,
    search,
    settings_form,
    translation,
    work,
)
from sourcebook.server.page.sentences import CONTEXT
from tests.page_sentences import sentences_of_page

PAGE: Final = Path(translation.__file__).parent
_FUNCTIONS: Final = ("_", "gettext", "ngettext", "pgettext")


class Text(NamedTuple):
    """A text of the catalogues."""

    context: str
    """Context that tells words apart which are one in English; empty for most."""
    singular: str
    plural: str
    """The text about several things; empty for one that counts nothing."""


@cache
def texts_of_page() -> dict[Text, str]:
    """Return the texts, each with the name of the file that has it first."""
    found: dict[Text, str] = {}
    for source in (_of_templates(), _of_code(), _of_scripts(), _of_values()):
        for text, place in source:
            found.setdefault(text, place)
    return found


def template_environment() -> Environment:
    """Return the syntax of the templates."""
    return Environment(extensions=["jinja2.ext.i18n"], trim_blocks=True, lstrip_blocks=True, autoescape=True)


def _of_templates() -> Iterator[tuple[Text, str]]:
    environment = template_environment()
    for path in sorted((PAGE / "templates").glob("*.html")):
        found = environment.extract_translations(path.read_text(), _FUNCTIONS)  # type: ignore[attr-defined]  # the extension adds it
        for _, function, arguments in found:
            yield from _text(function, arguments if isinstance(arguments, tuple) else (arguments,), path.name)


def _of_code() -> Iterator[tuple[Text, str]]:
    for path in sorted(PAGE.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
                constants = tuple(each.value if isinstance(each, ast.Constant) else None for each in node.args)
                yield from _text(node.func.id, constants, path.name)


def _text(function: str, arguments: tuple[object, ...], place: str) -> Iterator[tuple[Text, str]]:
    """Yield the text of a call; none where it is a variable, whose values are listed."""
    needed = 1 if function in {"_", "gettext"} else 2
    first, *rest = arguments[:needed]
    if isinstance(first, str) and all(isinstance(each, str) for each in rest):
        words = (first, *map(str, rest))
        yield (Text(words[0], words[1], "") if function == "pgettext" else Text("", *words, *[""][: 2 - needed])), place


def _of_scripts() -> Iterator[tuple[Text, str]]:
    single, counted = script_texts.texts_of_scripts()
    for each in single:
        yield Text("", each, ""), "scripts"
    for one, many in counted:
        yield Text("", one, many), "scripts"


def _of_values() -> Iterator[tuple[Text, str]]:
    """Yield the words for values, which templates and code look up by a variable."""
    keyed = ("valid", "expired", "revoked")
    assert all(each in str(AccessKey.state.__doc__) for each in keyed)
    states = (*get_args(ItemState), *get_args(WorkState), *get_args(GenerationState), documents.CURATED, *keyed)
    operations = (usage.EMBED_PASSAGES, usage.EMBED_QUERY, usage.EMBED_SENTENCES, usage.RERANK, usage.TRANSCRIBE)
    words = {
        "state": states,
        "kind": (*get_args(ItemKind), *get_args(Kind)),
        "failure": [each.value.replace("_", " ") for each in FailureClass],
        "operation": [each.replace("_", " ") for each in (*operations, usage.ANSWER)],
        "plan": [each.value for each in Reason],
        "on behalf": get_args(OnBehalf),
        "filter": (*narrowing.FACETS, *documents.LISTED, "since", "until"),
        "unit": ("d", "h", "min", "s"),
    }
    yield from ((Text(context, each, ""), "values") for context, values in words.items() for each in values)
    left_out = ((f"%(number)s {one}", f"%(number)s {many}") for one, many in NAMES.values())
    yield from ((Text("", one, many), "left_out.py") for one, many in left_out)
    yield from ((Text("", one, many), "documents.py") for one, many in documents.DONE.values())
    yield from ((Text("", each, ""), "settings_form.py") for each in _of_settings())
    yield from ((Text(CONTEXT, each, ""), place) for each, place in sentences_of_page().items())
    sentences = {
        "document.py": document.VIEWS.values(), "documents.py": documents.ORDERS.values(),
        "errors.py": errors.HEADINGS.values(), "forms.py": (forms.ELSEWHERE,),
        "found_on_page.py": [words for _, words in found_on_page.RELEVANCES], "home.py": home.FAILURES.values(),
        "keys.py": (*keys.LIFETIMES.values(), *keys.WAYS.values()), "search.py": search.ORDERS.values(),
        "narrowing.py": [heading for _, heading in narrowing.FACETS.values()], "work.py": work.STAGES.values(),
        "provider_sign_in.py": (provider_sign_in.OTHER,), "results": (NOTHING_RELEVANT, NOTHING_FOUND),
        "answers": REFUSALS.values(), "said_places.py": said_places.PLACES, "citing.py": ("Text", "Link"),
    }  # fmt: skip
    yield from ((Text("", each, ""), place) for place, listed in sentences.items() for each in listed)


def _of_settings() -> Iterator[str]:
    """Yield labels, and the hints that are no examples: those are words alone."""
    fields = [*settings_form.SINGLE.values(), *(each for kind in settings_form.SOURCES.values() for each in kind)]
    yield from (each.label for each in fields)
    yield from (each.hint for each in fields if re.fullmatch(r"[a-z]+,?( [a-z]+,?)+", each.hint))
    yield from settings_form.TITLES.values()
