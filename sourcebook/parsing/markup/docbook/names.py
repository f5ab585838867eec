"""Elements of DocBook, by what becomes of them in HTML."""

SECTIONS = frozenset(
    {"acknowledgements", "appendix", "article", "bibliodiv", "bibliography", "book", "chapter", "colophon",
     "dedication", "glossary", "glossdiv", "index", "part", "preface", "qandadiv", "qandaset", "refentry", "reference",
     "refsect1", "refsect2", "refsect3", "refsection", "refsynopsisdiv", "sect1", "sect2", "sect3", "sect4", "sect5",
     "section", "set", "simplesect", "topic"}
)  # fmt: skip
"""Elements whose title is a heading."""
LEFT_OUT = frozenset(
    {"alt", "audiodata", "beginpage", "colspec", "footnoteref", "imagedata", "indexterm", "lot", "remark", "spanspec",
     "toc", "videodata"}
)  # fmt: skip
NOTES = {"note": "Note", "tip": "Tip", "warning": "Warning", "caution": "Caution", "important": "Important",
         "danger": "Danger"}  # fmt: skip
CODE = frozenset({"programlisting", "screen", "synopsis", "literallayout", "classsynopsisinfo", "funcsynopsisinfo"})
"""Blocks whose lines are kept as they are."""
BLOCKS = frozenset(
    {*NOTES, *CODE, "address", "blockquote", "bridgehead", "calloutlist", "epigraph", "equation", "example", "figure",
     "formalpara", "glosslist", "informalequation", "informalexample", "informalfigure", "informaltable",
     "itemizedlist", "mediaobject", "orderedlist", "para", "procedure", "qandaset", "sidebar", "simpara", "simplelist",
     "table", "variablelist"}
)  # fmt: skip
"""Elements that end the paragraph in which they stand."""
HTML = {
    "para": "p", "simpara": "p", "bridgehead": "p", "attribution": "p", "bibliomixed": "p", "biblioentry": "p",
    "cmdsynopsis": "p", "funcprototype": "p", "member": "li",
    "itemizedlist": "ul", "simplelist": "ul", "orderedlist": "ol", "procedure": "ol", "substeps": "ol",
    "calloutlist": "ol", "listitem": "li", "step": "li", "callout": "li",
    "variablelist": "dl", "glosslist": "dl", "term": "dt", "glossterm": "dt", "glossdef": "dd",
    "blockquote": "blockquote", "epigraph": "blockquote",
    "table": "table", "informaltable": "table", "thead": "thead", "tbody": "tbody", "tfoot": "tfoot", "row": "tr",
    "tr": "tr", "th": "th", "td": "td", "entrytbl": "td",
    "example": "div", "informalexample": "div", "figure": "div", "informalfigure": "div", "sidebar": "div",
    "formalpara": "div", "abstract": "div", "mediaobject": "div", "textobject": "div", "caption": "div",
    "equation": "div", "informalequation": "div", "qandaentry": "div", "question": "div", "answer": "div",
    "address": "div", "stepalternatives": "ul", "highlights": "div", "partintro": "div",
    "superscript": "sup", "subscript": "sub",
    "emphasis": "em", "citetitle": "em", "firstterm": "em", "foreignphrase": "em", "replaceable": "em",
    **dict.fromkeys(
        ("classname", "code", "command", "computeroutput", "constant", "envar", "exceptionname", "filename", "function",
         "interfacename", "literal", "markup", "methodname", "option", "parameter", "property", "prompt", "returnvalue",
         "sgmltag", "structfield", "structname", "symbol", "systemitem", "tag", "type", "userinput", "varname"),
        "code",
    ),
}  # fmt: skip
"""HTML element of the elements that need no more than another name; others are plain text."""
