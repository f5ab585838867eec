"""LaTeX sources come out as the text they set, with their formulas as written."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import LATEX
from sourcebook.parsing.markup.latex.macros import expanded
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover, texts


def read(source: str) -> ParsedDocument:
    document = parse(source.encode(), name="a.tex", media_type=LATEX)
    assert_blocks_cover(document)
    return document


@pytest.fixture(scope="module", autouse=True)
def reader() -> None:
    """Import the reader and load its language model, so that no example of a test pays for them."""
    read("A sentence of prose that is long enough for its language to be identified.")


def body(source: str) -> str:
    return read(f"\\begin{{document}}\n{source}\n\\end{{document}}").markdown.rstrip("\n")


def test_title_author_date_and_abstract() -> None:
    """Title, author and date of the preamble are metadata, and appear at `\\maketitle`."""
    document = read(
        r"\documentclass[a4paper]{article}\usepackage{amsmath}"
        r"\title[Short]{On \emph{Things}}\author{Ada Lovelace\thanks{Paid} \and Bob Roe}\date{6 May 2024}"
        r"\begin{document}\maketitle\begin{abstract}Short.\end{abstract}\section{One}Text.\end{document} ignored"
    )
    assert document.title == "On Things"
    assert document.metadata == {"author": "Ada Lovelace, Bob Roe", "date": "2024-05-06", "encoding": "utf-8"}
    assert texts(document) == [
        "# On *Things*", "Ada Lovelace, Bob Roe", "6 May 2024", "Paid", "## Abstract", "Short.", "## One", "Text.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        (r"50\% of A\&B, ``so'' --- 1--2~kg % gone", "50% of A&B, “so” — 1–2 kg"),
        (r"Na\"{\i}ve caf\'e, \c{C}a, \v{S}, \ss, \o, \ldots", "Naïve café, Ça, Š, ß, ø, …"),
        (r"\textbf{a} \emph{b} \texttt{c} {\bf d} \underline{e}", "**a** *b* `c` d e"),
        (r"See \cite[p.~5]{a,b}, \citep{c} and \ref{s}\label{x}.", "See [a, b], [c] and [s]."),
        (r"Word\footnote{A \emph{note}.} next", "Word (A *note*.) next"),
        (r"\href{https://x.test/a\_b}{text} \url{https://y.test}", "[text](https://x.test/a_b) <https://y.test>"),
        (r"Let $x < y$, \(z\) and \$5.", "Let $x < y$, $z$ and $5."),
        (r"\verb|\x %| and \unknown[o]{kept}", r"`\x %` and kept"),
        ("one\ntwo\n\nthree\\\\four", "one two\n\nthree  \nfour"),
        ("one % gone\n% gone\ntwo\n% gone\n\nthree % gone\n\nfour%\n s", "one two\n\nthree\n\nfours"),
        (r"\newtheorem{thm}{Satz}\begin{thm}So.\end{thm}", "**Satz.** So."),
        (r"\input{secret}\vspace{1cm}", r"`\input{secret}`"),
        (r"\begin{quote}Said.\end{quote}", "> Said."),
        (r"\begin{theorem}[Main] True.\end{theorem}", "**Theorem (Main).** True."),
        (r"\begin{comment}no\end{comment}yes", "yes"),
        (r"\begin{center}\textcolor{red}{kept}\end{center}", "kept"),
    ],
)
def test_text_reads_as_it_is_set(source: str, markdown: str) -> None:
    """Marks, accents, references and notes become what a reader sees."""
    assert body(source) == markdown


def test_sections_begin_below_the_title() -> None:
    """The highest kind of section that is used is level 2."""
    source = r"\section{A}\subsection*{B}\paragraph{C} text"
    assert [block.level for block in read(source).blocks] == [2, 3, 5, 0]
    assert [block.level for block in read(r"\chapter{0}" + source).blocks] == [2, 3, 4, 6, 0]


def test_lists_nest() -> None:
    """Bullets, numbers and terms, and lists within."""
    source = r"\begin{itemize}\item One\item Two\begin{enumerate}\item In\item[x] Ner\end{enumerate}\end{itemize}"
    assert body(source) == "- One\n- Two\n\n  1. In\n  2. **x** Ner"
    assert body(r"\begin{description}\item[Term] said\end{description}") == "- **Term** said"


def test_tables_keep_rows_and_columns() -> None:
    """Rules go; cells over several columns keep the others in place."""
    source = r"""\begin{table}[h]\caption{Results}\begin{tabular}{@{}l|r@{}}\toprule
        Name & Value \\ \midrule
        A \& B & $a & b$ \\[2pt]
        \multicolumn{2}{c}{\textbf{Both}} \\ \bottomrule
        \end{tabular}\end{table}"""
    assert body(source.replace("$a & b$", "$b$")) == (
        "Results\n\n| Name | Value |\n| --- | --- |\n| A & B | $b$ |\n| **Both** |  |"
    )


def test_formulas_and_code_stay_as_written() -> None:
    """Equations are LaTeX without labels; listings are code with their language."""
    assert body("\\begin{equation}\\label{e}\nE = mc^2\n\\end{equation}") == "$$\nE = mc^2\n$$"
    assert body("\\[ a \\]") == "$$\na\n$$"
    aligned = "\\begin{align*}\na &= b \\\\\nc &= d\n\\end{align*}"
    assert body(aligned) == f"$$\n{aligned}\n$$"
    code = "if x: # 100%\n    \\alpha{"
    assert body(f"\\begin{{verbatim}}\n{code}\n\\end{{verbatim}}") == f"```\n{code}\n```"
    assert body(f"\\begin{{lstlisting}}[language=Python]\n{code}\n\\end{{lstlisting}}") == f"```python\n{code}\n```"
    assert body(f"\\begin{{minted}}{{c}}\n{code}\n\\end{{minted}}") == f"```c\n{code}\n```"


def test_the_authors_macros_are_expanded() -> None:
    """With arguments and defaults, in formulas too, whichever way they are defined."""
    source = (
        r"\newcommand{\R}{\mathbb{R}}\newcommand{\p}[2][x]{#1 and #2}\def\q#1{<#1>}\renewcommand\S{section }"
        r"$\R$: \p{y}; \p[a]{b}; \q{c}; \S 5."
    )
    assert body(source) == r"$\mathbb{R}$: x and y; a and b; <c>; section 5."


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\def\a{1\a}\def\b{2}\a\b", "12"),
        (r"\def\a{1\b}\def\b{2\a}\def\c{3}\a\c", f"{'12' * 8}3"),
        (r"\newcommand\a[1]{<#1>}\a{1 \a{2 \a{3}}}", "<1 <2 <3>>>"),
        (r"\newcommand\a[2]{#1\a{#1}{#2-1}}\newcommand\b{2}\a{1}{9} \b", "119-1 2"),
    ],
)
def test_a_recursive_macro_ends_and_leaves_the_others(source: str, text: str) -> None:
    """A macro that names itself is expanded once, a longer circle eight times; macros in arguments nest."""
    assert body(source) == text


@pytest.mark.parametrize(
    "source",
    [
        "".join(rf"\def\{outer}{{" + rf"\{inner}" * 10 + "}" for outer, inner in pairwise("abcdefgh"))
        + r"\def\h{ha }\a",
        r"\newcommand\a[1]{\b{#1#1}}\newcommand\b[1]{\c{#1#1}}\newcommand\c[1]{\a{#1#1}}" + r"\a{" + "x" * 1000 + "}",
        r"\newcommand\a[9]{}" + r"\a{" * 300,
        r"\def\a{\b\b}\def\b{\a\a}\a",
    ],
    ids=["nested", "doubled arguments", "arguments without end", "two that name each other"],
)
def test_macros_add_a_bounded_number_of_characters(source: str) -> None:
    """At most 30,000 characters and 8 per character of the document, and one expansion that began below the bound."""
    assert len(expanded(source)) <= 30_000 + 9 * len(source) + 20_000


def test_a_document_full_of_macros_is_expanded_whole() -> None:
    """The bound grows with the document: a formula that consists of macros is not cut off."""
    source = r"\newcommand{\R}{\mathbb{R}}\newcommand{\norm}[1]{\lVert #1 \rVert}" + "$\\norm{\\R}$\n\n" * 20_000
    assert expanded(source).count(r"\lVert \mathbb{R} \rVert") == 20_000


@pytest.mark.parametrize(
    "source",
    [
        r"\def\a{\a}\a",
        r"\newcommand{\a}{\a\a}\a",
        r"\newcommand\a[1]{#1#1}" + r"\a{" * 3000 + "x" + "}" * 3000,
        "{" * 50_000,
        r"\begin{a}" * 10_000,
        "$" * 50_001,
        r"\textbf{" * 3000 + "}" * 3000,
        r"\begin{tabular}{l}\multicolumn{2}{c}{" * 500,
        r"\begin{itemize}\item" * 2000,
        r"\verb|" * 10_000,
        r"\cite{" * 10_000,
        r"\(a" * 10_000,
        "%" * 50_000,
        "\n \n" * 20_000,
    ],
    ids=lambda source: source[:12],
)
def test_hostile_sources_end(source: str) -> None:
    """Macros that call themselves and nesting without end cost little time."""
    begun = time.process_time()
    read(source)
    assert time.process_time() - begun < 10


@settings(deadline=None)
@given(st.lists(st.sampled_from([*"\\{}[]$%&~#_ a\n1", "\\begin{", "\\end{", "itemize}", "tabular}", "\\item", "\\\\",
                                 "\\def\\a", "\\a", "\\section", "\\verb|", "verbatim}", "\\'", "\\multicolumn{2}"]),
                max_size=60))  # fmt: skip
def test_any_source_is_read(pieces: list[str]) -> None:
    """No order of marks makes the parser fail."""
    read("x" + "".join(pieces))


def test_raised_and_lowered_words() -> None:
    """An exponent and the mark of a note keep their meaning."""
    source = r"10\textsuperscript{6} t of CO\textsubscript{2} in 1815\textsuperscript{3}."
    assert body(source) == "10^6 t of CO2 in 1815[3]."
