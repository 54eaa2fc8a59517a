"""Configuration of test runners other than Python's: which files hold it, and what of it was changed."""

import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from typing import Any

_SCRIPT_TOOLS = frozenset(
    {"npm", "npx", "node", "yarn", "pnpm", "bun", "bunx", "vitest", "jest", "mocha", "tap", "ava", "c8", "nyc"}
)
_SCRIPT_FILES = re.compile(
    r"(?:vitest|jest|mocha|ava|playwright|cypress|karma|babel)\.(?:config|workspace|conf|setup|projects)\.(?:[cm]?[jt]s|json)"
    r"|\.mocharc(?:\.\w+)?|\.taprc|\.c8rc(?:\.json)?|\.nycrc(?:\.\w+)?|\.npmrc|\.babelrc(?:\.\w+)?"
)
_VITE_FILE = re.compile(r"vite\.config\.[cm]?[jt]s")
_VITE_TEST_KEYS = re.compile(r"\b(?:test|root|alias|plugins|include|exclude|setupFiles)\s*:")
_FILES_BY_TOOL: Mapping[str, re.Pattern[str]] = {
    "cargo": re.compile(r"Cargo\.toml|nextest\.toml"),
    "go": re.compile(r"go\.work"),
    "mvn": re.compile(r"pom\.xml"),
    "mvnw": re.compile(r"pom\.xml"),
    "gradle": re.compile(r"(?:build|settings)\.gradle(?:\.kts)?|gradle\.properties"),
    "gradlew": re.compile(r"(?:build|settings)\.gradle(?:\.kts)?|gradle\.properties"),
}
_CARGO_CONFIG = (".cargo/config.toml", ".cargo/config")
"""May name another program to run tests with."""
_MAVEN_PLUGIN = re.compile(r"<plugin>(?:(?!</plugin>).)*(?:surefire|failsafe)(?:(?!</plugin>).)*</plugin>", re.DOTALL)
_MAVEN_SETTING = re.compile(
    r"<((?:skip|maven\.test|surefire|failsafe|test|excluded?|groups)[\w.]*)>[^<]*</\1>|<module>[^<]*</module>", re.IGNORECASE
)
_GRADLE_FREE_BLOCK = re.compile(r"\b(?:dependencies|repositories|plugins|publishing)\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
_GRADLE_FREE_LINE = re.compile(r"^\s*(?:version|group|description|archivesBaseName)\b.*$|^\s*//.*$|\s+", re.MULTILINE)


def is_runner_configuration(path: str, tools: Collection[str]) -> bool:
    """Whether a file may hold settings of a runner that these tools, named by the checks, start."""
    name = PurePosixPath(path).name
    if not _SCRIPT_TOOLS.isdisjoint(tools) and (_SCRIPT_FILES.fullmatch(name) or _VITE_FILE.fullmatch(name)):
        return True
    if "cargo" in tools and path.endswith(_CARGO_CONFIG):
        return True
    return any(tool in tools and files.fullmatch(name) for tool, files in _FILES_BY_TOOL.items())


def find_changed_runner_settings(path: str, base: str | None, now: str | None) -> tuple[str, ...]:
    """What was changed in such a file that decides which tests run; dependencies and versions are free."""
    before, after = (_select_test_settings(path, text or "") for text in (base, now))
    if before is None or after is None:
        return (f"{path} can't be read as configuration",)
    changed = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    return tuple(f"{path}{f' [{key}]' if key else ''} configures what judges the task and was changed" for key in changed)


def _select_test_settings(path: str, text: str) -> Mapping[str, Any] | None:
    """The part of a configuration that bears on tests, by section; None if the file is not what its name says."""
    name = PurePosixPath(path).name
    if name == "Cargo.toml":
        return _select_cargo_settings(text)
    if name == "pom.xml":
        return {"surefire": [*_MAVEN_PLUGIN.findall(text), *(match[0] for match in _MAVEN_SETTING.finditer(text))]}
    if "gradle" in name:
        return {"": _GRADLE_FREE_LINE.sub("", _GRADLE_FREE_BLOCK.sub("", text))}
    if _VITE_FILE.fullmatch(name):
        return {"": text if _VITE_TEST_KEYS.search(text) else ""}
    return {"": text}


def _select_cargo_settings(text: str) -> Mapping[str, Any] | None:
    try:
        held = tomllib.loads(text)
    except (ValueError, RecursionError):  # also a number that is too long
        return None
    if not all(isinstance(held.get(name, {}), dict) for name in ("package", "lib", "profile")):
        return None
    package: dict[str, Any] = held.get("package", {})
    library: dict[str, Any] = held.get("lib", {})
    profiles: dict[str, Any] = held.get("profile", {})
    targets = {name: held.get(name) for name in ("test", "bench", "bin", "example") if held.get(name)}
    switches = {f"package.{key}": package[key] for key in ("autotests", "autobins", "build") if key in package}
    switches |= {f"lib.{key}": library[key] for key in ("test", "doctest", "harness", "path") if key in library}
    profile = profiles.get("test")
    return {**targets, **switches, **({"profile.test": profile} if profile else {})}
