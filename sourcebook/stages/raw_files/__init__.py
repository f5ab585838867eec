"""The stage `raw_files`."""

from sourcebook.stages.raw_files.update import Difference, collection_sources, compare, update_raw_files

__all__ = ["Difference", "collection_sources", "compare", "update_raw_files"]
