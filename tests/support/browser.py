"""A real browser for the tests of the report page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> str:
    """Where a Chromium is; without one tests are skipped, except where everything has to be tested."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        reason = "there is no Chromium; on Debian: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@contextmanager
def started_browser() -> Iterator[Browser]:
    """A browser without a window."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()
