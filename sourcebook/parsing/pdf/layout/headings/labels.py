"""Labels that look like headings: of warnings, remarks and definitions, and those that many sections have."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sourcebook.parsing.pdf.layout.elements import Element, Part
from sourcebook.parsing.pdf.layout.headings.headings import indexed_headings, is_numbered, style_of, title_letters

_CALLOUT = re.compile(
    r"(?:note|tip|hint|warning|caution|danger|important|attention|achtung|hinweis|anmerkung|warnung|vorsicht|wichtig"
    r"|tipp|remarque|avertissement|astuce|conseil|nota|aviso|advertencia|importante|sugerencia|consejo|precaución|peligro"
    r"|atención|atenção|advertência|dica|sugestão|cuidado|perigo|avvertimento|avvertenza|avviso|attenzione|suggerimento"
    r"|consiglio|avís|advertiment|suggeriment|consell|opmerking|waarschuwing|let op|belangrijk|uwaga|wskazówka"
    r"|ostrzeżenie|ważne|poznámka|varování|upozornění|důležité|upozornenie|anmärkning|varning|viktigt|bemærk|advarsel"
    r"|vigtigt|merk|viktig|huomautus|huomaa|varoitus|vihje|tärkeää|megjegyzés|figyelem|figyelmeztetés|fontos|notă|atenție"
    r"|avertisment|uyarı|dikkat|ipucu|önemli|lưu ý|chú ý|cảnh báo|catatan|peringatan|внимание|примечание|предупреждение"
    r"|замечание|важно|осторожно|совет|подсказка|примітка|увага|попередження|важливо|порада|σημείωση|προσοχή|προειδοποίηση"
    r"|注意|注记|注記|警告|重要|提示|小心|ヒント|メモ|참고|주의|경고|중요|팁|تنبيه|ملاحظة|تحذير|توجه|هشدار|הערה|אזהרה)\s?[:!：！]?",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:(?:important |technical |historical )?(?:note|remark)s?|example|proof|definition|theorem|lemma|corollary"
    r"|proposition|conjecture|exercise|question|caveat|beispiel|bemerkung|beweis|satz|korollar|aufgabe|frage|exemple"
    r"|remarque|preuve|théorème|lemme|ejemplo|teorema|lema)"
    r"(?: \[?\d+(?:\.\d+)*\]?)?(?: \([^()]*\))?[.:]?",
    re.IGNORECASE,
)
"""Label of a remark, an example or a theorem, with its number and name."""
_INDENT = 1.5
"""Smallest indent of a definition below its term, in font sizes [library]."""
_DISTANCE = 1.7
"""Largest distance from the top of a term's line to the top of its definition, in font sizes [library]."""
_FARTHEST = 2.5
"""Largest such distance where the running text is not indented, in font sizes [library]."""
_LARGER = 1.12
"""Smallest size of a title, in font sizes of the running text, that many sections may have [library]."""
_MOST_SECTIONS = 2
"""Sections that have one title in the size of running text [library]."""


def label_headings(found: Sequence[Part]) -> Iterator[int]:
    """Yield the indices of labels of warnings and remarks, and of terms above their indented definition."""
    farthest = _DISTANCE if _is_indented(found) else _FARTHEST
    for place, (one, following) in enumerate(pairwise(found)):
        if isinstance(one, Element) and (_CALLOUT.fullmatch(one.text) or _is_label(one)):
            yield place
        elif isinstance(one, Element) and following.kind == "paragraph":
            size = one.first.size
            close = 0 < following.first.top - one.last.top < farthest * max(size, one.last.height)
            indented = following.places[0].left > one.places[0].left + _INDENT * size
            alike = abs(following.first.size - size) < 0.05 * size
            on_page = following.page == one.page
            if close and indented and alike and on_page:
                yield place


def _is_label(one: Element) -> bool:
    """Tell whether a text is the label of a remark or theorem; without number and full stop it may be a section."""
    labelled = _LABEL.fullmatch(one.text) is not None
    return labelled and (one.text[-1] in ".:)]" or one.text[-1].isdigit())


def _is_indented(found: Sequence[Part]) -> bool:
    """Tell whether most running text is indented in its column, as in pages of manuals whose headings stand out."""
    letters = Counter[bool]()
    for one in _running(found):
        letters[one.places[0].left > one.column[0] + _INDENT * one.first.size] += len(one.text)
    return letters[True] > letters[False]


def titles_of_many_sections(found: Sequence[Part]) -> Iterator[int]:
    """Yield the indices of titles that many sections have, such as `Synopsis` or `Examples`, and that name none.

    They are in the size of running text, or several times on one page.
    """
    sizes = Counter[float]()
    for text in _running(found):
        sizes[round(2 * text.first.size) / 2] += len(text.text)
    running = sizes.most_common(1)[0][0] if sizes else 0.0
    headings = dict(indexed_headings(found))
    alike: dict[object, list[int]] = {}
    for place, one in headings.items():
        if not is_numbered(one.text):
            alike.setdefault((title_letters(one.text), style_of(one)), []).append(place)
    for places in alike.values():
        pages = Counter(headings[place].page for place in places)
        small = headings[places[0]].first.size < _LARGER * running and len(places) > _MOST_SECTIONS
        if small or max(pages.values()) > 1:
            yield from places


def _running(found: Sequence[Part]) -> Iterator[Element]:
    return (one for one in found if one.kind == "paragraph")
