"""Tokens are counted as the model counts them, and cheaply."""

import subprocess
import sys
from pathlib import Path

import pytest

from sourcebook.chunking.tokenizer import FolderTokenizer
from sourcebook.errors import ModelError
from tests.checkout import CHECKOUT
from tests.unit.chunking.bundled_tokenizer import bundled_tokenizer, model_folder


def test_counts_include_special_tokens_and_nothing_is_cut() -> None:
    """[CLS] and [SEP] count; long texts are neither truncated nor padded."""
    tokenizer = bundled_tokenizer()
    assert tokenizer.special_tokens == 2
    assert tokenizer.count(["hello world", "", "word " * 1000]) == [4, 2, 1002]


def test_offsets_are_characters_of_the_text() -> None:
    """Offsets point into the text as given, accents and all."""
    text = "Größe naïve 😄 x"
    [offsets] = bundled_tokenizer().offsets([text])
    assert "".join(text[start:end] for start, end in offsets) == text.replace(" ", "")


def test_a_folder_without_tokenizer_says_so(tmp_path: Path) -> None:
    """The message names the file that is missing."""
    with pytest.raises(ModelError, match="has no tokenizer"):
        FolderTokenizer.from_folder(tmp_path, 256)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot be read as a tokenizer"):
        FolderTokenizer.from_folder(tmp_path, 256)


def test_neither_torch_nor_transformers_is_imported() -> None:
    """Chunking starts in a fraction of a second."""
    program = (
        "import sys; from pathlib import Path; from sourcebook.chunking.tokenizer import FolderTokenizer;"
        "import sourcebook.chunking.chunker;"
        f"FolderTokenizer.from_folder(Path({str(model_folder())!r}), 256);"
        "sys.exit(bool({'torch', 'transformers', 'docling'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, cwd=CHECKOUT).returncode == 0
