"""Tables of LaTeX commands and environments, grouped by their effect on the text."""

import unicodedata
from functools import cache
from typing import Protocol, cast

from sourcebook.parsing.text.raised_text import LOWERED, RAISED

SECTIONS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
LISTS = frozenset(
    {"itemize", "enumerate", "description", "compactitem", "compactenum", "compactdesc", "inparaenum", "tasks"}
)
EQUATIONS = frozenset(
    {"equation", "align", "gather", "multline", "eqnarray", "displaymath", "math", "alignat", "flalign", "dmath",
     "IEEEeqnarray", "split", "subequations"}
)  # fmt: skip
TABLES = {"tabular": 1, "tabular*": 2, "tabularx": 2, "tabulary": 2, "longtable": 1, "supertabular": 1, "tabu": 1}
"""Environments of tables, each with the number of arguments before its rows."""
QUOTES = frozenset({"quote", "quotation", "verse", "displayquote"})
UNSEEN = frozenset({"comment", "tikzpicture", "pgfpicture", "filecontents", "filecontents*", "CCSXML", "picture"})
ARGUMENTS_OF = {"minipage": 1, "multicols": 1, "thebibliography": 1, "wrapfigure": 2, "adjustbox": 1, "subfigure": 1}
THEOREMS = frozenset(
    {"theorem", "lemma", "proposition", "corollary", "definition", "remark", "example", "proof", "claim", "conjecture",
     "note", "exercise", "solution", "problem", "axiom"}
)  # fmt: skip
STYLES = {"textbf": "**", "textit": "*", "emph": "*", "textsl": "*", "bm": "**", "textsuperscript": RAISED,
          "textsubscript": LOWERED}  # fmt: skip
CODES = frozenset({"texttt", "lstinline", "mintinline", "path", "code"})
REFERENCES = frozenset({"ref", "eqref", "autoref", "cref", "Cref", "pageref", "nameref", "vref"})
SHOWN = frozenset({"input", "include", "subfile", "subfileinclude"})
UNSEEN_ARGUMENTS = {
    **dict.fromkeys(
        ("label", "vspace", "hspace", "pagestyle", "thispagestyle", "bibliographystyle", "bibliography", "usepackage",
         "documentclass", "color", "includegraphics", "hypersetup", "geometry", "graphicspath", "pagenumbering",
         "markright", "selectlanguage", "phantom", "hphantom", "vphantom", "index", "newlength", "newcounter",
         "RequirePackage", "lstset", "tikzset", "nocite", "cline", "cmidrule", "addbibresource",
         "usetikzlibrary", "stepcounter", "refstepcounter", "rowcolor", "cellcolor", "columncolor", "arraystretch",
         "hyphenation", "email"),
        1,
    ),
    **dict.fromkeys(
        ("setlength", "addtolength", "setcounter", "addtocounter", "newtheorem", "markboth", "fontsize", "rule",
         "PassOptionsToPackage", "DeclareMathOperator", "import", "captionsetup", "subimport"), 2,
    ),
    **dict.fromkeys(("newenvironment", "renewenvironment", "definecolor", "addcontentsline"), 3),
}  # fmt: skip
SKIPPED_FIRST = {
    "textcolor": 1,
    "colorbox": 1,
    "fcolorbox": 2,
    "rotatebox": 1,
    "hyperlink": 1,
    "hypertarget": 1,
    "texorpdfstring": 1,
    "multirow": 2,
    "raisebox": 1,
    "parbox": 1,
    "resizebox": 2,
    "scalebox": 1,
    "foreignlanguage": 1,
}
_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306", ".": "\u0307",
    '"': "\u0308", "r": "\u030a", "H": "\u030b", "v": "\u030c", "d": "\u0323", "c": "\u0327", "k": "\u0328",
    "b": "\u0331",
}  # fmt: skip
_SYMBOLS_BY_NAME = {
    "LaTeX": "LaTeX", "TeX": "TeX", "LaTeXe": "LaTeX2e", "BibTeX": "BibTeX", "S": "§", "P": "¶", "quad": " ",
    "qquad": " ", "and": ", ", "today": "", "par": "\n\n", "newline": "  \n", "linebreak": "  \n",
    "textbackslash": "\\",
    "textasciitilde": "~", "textasciicircum": "^", "item": "", "colon": ":", "slash": "/", "newpage": "\n\n",
    "clearpage": "\n\n", "textquotesingle": "'", "textregistered": "®", "texttrademark": "™", "dots": "…",
}  # fmt: skip


def is_citation(name: str) -> bool:
    """Return whether a command is a citation, such as `cite`, `citep`, `parencite` and `autocites`."""
    return name.lower().startswith("cite") or name.lower().endswith(("cite", "cites"))


def accented(accent: str, letters: str) -> str | None:
    """Return letters with the accent of a command on the first, or None where the command is no accent."""
    mark = _ACCENTS.get(accent)
    if mark is None:
        return None
    first = {"ı": "i", "ȷ": "j"}.get(letters[:1], letters[:1])
    return unicodedata.normalize("NFC", first + mark) + letters[1:] if first else ""


@cache
def symbol_text(name: str) -> str | None:
    """Return the text of a command without arguments, or None where it has none."""
    if name in _SYMBOLS_BY_NAME:
        return _SYMBOLS_BY_NAME[name]
    text = getattr(_symbols().get_macro_spec(name), "simplify_repl", None)
    return text if isinstance(text, str) and "%" not in text else None


class _Symbols(Protocol):
    def get_macro_spec(self, name: str) -> object: ...


@cache
def _symbols() -> _Symbols:
    from pylatexenc.latex2text import get_default_latex_context_db  # type: ignore[import-untyped] # has no types

    return cast(_Symbols, get_default_latex_context_db())
