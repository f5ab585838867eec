"""Spans of OpenTelemetry, through its API alone: without an SDK in the process they cost a dictionary look-up."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

    Attributes = Mapping[str, str | int | float | bool]

_PROVIDER_VARIABLE: Final = "OTEL_PYTHON_TRACER_PROVIDER"
"""Environment variable with which the API itself loads an SDK."""
_NO_SPAN: Final = nullcontext()


def span(
    name: str, attributes: Attributes | None = None, *, is_confidential: bool = False
) -> AbstractContextManager[Span | None]:
    """Return a context manager that is a span of its block, and yields it; None where nothing records spans.

    A process that has set a tracer provider has imported the API. This function does not import it for the others.

    Args:
        name: name below `sourcebook.`.
        attributes: values by name below `sourcebook.`.
        is_confidential: whether of an error that ends the block, the span gets the class alone.
    """
    if "opentelemetry.trace" not in sys.modules and _PROVIDER_VARIABLE not in os.environ:
        return _NO_SPAN
    tracer = _tracer()
    if tracer is None:
        return _NO_SPAN
    started = tracer.start_as_current_span(
        f"sourcebook.{name}",
        attributes=_prefixed(attributes or {}),
        record_exception=not is_confidential,
        set_status_on_exception=not is_confidential,
    )
    return _with_class_of_error(started) if is_confidential else started


@contextmanager
def _with_class_of_error(started: AbstractContextManager[Span]) -> Iterator[Span]:
    from opentelemetry.trace import StatusCode

    with started as current:
        try:
            yield current
        except BaseException as error:
            current.set_status(StatusCode.ERROR, type(error).__name__)
            raise


def describe(current: Span | None, attributes: Attributes) -> None:
    """Set attributes of a span, values by name below `sourcebook.`."""
    if current is not None and current.is_recording():
        current.set_attributes(_prefixed(attributes))


def trace_id() -> str | None:
    """Return the current trace id in hexadecimal digits; None outside a trace."""
    if "opentelemetry.trace" not in sys.modules:
        return None
    from opentelemetry.trace import format_trace_id, get_current_span

    context = get_current_span().get_span_context()
    return format_trace_id(context.trace_id) if context.is_valid else None


@cache
def _tracer() -> Tracer | None:
    try:
        from opentelemetry.trace import get_tracer
    except ModuleNotFoundError:
        return None
    return get_tracer("sourcebook")


def _prefixed(attributes: Attributes) -> dict[str, str | int | float | bool]:
    return {f"sourcebook.{name}": value for name, value in attributes.items()}
