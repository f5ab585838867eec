"""Load a sentence-transformers folder, quietly. Importing torch and its company takes seconds: import this late."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.embedding.description import UNLIMITED_TOKENS, Description
from sourcebook.embedding.engine import Precision
from sourcebook.embedding.hub import check_loaded
from sourcebook.errors import ModelError
from sourcebook.installation import install_command
from sourcebook.model.device import DeviceName

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


def load_folder(
    name: str, folder: Path, precision: Precision, device: DeviceName = "cpu", gpu: int = 0
) -> SentenceTransformer:
    """Load a model from its folder, with no access to the network and nothing printed.

    Args:
        name: the model's name, for the error's sentence.
        folder: the sentence-transformers folder.
        precision: number format of the weights and the computation.
        device: device that computes.
        gpu: number of the GPU, where there are several.

    Raises:
        ModelError: sentence-transformers is not installed, or cannot load the folder, or the folder lacks a part.
    """
    try:
        import torch
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise ModelError(
            f"The embedding model {name!r} needs sentence-transformers and torch, which cannot be imported ({error}): "
            f"install them with  {install_command('pipeline')}"
        ) from error
    dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[precision]
    try:
        with quiet():
            transformer = SentenceTransformer(
                str(folder),
                device=f"{device}:{gpu}" if gpu else device,
                local_files_only=True,
                model_kwargs={"dtype": dtype, "use_safetensors": True},
            )
    except Exception as error:
        raise ModelError(
            f"The embedding model {name!r} cannot be loaded from {folder}: {first_line(error)} "
            "Check that the folder is a complete sentence-transformers model."
        ) from error
    check_loaded(transformer, folder)
    return transformer


def describe_loaded(transformer: SentenceTransformer) -> Description:
    """Ask a loaded model for its dimensions (by embedding a text) and its context length."""
    vector = transformer.encode("", show_progress_bar=False, convert_to_numpy=True)
    length = transformer.max_seq_length
    whole = length is not None and 0 < length < UNLIMITED_TOKENS
    return Description(len(vector), int(length) if whole and length is not None else UNLIMITED_TOKENS)


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its type if the message is empty."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)[:400]


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers' "Loading weights" bar and its reports off the terminal, and put its settings back."""
    from transformers.utils import logging

    bars, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
