"""Client of a server: `RemoteKnowledgeBase` has the methods of `KnowledgeBase`, and asks `sourcebook serve`."""

from sourcebook.client.remote_knowledge_base import RemoteKnowledgeBase as RemoteKnowledgeBase

__all__ = ["RemoteKnowledgeBase"]
