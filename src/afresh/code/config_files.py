"""The files that configure how a project is built, tested and styled: found by name, read once, never run."""

import posixpath
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from afresh.core.text import read_foreign_json

if TYPE_CHECKING:
    from afresh.code.index.code_index import CodeIndex


MAX_CONFIG_CHARACTERS = 200_000
MAX_CONFIG_FILES = 80
MAX_MANIFEST_FOLDERS = 3
"""Limits: characters of one file, files in all, and how many folders deep a manifest may be."""
ROOT_CONFIG_NAME = re.compile(
    r"pyproject\.toml|setup\.(?:cfg|py)|tox\.(?:ini|toml)|(?:GNU)?[Mm]akefile|\.?pytest\.ini"
    r"|\.?ruff\.toml|\.flake8|\.?mypy\.ini|pyrightconfig\.json|\.editorconfig|\.pre-commit-config\.ya?ml|\.python-version"
    r"|\.nvmrc|\.node-version|rust-toolchain(?:\.toml)?|\.?rustfmt\.toml|\.golangci\.ya?ml|pnpm-workspace\.yaml|tsconfig\.json"
    r"|biome\.jsonc?|global\.json"
    r"|\.eslintrc(?:\.\w+)?|eslint\.config\.\w+|\.prettierrc(?:\.\w+)?|\.travis\.yml|\.gitlab-ci\.yml|azure-pipelines\.yml"
    r"|requirements[\w-]*\.txt|manage\.py|(?:mvnw|gradlew)|.*\.slnx?"
)
CI_CONFIG_PATH = re.compile(r"\.github/workflows/[^/]+\.ya?ml|\.circleci/config\.yml|\.ci/[^/]+")
ROOT_CI_FILES = (".travis.yml", ".gitlab-ci.yml", "azure-pipelines.yml")
MANIFEST_PATH = re.compile(r"(?:.*/)?(?:package\.json|go\.mod|Cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?|[^/]+\.(?:cs|fs)proj)")
STRING_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*+"?)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
STRING_OR_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\\n])*+"?)|,(?=\s*[}\]])')
ConfigTable = dict[str, Any]


@dataclass(frozen=True)
class ProjectConfiguration:
    """The paths of all files of one tree, and the texts of those that configure it."""

    paths: tuple[str, ...]
    texts: Mapping[str, str]

    def text(self, path: str) -> str:
        return self.texts.get(path, "")

    @cached_property
    def digest(self) -> str:
        content = sha256()
        for path, text in sorted(self.texts.items()):
            content.update(f"{path}\0{len(text)}\0{text}".encode())
        return content.hexdigest()

    @cached_property
    def project(self) -> ConfigTable:
        """The parsed pyproject.toml; empty if it does not parse."""
        return parse_toml(self.text("pyproject.toml"))

    def automated(self) -> Sequence[str]:
        """Paths of CI files, those that likely run tests first."""
        found = [path for path in self.texts if CI_CONFIG_PATH.fullmatch(path) or path in ROOT_CI_FILES]
        return sorted(found, key=lambda path: (not re.search(r"test|ci\b|check|build|main", path.rpartition("/")[2]), path))


def is_config_file(path: str) -> bool:
    if "/" not in path and ROOT_CONFIG_NAME.fullmatch(path):
        return True
    if CI_CONFIG_PATH.fullmatch(path):
        return True
    vendored = re.search(r"(?:^|/)(?:node_modules|vendor|third_party|testdata|fixtures?)/", path)
    return path.count("/") <= MAX_MANIFEST_FOLDERS and not vendored and bool(MANIFEST_PATH.fullmatch(path))


def read_configuration(paths: Sequence[str], read: Callable[[str], str | None]) -> ProjectConfiguration:
    """Read the configuration files of a tree, the shallowest first where there are too many. A file that is not text is read as
    empty.
    """
    wanted = sorted(filter(is_config_file, paths), key=lambda path: (path.count("/"), path))[:MAX_CONFIG_FILES]
    texts = {path: read(path) or "" for path in wanted}
    return ProjectConfiguration(
        tuple(paths), {path: text if len(text) <= MAX_CONFIG_CHARACTERS else "" for path, text in texts.items()}
    )


def parse_toml(text: str) -> ConfigTable:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return {}


def parse_json(text: str) -> ConfigTable:
    """Return the parsed JSON object; empty if the text is no object. Comments and trailing commas are allowed, as in editors'
    settings.
    """
    text = STRING_OR_COMMENT.sub(lambda match: match[1] or "", text.removeprefix("\ufeff"))
    text = STRING_OR_TRAILING_COMMA.sub(lambda match: match[1] or "", text)
    try:
        foreign_json = read_foreign_json(text)
    except (ValueError, RecursionError):
        return {}
    return foreign_json if isinstance(foreign_json, dict) else {}


def parse_ini(text: str) -> Mapping[str, Mapping[str, str]]:
    from configparser import Error, RawConfigParser

    parser = RawConfigParser(strict=False, allow_no_value=True, delimiters=("=", ":"))
    try:
        parser.read_string(text)
    except (Error, ValueError, AttributeError):
        return {}
    return {name: {key: value or "" for key, value in parser.items(name)} for name in parser.sections()}


def get_table(held: Any, *names: str) -> ConfigTable:
    """Return the nested table at these keys; empty if it is missing or something other than a table."""
    for name in names:
        held = held.get(name) if isinstance(held, dict) else None
    return held if isinstance(held, dict) else {}


def list_texts(value: Any) -> list[str]:
    """Return the strings of a list, or a single string as a list."""
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


THIRD_PARTY_FOLDERS = ("node_modules/", "vendor/", "target/")


def find_files_named(code: "CodeIndex", *names: str) -> Iterator[tuple[str, str]]:
    """Yield path and text of the project's own files that have one of these names."""
    for path in code.paths:
        if posixpath.basename(path) in names and not any(f"/{folder}" in f"/{path}" for folder in THIRD_PARTY_FOLDERS):
            yield path, code.text(path)


def join_tree_path(folder: str, path: str) -> str:
    """Return a path relative to the tree; empty for the root and for paths that lead out of the tree."""
    found = posixpath.normpath(posixpath.join(folder, path))
    return "" if found == "." or found.startswith(("../", "/")) or found == ".." else found
