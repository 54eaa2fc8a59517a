"""Which names of a checkout git would ignore. Most names match no rule, which is found without trying each rule."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import cached_property
from typing import Any

TOOL_CACHE_PATTERNS = (
    "__pycache__/", "*.py[co]", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/", ".coverage", ".coverage.*",
    ".tox/", ".nox/", ".venv/", "node_modules", ".DS_Store",
)  # fmt: skip
"""Files that tools leave behind in any project; tracked files of the base stay tracked."""


def flatten_ignore_files(files: Iterable[tuple[str, str]]) -> Sequence[str]:
    """Patterns of (path, text) of .gitignore files, each bound to its folder. Deeper ones come later, so they win, as in git."""
    lines: list[str] = []
    for path, text in sorted(files, key=lambda item: (item[0].count("/"), item[0])):
        folder = path.rpartition("/")[0]
        lines += [bound for line in text.removeprefix("\ufeff").split("\n") if (bound := bind_pattern(folder, line))]
    return lines


def bind_pattern(folder: str, line: str) -> str:
    """The pattern as it would be in the root's file; empty for a comment or an empty line."""
    line = re.sub(r"(?<!\\) +$", "", line.rstrip("\r"))
    if not line or line.startswith("#"):
        return ""
    if not folder:
        return line
    negated, pattern = ("!", line[1:]) if line.startswith("!") else ("", line)
    prefix = "/" + re.sub(r"([*?\[\]\\])", r"\\\1", folder) + "/"
    anchored = "/" in pattern.rstrip("/")
    return negated + prefix + (pattern.lstrip("/") if anchored else "**/" + pattern)


WILDCARD_PATTERN = re.compile(r"[*?\[\\]")
SUFFIX_PATTERN = re.compile(r"\*(\.[\w.-]+)")


class IgnoreRules:
    """Patterns as they would be in the root's .gitignore; later ones win."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(patterns)
        lasts = [pattern.removeprefix("!").rstrip("/").rpartition("/")[2] for pattern in self.patterns]
        self._names = {last for last in lasts if not WILDCARD_PATTERN.search(last)}
        self._suffixes = tuple(match[1] for last in lasts if (match := SUFFIX_PATTERN.fullmatch(last)))
        wild = [last for last in lasts if WILDCARD_PATTERN.search(last) and not SUFFIX_PATTERN.fullmatch(last)]
        self._wild = re.compile("|".join(map(_last_part_pattern, wild)), re.DOTALL) if wild else None

    def ignore(self, folder: str, name: str, is_folder: bool) -> bool:
        """Whether an entry is ignored whose folder is not. `folder` is empty or ends in a slash."""
        if name not in self._names and not name.endswith(self._suffixes) and not (self._wild and self._wild.match(name)):
            return False
        path = f"{folder}{name}/" if is_folder else folder + name
        return _is_ignored(self._spec, path)

    def below(self, folder: str, text: str) -> "IgnoreRules":
        """Together with those of the folder's own .gitignore."""
        lines = text.removeprefix("\ufeff").split("\n")
        return IgnoreRules((*self.patterns, *(bound for line in lines if (bound := bind_pattern(folder.rstrip("/"), line)))))

    @cached_property
    def _spec(self):
        from pathspec import GitIgnoreSpec

        # `src/**` is about what is in src; the library would take src itself for ignored
        return GitIgnoreSpec.from_lines(re.sub(r"(?<=[^/])/\*\*$", "/**/*", pattern) for pattern in self.patterns)


def _is_ignored(spec: Any, path: str) -> bool:
    """As git does for an entry whose folder is not ignored: the last pattern that means the entry itself, not its folder."""
    for pattern in reversed(spec.patterns):
        match = pattern.regex.match(path) if pattern.include is not None else None
        if match and not ("ps_d" in pattern.regex.groupindex and 0 <= match.start("ps_d") < len(path) - 1):
            return bool(pattern.include)
    return False


def _last_part_pattern(last: str) -> str:
    """Names that the last part of a pattern may mean; all of them where that is not plain to see."""
    return ".*" if "\\" in last or "[^" in last or "[[" in last or "**" in last else translate(last)
