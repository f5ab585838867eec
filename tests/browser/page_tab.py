"""Tabs of a real Chromium that open the page."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from playwright.sync_api import Browser, Page, expect

from tests.integration.http_server import Client

PATIENCE = 30_000.0
"""Milliseconds that an event may take on a busy machine."""


@dataclass(frozen=True)
class Tabs:
    """Tabs of one browser, none of which knows of another."""

    browser: Browser

    @contextmanager
    def open(
        self,
        client: Client,
        theme: Literal["light", "dark"] = "light",
        width: int = 1280,
        *,
        scripts: bool = True,
        refused: int | None = None,
    ) -> Iterator[Page]:
        """A tab that reports what goes wrong in it: errors of scripts, dialogs, what the policy refuses.

        Answers with the status `refused` are no fault: the test causes them.
        """
        wrong: list[str] = []
        page = self.browser.new_page(
            base_url=f"http://127.0.0.1:{client.port}",
            viewport={"width": width, "height": 860},
            color_scheme=theme,
            java_script_enabled=scripts,
        )
        page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        yield page
        page.close()
        assert [each for each in wrong if f"status of {refused}" not in each] == []
