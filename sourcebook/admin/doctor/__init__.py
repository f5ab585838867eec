"""Checks of the machine: packages, configuration, database, models and parsers. Nothing is changed."""

from pathlib import Path

from sourcebook.admin.doctor.check import Check as Check
from sourcebook.admin.doctor.configuration import check_configuration
from sourcebook.admin.doctor.database import check_database
from sourcebook.admin.doctor.machine import check_browser, check_disk, check_python, check_state_folder
from sourcebook.admin.doctor.model import check_models
from sourcebook.admin.doctor.packages import check_orchestration_versions, check_packages
from sourcebook.admin.doctor.parsing import check_parsing
from sourcebook.admin.doctor.speech import check_speech

__all__ = ["Check", "examine"]


def examine(config_path: Path | None, home: Path, *, with_pipeline: bool) -> list[Check]:
    """Run every check.

    Args:
        config_path: the configuration that was named; None for the default one.
        home: the state folder.
        with_pipeline: whether `ingest` and `up` are to run on this machine.
    """
    configuration, check = check_configuration(config_path)
    return [
        check_python(),
        *check_packages(with_pipeline=with_pipeline),
        *check_orchestration_versions(),
        check,
        check_state_folder(home),
        check_disk(home),
        *check_database(home),
        *check_models(configuration),
        *check_parsing(configuration),
        *check_speech(configuration),
        check_browser(),
    ]
