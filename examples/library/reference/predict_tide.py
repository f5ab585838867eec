"""Predict the tide at Brannock Head from the harmonic constants.

The sea level is taken as a sum of cosines, one for each constituent in ``harmonic-constants.csv``. Each cosine has
an amplitude and a phase lag that were fitted to our own record; the position of the moon and the sun supplies the
rest. Weather is not in it: the difference between what was measured and what this script says is the surge.

    python predict_tide.py 2025-03-01 --days 2
    python predict_tide.py 2025-03-01 --hourly

All times are UTC, all heights metres above chart datum. Only the standard library is needed. The slow swing of the
moon's orbit (18.6 years) is corrected for: without that, M2 alone could be wrong by 53 mm.
"""

import argparse
import csv
import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

CONSTANTS = Path(__file__).with_name("harmonic-constants.csv")
EPOCH = datetime(2000, 1, 1, 12, tzinfo=UTC)

# How often each constituent's argument contains lunar time T, the mean longitudes of the moon (s) and the sun (h)
# and the longitude of the lunar perigee (p), with a constant offset in degrees at the end.
ARGUMENTS = {
    "Z0": (0, 0, 0, 0, 0),
    "M2": (2, -2, 2, 0, 0),
    "S2": (2, 0, 0, 0, 0),
    "N2": (2, -3, 2, 1, 0),
    "K2": (2, 0, 2, 0, 0),
    "K1": (1, 0, 1, 0, -90),
    "O1": (1, -2, 1, 0, 90),
    "P1": (1, 0, -1, 0, 90),
    "Q1": (1, -3, 1, 1, 90),
    "M4": (4, -4, 4, 0, 0),
    "MS4": (4, -2, 2, 0, 0),
    "SA": (0, 0, 1, 0, 0),
    "SSA": (0, 0, 2, 0, 0),
}


class Constituent(NamedTuple):
    """One cosine of the tide: its name, its amplitude in metres and its Greenwich phase lag in degrees."""

    name: str
    amplitude: float
    phase_lag: float


class Turn(NamedTuple):
    """A high or a low water."""

    time: datetime
    height: float
    is_high: bool


def read_constants(path: Path = CONSTANTS) -> list[Constituent]:
    """Read the fitted constants from the CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Constituent(row["constituent"], float(row["amplitude_m"]), float(row["phase_lag_deg"]))
            for row in csv.DictReader(file)
        ]


def nodal_correction(name: str, node: float) -> tuple[float, float]:
    """Return the factor and the angle (degrees) for the 18.6-year cycle of the moon's node, given in radians."""
    cosine, sine = math.cos(node), math.sin(node)
    lunar_factor, lunar_angle = 1 - 0.037 * cosine, -2.1 * sine
    match name:
        case "M2" | "N2" | "MS4":
            return lunar_factor, lunar_angle
        case "M4":
            return lunar_factor**2, 2 * lunar_angle
        case "K2":
            return 1.024 + 0.286 * cosine, -17.7 * sine
        case "K1":
            return 1.006 + 0.115 * cosine, -8.9 * sine
        case "O1" | "Q1":
            return 1.009 + 0.187 * cosine, 10.8 * sine
        case _:
            return 1.0, 0.0


def predict(time: datetime, constants: list[Constituent]) -> float:
    """Return the predicted height of the tide at one moment."""
    days = (time - EPOCH) / timedelta(days=1)
    moon = 218.3164 + 13.17639648 * days
    sun = 280.4661 + 0.98564736 * days
    perigee = 83.3535 + 0.11140353 * days
    node = math.radians(125.0445 - 0.05295377 * days)
    hour_angle = 360 * ((days + 0.5) % 1.0) + 180

    height = 0.0
    for name, amplitude, phase_lag in constants:
        t, s, h, p, offset = ARGUMENTS[name]
        argument = t * hour_angle + s * moon + h * sun + p * perigee + offset
        factor, angle = nodal_correction(name, node)
        height += factor * amplitude * math.cos(math.radians(argument + angle - phase_lag))
    return height


def turns(start: datetime, end: datetime, constants: list[Constituent]) -> Iterator[Turn]:
    """Yield the high and low waters between two moments, to the minute."""
    minute = timedelta(minutes=1)
    before, here = predict(start - minute, constants), predict(start, constants)
    time = start
    while time < end:
        after = predict(time + minute, constants)
        if (here - before) * (after - here) <= 0 and here != before:
            yield Turn(time, here, is_high=here > before)
        before, here, time = here, after, time + minute


def main() -> None:
    """Print high and low waters, or hourly heights, for the days asked for."""
    parser = argparse.ArgumentParser(description="Predict the tide at Brannock Head.")
    parser.add_argument("date", help="first day, YYYY-MM-DD")
    parser.add_argument("--days", type=int, default=1)
    parser.add_argument("--hourly", action="store_true", help="hourly heights instead of high and low waters")
    options = parser.parse_args()

    constants = read_constants()
    start = datetime.fromisoformat(options.date).replace(tzinfo=UTC)
    if options.hourly:
        for hour in range(24 * options.days):
            time = start + timedelta(hours=hour)
            print(f"{time:%Y-%m-%d %H:%M}  {predict(time, constants):5.2f} m")
    else:
        for turn in turns(start, start + timedelta(days=options.days), constants):
            print(f"{turn.time:%Y-%m-%d %H:%M}  {turn.height:5.2f} m  {'high' if turn.is_high else 'low'} water")


if __name__ == "__main__":
    main()
