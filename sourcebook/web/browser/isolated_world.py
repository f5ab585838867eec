"""JavaScript beside a page's own: it sees the same document, but the page cannot replace its functions."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.async_api import CDPSession


class IsolatedWorld:
    """An isolated world in the main frame of a page."""

    def __init__(self, devtools: "CDPSession", frame_id: str) -> None:
        """Prepare the world; it is created with the first evaluation, and again after each navigation."""
        self.frame_id = frame_id
        self._devtools = devtools
        self._context: int | None = None

    async def evaluate(self, expression: str) -> Any:
        """Return the value of an expression; None during navigation."""
        from playwright.async_api import Error

        try:
            if self._context is None:
                world = {"frameId": self.frame_id, "worldName": "sourcebook"}
                self._context = (await self._devtools.send("Page.createIsolatedWorld", world))["executionContextId"]
            how = {"expression": expression, "contextId": self._context, "returnByValue": True}
            return (await self._devtools.send("Runtime.evaluate", how))["result"].get("value")
        except Error:
            self._context = None  # it ended with its document
            return None
