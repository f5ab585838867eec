"""Languages that the models of the box were trained on, by ISO 639-1 codes."""

from collections.abc import Iterable
from typing import Final

from sourcebook.embedding.weights import BUNDLED_NAME, MULTILINGUAL_NAME

_MULTILINGUAL_CODES: Final = """
af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi
hr hu hy id is it ja jv ka kk km kn ko ku ky la lo lt lv mg mk ml mn mr ms my ne nl no om or pa
pl ps pt ro ru sa sd si sk sl so sq sr su sv sw ta te th tl tr ug uk ur uz vi xh yi zh
"""
"""The languages of multilingual-e5-small, as its authors list them."""
_OTHER_CODES: Final = {"nb": "no", "nn": "no"}
"""Codes of language identification for languages that have another code in the list."""
_LANGUAGES: Final = {BUNDLED_NAME: frozenset({"en"}), MULTILINGUAL_NAME: frozenset(_MULTILINGUAL_CODES.split())}


def known_languages(model: str) -> frozenset[str] | None:
    """Return the languages of an embedding model; None where they are not known.

    Args:
        model: its name in the settings.
    """
    languages = _LANGUAGES.get(model.removeprefix("sentence-transformers/"))
    if languages is None:
        return None
    return languages | {code for code, other in _OTHER_CODES.items() if other in languages}


def remedy(model: str, languages: Iterable[str]) -> str:
    """Return what to do where a collection has languages that its model does not know.

    Args:
        model: its name in the settings.
        languages: the unknown ones by ISO 639-1 codes, in the order in which they are told.
    """
    others = list(languages)
    multilingual = known_languages(MULTILINGUAL_NAME) or frozenset()
    is_helped = model.removeprefix("sentence-transformers/") == BUNDLED_NAME and not multilingual.isdisjoint(others)
    if not is_helped:
        return "no model in the box knows them: keyword search finds them, or set  embedding.model  to one that does"
    left = [code for code in others if code not in multilingual]
    return (
        f"set  embedding: {{model: {MULTILINGUAL_NAME}}}  in sourcebook.yaml; the next ingest builds a "
        "generation with it, and sourcebook plan  says what it costs"
        + (f". It does not know {', '.join(left)} either, which keyword search finds" if left else "")
    )
