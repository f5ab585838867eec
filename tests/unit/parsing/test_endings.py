"""What is said of endings that are not read."""

from sourcebook.model.media_types import endings, is_recording
from sourcebook.parsing.registry import parser_for, skip_reason


def test_every_ending_that_is_not_read_says_what_to_do() -> None:
    """The reason names a program or another format, except where a file holds no text for people."""
    for media_type in endings():
        reason = "" if is_recording(media_type) or parser_for(media_type) else skip_reason(media_type)
        is_for_people = reason and not reason.startswith(("programs", "fonts"))
        assert not is_for_people or "; " in reason, media_type
