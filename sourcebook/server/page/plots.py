"""Plots of numbers by day: bars and a scale that the server draws, without a script."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

HEIGHT: Final = 100
"""Height of a plot in its own units, which are percent; a day is one unit wide."""
_GAP: Final = 0.16
"""Part of a day's width that stays empty; none where there are so many days that gaps would be stripes."""
_MOST_APART: Final = 60
_LOWEST: Final = 1.5
"""Height of the bar of a number that is small but not 0."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The bar of a day, in units of the plot."""

    x: float
    y: float
    width: float
    height: float
    day: date
    value: float


@dataclass(frozen=True, slots=True)
class Tick:
    """A value of the scale beside a plot."""

    y: float
    """Place from above, in units of the plot."""
    label: str


@dataclass(frozen=True, slots=True)
class Plot:
    """Numbers by day as bars."""

    title: str
    unit: str
    bars: tuple[Bar, ...]
    """Those of the days whose number is above 0."""
    first: date
    last: date
    highest: float

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """Values of the scale from 0 on, at most five, at even distances; whole numbers where all values are."""
        if self.highest <= 0:
            return ()
        is_whole = all(float(bar.value).is_integer() for bar in self.bars)
        step = _even(self.highest / 4)
        step = max(step, 1.0) if is_whole else step
        values = [number * step for number in range(int(self.highest / step + 1e-9) + 1)]
        return tuple(Tick(round((1 - each / self.highest) * HEIGHT, 2), _short(each)) for each in values)

    @property
    def days(self) -> int:
        """Width of the plot."""
        return (self.last - self.first).days + 1


def daily(title: str, unit: str, values: Mapping[date, float], first: date, last: date) -> Plot:
    """Return the plot of numbers from one day to another; days without one have 0."""
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    highest = max((values.get(day, 0) for day in days), default=0)
    return Plot(title, unit, tuple(_bars(days, values, highest)), first, last, highest)


def running(changes: Mapping[date, float], first: date, last: date) -> dict[date, float]:
    """Return the sum of changes up to each day; those of earlier days count from the first one on."""
    total = sum(change for day, change in changes.items() if day < first)
    sums = {}
    for n in range((last - first).days + 1):
        day = first + timedelta(days=n)
        total += changes.get(day, 0)
        sums[day] = total
    return sums


def _even(least: float) -> float:
    """Return the first of 1, 2, 5, 10, 20, … and of .5, .2, .1, … that is not below a number."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(part * power for part in (1, 2, 5, 10) if part * power >= least * (1 - 1e-9))


def _short(value: float) -> str:
    """Return a number in few characters."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= size:
            return f"{value / (1e3 if letter == 'k' else size):g}{letter}"
    return f"{value:,.10g}"


def _bars(days: list[date], values: Mapping[date, float], highest: float) -> Iterator[Bar]:
    gap = _GAP if len(days) <= _MOST_APART else 0
    for at, day in enumerate(days):
        value = values.get(day, 0)
        if value > 0:
            height = round(max(value / highest * HEIGHT, _LOWEST), 2)
            yield Bar(at + gap / 2, round(HEIGHT - height, 2), 1 - gap, height, day, value)
