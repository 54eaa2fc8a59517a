"""The pages for people: links that work, nothing said twice, and only commands, options and settings that exist."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import click
import pytest

from afresh.app.settings import Settings
from afresh.cli.main import list_command_names, load_command
from afresh.config.settings_file import read_settings_file

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
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


def missing_files(text: str) -> list[str]:
    """Return the programs and tests in backticks that do not exist; † marks those that were removed."""
    named = re.findall(r"`((?:bench|scripts|tests|src)/[\w./-]+|[\w/]*test_\w+\.py)`(?! †)", text)
    return [name for name in named if not (ROOT / name).exists() and not any((ROOT / "tests").glob(f"**/{name}"))]


@pytest.mark.parametrize("page", sorted((DOCS / "internals").glob("*.md")), ids=page_name)
def test_programs_and_tests_on_a_page_exist(page: Path):
    assert not missing_files(page.read_text("utf-8"))


def test_a_program_that_is_gone_would_be_found():
    assert missing_files("`bench/gone.py` and `scenarios/test_gone.py`") == ["bench/gone.py", "scenarios/test_gone.py"]


def typed_commands(text: str) -> Iterator[str]:
    """Yield what follows `afresh ` on lines of shell blocks and in backticks."""
    blocks = re.findall(r"^```(?:sh|console|yaml)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = (re.sub(r"\s#\s.*", "", line).replace("\\|", "|") for line in "\n".join(blocks).splitlines())
    inline = re.findall(r"`([^`\n]+)`", FENCE.sub("", text).replace("\\|", "|"))
    for typed in (*lines, *inline):
        yield from (command.strip() for command in re.findall(r"(?:^|[$|;&(]\s*|-- )afresh ([^|;&)]+)", typed.strip()))


def unknown_words(typed: str) -> list[str]:
    """Return the command, part of a command and options of a line that afresh does not have."""
    words = shlex.split(typed.replace("…", "X"))
    if words[0] not in list_command_names():
        return [] if words[0] in ("COMMAND", "--help", "--version") else [words[0]]
    command, rest = load_command(words[0]), words[1:]
    if isinstance(command, click.Group) and rest and re.fullmatch(r"[a-z-]+", rest[0]) and not rest[0].startswith("-"):
        if rest[0] not in command.commands:
            return [" ".join(words[:2])]
        command, rest = command.commands[rest[0]], rest[1:]
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)} | {"--help", "-h"}
    unknown = [word for word in rest if word.startswith("-") and word != "-" and word.partition("=")[0] not in known]
    return [f"{words[0]} {word}" for word in unknown]


@pytest.mark.parametrize("page", [*USER_PAGES, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"], ids=page_name)
def test_commands_and_options_on_a_page_exist(page: Path):
    assert not [unknown for typed in typed_commands(page.read_text("utf-8")) for unknown in unknown_words(typed)]


@pytest.mark.parametrize("text", ["`afresh gone`", "```sh\n$ afresh run x --gone\n```\n", "`x | afresh memory gone`"])
def test_a_command_or_option_that_is_gone_would_be_found(text: str):
    assert [unknown for typed in typed_commands(text) for unknown in unknown_words(typed)]


@pytest.mark.parametrize("page", USER_PAGES, ids=page_name)
def test_settings_on_a_page_exist(page: Path, tmp_path: Path):
    for number, block in enumerate(re.findall(r"^```toml\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)):
        path = tmp_path / f"{number}.toml"
        path.write_text(block)
        read_settings_file(path, Settings)


def test_the_reference_names_every_command_and_every_setting():
    text = (DOCS / "reference.md").read_text("utf-8")
    assert not [name for name in list_command_names() if not re.search(rf"`{name}\b", text)]
    assert not [field.name for field in fields(Settings) if not re.search(rf"`\[*(?:mcp\.)?{field.name}\b", text)]


@pytest.mark.parametrize("text", ["[a](gone.md)", "[a](#gone)\n# Here\n", "[a](README.md#gone)"])
def test_a_broken_link_would_be_found(text: str):
    assert list(broken_links(text, ROOT))


@pytest.mark.parametrize("text", ["|a|b|\n|-|-|\n|x|1|\n|y|2|\n|x|3|\n", f"{'word ' * 14}\n" * 2])
def test_a_repeated_row_would_be_found(text: str):
    assert repeated_rows(text)
