"""Rounding of money."""


def round_half_even(numerator: int, denominator: int) -> int:
    """Divide whole numbers; a half goes to the even neighbour."""
    quotient, rest = divmod(numerator, denominator)
    twice = 2 * rest
    if twice > denominator or (twice == denominator and quotient % 2):
        return quotient + 1
    return quotient
