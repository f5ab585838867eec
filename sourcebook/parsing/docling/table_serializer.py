"""docling's tables and the data of its charts as GitHub Markdown whose first row is the header."""

from collections.abc import Iterable, Sequence
from typing import Any

from docling_core.transforms.serializer.base import BaseDocSerializer, SerializationResult
from docling_core.transforms.serializer.common import create_ser_result
from docling_core.transforms.serializer.markdown import MarkdownPictureSerializer, MarkdownTableSerializer
from docling_core.types.doc import (  # type: ignore[attr-defined] # exported, though not in __all__
    DoclingDocument,
    PictureItem,
    RichTableCell,
    TableCell,
    TableData,
    TableItem,
)

from sourcebook.parsing.text.markdown_writing import LONGEST_REPEATED, markdown_table
from sourcebook.parsing.text.nested_table import nested_table


class TableSerializer(MarkdownTableSerializer):
    """Tables without aligned columns: docling's alignment takes 1.7 s for 10,000 rows, and its spaces cost tokens."""

    def serialize(
        self,
        *,
        item: TableItem,
        doc_serializer: BaseDocSerializer,
        doc: DoclingDocument,
        **kwargs: Any,  # docling's signature
    ) -> SerializationResult:
        rich: dict[int, str] = {}
        for cell in item.data.table_cells:
            if isinstance(cell, RichTableCell):
                node = cell.ref.resolve(doc=doc)
                rich[id(cell)] = doc_serializer.serialize(
                    item=node, **{**kwargs, "_nested_in_table": True, "in_table_cell": True}
                ).text
        nested = kwargs.get("_nested_in_table")
        text = nested_table(_rows(item.data, rich)[0]) if nested else table_text(item.data, rich)
        return create_ser_result(text=text, span_source=item)


class PictureSerializer(MarkdownPictureSerializer):
    """Pictures as their caption, their description and the kind of chart."""

    def serialize(
        self,
        *,
        item: PictureItem,
        doc_serializer: BaseDocSerializer,
        doc: DoclingDocument,
        **kwargs: Any,  # docling's signature
    ) -> SerializationResult:
        parts = [doc_serializer.serialize_captions(item=item, **kwargs).text]
        meta = item.meta
        if meta is not None and meta.tabular_chart is not None and meta.classification is not None:
            kinds = [prediction.class_name for prediction in meta.classification.predictions]
            parts = [chart_title(kinds, parts[0])]
        if meta is not None and meta.description is not None:
            parts.append(meta.description.text)
        return create_ser_result(text="\n\n".join(part for part in parts if part), span_source=item)


def chart_title(kinds: Sequence[str], title: str | None) -> str:
    """Return the line above a chart's data, such as `Line chart: Sales`."""
    kind = kinds[0].replace("_", " ").capitalize() if kinds and "other" not in kinds[0] else "Chart"
    return f"{kind}: {title}" if title else kind


def title_with_values(title: str | None, axes: Iterable[str | None]) -> str | None:
    """Return the title of a chart with those of its values behind it, which name the unit: `Tides (metres)`."""
    units = ", ".join(dict.fromkeys(axis for axis in axes if axis))
    return f"{title} ({units})" if title and units else title or units or None


def chart_table(item: PictureItem) -> str:
    """Return the data of a chart as a Markdown table, or "" where there is none."""
    chart = item.meta.tabular_chart if item.meta is not None else None
    return table_text(chart.chart_data, {}) if chart is not None else ""


def table_text(data: TableData, rich: dict[int, str]) -> str:
    """Return the Markdown table without empty rows, and with several header rows joined to one.

    Args:
        data: docling's table.
        rich: markdown of the cells with more than plain text, by `id` of the cell.
    """
    rows, headers = _rows(data, rich)
    if headers > 1:
        rows[:headers] = [_joined(rows[:headers])]
    return markdown_table(rows)


def _rows(data: TableData, rich: dict[int, str]) -> tuple[list[list[str]], int]:
    """Return the texts of the rows that are not empty, and the number of header rows."""
    rows: list[list[str]] = []
    headers = 0
    for number, row in enumerate(data.grid):
        texts = _row_texts(number, row, rich)
        if not any(texts):
            continue
        if headers == len(rows) and any(cell.column_header and cell.start_row_offset_idx == number for cell in row):
            headers += 1
        rows.append(texts)
    return rows, headers


def _row_texts(number: int, row: Sequence[TableCell], rich: dict[int, str]) -> list[str]:
    texts: list[str] = []
    for column, cell in enumerate(row):
        text = rich.get(id(cell), cell.text).strip()
        first = cell.start_row_offset_idx == number and cell.start_col_offset_idx == column
        texts.append(text if first or len(text) <= LONGEST_REPEATED else "")
    return texts


def _joined(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return each column's headings as `upper - lower`."""
    columns = zip(*rows, strict=True)
    return [" - ".join(dict.fromkeys(text for text in column if text)) for column in columns]
