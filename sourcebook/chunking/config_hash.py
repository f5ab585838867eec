"""The hash of what decides how documents are cut."""

import hashlib
import json

from sourcebook.model import revisions
from sourcebook.model.generation import Generation


def chunking_config_hash(generation: Generation) -> str:
    """Return the `config_hash` of a generation's chunks: a digest of settings, tokenizer and chunker version."""
    settings = json.dumps([generation.chunking, generation.model, revisions.CHUNKER], sort_keys=True)
    return hashlib.sha256(settings.encode()).hexdigest()[:16]
