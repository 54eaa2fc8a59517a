"""The pages for people: short, with links that work and nothing said twice."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
USER_PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def page_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def heading_anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(text: str, folder: Path) -> Iterator[str]:
    """Yield the links that lead to no file, or to no heading of it."""
    for target in LINK.findall(FENCE.sub("", text)):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        there = folder / name
        if name and not there.exists():
            yield target
            continue
        if anchor and anchor not in heading_anchors(there.read_text("utf-8") if name else text):
            yield target


def repeated_rows(text: str) -> list[str]:
    """Return table rows whose first cell is already in the same table, and long lines that are already on the page."""
    rows: list[str] = []
    for table in re.findall(r"(?:^\|.*\n)+", FENCE.sub("", text), re.MULTILINE):
        cells = [row.split("|")[1].strip() for row in table.splitlines()[2:]]
        rows += [cell for cell, count in Counter(cells).items() if cell and count > 1]
    lines = [line.strip() for line in FENCE.sub("", text).splitlines() if len(line) > 60]
    return rows + [line for line, count in Counter(lines).items() if count > 1]


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page: Path):
    assert not list(broken_links(page.read_text("utf-8"), page.parent))


@pytest.mark.parametrize("page", USER_PAGES, ids=page_name)
def test_nothing_is_said_twice_on_a_page(page: Path):
    assert not repeated_rows(page.read_text("utf-8"))


def test_the_index_names_every_page():
    named = {(DOCS / target.partition("#")[0]).resolve() for target in LINK.findall((DOCS / "README.md").read_text("utf-8"))}
    assert not [page_name(page) for page in DOCS.rglob("*.md") if page != DOCS / "README.md" and page not in named]


def missing_tests(text: str) -> list[str]:
    """Return the tests that a page names and that do not exist."""
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", text)
    files = {path: (ROOT / "tests" / path).read_text("utf-8") for path, _ in named if (ROOT / "tests" / path).is_file()}
    return [f"{path}::{test}" for path, test in named if f"def {test}(" not in files.get(path, "")]


def test_every_test_of_the_judge_exists():
    text = (DOCS / "internals/judge.md").read_text("utf-8")
    assert text.count("::test_") > 80 and not missing_tests(text)


@pytest.mark.parametrize("text", ["`test_documents.py::test_gone`", "`gone.py::test_links_lead_somewhere`"])
def test_a_missing_test_would_be_found(text: str):
    assert missing_tests(text) and not missing_tests("`test_documents.py::test_links_lead_somewhere`")


@pytest.mark.parametrize("text", ["[a](gone.md)", "[a](#gone)\n# Here\n", "[a](README.md#gone)"])
def test_a_broken_link_would_be_found(text: str):
    assert list(broken_links(text, ROOT))


@pytest.mark.parametrize("text", ["|a|b|\n|-|-|\n|x|1|\n|y|2|\n|x|3|\n", f"{'word ' * 14}\n" * 2])
def test_a_repeated_row_would_be_found(text: str):
    assert repeated_rows(text)
