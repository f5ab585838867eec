"""Identity of the rules chunks are cut by: settings, tokenizer and code version."""

import hashlib
import json

from sourcebook.model.generation import Generation

CHUNKER_VERSION = 2
"""Counted up when the chunker may cut the same document in another way."""


def chunking_rules(generation: Generation) -> str:
    """Return the `config_hash` that a generation's chunks should have."""
    told = json.dumps([generation.chunking, generation.model, CHUNKER_VERSION], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:16]
