"""Numbers before the titles of chapters and sections, in the scripts that number them."""

import re
from dataclasses import dataclass
from functools import lru_cache

_EAST_ASIAN = r"[\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]"
"""Letter of Chinese, Japanese or Korean, before which a number needs no space."""
_NUMBERED = re.compile(
    r"(?:§\s?)?(?:(?P<decimal>\d{1,3}(?:[.．]\d{1,3})*)[.．]?\s+(?=\w)"
    rf"|(?P<close>\d{{1,3}}(?:[.．]\d{{1,3}})+)[.．]?(?={_EAST_ASIAN})"
    r"|(?P<letter>[A-Z](?:\.\d{1,3})+)\.?\s+(?=\w))"
)
_COUNT = r"(?:[\d〇零一二三四五六七八九十百]+|[ivxlc]+)"
_SPELLED = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    "|nineteen|twenty"
)
_MORE_WORDS = (
    "annexe|partie|apéndice|anexo|parte|apêndice|appendice|capítol|apèndix|hoofdstuk|bijlage|deel|kapittel|vedlegg|bilag"
    "|bilaga|luku|liite|rozdział|część|dodatek|załącznik|kapitola|část|příloha|kapitol|poglavje|poglavlje|capitolul|anexa"
    "|bölüm|chương|phần|phụ lục|bab|lampiran|розд[іi]л"
)
"""Words for chapters, parts and appendices that may also stand before other words; only a number makes them titles."""
_CHAPTER = re.compile(
    r"(?:(?:chapter|part|appendix|annex|section|kapitel|teil|anhang|chapitre|capítulo|capitolo"
    r"|глава|часть|раздел|приложение|частина|додаток|κεφάλαιο|μέρος|παράρτημα|अध्याय|भाग|परिशिष्ट"
    rf"|(?:ال)?(?:فصل|باب|بخش|قسم|ملحق|پیوست)|פרק|חלק|נספח|บทที่)\s+(?:\d+|[ivxlc]+|\w|{_SPELLED})\b[.:]?"
    rf"|(?:{_MORE_WORDS})\s+(?:\d+|(?-i:[IVXLC]+|[A-Z]))\b[.:]?"
    rf"|第\s?{_COUNT}\s?[章节節部編编篇回講讲课課卷巻](?!\w*[はをにがの])|제\s?{_COUNT}\s?[장절부편](?!\w)"
    r"|(?:附录|附錄|付録|부록)\s?(?:\d+|[a-z一二三四五六七八九十가나다라마바사])(?![a-z\d])[.:]?)",
    re.IGNORECASE,
)

_WITHIN = re.compile(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3})+\.?")


@dataclass(frozen=True, slots=True)
class SectionNumber:
    """A number such as 3.2.1 before a title."""

    text: str
    """Its digits and full stops, without the one behind the last digit."""
    depth: int
    """Numbers above it: 2 for 3.2.1."""
    title: str
    """Text behind it."""


@lru_cache(maxsize=1024)
def section_number(text: str) -> SectionNumber | None:
    """Return the number at the beginning of a text, or None."""
    match = _NUMBERED.match(text)
    if match is None:
        return None
    number = (match["decimal"] or match["close"] or match["letter"]).replace("．", ".")
    return SectionNumber(number, number.count("."), text[match.end() :])


def is_number_within(text: str) -> bool:
    """Tell whether a text is the number of a section within another and nothing else."""
    return _WITHIN.fullmatch(text) is not None


def begins_with_chapter(text: str) -> bool:
    """Tell whether a text begins with a chapter's or part's number, as in `Chapter 3` and `第三章`."""
    return _CHAPTER.match(text) is not None


def is_chapter_number(text: str) -> bool:
    """Tell whether a text is the number of a chapter or part and nothing else."""
    return _CHAPTER.fullmatch(text) is not None


def without_chapter(text: str) -> str:
    """Return a title without the number of its chapter."""
    return _CHAPTER.sub("", text, count=1)
