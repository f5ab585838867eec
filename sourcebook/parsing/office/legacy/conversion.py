"""Conversion of one file by LibreOffice, in a temporary folder and profile, without macros and network."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from sourcebook.errors import FailureClass, ParseError
from sourcebook.parsing.office.legacy.watch import TOO_LONG
from sourcebook.processes.child import child_environment

SECONDS: Final = 100
"""Seconds a conversion may take; less than `parsing.timeout` allows, so that the error names LibreOffice."""
_LARGEST = 512 << 20
"""Bytes of a converted file."""
_WATCHER = Path(__file__).with_name("watch.py")
_SETTINGS: Final = (
    ("Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Common/Security/Scripting", "DisableActiveContent", "true"),
    ("Writer/Content/Update", "Link", "2"),
    ("Calc/Content/Update", "Link", "2"),
)
_DEAD_PROXY: Final = (
    ("ooInetProxyType", "2"),
    ("ooInetNoProxy", ""),
    ("ooInetHTTPProxyName", "127.0.0.1"),
    ("ooInetHTTPProxyPort", "9"),
    ("ooInetHTTPSProxyName", "127.0.0.1"),
    ("ooInetHTTPSProxyPort", "9"),
)


def convert(content: bytes, *, program: str, ending: str, target: str, seconds: float = SECONDS) -> bytes:
    """Return the file in the format `target`.

    LibreOffice and all processes that it starts end after `seconds`, and as soon as this process ends.

    Args:
        content: the whole file.
        program: path of LibreOffice.
        ending: ending of the file's format, such as `doc`.
        target: ending of the format to convert to, such as `docx`.
        seconds: time limit.

    Raises:
        ParseError: libreOffice refuses the file, or exceeds the time limit.
    """
    with TemporaryDirectory(prefix="sourcebook-office-") as folder:
        place = Path(folder)
        source, profile, results = place / f"document.{ending}", place / "profile", place / "converted"
        source.write_bytes(content)
        _write_profile(profile)
        arguments = [
            program,
            f"-env:UserInstallation={profile.as_uri()}",
            "--headless",
            "--norestore",
            "--nologo",
            "--nolockcheck",
            "--convert-to",
            target,
            "--outdir",
            str(results),
            str(source),
        ]
        code = _run(arguments, folder=place, seconds=seconds)
        result = results / f"document.{target}"
        if code == 0 and result.is_file():
            if result.stat().st_size > _LARGEST:
                raise ParseError(
                    "LibreOffice makes a file of it that is too large to be read; split it", FailureClass.TOO_LARGE
                )
            return result.read_bytes()
    if code == TOO_LONG:
        raise ParseError(
            f"LibreOffice did not convert it within {seconds:g} s; save it as .{target} or split it",
            FailureClass.TIMEOUT,
        )
    raise ParseError(
        f"LibreOffice cannot convert it; open it in its program and save it as .{target}", FailureClass.CORRUPT
    )


def _run(arguments: list[str], *, folder: Path, seconds: float) -> int:
    watched = [sys.executable, "-I", str(_WATCHER), str(seconds), *arguments]
    with subprocess.Popen(
        watched,
        cwd=folder,
        env=child_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as watcher:
        try:
            return watcher.wait()
        finally:
            watcher.terminate()  # ends LibreOffice and its children


def _write_profile(profile: Path) -> None:
    """Write the settings of a profile: no macros, no links followed, and a proxy that does not exist."""
    office = "/org.openoffice.Office."
    settings = [(office + path, name, value) for path, name, value in _SETTINGS]
    settings += [("/org.openoffice.Inet/Settings", name, value) for name, value in _DEAD_PROXY]
    items = "".join(
        f'<item oor:path="{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
        for path, name, value in settings
    )
    user = profile / "user"
    user.mkdir(parents=True)
    (user / "registrymodifications.xcu").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema"'
        f' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">{items}</oor:items>',
        encoding="utf-8",
    )
