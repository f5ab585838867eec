"""The version of Sourcebook, as the faces of the server say it."""

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """Return the version of the installed distribution; empty where there is none."""
    try:
        return version("sourcebook")
    except PackageNotFoundError:
        return ""
