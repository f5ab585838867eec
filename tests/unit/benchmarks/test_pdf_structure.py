"""Headings and cells that PDFs tell themselves, and those that readers find."""

from collections import Counter

from benchmarks.harness.pdf_structure import Structure, plain_title, read_structure, told_structure, without_outline
from benchmarks.harness.pdf_structure_rows import StructureReadings, structure_rows
from tests.unit.parsing.pdf.pdf_writer import Shown, assembled, pdf


def test_the_outline_tells_headings() -> None:
    """Titles of the outline count without their numbers; those that no page shows are left out."""
    content = pdf(
        [[Shown(72, 700, "2.1 Getting Started"), Shown(72, 680, "Text")]],
        outline=[("Getting started", 1), ("Cover", 1)],
    )
    assert told_structure(content).headings == Counter({"gettingstarted": 1})
    assert told_structure(without_outline(content)).headings == Counter()


def test_tags_tell_headings_and_cells() -> None:
    """The text of a tagged element is that of its marked parts."""
    page = (
        "BT /plain 10 Tf /H1 << /MCID 0 >> BDC 72 700 Td (Prices) Tj EMC "
        "/TD << /MCID 1 >> BDC 0 -20 Td (Pen) Tj EMC /TD << /MCID 2 >> BDC 80 0 Td (12.50) Tj EMC ET"
    )
    element = "<< /Type /StructElem /S /{} /P 6 0 R /Pg 3 0 R /K {} >>"
    content = assembled(
        [
            "<< /Type /Catalog /Pages 2 0 R /StructTreeRoot 6 0 R /MarkInfo << /Marked true >> >>",
            "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            (
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /StructParents 0 "
                "/Resources << /Font << /plain 5 0 R >> >> >>"
            ),
            f"<< /Length {len(page)} >>\nstream\n{page}\nendstream",
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            "<< /Type /StructTreeRoot /K [7 0 R 8 0 R 9 0 R] /ParentTree 10 0 R >>",
            *(element.format(kind, number) for number, kind in enumerate(("H1", "TD", "TD"))),
            "<< /Nums [0 [7 0 R 8 0 R 9 0 R]] >>",
        ]
    )
    assert told_structure(content) == Structure(Counter({"prices": 1}), Counter({"pen": 1, "1250": 1}), depth=1)


def test_numbers_of_titles() -> None:
    """Numbers, letters and Roman numbers before a title are no part of it."""
    titles = ["3.2.1 Sizes", "A.1 Sizes", "Chapter 4. Sizes", "Kapitel 4 Sizes", "IV. Sizes", "Sizes"]
    assert {plain_title(title) for title in titles} == {"sizes"}


def test_numbers_of_titles_in_other_scripts() -> None:
    """Numbers of chapters and sections are no part of a title, in whatever digits."""
    titles = ["第一章  概要", "第 3 章 概要", "§1.2 概要", "1.1概要", "一、概要", "付録 A 概要", "第 II 部 概要"]
    assert {plain_title(title) for title in titles} == {"概要"}
    assert plain_title("제 1 장 소개") == plain_title("소개")
    assert plain_title("глава 2. Основы") == plain_title("Основы")
    assert plain_title("三角形") == "三角形"


def test_letters_that_look_alike() -> None:
    """Full-width letters, presentation forms and Arabic letters of Persian text are those that outlines have."""
    assert plain_title("ＴｅＸ入門") == plain_title("TeX入門")
    assert plain_title("ﻓﺎرﺳﻲ") == plain_title("فارسی")


def test_a_title_that_begins_with_a_letter_is_the_same_with_its_number() -> None:
    """Outlines may leave the number out, and then the letter looks like one."""
    assert plain_title("4.1 A simple example") == plain_title("A simple example")
    assert plain_title("Chapter 3. R packages") == plain_title("R packages")


def test_a_title_that_is_a_command_is_the_same_with_its_number() -> None:
    """Signs before the first letter of a title, such as those of commands and variables, do not hide its number."""
    assert plain_title(r"3.1 \chaptertoc") == plain_title(r"\chaptertoc") == "chaptertoc"
    assert plain_title("5.18 {pre,post}rm") == plain_title("{pre,post}rm")
    assert plain_title("8.4 $HOME") == plain_title("$HOME") == "home"


def test_shares_over_the_documents_of_a_part() -> None:
    """All headings of a part count alike, whatever document they are in."""
    told = Structure(Counter("abcd"), Counter({"1": 2}), depth=2)
    read = read_structure("# 1 a\n\n#### b\n\n### wrong\n\n| 1 | x |\n| --- | --- |\n| y | z |\n")
    rows = structure_rows([StructureReadings("work", "a.pdf", told, {"sourcebook": read})])
    assert [row.value for row in rows] == [2 / 4, 2 / 3, 2 / 3, 1 / 2]
    assert [row.bar for row in rows] == [0.70, 0.75, 0.75, 0.70]


def test_headings_below_the_levels_of_the_outline_are_neither_right_nor_wrong() -> None:
    """An outline of one level tells nothing about level 3, since level 1 is the title; its titles count anywhere."""
    content = pdf([[Shown(72, 700, "Getting Started"), Shown(72, 680, "Text")]], outline=[("Getting started", 1)])
    told = told_structure(content)
    read = read_structure("# Wrong\n\n## Wrong, too\n\n### Deeper\n\n#### Getting started\n")
    assert (told.depth, read.headings.total(), read.within(told)) == (1, 4, 3)
