"""Invoices: lines of money, and their totals."""

from billing.rounding import round_half_even


class UnknownTaxRateError(KeyError):
    """A country whose tax rate nobody entered."""


TAX_RATES = {"DE": 19, "FR": 20, "NO": 25}


def total_in_cents(lines: list[int], country: str) -> int:
    """Return the sum of all lines with tax, in whole cents."""
    net = sum(lines)
    return net + tax_in_cents(net, country)


def tax_in_cents(net: int, country: str) -> int:
    """Return the tax on a sum, rounded once."""
    if country not in TAX_RATES:
        raise UnknownTaxRateError(country)
    return round_half_even(net * TAX_RATES[country], 100)
