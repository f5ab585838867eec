"""Readers of LlamaIndex and loaders of LangChain as sources of records."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from sourcebook.config.records import RecordSource
from sourcebook.records import Checkpoint
from sourcebook.records.programs import changes_of


class PoolLoader(BaseLoader):
    """A loader that yields its documents one by one."""

    def __init__(self, pools: list[str]) -> None:
        self.pools = pools

    def lazy_load(self) -> Iterator[Document]:
        for pool in self.pools:
            yield Document(page_content=f"The {pool} lives here.", metadata={"pool": pool})


def changes(use: str, key: str, arguments: dict[str, Any], **program: Any) -> list[Any]:
    python = {"use": use, "arguments": arguments, **program}
    settings = RecordSource.model_validate({"name": "read", "python": python, "key": key})
    return list(changes_of(settings, None))


def test_a_reader_of_llamaindex_yields_records_of_its_metadata(tmp_path: Path) -> None:
    """`SimpleDirectoryReader` gives each file with its name, and counts as a complete listing."""
    (tmp_path / "tides.md").write_text("The barnacle marks high water.")
    *records, end = changes(
        "llama_index.core:SimpleDirectoryReader",
        "file_name",
        {"input_dir": str(tmp_path)},
        load={"show_progress": False},
    )
    assert [(each["file_name"], each["text"]) for each in records] == [("tides.md", "The barnacle marks high water.")]
    assert end == Checkpoint(complete=True)


def test_a_loader_of_langchain_yields_records_of_its_metadata() -> None:
    *records, end = changes(f"{__name__}:PoolLoader", "pool", {"pools": ["barnacle", "limpet"]})
    assert [(each["pool"], each["text"]) for each in records] == [
        ("barnacle", "The barnacle lives here."),
        ("limpet", "The limpet lives here."),
    ]
    assert end == Checkpoint(complete=True)
