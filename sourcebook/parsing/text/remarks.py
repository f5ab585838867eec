"""Comments of readers as sentences of the text they are about."""


def remark_sentence(text: str, *, author: str, day: str, about: str = "") -> str:
    """Return a comment as `Comment by A, 2024-05-06, on "words": text`; author, day and words may be empty."""
    by = f" by {author}" if author else ""
    when = f", {day}" if day else ""
    words = f'{"," if by or when else ""} on "{about}"' if about else ""
    return f"Comment{by}{when}{words}: {text}"
