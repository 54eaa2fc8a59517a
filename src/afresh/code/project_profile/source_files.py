"""The files that a profile is made from, and style metrics of Python files."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import sha256

from afresh.code.complexity import FunctionNode, count_decision_points
from afresh.code.config_files import ProjectConfiguration
from afresh.code.index.code_index import CodeIndex
from afresh.code.project_profile.traits import rank_by_magnitude
from afresh.code.python_source import parse_syntax_tree
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
"""Files that configure the build rather than being part of the product."""


@dataclass(frozen=True)
class SourceFiles:
    """The files of a tree by role: shipped, tests, and supporting files."""

    code: CodeIndex
    configuration: ProjectConfiguration
    _packages: dict[str, str] = field(default_factory=dict[str, str], compare=False)

    @cached_property
    def written(self) -> dict[str, list[str]]:
        """Files by language, including unsupported ones."""
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
        """Files of the main language without tests and supporting files, unless there are no others."""
        mine = [path for path in self.written.get(self.main, ()) if not is_test_code(path)]
        inner = [path for path in mine if not self.is_beside(path)]
        return tuple(inner or mine)

    @cached_property
    def understood(self) -> tuple[str, ...]:
        """The shipped files whose symbols are known."""
        return tuple(path for path in self.shipped if path in self.known)

    @cached_property
    def known(self) -> frozenset[str]:
        return frozenset(self.code.files)

    @cached_property
    def tests(self) -> tuple[str, ...]:
        return tuple(path for paths in self.written.values() for path in paths if is_test_code(path))

    def package_of(self, path: str) -> str:
        """Return the topmost package folder above a file; empty if the file is not in a package."""
        inner = find_parent_folder(path)
        if inner not in self._packages:
            top, around = "", inner
            while around and f"{around}/__init__.py" in self._all:
                top, around = around, find_parent_folder(around)
            self._packages[inner] = "" if top.split("/")[0] in TEST_FOLDERS else top
        return self._packages[inner]

    def is_beside(self, path: str) -> bool:
        """Whether a file is a supporting one, by the folders around its package; inside it, even `contrib` is shipped."""
        folders = path.split("/")[:-1]
        package = self.package_of(path)
        around = package.split("/") if package else folders[: 2 if folders[:1] and folders[0] in MONOREPO_FOLDERS else 1]
        return any(part in SUPPORT_FOLDERS for part in around) or bool(SETUP_FILE.fullmatch(path.rpartition("/")[2]))

    @cached_property
    def _all(self) -> frozenset[str]:
        return frozenset(self.code.paths)

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Top-level Python packages; for other languages, the shallowest folders that contain the code."""
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
        """The common prefix of all roots, such as `crates/`, which is left out of their names."""
        tops = {root.partition("/")[0] for root in self.roots if root != "."}
        return f"{next(iter(tops))}/" if len(tops) == 1 and len(self.roots) > 1 else ""

    def root_of(self, path: str) -> str:
        """Return the root that a file is in; empty for a file at the top."""
        folder = path
        while (folder := find_parent_folder(folder)) and folder not in self._root_names:
            pass
        return folder

    @cached_property
    def _root_names(self) -> frozenset[str]:
        return frozenset(self.roots)


def rank_by_count(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))


def choose_stable_sample(paths: Iterable[str], number: int) -> list[str]:
    """Return the paths with the lowest hashes: adding or removing a file changes at most one of them."""
    return sorted(paths, key=lambda path: sha256(path.encode()).digest())[:number]


def find_parent_folder(path: str) -> str:
    return path.rpartition("/")[0]


def find_top_folder(path: str) -> str:
    """Return the top folder; for `src`, `lib` and the like, with the folder below it."""
    parts = path.split("/")[:-1]
    return "/".join(
        parts[: 2 if parts[:1] in (["src"], ["lib"], ["packages"], ["crates"], ["apps"], ["internal"], ["pkg"]) else 1]
    )


DOCSTRING_CONVENTIONS = {
    "Google style": re.compile(r"^[^\S\n]*+(?:Args|Returns|Raises|Yields|Attributes):[^\S\n]*+$", re.MULTILINE),
    "NumPy style": re.compile(r"^[^\S\n]*+(?:Parameters|Returns|Raises)[^\S\n]*+\n[^\S\n]*+-{4,}", re.MULTILINE),
    "Sphinx fields": re.compile(r"^[^\S\n]*+:(?:param|returns?|raises|type|rtype)\b", re.MULTILINE),
}
DATACLASS_DECORATOR = re.compile(r"(?:\w+\.)?(?:dataclass|define|frozen|attrs)\b")


