"""The time zone of daily and weekly work, by its name in the IANA database."""

from difflib import get_close_matches
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

MOST_NAMED = 3
"""Zones that a refusal names at most."""


def near_zones(name: str) -> list[str]:
    """Return the names of zones that a wrong one may mean, by the whole name or by its city.

    Args:
        name: the wrong name, such as `Tokio` or `europe/berlin`.
    """
    by_form: dict[str, list[str]] = {}
    for zone in sorted(available_timezones()):
        for form in {zone.casefold(), zone.casefold().rpartition("/")[2]}:
            by_form.setdefault(form, []).append(zone)
    wanted = name.strip().casefold().replace(" ", "_")
    city = wanted.rpartition("/")[2]
    if exact := by_form.get(wanted) or by_form.get(city):
        return exact[:MOST_NAMED]
    forms = [*get_close_matches(wanted, by_form, cutoff=0.75), *get_close_matches(city, by_form)]
    return list(dict.fromkeys(zone for form in forms for zone in by_form[form]))[:MOST_NAMED]


def _time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, a path out of the database, one of its folders
        near = near_zones(name)
        meant = f"; did you mean {' or '.join(near)}?" if near else ""
        raise PydanticCustomError("time_zone", "there is no such zone{meant}", {"meant": meant}) from None
    return name


TimeZone = Annotated[str, AfterValidator(_time_zone)]
"""Name of a zone such as `Europe/Berlin`."""
