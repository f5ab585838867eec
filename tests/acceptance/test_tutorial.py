"""The tutorial and the move to another machine, word for word, from an empty folder on a bare machine."""

import pytest

from tests.acceptance.typed_page import EMBEDDED
from tests.acceptance.typed_world import World, follow


@pytest.mark.parametrize("page", EMBEDDED)
def test_a_page_that_begins_with_nothing_prints_what_it_shows(page: str, world: World) -> None:
    assert follow(page, world) > 0
