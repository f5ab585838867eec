"""Log lines of a process on stderr: plain text, or JSON objects for a log collector, without secrets.

The library logs through `logging.getLogger("sourcebook…")` and says nothing by itself. The `sourcebook` command and the
processes of the pipeline show the lines where SOURCEBOOK_LOG_FORMAT or SOURCEBOOK_LOG_LEVEL is set; `sourcebook serve`
shows warnings and errors in any case, as its answers refer to them.
"""

import logging
import os
import sys
from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from sourcebook.cli.redaction import redact
from sourcebook.errors import ConfigurationError

if TYPE_CHECKING:
    from structlog.typing import Processor

FORMAT_VARIABLE, LEVEL_VARIABLE = "SOURCEBOOK_LOG_FORMAT", "SOURCEBOOK_LOG_LEVEL"
_FORMATS = ("text", "json")
_LEVELS = ("debug", "info", "warning", "error")
Event = MutableMapping[str, Any]


def show_logs(environment: Mapping[str, str] = os.environ, *, default_level: str | None = None) -> None:
    """Show the log lines of the library on stderr, as the environment asks for; further calls do nothing.

    Args:
        environment: where the variables are.
        default_level: the level of a process that shows lines without being asked to; None for one that shows none.

    Raises:
        ConfigurationError: a variable has a value that is not allowed.
    """
    wanted = _one_of(environment, FORMAT_VARIABLE, _FORMATS)
    level = _one_of(environment, LEVEL_VARIABLE, _LEVELS) or (default_level if wanted is None else None)
    logger = logging.getLogger("sourcebook")
    if (wanted is None and level is None) or any(isinstance(handler, _Handler) for handler in logger.handlers):
        return
    handler = _Handler()
    handler.setFormatter(_formatter(wanted or "text"))
    logger.addHandler(handler)
    logger.setLevel((level or "info").upper())
    logger.propagate = False


class _Handler(logging.StreamHandler[Any]):
    """The handler of this module, on stderr."""


def _one_of(environment: Mapping[str, str], variable: str, allowed: tuple[str, ...]) -> str | None:
    value = environment.get(variable, "").strip().lower()
    if value and value not in allowed:
        raise ConfigurationError(f"{variable} is {value!r}; it must be one of {', '.join(allowed)}")
    return value or None


def _formatter(wanted: str) -> logging.Formatter:
    import structlog

    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        _add_context,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if wanted == "json":
        last: list[Processor] = [
            structlog.processors.format_exc_info,
            _without_secrets,
            structlog.processors.EventRenamer("message"),
            structlog.processors.JSONRenderer(default=str),
        ]
    else:
        colours = sys.stderr.isatty() and "NO_COLOR" not in os.environ
        last = [
            structlog.processors.format_exc_info,
            _without_secrets,
            structlog.dev.ConsoleRenderer(colors=colours, pad_event_to=0),
        ]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last]
    )


def _add_context(logger: Any, method: str, event: Event) -> Event:
    """Add run, collection and trace id of the block that logs."""
    from sourcebook.telemetry.log_context import log_fields
    from sourcebook.telemetry.spans import trace_id

    for name, value in {**log_fields(), "trace_id": trace_id()}.items():
        if value:
            event.setdefault(name, value)
    return event


def _without_secrets(logger: Any, method: str, event: Event) -> Event:
    """Redact every text, at any depth."""
    return {name: _redacted(value) for name, value in event.items()}


def _redacted(value: Any) -> Any:
    match value:
        case str():
            return redact(value)
        case Mapping():
            return {name: _redacted(part) for name, part in value.items()}
        case list() | tuple():
            return [_redacted(part) for part in value]
        case None | bool() | int() | float():
            return value
        case _:
            return redact(str(value))
