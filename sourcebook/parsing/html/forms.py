"""Forms of a page."""

from sourcebook.parsing.html.tree import Element

_SITE_FRAME = ("header", "nav", "aside", "footer")


def asks_password(tree: Element) -> bool:
    """Return whether a page has a field for a password; one in the site's frame is there on every page."""
    return any(
        (field.get("type") or "").strip().lower() == "password"
        and next(field.iterancestors(*_SITE_FRAME), None) is None
        for field in tree.iter("input")
    )
