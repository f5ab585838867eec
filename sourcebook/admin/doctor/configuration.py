"""Check of the configuration file."""

from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.admin.doctor.check import Check, fail, ok, warn
from sourcebook.errors import ConfigurationError
from sourcebook.installation import install_command

if TYPE_CHECKING:
    from sourcebook.config.loading import Configuration


def check_configuration(named: Path | None) -> "tuple[Configuration | None, Check]":
    """Read the configuration and return it with its check; None where it cannot be read."""
    try:
        from sourcebook.config.loading import configuration_path, load_configuration

        configuration = load_configuration(named)
    except ModuleNotFoundError as error:
        return None, fail("configuration", f"{error.name} is not installed", install_command("cli"))
    except ConfigurationError as error:
        path = configuration_path(named)
        if not path.exists():
            return None, warn(
                "configuration", f"there is none at {path}", "sourcebook --config PATH doctor, or write it"
            )
        return None, fail("configuration", str(error), f"edit {path}")
    names = ", ".join(configuration.collections)
    return configuration, ok("configuration", f"{configuration.path} with {names}")
