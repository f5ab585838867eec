"""Comments of readers as sentences of the text they are about."""


def remark_sentence(text: str, *, author: str, day: str) -> str:
    """Return a comment as `Comment by A, 2024-05-06: text`; author and day may be empty."""
    by = f" by {author}" if author else ""
    on = f", {day}" if day else ""
    return f"Comment{by}{on}: {text}"
