"""Languages, folders and where a run begins."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from afresh.domain.text import cut
from afresh.insight.code import Code
from afresh.insight.configuration import Configuration, json, table, texts, toml
from afresh.insight.fingerprint.facts import Layout
from afresh.insight.fingerprint.rounded import counted, ranked, tenths

LANGUAGES = {
    "py": "Python", "pyi": "Python", "ts": "TypeScript", "tsx": "TypeScript", "mts": "TypeScript", "cts": "TypeScript",
    "js": "JavaScript", "jsx": "JavaScript", "mjs": "JavaScript", "cjs": "JavaScript", "go": "Go", "rs": "Rust",
    "java": "Java", "cs": "C#", "c": "C", "h": "C", "cc": "C++", "cpp": "C++", "hpp": "C++", "rb": "Ruby", "php": "PHP",
    "swift": "Swift", "kt": "Kotlin", "scala": "Scala", "sh": "shell", "lua": "Lua", "ex": "Elixir", "exs": "Elixir",
    "hs": "Haskell", "dart": "Dart", "vue": "Vue", "svelte": "Svelte", "sql": "SQL", "pyx": "Cython", "f90": "Fortran",
    "jl": "Julia", "r": "R", "m": "Objective-C", "zig": "Zig", "clj": "Clojure", "erl": "Erlang",
}  # fmt: skip
BESIDE = {
    "docs", "doc", "examples", "example", "scripts", "script", "bench", "benches", "benchmark", "benchmarks", "tools",
    "tool", "ci", "misc", "extras", "extra", "contrib", "samples", "demo", "demos", "notebooks", "fuzz", "website", "wiki",
    "rfcs", "dist", "assets", "sample", "migrations", "playground", "testdata", "fixtures", "vendor", "third_party",
}  # fmt: skip
HOLDING = ("packages", "crates", "apps", "libs", "modules")
"""Folders of a repository that holds several projects."""
TESTING = {"tests", "test", "__tests__", "spec", "js_tests", "e2e", "testing"}
PAPERS = re.compile(
    r"(?:CHANGE(?:LOG|S)|CONTRIBUTING|ARCHITECTURE|HISTORY|NEWS|SECURITY)(?:\.\w+)?|docs/(?:decisions|adr|architecture)[\w./-]*"
)
MOST = 6


@dataclass(frozen=True)
class Sources:
    """The files of a tree, told apart: what is shipped, what tests it, and what lies beside."""

    code: Code
    configuration: Configuration

    @cached_property
    def written(self) -> dict[str, list[str]]:
        """Files by language, also of those that nobody here understands."""
        found: dict[str, list[str]] = {}
        for path in self.code.paths:
            if language := LANGUAGES.get(PurePosixPath(path).suffix.lower().lstrip(".")):
                found.setdefault(language, []).append(path)
        return found

    @cached_property
    def main(self) -> str:
        return ranked_exactly({name: len(paths) for name, paths in self.written.items()})[0] if self.written else ""

    @cached_property
    def shipped(self) -> tuple[str, ...]:
        """Of the main language; neither tests nor beside the code, unless there is nothing else."""
        mine = [path for path in self.written.get(self.main, ()) if not self.is_test(path)]
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
        return tuple(path for paths in self.written.values() for path in paths if self.is_test(path))

    def is_test(self, path: str) -> bool:
        """Within a package a folder that is only called test or testing is part of what is shipped: django.test."""
        parts = PurePosixPath(path).parts[:-1]
        if self.package_of(path) and not {"tests", "__tests__"} & {*parts}:
            return bool(re.fullmatch(r"test_.*|.*_test\.py|conftest\.py", PurePosixPath(path).name))
        return self.code.is_test(path) or any(part in TESTING for part in parts)

    def package_of(self, path: str) -> str:
        """The topmost folder above it that Python sees as a package; empty if the file itself is not in one."""
        parts = list(PurePosixPath(path).parts[:-1])
        top = ""
        while parts and f"{'/'.join(parts)}/__init__.py" in self._all:
            top = "/".join(parts)
            parts.pop()
        return "" if top.split("/")[0] in TESTING else top

    def is_beside(self, path: str) -> bool:
        """By the folders around its package; inside one a folder called contrib is part of what is shipped."""
        folders = PurePosixPath(path).parts[:-1]
        around = (
            self.package_of(path).split("/")
            if self.package_of(path)
            else folders[: 2 if folders[:1] and folders[0] in HOLDING else 1]
        )
        return any(part in BESIDE for part in around) or path in ("setup.py", "noxfile.py")

    @cached_property
    def _all(self) -> frozenset[str]:
        return frozenset(self.code.paths)

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Top packages of Python; else the shallowest folders that hold the code."""
        if self.main == "Python":
            counts = Counter(self.package_of(path) or folder(path) for path in self.shipped)
        else:
            counts = Counter(top(path) for path in self.shipped)
        outer = [name for name in ranked(counts) if not any(name.startswith(f"{other}/") for other in counts if other)]
        return tuple(name or "." for name in outer)

    def root_of(self, path: str) -> str:
        """The one of the roots that a file is in; empty for one at the top."""
        return next((root for root in self.roots if path.startswith(f"{root}/")), "")


