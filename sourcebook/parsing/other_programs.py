"""Programs that open the formats which are not read, with what to save there."""

from typing import Final

PROGRAMS: Final = {
    "application/postscript": "convert it to a PDF with ps2pdf of Ghostscript",
    "application/vnd.apple.keynote": "open it in Keynote and export it as .pptx or PDF",
    "application/vnd.apple.numbers": "open it in Numbers and export it as .xlsx",
    "application/vnd.apple.pages": "open it in Pages and export it as .docx or PDF",
    "application/vnd.ms-access": "open it in Access and export the tables as .xlsx or .csv",
    "application/vnd.ms-htmlhelp": "unpack it with 7-Zip into the source: it holds HTML pages",
    "application/vnd.ms-outlook-pst": "open it in Outlook and save its messages as .msg, or unpack it with readpst",
    "application/vnd.ms-publisher": "open it in Publisher or LibreOffice Draw and export it as PDF",
    "application/vnd.ms-visio": "open it in Visio or LibreOffice Draw and export it as PDF",
    "application/vnd.ms-works": "open it in LibreOffice and save it as .docx",
    "application/vnd.oasis.opendocument.graphics": "open it in LibreOffice Draw and export it as PDF",
    "application/vnd.openoffice": "open it in LibreOffice and save it as .odt, .ods or .odp",
    "application/vnd.wordperfect": "open it in LibreOffice and save it as .docx",
    "application/vnd.ms-xpsdocument": "open it in a viewer such as Okular and print it to a PDF",
    "application/x-abiword": "open it in AbiWord or LibreOffice and save it as .odt",
    "application/x-dbf": "open it in LibreOffice Calc and save it as .xlsx or .csv",
    "application/x-gnumeric": "open it in Gnumeric and save it as .xlsx or .ods",
    "application/x-hwp": "open it in Hancom Office and save it as .docx or PDF",
    "application/x-mobipocket-ebook": "convert it to .epub with Calibre",
    "application/x-mswrite": "open it in LibreOffice and save it as .docx",
    "application/x-onenote": "open it in OneNote and export it as .docx or PDF",
    "image/vnd.adobe.photoshop": "open it in Photoshop or GIMP and save it as .png",
    "image/vnd.djvu": "open it in DjView and export it as PDF",
    "image/vnd.dwg": "open it in a CAD program and export it as PDF",
}
"""Remedies by media type."""
