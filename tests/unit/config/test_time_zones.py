"""The setting `time_zone`: what is taken, what a refusal names, and what schedules take from a file with mistakes."""

from pathlib import Path

import pytest

from sourcebook.config.loading import configured_time_zone, load_configuration
from sourcebook.config.time_zones import near_zones
from sourcebook.errors import ConfigurationError

COLLECTIONS = "collections: {handbook: {files: [{root: ./docs}]}}\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "sourcebook.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Tokyo", "America/Argentina/Ushuaia", "Etc/GMT-9"])
def test_names_of_the_iana_database_are_taken(zone: str, tmp_path: Path) -> None:
    path = write(tmp_path, f"time_zone: {zone}\n{COLLECTIONS}")
    assert load_configuration(path).time_zone == configured_time_zone(path) == zone


def test_without_the_setting_it_is_utc(tmp_path: Path) -> None:
    assert load_configuration(write(tmp_path, COLLECTIONS)).time_zone == "UTC"
    assert configured_time_zone(tmp_path / "missing.yaml") == "UTC"


@pytest.mark.parametrize(
    ("zone", "meant"),
    [
        ("Tokio", "Asia/Tokyo"),
        ("europe/paris", "Europe/Paris"),
        ("Lisbon", "Europe/Lisbon"),
        ("New York", "America/New_York"),
        ("Asia/Calcuta", "Asia/Calcutta"),
    ],
)
def test_a_refusal_names_the_zone_that_is_meant(zone: str, meant: str, tmp_path: Path) -> None:
    path = write(tmp_path, f"time_zone: {zone}\n{COLLECTIONS}")
    with pytest.raises(ConfigurationError, match="line 1, column 12: time_zone: found") as refused:
        load_configuration(path)
    assert f"did you mean {meant}" in str(refused.value)
    assert configured_time_zone(path) == "UTC"


@pytest.mark.parametrize("zone", ["../../etc/passwd", "Europe", "''", "/Europe/Berlin", "[UTC]", "+02:00", "~"])
def test_what_is_no_name_is_refused(zone: str, tmp_path: Path) -> None:
    path = write(tmp_path, f"time_zone: {zone}\n{COLLECTIONS}")
    with pytest.raises(ConfigurationError, match="time_zone: found"):
        load_configuration(path)
    assert configured_time_zone(path) == "UTC"


def test_nothing_is_meant_by_nonsense() -> None:
    assert near_zones("qqqqqqqq") == []


def test_schedules_take_the_zone_of_a_file_with_another_mistake(tmp_path: Path) -> None:
    """The last good collections stay in force; the nights need not move meanwhile."""
    assert configured_time_zone(write(tmp_path, "time_zone: Asia/Tokyo\ncollections: {handbook: 7}\n")) == "Asia/Tokyo"
    assert configured_time_zone(write(tmp_path, "time_zone: Asia/Tokyo\n  broken: [")) == "UTC"
