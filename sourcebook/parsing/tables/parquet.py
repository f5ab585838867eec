"""Parquet files: the description of their table."""

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.parsing.tables.description import SHOWN_COLUMNS, SHOWN_ROWS, Column, Table, describe
from sourcebook.parsing.text.joined_blocks import JoinedBlocks

_MARK = b"PAR1"


def parse_parquet(content: bytes) -> ParsedDocument:
    """Parse a Parquet file: columns, types, number of rows and first rows.

    Raises:
        ParseError: the file is damaged or encrypted, or the package pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ParseError(
            "the package pyarrow reads Parquet files; install sourcebook[server], or export the table as .csv",
            FailureClass.UNSUPPORTED,
        ) from error

    if content.endswith(b"PARE"):
        raise ParseError("the file is encrypted; export its table as .csv", FailureClass.PASSWORD)
    try:
        with pq.ParquetFile(pa.BufferReader(content)) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
            columns = [Column(column.name, str(column.type)) for column in schema]
            wanted = schema.names[:SHOWN_COLUMNS]
            batch = next(file.iter_batches(SHOWN_ROWS, columns=wanted, use_threads=False), None) if wanted else None
            # Values by position: two columns may have one name.
            values = [] if batch is None else [column.to_pylist() for column in batch.columns[:SHOWN_COLUMNS]]
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError, OverflowError) as error:
        if isinstance(error, MemoryError):
            raise
        raise ParseError(
            "the Parquet file is damaged or cut off, or packed in a way that is not read; copy it again",
            FailureClass.CORRUPT,
        ) from error
    joined = JoinedBlocks()
    describe(joined, Table("", columns, rows, list(zip(*values, strict=False))))
    metadata = with_left_out({"rows": rows, "columns": len(columns)}, {"records": max(0, rows - SHOWN_ROWS)})
    return ParsedDocument(markdown=joined.markdown(), blocks=tuple(joined.blocks), metadata=metadata)
