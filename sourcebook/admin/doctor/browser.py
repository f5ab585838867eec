"""Check of the browser that renders pages with scripts."""

import os

from sourcebook.admin.doctor.check import Check, ok, warn
from sourcebook.web.browser.chromium import REMEDY, VARIABLE, find_chromium


def check_browser() -> Check:
    """Look for Chromium; without it only pages that need scripts are missing."""
    found = find_chromium()
    if found is None:
        return warn("browser", "no Chromium was found; pages that need scripts cannot be rendered", REMEDY)
    if not os.access(found, os.X_OK):
        return warn("browser", f"{VARIABLE} is {found}, which is not a program", REMEDY)
    return ok("browser", f"{found}, for pages that need scripts")
