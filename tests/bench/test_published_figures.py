"""A table row in the pages that names `bench/results/FILE.json#KEY` has the figure that stands there. KEY is joined by /."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
REFERENCE = re.compile(r"`bench/results/(?P<file>[\w-]+\.json)#(?P<key>[^`]+)`")
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")


def list_references(text: str) -> Iterator[tuple[str, str, str]]:
    """Row, file and key."""
    for row in text.splitlines():
        if row.startswith("|"):
            yield from ((row, found["file"], found["key"]) for found in REFERENCE.finditer(row))


def find_wrong_figures(text: str, folder: Path) -> list[str]:
    return [f"{file}#{key}: {why}" for row, file, key in list_references(text) if (why := explain(row, folder / file, key))]


def explain(row: str, path: Path, key: str) -> str:
    if not path.exists():
        return "no such file"
    held: Any = json.loads(path.read_text("utf-8"))
    if not held.get("commit"):
        return "the file names no commit"
    for part in key.split("/"):
        if not isinstance(held, dict) or part not in held:
            return f"no {part!r} in it"
        held = held[part]
    figures = [one.replace(",", "") for one in NUMBER.findall(REFERENCE.sub("", row))]
    values = {value for one in figures for value in (held, 100 * held) if f"{value:.{len(one.partition('.')[2])}f}" == one}
    return "" if values else f"it is {held:.5g}"


PAGES = [
    path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if list(list_references(path.read_text("utf-8")))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_published_figure_is_that_of_its_results(page: Path) -> None:
    assert find_wrong_figures(page.read_text("utf-8"), ROOT / "bench/results") == []


def test_there_are_such_figures() -> None:
    assert sum(len(list(list_references(page.read_text("utf-8")))) for page in PAGES) > 30


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("| a step | 1.53 ms, 4.8 × | `bench/results/one.json#raw/ms` |", ""),
        ("| a step | 1,534 µs, 5 × | `bench/results/one.json#raw/ratio` |", ""),
        ("| a share | 48 % | `bench/results/one.json#share` |", ""),
        ("| a step | 1.54 ms | `bench/results/one.json#raw/ms` |", "it is 1.5344"),
        ("| a step | 1.53 ms | `bench/results/one.json#raw/mean` |", "no 'mean' in it"),
        ("| a step | 1.53 ms | `bench/results/two.json#raw/ms` |", "no such file"),
        ("| a step | 1.53 ms | `bench/results/bare.json#raw/ms` |", "the file names no commit"),
    ],
)
def test_a_figure_that_differs_or_has_no_results_is_found(tmp_path: Path, row: str, why: str) -> None:
    result = {"raw": {"ms": 1.53444, "ratio": 4.765}, "share": 0.4791}
    (tmp_path / "one.json").write_text(json.dumps({"commit": "0a1b2c3", **result}))
    (tmp_path / "bare.json").write_text(json.dumps(result))
    found = find_wrong_figures(row, tmp_path)
    assert (found[0].partition(": ")[2] if found else "") == why


def test_every_file_of_results_names_its_commit() -> None:
    files = sorted((ROOT / "bench/results").glob("*.json"))
    assert files and [path.name for path in files if "commit" not in path.read_text("utf-8")] == []
