"""Jupyter notebooks: prose, code and printed results cell by cell; pictures and widgets are no text."""

import json
import re
from collections.abc import Iterator, Mapping

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.decode import clean, decode
from sourcebook.parsing.text.joined_blocks import JoinedBlocks
from sourcebook.parsing.text.markdown_pictures import with_picture_marks
from sourcebook.parsing.text.markdown_writing import code_fence
from sourcebook.parsing.text.picture_marks import decoded_picture, picture_mark
from sourcebook.parsing.text.titles import cut_title, document_title

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
"""Escape sequences of terminals: colours, cursor movements and titles."""
_OVERWRITTEN = re.compile(r"[^\n]*\r(?!\n)")
"""Start of a line that the terminal shows no more, such as the earlier states of a progress bar."""
_SHOWN_FIRST = ("text/markdown", "text/html", "text/latex", "text/plain", "application/json")
"""Text types of a result, the fullest first: a table is HTML and, less clearly, plain text."""
_PICTURES = ("image/", "application/pdf")
_DRAWING = "image/svg+xml"


def parse_notebook(content: bytes) -> ParsedDocument:
    """Parse a notebook of format 3 or 4.

    Markdown cells are kept verbatim, without the bytes of embedded pictures. Code cells are fenced in the language of
    the notebook's kernel, and what they printed follows them. A picture has a mark.

    Raises:
        ParseError: the file is no JSON, or holds no cells.
    """
    decoded = decode(content)
    notebook = _loaded(decoded.text)
    described = _mapping(notebook.get("metadata"))
    language = _language(described)
    joined = JoinedBlocks()
    for cell in _cells(notebook):
        _add_cell(joined, cell, language)
    markdown, blocks = joined.markdown(), tuple(joined.blocks)
    metadata: dict[str, JsonValue] = {"encoding": decoded.encoding, "programming_language": language}
    if authors := list(_authors(described)):
        metadata["author"] = ", ".join(authors)
    title = described.get("title")
    return ParsedDocument(
        markdown=markdown,
        blocks=blocks,
        title=cut_title(clean(title)) if isinstance(title, str) and title.strip() else document_title(blocks),
        language=detect_language(markdown, blocks),
        metadata={name: value for name, value in metadata.items() if value},
    )


def _loaded(text: str) -> Mapping[str, object]:
    try:
        notebook = json.loads(text)
    except ValueError as error:
        raise ParseError(
            "the notebook is no valid JSON, damaged or cut off; open and save it in Jupyter, or copy it again",
            FailureClass.CORRUPT,
        ) from error
    if not isinstance(notebook, dict) or not any(key in notebook for key in ("cells", "worksheets")):
        raise ParseError(
            "it holds no cells, so it is no Jupyter notebook; check its file name", FailureClass.UNSUPPORTED
        )
    return notebook


