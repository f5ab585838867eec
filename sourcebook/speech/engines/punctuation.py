"""Punctuation that is spoken with the word beside it: what `whisper.transcribe` takes."""

BEFORE_WORDS = "\"'“¿([{-"
BEHIND_WORDS = "\"'.。,，!！?？:：”)]}、"
