"""Checks of a wheel: the sdist makes the same one, and it works in environments with nothing else."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from release.running import ReleaseError, make_environment, run

ENVIRONMENTS: Final = {
    "": "import sourcebook",
    "client": "from sourcebook.client import RemoteKnowledgeBase; RemoteKnowledgeBase('http://127.0.0.1:8320').close()",
    "server": "import sys; sys.argv = ['sourcebook', '--version']; from sourcebook.command import main; main()",
}
"""By extra, what an environment with it and nothing else must run; the last prints the version as the command does."""


def check_rebuilt(tools: Path, source: Path, wheel: Path) -> None:
    """Compare a wheel, which was made of the sdist, with the one that the source makes.

    Raises:
        ReleaseError: they differ: the sdist lacks a file, or a build is not reproducible.
    """
    with TemporaryDirectory(dir=source.parent) as folder:
        run(tools, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, source)
        if (Path(folder) / wheel.name).read_bytes() != wheel.read_bytes():
            raise ReleaseError("the sdist and the checkout make different wheels")


def check_installed(work: Path, wheel: Path, constraints: Path, version: str) -> None:
    """Install a wheel with each extra of `ENVIRONMENTS` into an empty environment, and run its code there.

    Raises:
        ReleaseError: an installation or its code fails, or names another version.
    """
    asked = "from sourcebook.installation import installed_version; print(installed_version())"
    for extra, code in ENVIRONMENTS.items():
        target = f"{wheel}[{extra}]" if extra else wheel
        python = make_environment(work / f"with-{extra or 'nothing'}", "--constraint", constraints, target)
        said = run(python, "-I", "-c", code, folder=work), run(python, "-I", "-c", asked, folder=work)
        if said[1] != f"{version}\n" or said[0] not in {"", f"sourcebook {version}\n"}:
            raise ReleaseError(f"the wheel of {version} says {said} with the extra {extra!r}")
