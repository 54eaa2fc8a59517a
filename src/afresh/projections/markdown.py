"""Foreign text inside Markdown: it can be read, and it can't pass for our headings, links or pictures."""

import re

from afresh.domain.text import one_line, visible

_markup = re.compile(r"!(?=\[)|\](?=\()|<(?=[A-Za-z/!?])")


def inline(text: str, limit: int = 0) -> str:
    return _plain(one_line(text, limit))


def code(text: str, limit: int = 0) -> str:
    return f"`{one_line(text, limit).replace('`', 'ˋ')}`"


def quote(text: str) -> list[str]:
    """Every line behind `>`, so that no line of it is at the margin."""
    return [f"> {line}".rstrip() for line in _plain(visible(text.replace("\r\n", "\n"))).split("\n")]


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def _plain(text: str) -> str:
    return _markup.sub(r"\\\g<0>", text) if "<" in text or "[" in text else text
