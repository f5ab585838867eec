"""A generation's settings never change under it."""

import pytest

from sourcebook.errors import ImmutableSettingError
from tests.integration.stages import Stages

TEXT = """\
collections:
  handbook:
    files: [{root: ./docs}]
    chunking: {tokens: %s}
    embedding: {precision: %s}
"""


def test_settings_may_change_until_the_first_ingest(stages: Stages) -> None:
    assert stages.configure(TEXT % (64, "auto")).added == ("handbook",)
    assert stages.configure(TEXT % (128, "auto")).changed == ("handbook",)
    assert stages.configure(TEXT % (128, "auto")).unchanged == ("handbook",)
    assert stages.generation.chunking_settings.tokens == 128


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ((128, "auto"), "chunking.tokens is 128 in the file and 64 in the generation"),
        ((64, "float32"), "embedding.precision is 'float32' in the file and 'auto' in the generation"),
    ],
)
def test_a_change_after_it_is_refused_and_points_to_a_new_generation(
    stages: Stages, changed: tuple[int, str], told: str
) -> None:
    stages.write("a.md", "The tide is high.")
    stages.configure(TEXT % (64, "auto"))
    stages.run()
    with pytest.raises(ImmutableSettingError) as refused:
        stages.configure((TEXT % changed).replace("{root: ./docs}", "{root: ./docs, exclude: [x]}"))
    assert told in str(refused.value)
    assert "need a new generation" in str(refused.value)
    assert stages.generation.chunking_settings.tokens == 64
    assert stages.rows("SELECT settings #>> '{chunking,tokens}' AS tokens FROM collection") == [{"tokens": "64"}]
    assert stages.configure(TEXT % (64, "auto")).unchanged == ("handbook",), "nothing of the refused file was applied"
    assert stages.found("tide") == {"a.md"}


def test_a_collection_that_left_the_file_is_kept_and_comes_back_whole(stages: Stages) -> None:
    stages.write("a.md", "The tide is high.")
    stages.configure()
    stages.run()
    generation = stages.generation.id
    assert stages.configure("collections:\n  other:\n    files: [{root: ./docs}]\n").removed == ("handbook",)
    assert not stages.search("tide", mode="keyword")
    stages.configure()
    assert stages.generation.id == generation
    assert stages.found("tide") == {"a.md"}
    assert not stages.pending().work
