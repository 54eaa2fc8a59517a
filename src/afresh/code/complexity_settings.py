"""What a project's own settings say about complexity: its limit, and files in which ruff or flake8 ignore it."""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from typing import Any

from afresh.code.complexity import MAX_COMPLEXITY
from afresh.code.config_files import ProjectConfiguration, get_table, list_texts, parse_ini, parse_toml

COMPLEXITY_RULE = "C901"
FLAKE8_FILES = ("setup.cfg", "tox.ini", ".flake8")


def explain_exempt_function(configuration: ProjectConfiguration, path: str, complexity: int) -> str:
    """Return why the project has nothing against a function of this complexity in this file; empty if it does not say so."""
    if any(_covers_rule(one) for one in _list_ignored(configuration, path)):
        return f"the project ignores {COMPLEXITY_RULE} here"
    limit = max(list_complexity_limits(configuration), default=MAX_COMPLEXITY)
    return f"within the project's own limit of {limit}" if MAX_COMPLEXITY < complexity <= limit else ""


def list_ruff_tables(configuration: ProjectConfiguration) -> tuple[dict[str, Any], ...]:
    """Return the table of ruff and, of newer settings, that of its linter."""
    texts = (configuration.text("ruff.toml"), configuration.text(".ruff.toml"))
    table = next(filter(None, map(parse_toml, texts)), get_table(configuration.project, "tool", "ruff"))
    return table, get_table(table, "lint")


def list_flake8_sections(configuration: ProjectConfiguration) -> list[Mapping[str, str]]:
    found = (parse_ini(configuration.text(path)).get("flake8", {}) for path in FLAKE8_FILES)
    return [{key.replace("_", "-"): value for key, value in section.items()} for section in found]


def _covers_rule(selector: str) -> bool:
    """Whether a selector such as `C90` means the rule for complexity."""
    return selector.startswith("C") and COMPLEXITY_RULE.startswith(selector)


def _list_ignored(configuration: ProjectConfiguration, path: str) -> Iterator[str]:
    for table in list_ruff_tables(configuration):
        for key in ("ignore", "extend-ignore"):
            yield from list_texts(table.get(key))
        for key in ("per-file-ignores", "extend-per-file-ignores"):
            for pattern, rules in get_table(table, key).items():
                if _matches_path(path, pattern):
                    yield from list_texts(rules)
    for section in list_flake8_sections(configuration):
        for key in ("ignore", "extend-ignore"):
            yield from re.findall(r"\w+", re.sub(r"#.*", "", section.get(key, "")))
        for patterns, rules in re.findall(r"([^:]+):\s*((?:\w+[,\s]*)+?)(?=\s+\S+:|\s*$)", section.get("per-file-ignores", "")):
            if any(_matches_path(path, word) for word in re.split(r"[,\s]+", patterns.strip())):
                yield from re.findall(r"\w+", rules)


def _matches_path(path: str, pattern: str) -> bool:
    """Whether a pattern for the path or for the file's name fits; `!` turns it around."""
    if pattern.startswith("!"):
        return not _matches_path(path, pattern[1:])
    pattern = pattern.removeprefix("./")
    folder = pattern.rstrip("/*") + "/*"
    return any(fnmatch(path, one) or fnmatch(path, f"*/{one}") for one in (pattern, folder))


def list_complexity_limits(configuration: ProjectConfiguration) -> Iterator[int]:
    values: list[Any] = [get_table(table, "mccabe").get("max-complexity") for table in list_ruff_tables(configuration)]
    values += [section.get("max-complexity") for section in list_flake8_sections(configuration)]
    for value in values:
        if isinstance(value, int | str) and re.fullmatch(r"\s*\d{1,4}\b.*", str(value)):
            yield int(re.findall(r"\d+", str(value))[0])
