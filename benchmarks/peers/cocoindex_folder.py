# Its packages are in an environment of their own, so that their types are not known here.
# mypy: ignore-errors
"""A folder kept in SQLite by CocoIndex, as its documentation shows it:  FOLDER STATE MODEL.

Prints the number of rows.
"""

import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cocoindex as coco
from cocoindex.connectors import localfs, sqlite
from cocoindex.ops.sentence_transformers import SentenceTransformerEmbedder
from cocoindex.ops.text import RecursiveSplitter
from cocoindex.resources.chunk import Chunk
from cocoindex.resources.file import FileLike, PatternFilePathMatcher

FOLDER, STATE, MODEL = (*sys.argv[1:], "", "", "")[:3]
ROWS = Path(STATE) / "rows.db"
DATABASE = coco.ContextKey[sqlite.ManagedConnection]("rows")
EMBEDDER = SentenceTransformerEmbedder(MODEL, device="cpu")
SPLITTER = RecursiveSplitter()


@dataclass
class Row:
    """A passage."""

    id: str
    file: str
    text: str
    embedding: bytes


@coco.lifespan
def lifespan(builder: coco.EnvironmentBuilder) -> Iterator[None]:
    """Open the database, and keep CocoIndex's own state beside it."""
    builder.settings.db_path = Path(STATE) / "state"
    builder.provide_with(DATABASE, sqlite.managed_connection(ROWS, load_vec=False))
    yield


@coco.fn
async def take_chunk(chunk: Chunk, file: str, table: sqlite.TableTarget[Row]) -> None:
    """Embed a passage."""
    table.declare_row(row=Row(f"{file}:{chunk.start.char_offset}", file, chunk.text, await EMBEDDER.embed(chunk.text)))


@coco.fn(memo=True)
async def take_file(file: FileLike, table: sqlite.TableTarget[Row]) -> None:
    """Cut a file."""
    chunks = SPLITTER.split(await file.read_text(), chunk_size=1100, chunk_overlap=120, language="markdown")
    await coco.map(take_chunk, chunks, str(file.file_path.path), table)


@coco.fn
async def take_folder() -> None:
    """Bring the table up to date with the folder."""
    schema = await sqlite.TableSchema.from_class(Row, primary_key=["id"])
    table = await sqlite.mount_table_target(DATABASE, "passages", schema)
    files = localfs.walk_dir(
        Path(FOLDER), recursive=True, path_matcher=PatternFilePathMatcher(included_patterns=["**/*.md"])
    )
    await coco.mount_each(take_file, files.items(), table)


if __name__ == "__main__":
    coco.App(coco.AppConfig(name="Folder"), take_folder).update_blocking()
    print(sqlite3.connect(ROWS).execute("SELECT count(*) FROM passages").fetchone()[0])
