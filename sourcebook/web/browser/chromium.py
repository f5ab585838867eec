"""Headless Chromium: finding one, running it in a group that ends with this process, and time limits."""

import asyncio
import os
import re
import shutil
import signal
import sys
import tempfile
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from sourcebook.errors import FailureClass
from sourcebook.model.closing import AsyncClosing
from sourcebook.processes.child import child_environment
from sourcebook.web.http_types import FetchError

VARIABLE: Final = "SOURCEBOOK_CHROMIUM"
REMEDY: Final = f"apt-get install chromium, or set {VARIABLE}, or render: never"

_NAMES: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
)
_APPLICATIONS: Final = (
    "Chromium.app/Contents/MacOS/Chromium",
    "Google Chrome.app/Contents/MacOS/Google Chrome",
    "Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
_PLAYWRIGHT: Final = (
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
)

_UNUSED_FEATURES: Final = (
    "Translate",
    "MediaRouter",
    "OptimizationHints",
    # The suggestions of a window's address bar: pages of their own, which take a second of processor time to load.
    "WebUIOmniboxPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxAimPopup",
)
_SWITCHES: Final = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-startup-window",  # pages open windows of their own
    "--no-pings",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    "--metrics-recording-only",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-breakpad",
    "--disable-domain-reliability",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-dev-shm-usage",
    f"--disable-features={','.join(_UNUSED_FEATURES)}",
    # Background pages run their timers at full speed.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    # Only text is needed, and the memory of a page is limited.
    "--blink-settings=imagesEnabled=false",
    "--disable-remote-fonts",
    "--js-flags=--max-old-space-size=1024",
    # Nothing bypasses the proxy: no DNS lookups, no exception for loopback, no direct WebRTC.
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # its name in earlier Chromiums
)

# Chromium replaces the shell. A background part of the shell waits for the end of its input, which comes when this
# process ends for any reason; then it ends Chromium and removes the folder.
_LAUNCHER: Final = """
folder=$1; shift
exec 3<&0
{ read -r _; kill -9 $$; sleep 1; rm -rf -- "$folder"; kill -9 -- -$$; } <&3 >/dev/null 2>&1 &
exec "$@" 3<&- </dev/null
"""

_FOLDER_VARIABLES: Final = ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")
_ENDPOINT: Final = re.compile(rb"^DevTools listening on (ws://\S+)")
_LONGEST_FOLDER: Final = 38
_START_SECONDS: Final = 30.0
_END_SECONDS: Final = 3.0


def find_chromium() -> Path | None:
    """Return the path of a Chromium-based browser: `SOURCEBOOK_CHROMIUM` if set, else an installed one.

    The path of the variable is not checked; a wrong one fails at the start of the browser.
    """
    if named := os.environ.get(VARIABLE):
        return Path(shutil.which(named) or named).expanduser()
    for name in _NAMES:
        if found := shutil.which(name):
            return Path(found)
    folders = [Path("/Applications"), Path.home() / "Applications"] if sys.platform == "darwin" else []
    applications = [folder / name for folder in folders for name in _APPLICATIONS]
    return next((path for path in [*applications, *_downloaded_by_playwright()] if os.access(path, os.X_OK)), None)


def _downloaded_by_playwright() -> list[Path]:
    """Return the browsers downloaded by `playwright install`, the newest first."""
    cache = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    folder = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or cache / "ms-playwright")
    found = [path for pattern in _PLAYWRIGHT for path in folder.glob(pattern)]
    return sorted(found, key=lambda path: [int(number) for number in re.findall(r"\d+", str(path))], reverse=True)


