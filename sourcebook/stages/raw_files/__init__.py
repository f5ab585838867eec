"""The stage `raw_files`."""

from sourcebook.stages.raw_files.sources import collection_sources, every_source, source_of
from sourcebook.stages.raw_files.update import Difference, compare, update_raw_files

__all__ = ["Difference", "collection_sources", "compare", "every_source", "source_of", "update_raw_files"]
