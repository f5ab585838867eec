"""The state of the judged questions that a generation is compared with the active one on."""

import json
import os
from collections.abc import Mapping
from typing import Any, Protocol

from sourcebook.config.evaluation import GenerationSettings
from sourcebook.model.file_state import FileState, file_state


class _Judged(Protocol):
    @property
    def evaluation(self) -> Mapping[str, Any]: ...
    @property
    def rules(self) -> GenerationSettings: ...


def judged_state(found: _Judged) -> str:
    """Return the settings of evaluation and gate with the states of both files, without reading these."""
    files = [_stamp(found.evaluation.get(name)) for name in ("queries", "qrels")]
    return json.dumps([dict(found.evaluation), found.rules.model_dump(mode="json"), files], sort_keys=True)


def _stamp(path: str | None) -> FileState | None:
    if path is None:
        return None
    try:
        return file_state(os.stat(path))  # noqa: PTH116 - a string, as settings hold it
    except OSError:
        return None
