"""A child process: environment, priority, signals, output, memory limit, and its end with its parent."""

import ctypes
import gc
import multiprocessing
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from multiprocessing.connection import Connection
from threading import Thread
from types import ModuleType
from typing import Final, ParamSpec, TypeVar

from sourcebook.errors import SourcebookError

_NICENESS: Final = 10
"""Steps of Linux's priority; a search gets nine times the processor share of a child where cores are scarce."""

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def enter_child(parent: int, errors: Connection) -> None:
    """Set up a child process before its first task.

    Libraries' output never reaches the terminal: stdout is discarded, and the last line of stderr explains a crash.

    Args:
        parent: process id of the parent.
        errors: file that receives stderr.
    """
    drop_hidden_variables()
    hide_packages("pyarrow")  # which pandas imports where it is installed; no child reads a table with it
    end_with_parent(parent)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a child holds nothing that must be saved
    nothing = os.open(os.devnull, os.O_RDWR)
    for source, target in ((nothing, 0), (nothing, 1), (errors.fileno(), 2)):
        os.dup2(source, target)
    # Locks that libraries make, such as tqdm's, are anonymous then: a child that is ended leaves no named semaphore.
    multiprocessing.set_start_method("fork", force=True)
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    # OpenMP threads wait by spinning unless this is set, which starves them where other programs compute too. With both
    # of two cores busy (load 5 to 7), 6 to 22 passages a second were embedded; with sleeping threads 20 to 66.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def hide_packages(*names: str) -> None:
    """Have later imports in this process fail as if packages were not installed.

    For packages that a library imports where it finds them, and that no task uses: they cost time and memory.
    """
    for name in names:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type] # None is Python's "not to be found"


class _DeferredModule(ModuleType):
    """A module that is imported when something of it is used."""


def defer_function(module: str, name: str) -> None:
    """Have later imports of a module's function in this process give one that imports the module when it is called.

    For a function that a library imports at its start and no task calls, of a module that takes time and memory. Any
    other attribute imports the module at once.
    """
    if module in sys.modules:
        return
    stub = _DeferredModule(module)

    def imported() -> ModuleType:
        if sys.modules.get(module) is stub:
            del sys.modules[module]
        return import_module(module)

    def call(*args: object, **kwargs: object) -> object:
        return getattr(imported(), name)(*args, **kwargs)

    def attribute(wanted: str) -> object:
        if wanted.startswith("__"):
            raise AttributeError(wanted)
        return getattr(imported(), wanted)

    vars(stub).update({name: call, "__getattr__": attribute})
    sys.modules[module] = stub


def end_deferral(module: str) -> None:
    """Let later imports find a module itself again, its submodules too; a deferred function still imports it."""
    if isinstance(sys.modules.get(module), _DeferredModule):
        del sys.modules[module]


