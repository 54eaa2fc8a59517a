"""A browser at a dashboard."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, BrowserContext, Page, expect
from served import Served

PATIENCE_MS = 900_000
"""Workers are processes of their own, and the machine may be busy."""
REFUSALS = [
    f"Failed to load resource: the server responded with a status of {code}" for code in ("404 (Not Found)", "409 (Conflict)")
]
"""A browser says so of every page that tells an error."""
COMPLAINTS = ("error", "warning")


@contextmanager
def open_profile(chromium: Browser, served: Served) -> Iterator[BrowserContext]:
    """A browser of its own for whoever opens pages in it. To start one takes as long as to draw four pages."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, base_url=f"{served.base}/p/repo/")
    yield context
    context.close()


@contextmanager
def open_page(profile: BrowserContext, served: Served) -> Iterator[Page]:
    """Signed in, and with nothing to complain about until the end."""
    page, wrong = profile.new_page(), list[str]()
    page.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    page.on("console", lambda said: wrong.append(said.text) if said.type in COMPLAINTS and said.text not in REFUSALS else None)
    page.on("pageerror", lambda fault: wrong.append(str(fault)))
    page.goto(served.dashboard.address)
    expect(page).to_have_url(f"{served.base}/p/repo/")
    yield page
    page.close()
    assert not wrong
