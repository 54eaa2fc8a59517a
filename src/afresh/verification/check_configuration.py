"""Configuration of what judges a task: of pytest always, of any other tool that a check names."""

import configparser
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, cast

from afresh.core.task import Check
from afresh.verification.runner_configuration import find_changed_runner_settings, is_runner_configuration

_PYTEST_FILES = frozenset({"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"})
_SHARED_FILES = frozenset({"pyproject.toml", "setup.cfg", "tox.ini", "package.json"})
_FILES_BY_TOOL = {
    "ruff": ("ruff.toml", ".ruff.toml"),
    "flake8": (".flake8",),
    "mypy": ("mypy.ini", ".mypy.ini"),
    "pyright": ("pyrightconfig.json",),
    "pylint": ("pylintrc", ".pylintrc"),
    "coverage": (".coveragerc",),
    "nox": ("noxfile.py",),
    "make": ("Makefile", "makefile", "GNUmakefile"),
}
_LENIENT_FILTERS = ("ignore", "default", "always", "module", "once")
_PACKAGE_JSON_KEYS = frozenset({"scripts", "jest", "mocha", "vitest", "tap", "ava", "c8", "nyc", "workspaces", "imports"})


def is_test_configuration(path: str) -> bool:
    name = PurePosixPath(path).name
    return name in _PYTEST_FILES or name in _SHARED_FILES


def is_check_configuration(path: str, checks: Sequence[Check]) -> bool:
    """May hold settings that decide how the checks judge."""
    if is_runner_configuration(path, list_named_tools(checks)):
        return True
    return is_test_configuration(path) or PurePosixPath(path).name in list_tool_files(checks)


def list_tool_files(checks: Sequence[Check]) -> frozenset[str]:
    """Files that belong to a tool named in a check, and scripts that a check starts with a shell."""
    tools = list_named_tools(checks)
    scripts = (word.rpartition("/")[2] for check in checks for word in check.command.split() if word.endswith(".sh"))
    return frozenset((*(name for tool, names in _FILES_BY_TOOL.items() if tool in tools for name in names), *scripts))


def list_named_tools(checks: Sequence[Check]) -> frozenset[str]:
    words = frozenset(word for check in checks for word in re.findall(r"[\w-]+", check.command))
    return words | {"npm"} if words & {"yarn", "pnpm", "bun", "bunx", "npx", "node", "jest", "vitest", "mocha", "tap"} else words


def find_changed_settings(path: str, base: str | None, now: str | None, checks: Sequence[Check]) -> tuple[str, ...]:
    """What was changed in a configuration file that decides how the checks judge; None stands for no file."""
    name = PurePosixPath(path).name
    if base == now:
        return ()
    if name in _PYTEST_FILES or name in list_tool_files(checks):
        return (f"{path} configures what judges the task and was changed",)
    if is_runner_configuration(path, list_named_tools(checks)):
        return find_changed_runner_settings(path, base, now)
    before, after = _parse_sections(name, base), _parse_sections(name, now)
    if before is None or after is None:
        return (f"{path} can't be read as configuration",)
    tools = list_named_tools(checks) | {"pytest"}
    differing = sorted(
        key for key in before.keys() | after.keys() if before.get(key) != after.get(key) and _tool_from_section(key) in tools
    )
    return tuple(f"{path} [{key}] configures what judges the task and was changed" for key in differing)


def list_changed_settings(path: str, base: str | None, now: str | None, checks: Sequence[Check]) -> Mapping[str, bool]:
    """Settings of tools that judge which were changed, by names such as `pytest.ini_options.filterwarnings`, and whether entries
    were only added; empty where the file can't be read setting by setting."""
    name = PurePosixPath(path).name
    if not name.endswith((".ini", ".toml", ".cfg", ".json")):
        return {}
    before, after = _parse_sections(name, base), _parse_sections(name, now)
    if before is None or after is None:
        return {}
    tools = list_named_tools(checks) | {"pytest"}
    found = dict[str, bool]()
    for section in sorted(before.keys() | after.keys()):
        tool = _tool_from_section(section)
        if tool in tools or name in _PYTEST_FILES or name in list_tool_files(checks):
            old, new = _list_settings(tool, before.get(section)), _list_settings(tool, after.get(section))
            changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
            found |= {key: _has_only_more_entries(old.get(key), new.get(key)) for key in changed}
    return found


def _list_settings(name: str, held: Any) -> dict[str, Any]:
    """Settings by their whole names."""
    if not isinstance(held, dict):
        return {} if held is None else {name: held}
    known = cast("dict[str, Any]", held)
    return {key: value for part in known for key, value in _list_settings(f"{name}.{part}", known[part]).items()}


def _has_only_more_entries(before: Any, after: Any) -> bool:
    """Whether all entries of a list, or lines of a text, are there in their order, beside others."""
    old, new = _split_entries(before or []), _split_entries(after)
    if old is None or new is None:
        return False
    rest = iter(new)
    return all(one in rest for one in old)


def has_stricter_filters(path: str, base: str | None, now: str | None, name: str) -> bool:
    """Whether of the filters of warnings, in a setting by this name, only some went that let warnings pass: nothing passes now
    that did not before."""
    both = [_find_setting(PurePosixPath(path).name, text, name) for text in (base, now)]
    old, new = (_split_entries(value or []) for value in both)
    if old is None or new is None or not _has_only_more_entries(both[1], both[0]):
        return False
    gone = [entry.strip() for entry in old if entry not in new]
    return bool(gone) and all(not entry or entry.startswith(_LENIENT_FILTERS) for entry in gone)


def _find_setting(file: str, text: str | None, name: str) -> Any:
    sections = _parse_sections(file, text) or {}
    return next(
        (found[name] for key in sections if name in (found := _list_settings(_tool_from_section(key), sections[key]))), None
    )


def _split_entries(value: Any) -> list[str] | None:
    """None for what is neither a list nor a text."""
    if isinstance(value, str):
        return value.splitlines()
    return [str(entry) for entry in cast("list[Any]", value)] if isinstance(value, list) else None


def _tool_from_section(section: str) -> str:
    """The tool that a section belongs to: `tool.pytest.ini_options`, `tool:pytest`, `mypy-some.module`, `testenv:lint`."""
    if section.startswith("testenv"):
        return "tox"
    if section in _PACKAGE_JSON_KEYS:
        return "npm"
    return re.split(r"[.:\-]", re.sub(r"^tool[.:]", "", section))[0]


def _parse_sections(name: str, text: str | None) -> Mapping[str, Any] | None:
    """Each section of one tool; None if the file is not what its name says."""
    if text is None:
        return {}
    try:
        if name in ("pytest.toml", ".pytest.toml"):
            return {"pytest": tomllib.loads(text)}
        if name == "pyproject.toml":
            return {f"tool.{tool}": held for tool, held in tomllib.loads(text).get("tool", {}).items()}
        if name == "package.json":
            return {key: held for key, held in json.loads(text).items() if key in _PACKAGE_JSON_KEYS}
        parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
        parser.read_string(text)
        return {section: dict(parser[section]) for section in parser.sections()}
    except (ValueError, configparser.Error, AttributeError, RecursionError):  # ValueError: also a number that is too long
        return None
