"""Parts that Word and Excel 2003 have in common in their formats of one XML file."""

import re
from typing import Any, Final

from sourcebook.model.document import JsonValue
from sourcebook.parsing.markup.xml_tree import elements, first_of, local_name, words_of

_XML: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*<")
_WIDE_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_PROPERTIES: Final = {
    "Title": "title",
    "Author": "author",
    "Created": "created",
    "LastSaved": "modified",
    "Subject": "subject",
    "Description": "description",
    "Keywords": "keywords",
    "Category": "category",
}
"""Names in the file, each with the name in a document's metadata."""


def is_xml(content: bytes) -> bool:
    """Tell whether a file is XML, and no binary file of Office."""
    return content.startswith(_WIDE_MARKS) or _XML.match(content) is not None


def xml_properties(root: Any) -> dict[str, JsonValue]:
    """Return the properties of a document by the names that `ole_properties` uses."""
    held = first_of(root, "DocumentProperties")
    stated = {} if held is None else {local_name(each): words_of(each) for each in elements(held)}
    found: dict[str, JsonValue] = {ours: stated[theirs] for theirs, ours in _PROPERTIES.items() if stated.get(theirs)}
    if isinstance(words := found.get("keywords"), str):
        found["keywords"] = [word.strip() for word in re.split("[;,]", words) if word.strip()]
    return found
