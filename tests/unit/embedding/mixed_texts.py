"""Texts of mixed lengths, from a few characters to far beyond the model's context, in no order of length."""

SENTENCES = (
    "The warranty covers the battery for two years.",
    "Refunds are paid within fourteen days of the return.",
    "The reactor is cooled by liquid sodium.",
    "Migratory birds find their way by the stars and by the magnetic field of the earth.",
    "Ok.",
)


def mixed_texts(count: int) -> list[str]:
    """Return texts of 1 to 40 sentences, each starting with its own number."""
    return [f"{number}. " + " ".join([SENTENCES[number % 5]] * (1 + (number * 37) % 40)) for number in range(count)]
