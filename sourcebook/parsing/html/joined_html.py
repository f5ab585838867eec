"""A part in HTML of a document that is joined of several."""

from sourcebook.parsing.html.cleaner import readable_body, write_everything
from sourcebook.parsing.text.joined_blocks import JoinedBlocks


def add_html(joined: JoinedBlocks, html: str) -> bool:
    """Add a part in HTML, without scripts and styles; return whether it has text."""
    body = readable_body(html)
    written = None if body is None else write_everything(body, base_url="")
    if written is None or not written.markdown.strip():
        return False
    joined.add_blocks(written.markdown.rstrip(), written.blocks())
    return True
