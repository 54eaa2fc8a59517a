"""The values that expressions may have, and a session that reads files on demand and limits the work of one query."""

import ast
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from afresh.code.caches import RecentAnswers
from afresh.code.graph.scopes import NameBinding, NameScope, ScopedFile
from afresh.code.index.code_index import CodeIndex
from afresh.code.languages.python import list_module_names
from afresh.code.python_source import MAX_SOURCE_CHARACTERS, parse_syntax_tree, split_lines
from afresh.errors import AfreshError


@dataclass(frozen=True, slots=True)
class ModuleValue:
    path: str


@dataclass(frozen=True, slots=True)
class ClassValue:
    path: str
    name: str
    """Qualified within its file."""


@dataclass(frozen=True, slots=True)
class FunctionValue:
    path: str
    name: str
    on: ClassValue | None = None
    """Class of the receiver on which it was looked up, if known; it may be a subclass of the defining class."""


@dataclass(frozen=True, slots=True)
class InstanceValue:
    of: ClassValue


@dataclass(frozen=True, slots=True)
class SuperValue:
    """The result of `super()`: members of the classes after this one."""

    of: ClassValue
    on: ClassValue


@dataclass(frozen=True, slots=True)
class ExternalValue:
    """Something that no file of the tree defines: a dotted name of the standard library or a package, or the result of a call."""

    name: str


@dataclass(frozen=True, slots=True)
class ContainerValue:
    """A value that contains others: `list` (also sets and iterators), `tuple`, `dict` (keys and values), `context` (the value of
    `with`), `callable` (the result of a call).
    """

    shape: str
    parts: "tuple[Values, ...]"


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """A value that static analysis can't determine."""


Value = ModuleValue | ClassValue | FunctionValue | InstanceValue | SuperValue | ExternalValue | ContainerValue | UnknownValue
Values = frozenset[Value]
UNKNOWN_VALUES: Values = frozenset({UnknownValue()})
NO_VALUES: Values = frozenset()
NONE_VALUES: Values = frozenset({ExternalValue("builtins.None")})


def to_list_value(values: Values) -> Values:
    return frozenset({ContainerValue("list", (values,))})


def to_external_value(name: str) -> Values:
    return frozenset({ExternalValue(name)})


ELEMENT_METHODS = {"pop", "popleft", "get", "setdefault", "popitem", "__getitem__", "__next__"}
SAME_CONTAINER_METHODS = {"copy", "union", "intersection", "difference", "reverse"}


def list_item_values(value: Value) -> Values:
    """Return the values that iterating over it gives; unknown if its items are unknown."""
    if isinstance(value, ContainerValue):
        return NO_VALUES.union(*value.parts) if value.shape == "tuple" else value.parts[0]
    return get_external_items(value)


def get_item_values(value: Value, index: int | None) -> Values:
    """Return the values of a subscript, or of one part of an unpacking assignment."""
    if not isinstance(value, ContainerValue):
        return get_external_items(value)
    if value.shape == "tuple" and index is not None and -len(value.parts) <= index < len(value.parts):
        return value.parts[index]
    return value.parts[1] if value.shape == "dict" else list_item_values(value)


def get_external_items(value: Value) -> Values:
    """Return the item values of something external: strings give strings, non-builtins are unknown."""
    return frozenset({value}) if isinstance(value, ExternalValue) and value.name.startswith("builtins.") else UNKNOWN_VALUES


def call_container_method(value: ContainerValue, name: str) -> Values:
    """Return the values that a method of a builtin container returns."""
    if value.shape == "dict" and name == "items":
        return to_list_value(frozenset({ContainerValue("tuple", value.parts)}))
    if value.shape == "dict" and name in ("values", "keys"):
        return to_list_value(value.parts[name == "values"])
    if name in SAME_CONTAINER_METHODS:
        return frozenset({value})
    if name in ELEMENT_METHODS:
        return get_item_values(value, None)
    return to_external_value(f"builtins.{value.shape}.{name}()")


def to_context_value(given: Values) -> Values:
    """Return the value that `with` binds for a generator that is decorated as a context manager."""
    return frozenset({ContainerValue("context", (NO_VALUES.union(*(list_item_values(value) for value in given)),))})


MAX_EVALUATED_EXPRESSIONS = 150_000
MAX_EVALUATION_DEPTH = 40
"""Limits of one query: evaluated expressions, and recursion depth."""
MAX_OPEN_FILES = 60
"""Files whose syntax trees are in memory at the same time."""
EvaluateExpression = Callable[["InferenceSession", ast.expr, NameScope], Values]
ResolveBinding = Callable[["InferenceSession", NameBinding], Values]