class Browser(AsyncClosing):
    """A headless Chromium in its own process group, with an empty profile and a proxy for all traffic.

    It ends with `close`, and also when this process is killed. It writes only to a temporary folder, its HOME and
    TMPDIR, which is removed at the end.
    """

    def __init__(self, proxy_port: int) -> None:
        """Create a browser without starting it.

        Args:
            proxy_port: port of the proxy on 127.0.0.1.
        """
        self._proxy_port = proxy_port
        self._folder: Path | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._said: deque[bytes] = deque(maxlen=20)

    @property
    def pid(self) -> int | None:
        """Process id of Chromium and of its process group; None before `start`."""
        return None if self._process is None else self._process.pid

    @property
    def running(self) -> bool:
        """Whether it has started and not ended."""
        return self._process is not None and self._process.returncode is None

    async def start(self) -> str:
        """Start it and return the ws:// URL of its DevTools.

        Raises:
            FetchError: no browser is installed, or it does not start.
        """
        executable = find_chromium()
        if executable is None:
            raise FetchError(
                f"no browser was found that could render the page: {REMEDY}",
                transient=True,
                failure_class=FailureClass.MODEL,
            )
        if not os.access(executable, os.X_OK):
            raise FetchError(
                f"there is no browser at {executable}: {REMEDY}", transient=True, failure_class=FailureClass.MODEL
            )
        try:
            async with asyncio.timeout(_START_SECONDS):
                return await self._start(executable)
        except (OSError, TimeoutError) as error:
            await self.close()
            said = b" ".join(self._said).decode(errors="replace").strip()
            reason = said[-500:] or str(error) or f"it was not ready after {_START_SECONDS:.0f} s"
            raise FetchError(
                f"the browser {executable} does not start: {reason}", transient=True, failure_class=FailureClass.MODEL
            ) from error
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End it with all its processes, and remove its folder; repeated calls do nothing."""
        process, self._process = self._process, None
        folder, self._folder = self._folder, None
        try:
            if process is not None:
                await self._end(process)
        finally:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        try:
            with suppress(ProcessLookupError, TimeoutError):
                os.killpg(process.pid, signal.SIGTERM)
                async with asyncio.timeout(_END_SECONDS):
                    await process.wait()
        finally:
            with suppress(ProcessLookupError, PermissionError):  # macOS refuses to signal zombies
                os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        if process.stdin is not None:
            process.stdin.close()
            with suppress(OSError):
                await process.stdin.wait_closed()

    async def _start(self, executable: Path) -> str:
        folder = self._folder = _temporary_folder()
        switches = [
            *_SWITCHES,
            f"--user-data-dir={folder / 'profile'}",
            f"--proxy-server=http://127.0.0.1:{self._proxy_port}",
            *([] if _may_use_sandbox() else ["--no-sandbox"]),
        ]
        _copy_certificates(folder)
        self._process = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", _LAUNCHER, "sh", str(folder), str(executable), *switches),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={**child_environment(), **dict.fromkeys(_FOLDER_VARIABLES, str(folder))},
            process_group=0,
        )
        endpoint: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._reader = asyncio.create_task(self._read_errors(self._process, endpoint))
        return await endpoint

    async def _read_errors(self, process: asyncio.subprocess.Process, endpoint: "asyncio.Future[str]") -> None:
        """Read Chromium's stderr until it ends, so that its pipe never fills; keep the last lines."""
        while (line := await _line(process.stderr)) is not None:
            if not endpoint.done() and (found := _ENDPOINT.match(line)):
                endpoint.set_result(found[1].decode())
            self._said.append(line)
        if not endpoint.done():
            endpoint.set_exception(OSError(f"it ended with exit status {await process.wait()}"))


async def _line(stream: asyncio.StreamReader | None) -> bytes | None:
    """Read a line without its end, None at the end of the stream; an overlong line is returned in pieces."""
    if stream is None:
        return None
    try:
        line = await stream.readuntil()
    except asyncio.IncompleteReadError as error:
        line = error.partial
    except asyncio.LimitOverrunError as error:
        line = await stream.readexactly(error.consumed)
    return line.strip() if line else None


def _temporary_folder() -> Path:
    """Create a folder with a short path: systems limit the path of Chromium's socket to about 100 bytes."""
    too_long = len(os.fsencode(tempfile.gettempdir())) > _LONGEST_FOLDER
    return Path(tempfile.mkdtemp(prefix="sourcebook-", dir="/tmp" if too_long else None))  # noqa: S108


def _copy_certificates(folder: Path) -> None:
    """Copy the user's certificate authorities to the folder: on Linux, Chromium reads them below HOME."""
    with suppress(OSError, shutil.Error):
        shutil.copytree(Path.home() / ".pki", folder / ".pki")


def _may_use_sandbox() -> bool:
    """Whether Chromium's sandbox is available: not as root, and not in most containers, which isolate it themselves."""
    return os.geteuid() != 0 and os.environ.get("SOURCEBOOK_CHROMIUM_SANDBOX", "on") != "off"


T = TypeVar("T")

_ABANDONED: set["asyncio.Task[Any]"] = set()
"""Abandoned tasks, referenced here because asyncio does not keep a running task from garbage collection."""


async def within(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine, or raise in time even where it ignores its cancellation.

    `asyncio.timeout` waits for the cancelled coroutine; this function does not.

    Raises:
        TimeoutError: the coroutine did not end in time; it is cancelled and abandoned.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.wait((task,), timeout=seconds)
    finally:
        if not task.done():
            task.cancel()
            abandon(task)
    if not task.done():
        raise TimeoutError(f"not done after {seconds:g} s")
    return task.result()


def abandon(task: "asyncio.Task[Any]") -> None:
    """Let a task end unobserved, without asyncio's warning about an error that is never retrieved."""
    if not task.done():
        _ABANDONED.add(task)
    task.add_done_callback(_forget)


def _forget(task: "asyncio.Task[Any]") -> None:
    _ABANDONED.discard(task)
    if not task.cancelled():
        task.exception()
