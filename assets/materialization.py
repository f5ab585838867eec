"""Materializations of stage reports: counts, totals, a preview, tables of failures and sources, the data version."""

from datetime import UTC, datetime
from typing import Any

import dagster as dg
from psycopg import Connection

from sourcebook.admin.usage import SHOWN_DAYS, usage
from sourcebook.database.queries import queries
from sourcebook.model.report import StageReport

TOTAL, INDEX_BYTES, AGE = "total", "index_bytes", "hours_since_listing"
TOTALS = frozenset({TOTAL, INDEX_BYTES, AGE})
"""Metadata that describes the whole collection and not the work of a run."""
_MOST_FAILURES = 100
"""Rows of the table of failures in a materialization."""
_HOUR = 3600.0
"""Seconds of an hour."""


def materialization(report: StageReport, **more: Any) -> dg.MaterializeResult[None]:
    """Return a stage's report as a materialization with metadata and data version.

    Args:
        report: the report.
        more: further metadata by name.
    """
    metadata: dict[str, Any] = {
        name: dg.MetadataValue.int(value) if isinstance(value, int) else dg.MetadataValue.float(value)
        for name, value in report.counts().items()
    }
    metadata[TOTAL] = dg.MetadataValue.int(report.total)
    if report.newest:
        metadata["newest"] = dg.MetadataValue.md("\n".join(_line(item.title, item.uri) for item in report.newest))
    if report.failures:
        metadata["failures"] = _failures(report)
    return dg.MaterializeResult(metadata={**metadata, **more}, data_version=dg.DataVersion(report.version))


def describe_sources(connection: Connection, collection: str, kind: str) -> dict[str, Any]:
    """Return metadata on the sources of a collection: a table with links, and the age of the oldest listing in hours.

    Args:
        connection: to the knowledge base.
        collection: its name.
        kind: `files` or `site`.
    """
    rows = connection.execute(queries["listed_sources"], {"collection": collection, "kind": kind}).fetchall()
    if not rows:
        return {}
    now = datetime.now(UTC)
    ages = [(now - listed_at).total_seconds() / _HOUR for _, listed_at, _ in rows if listed_at is not None]
    lines = [
        f"| {_link(location)} | {f'{at:%Y-%m-%d %H:%M} UTC' if at else 'never'} | {one_line(error or '')} |"
        for location, at, error in rows
    ]
    table = "\n".join(["| source | listed completely | problem |", "|---|---|---|", *lines])
    return {
        "sources": dg.MetadataValue.md(table),
        **({AGE: dg.MetadataValue.float(round(max(ages), 2))} if ages else {}),
    }


def describe_usage(connection: Connection, collection: str) -> dict[str, Any]:
    """Return metadata on the use of models by a collection in 30 days, that of searches included: a table."""
    found = usage(connection, [collection], since=SHOWN_DAYS, by=("provider", "model", "operation"))
    if not found:
        return {}
    records = [
        dg.TableRecord(
            {
                "provider": each.provider or "",
                "model": each.model or "",
                "operation": each.operation or "",
                "texts": each.texts,
                "cached": each.cached,
                "tokens": "unknown" if each.tokens is None else each.tokens,
                "seconds": each.seconds,
                "cost": "unknown" if each.cost is None else each.cost,
                "seconds of sound": each.sound_seconds,
                "processor seconds": "unknown" if each.processor_seconds is None else each.processor_seconds,
                "tokens written": "unknown" if each.answer_tokens is None else each.answer_tokens,
            }
        )
        for each in found
    ]
    columns = [dg.TableColumn(name, "string") for name in records[0].data]
    return {"usage_of_30_days": dg.MetadataValue.table(records, dg.TableSchema(columns))}


def one_line(text: str) -> str:
    """Return a text as Markdown that fits into a line of a list or a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("`", "'")


def _failures(report: StageReport) -> dg.MetadataValue:
    records = [
        dg.TableRecord({"item": failure.uri, "class": str(failure.failure_class), "reason": failure.reason})
        for failure in report.failures[:_MOST_FAILURES]
    ]
    more = len(report.failures) - len(records)
    if more > 0:
        records.append(
            dg.TableRecord({"item": f"… and {more:,} more", "class": "", "reason": "sourcebook documents --failed"})
        )
    return dg.MetadataValue.table(records)


def _line(title: str, uri: str) -> str:
    return f"- {_link(uri, title)}" if _is_web(uri) else f"- {one_line(title)}: {_link(uri)}"


def _link(uri: str, title: str | None = None) -> str:
    """Return a link to a web page, and any other URI as code: a browser opens no file from a web page."""
    if not _is_web(uri):
        return f"`{one_line(uri)}`"
    target = uri.replace("(", "%28").replace(")", "%29").replace(" ", "%20").replace("|", "%7C")
    return f"[{one_line(title or uri).replace('[', '(').replace(']', ')')}]({target})"


def _is_web(uri: str) -> bool:
    return uri.startswith(("http://", "https://"))
