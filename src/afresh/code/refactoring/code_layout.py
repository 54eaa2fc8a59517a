"""Reads how wide lines may be and how wrapped arguments end: from the project's settings, or from the file itself."""

import re
from collections.abc import Iterator
from typing import Any

from afresh.code.complexity_settings import read_ruff_table
from afresh.code.config_files import ProjectConfiguration, get_table, list_texts, parse_ini
from afresh.code.python_source import CodeLayout, PythonSource

BLACK_LINE_CHARACTERS = 88
USUAL_WIDTHS = (79, 88, 100, 120, 130)
"""A file without settings has the smallest of these that nearly all its lines fit into."""
FEW_LINES = 40
"""A file with fewer lines does not show its width."""
FORMATTER_WORDS = re.compile(r"psf/black|ruff-format|id:\s*black|black-pre-commit|\bblack\b.*--check|ruff format")


def read_code_layout(configuration: ProjectConfiguration, source: PythonSource) -> CodeLayout:
    width = next(_configured_widths(configuration), None) or _usual_width(source)
    return CodeLayout(width, _wants_trailing_commas(configuration))


def _configured_widths(configuration: ProjectConfiguration) -> Iterator[int]:
    """Yield the configured line lengths, the formatter's first."""
    tools = get_table(configuration.project, "tool")
    ruff = read_ruff_table(configuration)
    yield from _numbers(ruff.get("line-length"), get_table(tools, "black").get("line-length"))
    if "black" in tools or "ruff" in tools or ruff or _formats_with_defaults(configuration):
        yield BLACK_LINE_CHARACTERS
    yield from _numbers(
        get_table(tools, "flake8").get("max-line-length"), get_table(tools, "pylint", "format").get("max-line-length")
    )
    for path in ("setup.cfg", "tox.ini", ".flake8"):
        sections = parse_ini(configuration.text(path))
        for section in ("flake8", "pycodestyle", "pep8", "tool:black"):
            held = sections.get(section, {})
            yield from _numbers(held.get("max-line-length"), held.get("max_line_length"))
    sections = parse_ini("[root]\n" + configuration.text(".editorconfig"))
    yield from _numbers(*(sections.get(name, {}).get("max_line_length") for name in ("*.py", "*.{py,pyi}", "*")))


def _numbers(*values: Any) -> Iterator[int]:
    for value in values:
        if isinstance(value, int | str) and re.fullmatch(r"\s*\d{2,3}\s*", str(value)):
            yield int(value)


def _formats_with_defaults(configuration: ProjectConfiguration) -> bool:
    texts = (text for path, text in configuration.texts.items() if path.startswith(".pre-commit-config") or path == "tox.ini")
    return any(FORMATTER_WORDS.search(text) for text in texts)


def _wants_trailing_commas(configuration: ProjectConfiguration) -> bool:
    """Whether ruff demands a comma after the last argument of a call on several lines."""
    ruff = read_ruff_table(configuration)
    tables = (ruff, get_table(ruff, "lint"))
    chosen = {rule for table in tables for key in ("select", "extend-select") for rule in list_texts(table.get(key))}
    ignored = {rule for table in tables for key in ("ignore", "extend-ignore") for rule in list_texts(table.get(key))}
    return bool(chosen & {"ALL", "COM", "COM8", "COM812"}) and not ignored & {"COM", "COM8", "COM812"}


def _usual_width(source: PythonSource) -> int:
    lengths = sorted(len(line.rstrip()) for line in source.lines)
    if len(lengths) < FEW_LINES:
        return max(BLACK_LINE_CHARACTERS, min(lengths[-1] if lengths else 0, USUAL_WIDTHS[-1]))
    usual = lengths[int((len(lengths) - 1) * 0.99)]
    return next((width for width in USUAL_WIDTHS if width >= usual), USUAL_WIDTHS[-1])
