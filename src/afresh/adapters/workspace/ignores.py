"""Ignore rules that the model can't change: those of the base commit, as one list of patterns from the root."""

import re
from collections.abc import Iterable, Sequence

TOOL_CACHE_PATTERNS = (
    "__pycache__/", "*.py[co]", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/", ".coverage", ".coverage.*",
    ".tox/", ".nox/", ".venv/", "node_modules/", ".DS_Store",
)  # fmt: skip
"""What tools leave behind in any project; a file that the base tracks is tracked all the same."""


def flatten_ignore_files(files: Iterable[tuple[str, str]]) -> Sequence[str]:
    """Patterns of (path, text) of .gitignore files, each bound to its folder. Deeper ones come later, so they win, as in git."""
    lines: list[str] = []
    for path, text in sorted(files, key=lambda item: (item[0].count("/"), item[0])):
        folder = path.rpartition("/")[0]
        lines += [bound for line in text.removeprefix("\ufeff").split("\n") if (bound := bind_pattern(folder, line))]
    return lines


def bind_pattern(folder: str, line: str) -> str:
    """The pattern as it would stand in the root's file; empty for a comment or an empty line."""
    line = re.sub(r"(?<!\\) +$", "", line.rstrip("\r"))
    if not line or line.startswith("#"):
        return ""
    if not folder:
        return line
    negated, pattern = ("!", line[1:]) if line.startswith("!") else ("", line)
    prefix = "/" + re.sub(r"([*?\[\]\\])", r"\\\1", folder) + "/"
    anchored = "/" in pattern.rstrip("/")
    return negated + prefix + (pattern.lstrip("/") if anchored else "**/" + pattern)
