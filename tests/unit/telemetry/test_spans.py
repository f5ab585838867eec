"""Spans through OpenTelemetry's API: recorded where an SDK is set up, free of cost and imports where none is."""

import subprocess
import sys

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from sourcebook.telemetry import spans


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Spans of this test, from a provider of its own."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(spans, "_tracer", lambda: provider.get_tracer("sourcebook"))
    return exporter


def test_spans_nest_and_carry_attributes(exporter: InMemorySpanExporter) -> None:
    with spans.span("search", {"mode": "hybrid"}) as outer, spans.span("search.vector_leg"):
        spans.describe(outer, {"results": 3})
    inner, whole = exporter.get_finished_spans()
    assert (inner.name, whole.name) == ("sourcebook.search.vector_leg", "sourcebook.search")
    assert inner.parent is not None
    assert inner.parent.span_id == whole.context.span_id
    assert dict(whole.attributes or {}) == {"sourcebook.mode": "hybrid", "sourcebook.results": 3}


def test_an_error_is_recorded(exporter: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="tide"), spans.span("search"):
        raise ValueError("tide")
    (failed,) = exporter.get_finished_spans()
    assert failed.status.status_code == trace.StatusCode.ERROR


def test_the_text_of_an_error_stays_out_of_a_confidential_span(exporter: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="tide"), spans.span("search", is_confidential=True):
        raise ValueError("tide")
    (failed,) = exporter.get_finished_spans()
    assert (failed.status.status_code, failed.status.description) == (trace.StatusCode.ERROR, "ValueError")
    assert "tide" not in failed.to_json()


def test_the_trace_id_is_known_inside_a_span_alone(exporter: InMemorySpanExporter) -> None:
    assert spans.trace_id() is None
    with spans.span("search") as current:
        assert current is not None
        assert spans.trace_id() == trace.format_trace_id(current.get_span_context().trace_id)


def test_without_an_sdk_nothing_is_imported() -> None:
    code = (
        "import sys; from sourcebook.telemetry.spans import span, trace_id\n"
        "with span('search', {'mode': 'hybrid'}) as current: assert current is None and trace_id() is None\n"
        "assert not any(name.startswith('opentelemetry') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