def _cells(notebook: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """Yield the cells; those of format 3 lie in worksheets."""
    sheets = notebook.get("worksheets")
    for holder in sheets if isinstance(sheets, list) else [notebook]:
        cells = _mapping(holder).get("cells")
        yield from (cell for cell in (cells if isinstance(cells, list) else []) if isinstance(cell, dict))


def _add_cell(joined: JoinedBlocks, cell: Mapping[str, object], language: str) -> None:
    source = _text(cell.get("source", cell.get("input")))
    match cell.get("cell_type"):
        case "code":
            joined.add(code_fence(source.strip("\n"), language), "code")
            for output in _outputs(cell):
                _add_output(joined, output)
        case "heading":
            level = cell.get("level")
            joined.add_heading(source, min(max(level, 1), 6) if isinstance(level, int) else 1)
        case "raw":
            joined.add(code_fence(source.strip("\n")), "code")
        case _:
            joined.add_markdown(_with_marks(source, _mapping(cell.get("attachments"))))


def _add_output(joined: JoinedBlocks, output: Mapping[str, object]) -> None:
    match output.get("output_type"):
        case "stream":
            joined.add(code_fence(_printed(_text(output.get("text")))), "code")
        case "error" | "pyerr":
            joined.add(code_fence(f"{_text(output.get('ename'))}: {_printed(_text(output.get('evalue')))}"), "code")
        case _:
            _add_result(joined, output)


def _add_result(joined: JoinedBlocks, output: Mapping[str, object]) -> None:
    """Add the fullest text of a result; the text beside a picture only names its class and size."""
    data = _data(output)
    if _is_picture(output):
        joined.add_markdown(_mark_of(data))
        data = {kind: value for kind, value in data.items() if kind == "text/markdown"}
    kind = next((kind for kind in _SHOWN_FIRST if kind in data), "")
    value = data.get(kind)
    match kind:
        case "text/markdown":
            joined.add_markdown(_with_marks(_text(value), {}))
        case "text/html":
            from sourcebook.parsing.html.joined_html import add_html

            if not add_html(joined, _text(value)):
                joined.add(code_fence(_printed(_text(data.get("text/plain")))), "code")
        case "application/json":
            joined.add(code_fence(json.dumps(value, ensure_ascii=False, indent=1), "json"), "data")
        case "":
            return
        case _:
            joined.add(code_fence(_printed(_text(value))), "code")


def _outputs(cell: Mapping[str, object]) -> list[Mapping[str, object]]:
    found = cell.get("outputs")
    return [output for output in found if isinstance(output, dict)] if isinstance(found, list) else []


def _data(output: Mapping[str, object]) -> Mapping[str, object]:
    """Return the representations of a result by media type; format 3 has short names beside the other fields."""
    data = output.get("data")
    if isinstance(data, dict):
        return data
    short = {"text": "text/plain", "html": "text/html", "latex": "text/latex", "png": "image/png", "jpeg": "image/jpeg"}
    return {kind: output[name] for name, kind in short.items() if name in output}


def _is_picture(output: Mapping[str, object]) -> bool:
    return any(kind.startswith(_PICTURES) for kind in _data(output))


def _with_marks(markdown: str, attachments: Mapping[str, object]) -> str:
    """Return Markdown with the marks of embedded pictures and of a cell's attachments."""
    if "data:" not in markdown and "attachment:" not in markdown:
        return markdown
    held = {f"attachment:{name}": _mark_of(_mapping(forms)) for name, forms in attachments.items()}
    return with_picture_marks(markdown, held)


def _mark_of(data: Mapping[str, object]) -> str:
    """Return the mark of the first picture among the forms of a result or an attachment."""
    kind = min((kind for kind in data if kind.startswith(_PICTURES)), key=_DRAWING.__eq__, default="")
    text = _text(data.get(kind))
    return picture_mark(text.encode() if kind == _DRAWING else decoded_picture(text))


def _printed(text: str) -> str:
    """Return text as a terminal shows it in the end."""
    return _OVERWRITTEN.sub("", _ESCAPES.sub("", text)).strip("\n")


def _text(value: object) -> str:
    """Return a text of the format, which is a string or a list of lines, with newlines as in Unix."""
    lines = value if isinstance(value, list) else [value]
    joined = "".join(line for line in lines if isinstance(line, str)).replace("\r\n", "\n")
    return joined.replace("\x00", "").encode("utf-8", "ignore").decode("utf-8")


def _language(described: Mapping[str, object]) -> str:
    for section, name in (("language_info", "name"), ("kernelspec", "language")):
        found = _mapping(described.get(section)).get(name)
        if isinstance(found, str) and (word := found.strip().lower()) and len(word.split()) == 1:
            return clean(word)
    return "python" if "kernel_info" in described or "kernelspec" in described else ""


def _authors(described: Mapping[str, object]) -> Iterator[str]:
    authors = described.get("authors")
    for author in authors if isinstance(authors, list) else []:
        name = author if isinstance(author, str) else _mapping(author).get("name")
        if isinstance(name, str) and name.strip():
            yield cut_title(clean(name))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