@dataclass(frozen=True, slots=True)
class PythonFileMetrics:
    functions: int = 0
    annotated: int = 0
    waiting: int = 0
    """Async functions."""
    lengths: tuple[int, ...] = ()
    classes: int = 0
    data: int = 0
    frozen: int = 0
    docs: int = 0
    marked: tuple[tuple[str, int], ...] = ()
    """Docstrings in each of the known conventions."""
    double: int = 0
    single: int = 0
    raised: tuple[str, ...] = ()
    decisions: int = 0


@lru_cache(maxsize=1024)
def measure_python_file(text: str) -> PythonFileMetrics:
    """Return the metrics of a file; all zero if it does not parse."""
    tree = parse_syntax_tree(text)
    if tree is None:
        return PythonFileMetrics()
    nodes = list(ast.walk(tree))
    functions = [node for node in nodes if isinstance(node, FunctionNode)]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    docs = [doc for node in (*functions, *classes) if (doc := ast.get_docstring(node, clean=False))]
    data = [mark for node in classes for one in node.decorator_list if DATACLASS_DECORATOR.match(mark := ast.unparse(one))]
    marks = list(iterate_quote_marks(text, nodes))
    return PythonFileMetrics(
        functions=len(functions),
        annotated=sum(map(is_fully_annotated, functions)),
        waiting=sum(isinstance(node, ast.AsyncFunctionDef) for node in functions),
        lengths=tuple((node.end_lineno or node.lineno) - node.lineno + 1 for node in functions),
        classes=len(classes),
        data=len(data),
        frozen=sum("frozen" in mark for mark in data),
        docs=len(docs),
        marked=tuple((name, sum(bool(pattern.search(doc)) for doc in docs)) for name, pattern in DOCSTRING_CONVENTIONS.items()),
        double=marks.count('"'),
        single=marks.count("'"),
        raised=tuple(name for node in nodes if isinstance(node, ast.Raise) and (name := read_raised_name(node))),
        decisions=count_decision_points(tree.body),
    )


def is_fully_annotated(function: FunctionNode) -> bool:
    """Whether all parameters but `self`, and the return value except of a constructor, are annotated."""
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    given += [one for one in (function.args.vararg, function.args.kwarg) if one]
    wanted = [one for number, one in enumerate(given) if not (number == 0 and one.arg in ("self", "cls", "mcs", "metacls"))]
    answered = function.returns is not None or (function.name == "__init__" and bool(wanted))
    return answered and all(one.annotation for one in wanted)


def iterate_quote_marks(text: str, nodes: list[ast.AST]) -> Iterator[str]:
    """Yield the quote character of each plain string, except docstrings and strings that contain a quote."""
    lines = text.split("\n")
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not {"'", '"'} & {*node.value}:
            line = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
            said = line.encode()[node.col_offset :].decode("utf-8", "replace").lstrip("rbufRBUF")
            if said[:1] in ("'", '"') and said[:3] not in ("'''", '"""'):
                yield said[0]


def read_raised_name(node: ast.Raise) -> str:
    """Return the name of what is raised; empty for a re-raise."""
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if isinstance(raised, ast.Attribute):
        return raised.attr
    return raised.id if isinstance(raised, ast.Name) and raised.id[:1].isupper() else ""


@lru_cache(maxsize=1024)
def detect_indentation(text: str) -> str:
    """Return the indentation of the lines after those that open a block; empty if there are none."""
    steps = re.findall(r"^\S[^\n]*[:{(\[]\s*\n(\t+|  +)(?=\S)", text, re.MULTILINE)
    counts: dict[str, int] = {}
    for step in steps:
        name = "tabs" if step.startswith("\t") else f"{len(step)} spaces"
        counts[name] = counts.get(name, 0) + 1
    found = min(counts, key=lambda name: (-counts[name], name)) if counts else ""
    return found if found in ("tabs", "2 spaces", "3 spaces", "4 spaces", "8 spaces") else ""
