"""Files that hold facts about the product beside settings of what judges it: which of the two was changed."""

import configparser
import json
import re
import tomllib
from collections.abc import Collection, Mapping
from typing import Any, cast

from afresh.core.recognise_test_files import get_file_name

_FREE_KEYS = {
    "package.json": r"(?:name|version|description|keywords|author|contributors|license|repository|homepage|bugs"
    r"|funding|files|main|module|types|typings|exports|bin|man|engines|private|type|sideEffects|publishConfig|browser"
    r"|packageManager)(?:\..*)?",
    "Cargo.toml": r"package\.(?!auto|build\b).*|features\..*|bin(?:\..*)?|badges\..*"
    r"|lib\.(?!path|test|doctest|harness).*|workspace\.(?:members|package|exclude|resolver)(?:\..*)?",
    "pyproject.toml": r"project\.(?!entry-points).*|build-system\..*|dependency-groups\..*",
    "setup.cfg": r"(?:metadata|options)\b.*",
    "tox.ini": r"",
}
"""Settings by their whole names that say nothing of how the product is judged."""
_FREE_TEXTS = {
    "pom.xml": re.compile(
        r"<(dependencies|dependencyManagement)>(?:(?!<\1>).)*?</\1>"
        r"|<(version|name|description|url)>[^<]*</\2>|\s",
        re.DOTALL,
    ),
    "build.gradle": re.compile(
        r"\b(?:dependencies|repositories|plugins|publishing)\s*\{[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+\}"
        r"|^[ \t]*(?:version|group|description|archivesBaseName)\b.*$|^[ \t]*//.*$|\s",
        re.MULTILINE,
    ),
    "go.mod": re.compile(r"^(?![ \t]*(?:replace|exclude|toolchain)\b).*$|\s", re.MULTILINE),
}
"""What may change in files that are not read key by key."""
_LOCK_FILES = frozenset(
    {"Cargo.lock", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lockb", "poetry.lock", "uv.lock", "pdm.lock",
     "Pipfile.lock", "go.sum", "gradle.lockfile"}
)  # fmt: skip


def is_manifest(path: str) -> bool:
    name = get_file_name(path).removesuffix(".kts")
    return name in _FREE_KEYS or name in _FREE_TEXTS or name in _LOCK_FILES


def has_changed_settings(path: str, base: str | None, now: str | None, tools: Collection[str]) -> bool:
    """Whether more was changed than facts about the product. Settings of a tool that no check runs are such facts; `tools` are
    the words of the commands and scripts, of which some are tools."""
    name = get_file_name(path).removesuffix(".kts")
    if name in _LOCK_FILES:
        return False
    if name in _FREE_TEXTS:
        before, after = (_FREE_TEXTS[name].sub("", text or "") for text in (base, now))
        return before != after
    before, after = (_list_settings(name, text) for text in (base, now))
    if before is None or after is None:
        return True
    changed = (key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    return any(not _is_fact(name, key) and _is_run(name, key, tools) for key in changed)


def _is_fact(name: str, key: str) -> bool:
    is_dependency = any(part.endswith(("ependencies", "ependenciesMeta")) for part in key.split("."))
    return is_dependency or bool(re.fullmatch(_FREE_KEYS[name], key))


def _is_run(name: str, key: str, tools: Collection[str]) -> bool:
    """In files that many tools share: whether this one judges."""
    if name not in ("pyproject.toml", "setup.cfg", "tox.ini"):
        return True
    tool = re.split(r"[.:\-]", re.sub(r"^tool[.:]", "", key))[0]
    return tool in tools or tool == "pytest" or (tool.startswith("testenv") and "tox" in tools)


def _list_settings(name: str, text: str | None) -> Mapping[str, Any] | None:
    """Settings by their whole names; None if the file is not what its name says."""
    try:
        if name.endswith(".toml"):
            return dict(_flatten(tomllib.loads(text or "")))
        if name.endswith(".json"):
            return dict(_flatten(json.loads(text or "{}")))
        parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
        parser.read_string(text or "")
        return {f"{section}.{key}": value for section in parser.sections() for key, value in parser[section].items()}
    except (ValueError, configparser.Error, AttributeError, RecursionError):  # ValueError: also a number that is too long
        return None


def _flatten(held: Mapping[str, Any], above: str = "") -> list[tuple[str, Any]]:
    found = list[tuple[str, Any]]()
    for key, value in held.items():
        found += _flatten(cast("dict[str, Any]", value), f"{above}{key}.") if isinstance(value, dict) else [(above + key, value)]
    return found