def ranked_exactly(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))


def folder(path: str) -> str:
    return path.rpartition("/")[0]


def top(path: str) -> str:
    """`src` or `lib` alone say little."""
    parts = path.split("/")[:-1]
    return "/".join(
        parts[: 2 if parts[:1] in (["src"], ["lib"], ["packages"], ["crates"], ["apps"], ["internal"], ["pkg"]) else 1]
    )


def layout(sources: Sources) -> Layout:
    total = sum(len(paths) for paths in sources.written.values())
    counts = {name: tenths(len(paths), total) for name, paths in sources.written.items()}
    spoken = sorted((name for name in counts if counts[name]), key=lambda name: (-counts[name], name))
    understood = {sources.code.reading(path).language.lower() for path in sources.code.files}
    title, words = named(sources.configuration)
    return Layout(
        name=title,
        about=words,
        languages=tuple(f"{name} {counts[name]}/10" if counts[name] < 10 else name for name in spoken[:4]),
        main=sources.main,
        files=f"{counted(len(sources.shipped), 'source file')}, {counted(len(sources.tests), 'test file')}",
        roots=sources.roots,
        tests=test_folders(sources),
        mirrored=mirrored(sources),
        beside=beside(sources.code.paths),
        entries=tuple(entries(sources)),
        shared=tuple(path for path in sources.code.paths if path.endswith("conftest.py"))[:3],
        papers=tuple(path for path in sources.code.paths if PAPERS.fullmatch(path))[:MOST],
        unread=tuple(name for name in spoken[:2] if not {name.lower(), name.lower().replace("#", "sharp")} & understood),
    )


def named(configuration: Configuration) -> tuple[str, str]:
    """What the project calls itself, and what it says that it is."""
    package = json(configuration.text("package.json"))
    crate = table(toml(configuration.text("Cargo.toml")), "package")
    poetry = table(configuration.project, "tool", "poetry")
    for held in (table(configuration.project, "project"), poetry, package, crate):
        if names := texts(held.get("name")):
            return names[0], first_sentence((texts(held.get("description")) or [""])[0])
    if match := re.search(r"^module\s+(\S+)", configuration.text("go.mod"), re.MULTILINE):
        return match[1], ""
    return "", ""


def first_sentence(text: str) -> str:
    return cut(re.split(r"(?<=\w)\.\s", " ".join(text.split()))[0].rstrip("."), 90)


def test_folders(sources: Sources) -> tuple[str, ...]:
    """The topmost folders that hold tests; `beside the code` where there are none of their own."""
    counts: Counter[str] = Counter()
    for path in sources.tests:
        parts = path.split("/")[:-1]
        at = next((number for number, part in enumerate(parts) if part in TESTING), None)
        counts["/".join(parts[: at + 1]) if at is not None else "beside the code"] += 1
    return tuple(name for name in ranked(counts) if counts[name] * 20 >= len(sources.tests))[:3]


def mirrored(sources: Sources) -> bool:
    """Most folders below the tests are named as folders of the code are."""
    inner = {folder.rpartition("/")[2] for folder in (path.rpartition("/")[0] for path in sources.shipped)}
    below = {
        parts[at + 1]
        for parts in (path.split("/")[:-1] for path in sources.tests)
        for at in [next((number for number, part in enumerate(parts) if part in TESTING), len(parts))]
        if len(parts) > at + 1
    }
    return len(below) >= 3 and len(below & inner) * 2 > len(below)


def beside(paths: Iterable[str]) -> tuple[str, ...]:
    tops = {path.partition("/")[0] for path in paths if "/" in path}
    return tuple(sorted(tops & BESIDE))[:MOST]


def entries(sources: Sources) -> list[str]:
    """Commands that the project installs, then files that are meant to be started."""
    configuration = sources.configuration
    scripts = table(configuration.project, "project", "scripts") or table(configuration.project, "tool", "poetry", "scripts")
    found = [f"{name} = {target}" for name, target in sorted(scripts.items()) if isinstance(target, str)]
    binaries = json(configuration.text("package.json")).get("bin")
    found += [f"{name} = {place}" for name, place in sorted(binaries.items())] if isinstance(binaries, dict) else texts(binaries)
    packages = [path.removesuffix("/__main__.py") for path in sources.shipped if path.endswith("/__main__.py")]
    found += [f"python -m {name.removeprefix('src/').replace('/', '.')}" for name in packages]
    started = [path for path in sources.understood if sources.code.reading(path).entry]
    found += [path for path in started if not path.endswith(".py") or "/" not in path]
    return found[:4]
