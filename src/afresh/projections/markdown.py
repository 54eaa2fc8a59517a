"""Foreign text inside Markdown: it can be read, and it can't pass for our headings, links or pictures."""

import re

from afresh.domain.text import to_one_line, escape_hidden

_MARKUP_PATTERN = re.compile(r"!(?=\[)|\](?=\()|<(?=[A-Za-z/!?])")


def escape_inline(text: str, limit: int = 0) -> str:
    return _escape_markup(to_one_line(text, limit))


def format_code(text: str, limit: int = 0) -> str:
    return f"`{to_one_line(text, limit).replace('`', 'ˋ')}`"


def quote_lines(text: str) -> list[str]:
    """Every line behind `>`, so that no line of it is at the margin."""
    return [f"> {line}".rstrip() for line in _escape_markup(escape_hidden(text.replace("\r\n", "\n"))).split("\n")]


def escape_cell(text: str) -> str:
    return text.replace("|", "\\|")


def _escape_markup(text: str) -> str:
    return _MARKUP_PATTERN.sub(r"\\\g<0>", text) if "<" in text or "[" in text else text
