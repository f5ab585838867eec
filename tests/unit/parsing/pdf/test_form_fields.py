"""Fields of forms are read with their labels, whatever their appearance."""

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.annotated_pdf import annotated, appearance, field, lines, stream
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, grid


def parsed(content: bytes) -> ParsedDocument:
    return parse_pdf(content, settings=ParsingSettings(ocr=False))


def entries(content: bytes) -> list[str]:
    return [paragraph for paragraph in parsed(content).markdown.split("\n\n") if paragraph.strip()]


LABELS = [Shown(72, 700, "Name of the boat"), Shown(72, 664, "Length in metres"), Shown(72, 628, "Remarks")]
INTRODUCTION = lines("This form asks for a berth in the harbour of the town for one season, and is free of charge.")


def test_values_of_fields_without_an_appearance() -> None:
    """Each field is a pair of its own; an empty one says so."""
    fields = [
        field("Tx", "a", (220, 696, 440, 712), "/V (Sturmvogel)"),
        field("Tx", "b", (220, 660, 440, 676), "/V (11.35)"),
        field("Tx", "c", (220, 600, 440, 640), "/Ff 4096"),
    ]
    found = entries(annotated([*INTRODUCTION, *LABELS], fields, form="/NeedAppearances true"))
    assert found[1:] == ["Name of the boat: Sturmvogel", "Length in metres: 11.35", "Remarks: (empty)\n"]


def test_a_value_that_its_appearance_shows_is_read_once() -> None:
    """docling-parse paints it among the words, cut off or not; the second reader has no such word."""
    text = "The rudder stock of 1987 is cracked and must not be lifted by the stern in any weather"
    fields = [field("Tx", "c", (220, 624, 400, 640), f"/V ({text}) /AP << /N 10 0 R >>")]
    found = entries(annotated([*INTRODUCTION, LABELS[2]], fields, form="", objects=[appearance(text, 180, 16)]))
    assert found[1:] == [f"Remarks: {text}\n"]


def test_an_appearance_without_a_value_is_the_value() -> None:
    """A signature has nothing else that people see."""
    fields = [
        field("Sig", "s", (220, 624, 400, 640), "/AP << /N 10 0 R >>"),
        field("Sig", "t", (220, 696, 400, 712)),
    ]
    signed = appearance("Signed by Ulvhild on 4.6.2024", 180, 16)
    found = entries(annotated([*INTRODUCTION, LABELS[0], LABELS[2]], fields, form="", objects=[signed]))
    assert found[1:] == ["Name of the boat: (empty)", "Remarks: Signed by Ulvhild on 4.6.2024\n"]


def test_fields_that_the_form_does_not_list() -> None:
    """Viewers show them, too."""
    fields = [field("Tx", "b", (220, 660, 440, 676), "/V (11.35)"), field("Btn", "d", (220, 624, 232, 636), "/AS /On")]
    content = annotated([*INTRODUCTION, *LABELS[1:]], fields)
    assert entries(content)[1:] == ["Length in metres: 11.35", "Remarks: yes\n"]


def test_labels_above_and_fields_that_go_on() -> None:
    """A label may be above its field, a date has three fields, and a sentence has gaps."""
    marks = [
        *INTRODUCTION,
        Shown(72, 700, "First name"),
        Shown(300, 700, "Last name"),
        Shown(72, 650, "Date of birth:"),
        Shown(72, 620, "I,"),
        Shown(186, 620, ", resident of"),
        Shown(354, 620, ", declare this."),
        Shown(72, 590, "Length"),
        Shown(194, 590, "metres"),
    ]
    fields = [
        field("Tx", "a", (72, 680, 250, 696), "/V (Anna)"),
        field("Tx", "b", (300, 680, 480, 696), "/V (Berg)"),
        field("Tx", "d", (150, 646, 180, 662), "/V (12)"),
        field("Tx", "e", (190, 646, 220, 662), "/V (03)"),
        field("Tx", "f", (84, 616, 184, 632), "/V (Anna Berg)"),
        field("Tx", "g", (250, 616, 350, 632), "/V (Velling)"),
        field("Tx", "h", (130, 586, 190, 602), "/V (11.35)"),
    ]
    assert entries(annotated(marks, fields, form=""))[1:] == [
        "First name: Anna",
        "Last name: Berg",
        "Date of birth: 12 03",
        "I, Anna Berg, resident of Velling, declare this.",
        "Length: 11.35 metres\n",
    ]