def call_in_folder(
    function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """Call a function, from the root folder where the current folder was removed.

    Libraries ask for the current folder when they are imported, docling among them; a child may outlive it.
    """
    if not has_folder():
        os.chdir("/")
    return function(*args, **kwargs)


def has_folder() -> bool:
    """Return whether the current folder still exists."""
    try:
        os.getcwd()  # noqa: PTH109 - Path would keep nothing else of it
    except FileNotFoundError:
        return False
    return True


@contextmanager
def existing_folder() -> Iterator[None]:
    """Stand in the root folder where the current folder was removed, and go back afterwards: no child starts there."""
    if has_folder():
        yield
        return
    removed = os.open(".", os.O_RDONLY)
    try:
        os.chdir("/")
        yield
    finally:
        os.fchdir(removed)
        os.close(removed)


@contextmanager
def loading_libraries() -> Iterator[None]:
    """Pause garbage collection while large libraries load: it takes a fifth of torch's import time."""
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


@contextmanager
def memory_limit(size: int) -> Iterator[None]:
    """Limit the memory of this process to `size` bytes; beyond it, allocations raise `MemoryError`.

    Memory that is mapped but never written, such as libraries, does not count. Some systems ignore the limit.
    """
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (size if most == resource.RLIM_INFINITY else min(size, most), most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def reason_of(error: Exception) -> str:
    """Return the sentence that the parent reports for an error in the child."""
    return str(error) if isinstance(error, SourcebookError) else f"{type(error).__name__}: {error}"


_NEEDED: Final = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|TERM|COLUMNS|DISPLAY|LANG|LANGUAGE|LC_\w+|TZ|TMP|TEMP|TMPDIR|XDG_\w+|"
    r"LD_\w+|DYLD_\w+|PYTHON\w+|VIRTUAL_ENV|COVERAGE_\w+|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|"
    r"(?:HTTPS?|ALL|NO)_PROXY|HF_\w+|HUGGINGFACE_\w+|TRANSFORMERS_\w+|TOKENIZERS_\w+|SENTENCE_TRANSFORMERS_\w+|"
    r"TORCH\w*|PYTORCH_\w+|ONNX\w*|ORT_\w+|OMP_\w+|GOMP_\w+|KMP_\w+|MKL_\w+|OPENBLAS_\w+|BLIS_\w+|NUMEXPR_\w+|ATEN_\w+|"
    r"CT2_\w+|MALLOC_\w+|GLIBC_\w+|CUDA_\w+|NVIDIA_\w+|ROCM_\w+|DOCLING_\w+|LOKY_\w+|CRAWL4_AI_\w+|PLAYWRIGHT_\w+|"
    r"FONTCONFIG_\w+|DBUS_\w+|SOURCEBOOK_\w+",
    re.IGNORECASE,
)
_SECRET: Final = re.compile(r"SOURCEBOOK_\w*(?:URL|PASSWORD|TOKEN|SECRET|KEY)|PYTHON\w*(?:PASSWORD|TOKEN|SECRET|KEY)")


def child_environment() -> dict[str, str]:
    """Return the variables that a parser, a model or a browser needs: no database URL, passwords or foreign tokens.

    The resource trackers of multiprocessing and loky keep the whole environment: neither library takes another one for
    them, and they read the names of temporary files and nothing else.
    """
    return {name: value for name, value in os.environ.items() if _is_needed(name)}


def hidden_variables() -> dict[str, str]:
    """Return the other variables with empty values, for libraries that can only replace variables of a child."""
    return {name: "" for name in os.environ if not _is_needed(name)}


def drop_hidden_variables() -> None:
    """Remove the variables that `hidden_variables` has emptied for this process."""
    for name in [name for name, value in os.environ.items() if not value and not _is_needed(name)]:
        del os.environ[name]


def _is_needed(name: str) -> bool:
    return _NEEDED.fullmatch(name) is not None and _SECRET.fullmatch(name) is None


_PR_SET_PDEATHSIG: Final = 1
"""Number of the `prctl` option that sets the signal at the parent's death, from linux/prctl.h."""
_PARENT_CHECK_SECONDS: Final = 0.5
"""Seconds between two checks whether the parent process still runs, on systems without that signal."""


def end_with_parent(parent: int) -> None:
    """Have this process end as soon as its parent ends; return at once.

    Linux sends SIGKILL, which needs no cooperation: a thread of this process that watches its parent waits for the
    interpreter lock, and C code may hold that for seconds of processor time (19 s beside two busy programs). Linux
    sends it when the *thread* of the parent ends that started this process, so that thread must live as long as its
    process. Other systems have a thread that watches, and the delay.

    Args:
        parent: process id of the parent.
    """
    if not send_signal_at_parent_death(signal.SIGKILL):
        Thread(target=_watch, args=(parent,), daemon=True).start()
    elif os.getppid() != parent:  # it ended before the signal was set
        os._exit(1)


def send_signal_at_parent_death(number: int) -> bool:
    """Have the system send this process a signal at its parent's death; return whether the system can.

    A program that this process executes in its place keeps the setting; processes that it starts do not.
    """
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0) == 0)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PARENT_CHECK_SECONDS)
    os._exit(1)
