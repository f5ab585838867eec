"""A cross encoder as sentence-transformers loads it, built from a configuration: no model hub is needed."""

from collections.abc import Sequence
from pathlib import Path

MOST_TOKENS = 64


def build_cross_encoder(folder: Path, words: Sequence[str], *, labels: int = 1) -> Path:
    """Write one of one small layer, whose weights are random, always the same, and so large that scores differ."""
    # Here, as importing them takes seconds in every process that collects tests.
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    folder.mkdir()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    BertTokenizer(str(folder / "vocab.txt"), model_max_length=MOST_TOKENS).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=MOST_TOKENS,
        initializer_range=1.0,
    )
    config.num_labels = labels
    with torch.random.fork_rng():
        torch.manual_seed(7)
        BertForSequenceClassification(config).save_pretrained(folder)
    return folder