def test_ticks_and_choices() -> None:
    """Radio buttons of one question are one pair, and a choice has the label that people see."""
    marks = [
        *INTRODUCTION,
        Shown(72, 700, "Payment"),
        Shown(168, 700, "Cash"),
        Shown(258, 700, "Card"),
        Shown(90, 660, "I need shore power"),
        Shown(72, 620, "Country"),
    ]
    radio = "/Ff 32768 /Parent 10 0 R /AP << /N << /{} 5 0 R /Off 5 0 R >> >> /AS /{}"
    fields = [
        f"/Subtype /Widget /F 4 /Rect [150 696 162 708] {radio.format('cash', 'Off')}",
        f"/Subtype /Widget /F 4 /Rect [240 696 252 708] {radio.format('card', 'card')}",
        field("Btn", "power", (72, 656, 84, 668), "/V /Yes /AS /Yes"),
        field("Ch", "land", (150, 616, 250, 632), "/Ff 131072 /V (NO) /Opt [[(NO) (Norway)] [(DK) (Denmark)]]"),
    ]
    group = "<< /FT /Btn /T (pay) /Ff 32768 /V /card /Kids [11 0 R 12 0 R] >>"
    content = annotated(marks, fields, form="", objects=[group]).replace(b"/Fields [11 0 R 12 0 R", b"/Fields [10 0 R")
    assert entries(content)[1:] == ["Payment: Card (not chosen: Cash)", "I need shore power: yes", "Country: Norway\n"]


def test_fields_in_the_cells_of_a_table() -> None:
    """They are its cells; an empty one stays empty."""
    marks: list[Mark] = [Shown(76, 706, "Part"), Shown(206, 706, "Number"), *grid([72, 200, 300], [720, 700, 680, 660])]
    fields = [
        field("Tx", "a", (74, 682, 198, 698), "/V (Shackle)"),
        field("Tx", "b", (202, 682, 298, 698), "/V (4)"),
        field("Tx", "c", (74, 662, 198, 678), "/V (Rope)"),
        field("Tx", "d", (202, 662, 298, 678)),
    ]
    found = parsed(annotated(marks, fields, form="")).markdown
    assert "| Shackle | 4 |\n| Rope |  |" in found


def test_what_nobody_sees_is_counted_and_a_password_is_not_read() -> None:
    """A hidden field and one beyond the page show their text to nobody."""
    fields = [
        field("Tx", "b", (220, 660, 440, 676), "/V (11.35)"),
        field("Tx", "h", (220, 560, 440, 576), "/V (two words)").replace("/F 4", "/F 2"),
        field("Tx", "o", (900, 560, 990, 576), "/V (far)"),
        field("Tx", "p", (220, 696, 440, 712), "/V (sesame) /Ff 8192"),
    ]
    document = parsed(annotated([*INTRODUCTION, *LABELS[:2]], fields, form=""))
    assert "two words" not in document.markdown
    assert "sesame" not in document.markdown
    assert document.metadata["left_out"] == {"unseen_words": 3}


@pytest.mark.parametrize("value", ["(a\\000b)", "<FEFF00610000006200>", "(" + "x " * 400 + ")"])
def test_odd_values(value: str) -> None:
    """They disturb nothing else."""
    fields = [field("Tx", "b", (220, 660, 440, 676), f"/V {value}")]
    assert entries(annotated([*INTRODUCTION, LABELS[1]], fields, form=""))[1].startswith("Length in metres: ")


def test_fields_whose_tree_is_a_circle() -> None:
    """Each is read once."""
    fields = [field("Tx", "b", (220, 660, 440, 676), "/V (11.35) /Parent 10 0 R")]
    content = annotated([*INTRODUCTION, LABELS[1]], fields, form="", objects=["<< /T (x) /Kids [11 0 R 10 0 R] >>"])
    assert entries(content)[1:] == ["Length in metres: 11.35\n"]


XFA = b"""<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"><template xmlns="http://www.xfa.org/schema/xfa-template/3.3/">
<subform><draw><value><text>Request for a licence</text></value></draw><field name="river"><caption><value><text>River:
</text></value></caption></field></subform></template><xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/">
<xfa:data><form1><river>Skjern</river><days>14</days><note/></form1></xfa:data></xfa:datasets></xdp:xdp>"""


@pytest.mark.parametrize(
    ("xml", "texts"),
    [(XFA, ["Request for a licence", "River: Skjern", "days: 14", "note: (empty)"]), (b"<damaged", [])],
)
def test_an_xfa_form_is_read_from_its_xml(xml: bytes, texts: list[str]) -> None:
    """Its page only asks to wait."""
    content = annotated(
        lines("Please wait..."),
        form="/XFA 10 0 R",
        catalog="/NeedsRendering true",
        objects=[stream(xml)],
    )
    first, *rest = "".join(entries(content)).split(".", 1)
    assert "XFA" in first
    assert [text for text in texts if text not in rest[0]] == []
    assert "wait" not in parsed(content).markdown
