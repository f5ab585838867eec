"""Text that every tokenizer takes."""


def well_formed(text: str) -> str:
    """Replace each half of a surrogate pair that stands alone, which is no character, by U+FFFD; join whole pairs."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
