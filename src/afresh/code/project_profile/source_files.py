"""The files of a tree, told apart by their paths alone."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

from afresh.code.config_files import ProjectConfiguration
from afresh.code.index.code_index import CodeIndex
from afresh.code.project_profile.statement import rank_by_magnitude
from afresh.core.recognise_test_files import is_test_code

LANGUAGE_BY_EXTENSION = {
    "py": "Python", "pyi": "Python", "ts": "TypeScript", "tsx": "TypeScript", "mts": "TypeScript", "cts": "TypeScript",
    "js": "JavaScript", "jsx": "JavaScript", "mjs": "JavaScript", "cjs": "JavaScript", "go": "Go", "rs": "Rust",
    "java": "Java", "cs": "C#", "c": "C", "h": "C", "cc": "C++", "cpp": "C++", "hpp": "C++", "rb": "Ruby", "php": "PHP",
    "swift": "Swift", "kt": "Kotlin", "scala": "Scala", "sh": "shell", "lua": "Lua", "ex": "Elixir", "exs": "Elixir",
    "hs": "Haskell", "dart": "Dart", "vue": "Vue", "svelte": "Svelte", "sql": "SQL", "pyx": "Cython", "f90": "Fortran",
    "jl": "Julia", "r": "R", "m": "Objective-C", "zig": "Zig", "clj": "Clojure", "erl": "Erlang",
}  # fmt: skip
SUPPORT_FOLDERS = {
    "docs", "doc", "examples", "example", "scripts", "script", "bench", "benches", "benchmark", "benchmarks", "tools",
    "tool", "ci", "misc", "extras", "extra", "contrib", "samples", "demo", "demos", "notebooks", "fuzz", "website", "wiki",
    "rfcs", "dist", "assets", "sample", "migrations", "playground", "testdata", "fixtures", "vendor", "third_party",
}  # fmt: skip
MONOREPO_FOLDERS = ("packages", "crates", "apps", "libs", "modules")
"""Folders of a repository that holds several projects."""
TEST_FOLDERS = {"tests", "test", "__tests__", "spec", "js_tests", "e2e", "testing"}
SETUP_FILE = re.compile(r"setup\.py|noxfile\.py|build\.rs|fabfile\.py|.*\.config\.\w+|(?:gulp|grunt)file\.\w+", re.IGNORECASE)
"""Files that configure rather than do."""


@dataclass(frozen=True)
class SourceFiles:
    """The files of a tree, told apart: what is shipped, what tests it, and what lies beside."""

    code: CodeIndex
    configuration: ProjectConfiguration
    _packages: dict[str, str] = field(default_factory=dict[str, str], compare=False)

    @cached_property
    def written(self) -> dict[str, list[str]]:
        """Files by language, also of those that nobody here understands."""
        found: dict[str, list[str]] = {}
        for path in self.code.paths:
            if language := LANGUAGE_BY_EXTENSION.get(path.rpartition(".")[2].lower()):
                found.setdefault(language, []).append(path)
        return found

    @cached_property
    def main(self) -> str:
        return rank_by_count({name: len(paths) for name, paths in self.written.items()})[0] if self.written else ""

    @cached_property
    def shipped(self) -> tuple[str, ...]:
        """Of the main language; neither tests nor beside the code, unless there is nothing else."""
        mine = [path for path in self.written.get(self.main, ()) if not is_test_code(path)]
        inner = [path for path in mine if not self.is_beside(path)]
        return tuple(inner or mine)

    @cached_property
    def understood(self) -> tuple[str, ...]:
        """Of what is shipped, the files whose symbols are known."""
        return tuple(path for path in self.shipped if path in self.known)

    @cached_property
    def known(self) -> frozenset[str]:
        return frozenset(self.code.files)

    @cached_property
    def tests(self) -> tuple[str, ...]:
        return tuple(path for paths in self.written.values() for path in paths if is_test_code(path))

    def package_of(self, path: str) -> str:
        """The topmost folder above it that Python sees as a package; empty if the file itself is not in one."""
        inner = find_parent_folder(path)
        if inner not in self._packages:
            top, around = "", inner
            while around and f"{around}/__init__.py" in self._all:
                top, around = around, find_parent_folder(around)
            self._packages[inner] = "" if top.split("/")[0] in TEST_FOLDERS else top
        return self._packages[inner]

    def is_beside(self, path: str) -> bool:
        """By the folders around its package; inside one a folder called contrib is part of what is shipped."""
        folders = path.split("/")[:-1]
        package = self.package_of(path)
        around = package.split("/") if package else folders[: 2 if folders[:1] and folders[0] in MONOREPO_FOLDERS else 1]
        return any(part in SUPPORT_FOLDERS for part in around) or bool(SETUP_FILE.fullmatch(path.rpartition("/")[2]))

    @cached_property
    def _all(self) -> frozenset[str]:
        return frozenset(self.code.paths)

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Top packages of Python; else the shallowest folders that hold the code."""
        if self.main == "Python":
            counts = Counter(self.package_of(path) or find_parent_folder(path) for path in self.shipped)
        else:
            counts = Counter(find_top_folder(path) for path in self.shipped)
        outer = [name for name in rank_by_magnitude(counts) if not any(name.startswith(f"{other}/") for other in counts if other)]
        return tuple(name or "." for name in outer)

    @cached_property
    def home(self) -> str | None:
        """The root that holds most of the code, if one does."""
        counts = Counter(self.root_of(path) or "." for path in self.shipped)
        best = rank_by_count(counts)[:1]
        return best[0] if best and counts[best[0]] * 10 >= 7 * len(self.shipped) else None

    @cached_property
    def common(self) -> str:
        """What all roots begin with and none needs to be told by: `crates/`."""
        tops = {root.partition("/")[0] for root in self.roots if root != "."}
        return f"{next(iter(tops))}/" if len(tops) == 1 and len(self.roots) > 1 else ""

    def root_of(self, path: str) -> str:
        """The one of the roots that a file is in; empty for one at the top."""
        return next((root for root in self.roots if path.startswith(f"{root}/")), "")


def rank_by_count(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))


def choose_stable_sample(paths: Iterable[str], number: int) -> list[str]:
    """Those with the lowest hashes: one file more or less changes at most one of them."""
    return sorted(paths, key=lambda path: sha256(path.encode("utf-8", "backslashreplace")).digest())[:number]


def find_parent_folder(path: str) -> str:
    return path.rpartition("/")[0]


def find_top_folder(path: str) -> str:
    """`src` or `lib` alone say little."""
    parts = path.split("/")[:-1]
    return "/".join(
        parts[: 2 if parts[:1] in (["src"], ["lib"], ["packages"], ["crates"], ["apps"], ["internal"], ["pkg"]) else 1]
    )
