"""Marks at the places of pictures in the XML of Word and PowerPoint."""

from typing import Any, Final

from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from sourcebook.parsing.text.picture_marks import picture_mark

_BLIP: Final = qn("a:blip")
_SHAPE: Final = "{urn:schemas-microsoft-com:vml}imagedata"


def mark_of_pictures(element: Any, part: Any) -> str:
    """Return the marks of the pictures in an element of a part, whose relations lead to their bytes."""
    names = [blip.get(qn("r:embed")) for blip in element.iter(_BLIP)]
    names += [image.get(qn("r:id")) for image in element.iter(_SHAPE)]
    found = (part.rels[name] for name in names if name in part.rels)
    return "".join(picture_mark(relation.target_part.blob) for relation in found if not relation.is_external)


def mark_pictures(root: Any, part: Any) -> None:
    """Write the marks of a Word part's pictures behind them, as text of their runs."""
    for drawing in list(root.iter(qn("w:drawing"), qn("w:pict"))):
        run = next(drawing.iterancestors(qn("w:r")), None)
        if run is not None and (mark := mark_of_pictures(drawing, part)):
            text = OxmlElement("w:t")
            text.text = mark
            run.append(text)
