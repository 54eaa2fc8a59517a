"""The files of a tree by role: shipped, tests, and supporting files."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

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
GROUPING_FOLDERS = {"src", "lib", "packages", "crates", "apps", "libs", "modules", "internal", "pkg"}
"""Top folders whose children are counted separately."""
TEST_FOLDERS = {"tests", "test", "__tests__", "spec", "js_tests", "e2e", "testing"}
SETUP_FILE = re.compile(r"setup\.py|noxfile\.py|build\.rs|fabfile\.py|.*\.config\.\w+|(?:gulp|grunt)file\.\w+", re.IGNORECASE)
"""Files that configure the build rather than being part of the product."""
MAX_LANGUAGES = 4
MAX_FOLDERS = 6


@dataclass(frozen=True)
class SourceFiles:
    paths: Sequence[str]

    @cached_property
    def written(self) -> Mapping[str, Sequence[str]]:
        """Files by language, tests included."""
        found: dict[str, list[str]] = {}
        for path in self.paths:
            if language := LANGUAGE_BY_EXTENSION.get(path.rpartition(".")[2].lower()):
                found.setdefault(language, []).append(path)
        return found

    @cached_property
    def languages(self) -> Sequence[str]:
        """Languages of at least a twentieth of the files, by tenths of them: a few more files change nothing."""
        total = sum(map(len, self.written.values()))
        tenths = {name: round(10 * len(paths) / total) for name, paths in self.written.items()}
        return sorted(filter(tenths.get, tenths), key=lambda name: (-tenths[name], name))[:MAX_LANGUAGES]

    @cached_property
    def shipped(self) -> Sequence[str]:
        """Files of the main language without tests and supporting files, unless there are no others."""
        main = max(sorted(self.written), key=lambda name: len(self.written[name]), default="")
        mine = [path for path in self.written.get(main, ()) if not is_test_code(path)]
        return [path for path in mine if not is_beside(path)] or mine

    @cached_property
    def roots(self) -> Sequence[str]:
        """Folders that hold the shipped code."""
        counts = Counter(find_top_folder(path) for path in self.shipped)
        return [name or "the root" for name in sort_by_magnitude(counts)][:MAX_FOLDERS]

    @cached_property
    def test_folders(self) -> Sequence[str]:
        """The topmost folders that hold tests; `beside the code` for tests that have none of their own."""
        counts: Counter[str] = Counter()
        for path in (path for paths in self.written.values() for path in paths if is_test_code(path)):
            parts = path.split("/")[:-1]
            at = next((number for number, part in enumerate(parts) if part in TEST_FOLDERS), None)
            counts["/".join(parts[: at + 1]) if at is not None else "beside the code"] += 1
        return [name for name in sort_by_magnitude(counts) if counts[name] * 20 >= counts.total()][:3]

    @cached_property
    def support_folders(self) -> Sequence[str]:
        return sorted({path.partition("/")[0] for path in self.paths if "/" in path} & SUPPORT_FOLDERS)[:MAX_FOLDERS]


def is_beside(path: str) -> bool:
    """Whether a file is a supporting one, by the folders at the top; inside a package, even `contrib` is shipped."""
    *folders, name = path.split("/")
    return bool(SUPPORT_FOLDERS & {*find_top_folder(path).split("/"), *folders[:1]}) or bool(SETUP_FILE.fullmatch(name))


def find_top_folder(path: str) -> str:
    """Return the top folder; for `src`, `lib` and the like, with the folder below it."""
    parts = path.split("/")[:-1]
    return "/".join(parts[: 2 if parts[:1] and parts[0] in GROUPING_FOLDERS else 1])


def sort_by_magnitude(counts: Mapping[str, int]) -> list[str]:
    """Return names by powers of two of their count, the largest first, then by name, so that small changes keep the order."""
    return sorted(counts, key=lambda name: (-counts[name].bit_length(), name))
