"""A folder at an fsspec URL that is written: of a store of objects, which has no folders, or of a file system.

Credentials come from the environment, as the package of the file system reads them.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from sourcebook.files.store_errors import store_calls

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_T = TypeVar("_T")


class RemoteFolder:
    """A folder that is written.

    Args:
        url: an fsspec URL without a slash at its end.

    Raises:
        OSError: no file system is known for it, or its package is not installed.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.system: AbstractFileSystem
        with store_calls(url):
            import fsspec.core

            self.system, self.root = fsspec.core.url_to_fs(url)
            self.system.invalidate_cache()  # other processes write there, too

    def path(self, name: str) -> str:
        """Return the path of a file within the file system."""
        return f"{self.root}/{name}"

    def written(self, paths: Iterable[str], write: Callable[[], _T]) -> _T:
        """Write files, and make their folders where that fails for want of them.

        Stores of objects never want any, and some would make a bucket of a mistyped name.

        Args:
            paths: the files, as `path` returns them.
            write: writes them; called again after the folders were made.

        Raises:
            FileNotFoundError: what the folder itself would be in is not there.
        """
        try:
            return write()
        except FileNotFoundError:
            above = self.root.rpartition("/")[0] or ("/" if self.root.startswith("/") else self.root)
            if not self.system.exists(above):
                raise
            for folder in dict.fromkeys(path.rpartition("/")[0] for path in paths):
                self.system.makedirs(folder, exist_ok=True)
            return write()
