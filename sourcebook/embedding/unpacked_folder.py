"""The sentence-transformers folder of multilingual-e5-small, written from its packed file."""

import json
import unicodedata
from os import SEEK_END
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sourcebook.embedding.complete_folder import check_whole
from sourcebook.embedding.packed_file import PackedFile, Sizes, Vocabulary
from sourcebook.embedding.tensor_file import NewTensor, write_tensors
from sourcebook.embedding.weights import MULTILINGUAL_MAX_TOKENS
from sourcebook.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

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


def _tokenizer(vocabulary: Vocabulary) -> "Tokenizer":
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
