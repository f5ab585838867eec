"""A number in a sentence."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: `1 document`, `2,000 documents`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
