"""The versions of what an export is made with."""

from importlib.metadata import PackageNotFoundError, version
from typing import Final

from sourcebook.embedding.onnx.record import FORMAT

_MADE_WITH: Final = ("onnx", "onnxruntime", "sentence-transformers", "tokenizers", "torch", "transformers")


def versions() -> dict[str, str]:
    """Return the versions of the packages that exports are made with, and of their format."""
    found = {"format": str(FORMAT)}
    for name in _MADE_WITH:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found
