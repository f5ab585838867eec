"""The place that FFmpeg opens a recording at."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from tempfile import NamedTemporaryFile

from sourcebook.errors import RecordingError, failure_class_of
from sourcebook.files.reading import local_path, open_file, store_errors
from sourcebook.files.source import Source
from sourcebook.files.upload_store import upload_path


@contextmanager
def place_of(sources: Mapping[int, Source], source_id: int, uri: str) -> Iterator[str]:
    """Lend a local path or a URL that fsspec opens.

    A recording of a Git repository, or of a remote store of uploads, is copied to a temporary file.

    Args:
        sources: the sources by their ids.
        source_id: id of the source of the recording.
        uri: URI of the recording.

    Raises:
        RecordingError: it cannot be copied.
    """
    source = sources.get(source_id)
    upload = source.uploads.get(uri) if source is not None and source.uploads is not None else None
    stored = upload_path(upload.sha256, upload.store) if upload is not None else None
    if stored is not None:
        yield str(stored)
        return
    if source is None or (source.repository is None and source.uploads is None):
        yield local_path(uri) if uri.startswith("file://") else uri
        return
    with NamedTemporaryFile(prefix="sourcebook-") as copy:
        try:
            with store_errors(source), open_file(source, uri) as content:
                shutil.copyfileobj(content, copy)
            copy.flush()
        except OSError as error:
            reason = f"it cannot be read: {error.strerror or error}"
            raise RecordingError(reason, failure_class_of(error)) from None
        yield copy.name
