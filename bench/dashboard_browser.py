"""How long the dashboard takes in a browser: until a task is open, and from an event until an open page shows it."""

import shutil
import statistics
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, sync_playwright

from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import open_project

TIMES = 7
OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync")
PATIENCE_MS = 60_000
MS_PER_SECOND = 1_000
OPENED = """() => new Promise((resolve) => {
  const look = () => {
    const [loaded] = performance.getEntriesByType('navigation');
    const [painted] = performance.getEntriesByName('first-contentful-paint');
    if (loaded.loadEventEnd && painted) resolve(Math.max(loaded.loadEventEnd, painted.startTime)); else setTimeout(look, 10);
  };
  look();
})"""
SEEN = """(words) => new Promise((resolve) => {
  const look = () => {
    if (document.querySelector('main').textContent.includes(words)) { watch.disconnect(); resolve(Date.now()); }
  };
  const watch = new MutationObserver(look);
  watch.observe(document, { childList: true, subtree: true, characterData: true });
  look();
})"""


def measure_in_browser(base: str, address: str, root: Any, long_task: str) -> list[dict[str, Any]]:
    """Open the long task's page and its last step; then add tasks elsewhere while the queue is open."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=OPTIONS)
        page = browser.new_page(base_url=f"{base}/p/repo/")
        page.set_default_timeout(PATIENCE_MS)
        page.goto(address)
        rows = [repeat(name, lambda at=at: open_address(page, at)) for name, at in list_addresses(long_task)]
        rows.append(repeat("event until it is shown", lambda: see_event(page, root)))
        browser.close()
    return rows


def list_addresses(task: str) -> list[tuple[str, str]]:
    return [
        ("open the long task", f"tasks/{task}"),
        ("open its first step", f"tasks/{task}/steps/1"),
        ("open the queue", "queue"),
    ]


def repeat(name: str, measure: Callable[[], float]) -> dict[str, Any]:
    measure()
    taken = [measure() for _ in range(TIMES)]
    return {"measure": name, "median": round(statistics.median(taken), 1), "most": round(max(taken), 1)}


def open_address(page: Page, address: str) -> float:
    """Milliseconds from the request until the page is loaded and painted."""
    page.goto("about:blank")
    page.goto(address, wait_until="load")
    return page.evaluate(OPENED)


def see_event(page: Page, root: Any) -> float:
    """Milliseconds from the commit of a new task, by another connection, until the open page of the queue names it."""
    page.goto("queue")
    page.locator("#pulse[data-state=on]").wait_for()
    page.wait_for_timeout(MS_PER_SECOND)  # the page fetches once when it connects
    words = f"seen at {time.time():.3f}"
    page.evaluate(f"window.coming = ({SEEN})({words!r}); 0")
    other = open_project(root)
    add_task(other, TaskOrder(words))
    committed = time.time()
    other.storage.close()
    return page.evaluate("window.coming") - MS_PER_SECOND * committed
