"""Checks of the machine: packages, configuration, database, models and parsers. Nothing is changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.admin.doctor.check import Check, fail, ok, warn
from sourcebook.admin.doctor.database import check_database
from sourcebook.admin.doctor.machine import check_browser, check_disk, check_git, check_python, check_state_folder
from sourcebook.admin.doctor.model import check_models
from sourcebook.admin.doctor.packages import check_orchestration_versions, check_packages
from sourcebook.admin.doctor.parsing import check_parsing
from sourcebook.admin.doctor.speech import check_speech
from sourcebook.errors import ConfigurationError
from sourcebook.installation import install_command

if TYPE_CHECKING:
    from sourcebook.config.loading import Configuration

__all__ = ["Check", "examine"]


def examine(config_path: Path | None, home: Path, *, with_pipeline: bool) -> list[Check]:
    """Run every check.

    Args:
        config_path: the configuration that was named; None for the default one.
        home: the state folder.
        with_pipeline: whether `ingest` and `up` are to run on this machine.
    """
    configuration, check = _check_configuration(config_path)
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
        *check_git(configuration),
        check_browser(),
    ]


def _check_configuration(named: Path | None) -> tuple[Configuration | None, Check]:
    """Read the configuration and return it with its check; None where it cannot be read."""
    try:
        from sourcebook.config.loading import configuration_path, load_configuration

        configuration = load_configuration(named)
    except ModuleNotFoundError as error:
        return None, fail("configuration", f"{error.name} is not installed", install_command("server"))
    except ConfigurationError as error:
        path = configuration_path(named)
        if not path.exists():
            return None, warn(
                "configuration", f"there is none at {path}", "sourcebook --config PATH doctor, or write it"
            )
        return None, fail("configuration", str(error), f"edit {path}")
    names = ", ".join(configuration.collections)
    return configuration, ok("configuration", f"{configuration.path} with {names}")
