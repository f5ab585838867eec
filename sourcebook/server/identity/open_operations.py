"""Operations that are open to who asks for principals; imports nothing of the web, for agents on this machine."""

from typing import Final

from sourcebook.model.access import Asker

OPEN: Final = frozenset(
    {
        *("search", "context", "similar", "diff", "facets", "ask", "retrieval", "open_webui_search"),
        *("list_documents", "lookup_document", "get_document", "get_chunks", "get_related"),
        *("get_original", "get_page_image", "get_page", "export_document", "export_documents"),
        *("list_models", "get_model", "chat_completions"),
        *(
            "show_search",
            "show_home",
            "show_documents",
            "show_document",
            "show_diff",
            "show_page",
            "get_picture",
            "export",
        ),
        *("show_ask", "stream_answer", "lead_to_passage"),
        *("ask_sessions", "ask_session", "forget_ask_session"),
        *("show_conversations", "export_conversation", "delete_conversation"),
        *("search_documents", "get_context", "fetch_document", "find_related", "diff_documents", "fetch"),
    }
)
"""Routes, pages and tools that answer who asks for principals: they read documents, or are about the
caller's own conversations. All others are closed."""


def is_open(asker: Asker, operation: str) -> bool:
    """Return whether an operation is open to an asker: each of them without principals."""
    return asker.principals is None or operation in OPEN
