"""Prometheus metrics: of the searches in this process, and of the whole knowledge base from its ledger.

An application that searches registers the metrics of its own process:

>>> from sourcebook.metrics import register
>>> register()  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sourcebook.errors import MissingDependencyError
from sourcebook.installation import install_command

try:
    from sourcebook.metrics.process import ProcessCollector
except ModuleNotFoundError as error:
    if error.name != "prometheus_client":
        raise
    message = f"prometheus_client is not installed: run  {install_command('server')}"
    raise MissingDependencyError(message) from error

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

__all__ = ["ProcessCollector", "register"]


def register(registry: CollectorRegistry | None = None) -> ProcessCollector:
    """Register the metrics of this process's searches, and return their collector.

    Args:
        registry: the registry; prometheus_client's default one where None.
    """
    from prometheus_client import REGISTRY

    collector = ProcessCollector()
    (REGISTRY if registry is None else registry).register(collector)
    return collector
