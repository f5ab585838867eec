"""The resource by which an asset of somebody else searches: the Python API, open for the run."""

from collections.abc import Iterator

import dagster as dg

from resources.knowledge import Knowledge
from sourcebook.knowledge_base import KnowledgeBase


def knowledge_base_resource(knowledge: Knowledge) -> dg.ResourceDefinition:
    """Return the definition of a resource that is a `KnowledgeBase`.

    Args:
        knowledge: names the state folder with the database.
    """

    def provide(_: dg.InitResourceContext) -> Iterator[KnowledgeBase]:
        with KnowledgeBase.connect(home=knowledge.home) as base:
            yield base

    return dg.ResourceDefinition(provide, description="The knowledge base: `search`, `context`, `documents`, `status`.")