@dataclass(eq=False)
class InferenceSession:
    """What one query has found so far. The functions that evaluate expressions and resolve names are passed in, because they need
    the session in turn.
    """

    code: CodeIndex
    evaluate: EvaluateExpression
    bound: ResolveBinding
    work: int = 0
    depth: int = 0
    files: dict[str, ScopedFile | None] = field(default_factory=dict)
    values: dict[str, dict[tuple[int, int], Values]] = field(default_factory=dict)
    """By file, so that they are released with it: keys are the ids of its nodes."""
    orders: dict[ClassValue, "tuple[ClassValue | ExternalValue | UnknownValue, ...]"] = field(default_factory=dict)
    given: dict[FunctionValue, Values] = field(default_factory=dict)

    @property
    def exhausted(self) -> bool:
        return self.work > MAX_EVALUATED_EXPRESSIONS

    def file(self, path: str) -> ScopedFile | None:
        if path not in self.files:
            try:
                self.files[path] = load_scoped_file(path, self.code.text(path))
            except (OSError, AfreshError):
                self.files[path] = None
        return self.files[path]

    def scope(self, path: str, name: str) -> NameScope | None:
        file = self.file(path)
        return file.scopes.get(name) if file else None

    def value(self, node: ast.expr | None, scope: NameScope) -> Values:
        """Return the values that an expression may have. A recursive reference adds none."""
        if node is None:
            return UNKNOWN_VALUES
        key = (id(node), id(scope))
        known = self.values.setdefault(scope.path, {})
        if key in known:
            return known[key]
        self.work += 1
        if self.depth >= MAX_EVALUATION_DEPTH or self.exhausted:
            return UNKNOWN_VALUES
        known[key] = NO_VALUES
        self.depth += 1
        try:
            known[key] = self.evaluate(self, node, scope)
        finally:
            self.depth -= 1
        return known[key]

    def release(self) -> None:
        """Release the files that were opened first. Call it only while nothing is being evaluated."""
        for path in list(self.files)[:-MAX_OPEN_FILES]:
            del self.files[path]
            self.values.pop(path, None)

    @cached_property
    def sources(self) -> frozenset[str]:
        return frozenset(path for path in self.code.files if path.endswith((".py", ".pyi")))

    @cached_property
    def modules(self) -> dict[str, list[str]]:
        """Files by each dotted name under which they may be imported."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.sources):
            for name in list_module_names(path, self.sources):
                found.setdefault(name, []).append(path)
        return found

    def module(self, name: str, importer: str) -> str:
        """Return the file of a dotted name, the one closest to the importing file; empty if it is not in this tree."""
        found = self.modules.get(name, [])
        folder = PurePosixPath(importer).parent
        if name.partition(".")[0] in sys.stdlib_module_names:
            found = [path for path in found if PurePosixPath(path).parent == folder]
        return min(found, key=lambda path: (-_count_shared_folders(path, importer), path.endswith(".pyi"), path), default="")

    def beside(self, level: int, module: str, importer: str) -> str:
        """Return the file of a relative import, or the folder of a package without `__init__.py`."""
        folder = PurePosixPath(importer).parent
        for _ in range(level - 1):
            folder = folder.parent
        return self.within(str(folder), module) if module else self._package(str(folder))

    def within(self, folder: str, module: str) -> str:
        """Return the file of a module below a folder."""
        base = "/".join(part for part in (folder.removeprefix("."), *module.split(".")) if part)
        return f"{base}.py" if f"{base}.py" in self.sources else self._package(base)

    def _package(self, folder: str) -> str:
        file = "/".join(part for part in (folder.removeprefix("."), "__init__.py") if part)
        return file if file in self.sources else folder

    def submodule(self, path: str, name: str) -> str:
        """Return the file of a submodule of a package, given by its `__init__.py` or its folder; empty if there is none."""
        if path.endswith(".py") and not path.endswith("__init__.py"):
            return ""
        found = self.within(path.removesuffix("__init__.py").rstrip("/"), name)
        return found if found in self.sources else ""


def _count_shared_folders(one: str, other: str) -> int:
    """Return how many leading folders two paths share."""
    count = 0
    for mine, theirs in zip(PurePosixPath(one).parts, PurePosixPath(other).parts, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


MAX_CACHED_CHARACTERS = 1_000_000
"""Total characters of files whose scopes are cached."""
_recent_files: RecentAnswers[tuple[str, str], ScopedFile | None] = RecentAnswers(MAX_CACHED_CHARACTERS, lambda key: len(key[1]))


def load_scoped_file(path: str, text: str) -> ScopedFile | None:
    """Read the scopes of a file; None if it is not Python, or too large to be written by hand. Results are cached by content."""
    return _recent_files.get_or_make((path, text), lambda: build_scoped_file(path, text))


def build_scoped_file(path: str, text: str) -> ScopedFile | None:
    from afresh.code.graph.scope_reader import read_scopes

    tree = parse_syntax_tree(text) if len(text) <= MAX_SOURCE_CHARACTERS else None
    if tree is None:
        return None
    file = ScopedFile(path, NameScope("module", "", path, tree), {}, {}, [], split_lines(text))
    try:
        read_scopes(file, tree)
    except RecursionError:
        return None
    return file
