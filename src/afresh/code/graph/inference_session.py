"""The values that expressions may stand for, and a session that looks into files as needed and bounds the work of one
question."""

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
    """Class of the receiver it was taken from, where that is known: it may differ from the class that defines it."""


@dataclass(frozen=True, slots=True)
class InstanceValue:
    of: ClassValue


@dataclass(frozen=True, slots=True)
class SuperValue:
    """What `super()` gives: members of the classes after this one."""

    of: ClassValue
    on: ClassValue


@dataclass(frozen=True, slots=True)
class ExternalValue:
    """Defined in no file of the tree: a dotted name of the standard library or a package, or what it has made."""

    name: str


@dataclass(frozen=True, slots=True)
class ContainerValue:
    """Something that holds others: `list` (also sets and iterators), `tuple`, `dict` (keys and values), `context` (what `with`
    gives), `callable` (what a call gives)."""

    shape: str
    parts: "tuple[Values, ...]"


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """Reading alone can't tell."""


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
    """What iterating over it gives; unknown for what holds nothing that is known."""
    if isinstance(value, ContainerValue):
        return NO_VALUES.union(*value.parts) if value.shape == "tuple" else value.parts[0]
    return get_external_items(value)


def get_item_values(value: Value, index: int | None) -> Values:
    """What a subscript gives, or the part of an assignment to several names."""
    if not isinstance(value, ContainerValue):
        return get_external_items(value)
    if value.shape == "tuple" and index is not None and -len(value.parts) <= index < len(value.parts):
        return value.parts[index]
    return value.parts[1] if value.shape == "dict" else list_item_values(value)


def get_external_items(value: Value) -> Values:
    """Text holds text; what others have made may hold anything, also something of ours."""
    return frozenset({value}) if isinstance(value, ExternalValue) and value.name.startswith("builtins.") else UNKNOWN_VALUES


def call_container_method(value: ContainerValue, name: str) -> Values:
    """What a call of a builtin container's method gives."""
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
    """What `with` gives of a generator that is decorated as a context."""
    return frozenset({ContainerValue("context", (NO_VALUES.union(*(list_item_values(value) for value in given)),))})


MAX_EVALUATED_EXPRESSIONS = 150_000
MAX_EVALUATION_DEPTH = 40
"""Expressions that one question may look at, and how deep one may lead into others."""
MAX_OPEN_FILES = 60
"""Files whose syntax trees are held at the same time."""
EvaluateExpression = Callable[["InferenceSession", ast.expr, NameScope], Values]
ResolveBinding = Callable[["InferenceSession", NameBinding], Values]


@dataclass(eq=False)
class InferenceSession:
    """What one question has found out so far. How expressions are evaluated and what names are bound to is handed in,
    since all that looks things up needs them in turn."""

    code: CodeIndex
    evaluate: EvaluateExpression
    bound: ResolveBinding
    work: int = 0
    depth: int = 0
    files: dict[str, ScopedFile | None] = field(default_factory=dict)
    values: dict[str, dict[tuple[int, int], Values]] = field(default_factory=dict)
    """By file, so that they go with it: they are kept by the identity of its nodes."""
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
        """What an expression may stand for. One that leads back to itself adds nothing to what is known otherwise."""
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
        """Let the files go that were opened first. Only while nothing is being evaluated."""
        for path in list(self.files)[:-MAX_OPEN_FILES]:
            del self.files[path]
            self.values.pop(path, None)

    @cached_property
    def sources(self) -> frozenset[str]:
        return frozenset(path for path in self.code.files if path.endswith((".py", ".pyi")))

    @cached_property
    def modules(self) -> dict[str, list[str]]:
        """Files by each dotted name that they may be imported by."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.sources):
            for name in list_module_names(path, self.sources):
                found.setdefault(name, []).append(path)
        return found

    def module(self, name: str, importer: str) -> str:
        """The file of a dotted name: the one nearest to who imports it; empty if it is not of this tree."""
        found = self.modules.get(name, [])
        folder = PurePosixPath(importer).parent
        if name.partition(".")[0] in sys.stdlib_module_names:
            found = [path for path in found if PurePosixPath(path).parent == folder]
        return min(found, key=lambda path: (-_count_shared_folders(path, importer), path.endswith(".pyi"), path), default="")

    def beside(self, level: int, module: str, importer: str) -> str:
        """The file that a relative import leads to, or the folder of a package without `__init__.py`."""
        folder = PurePosixPath(importer).parent
        for _ in range(level - 1):
            folder = folder.parent
        return self.within(str(folder), module) if module else self._package(str(folder))

    def within(self, folder: str, module: str) -> str:
        """A module below a folder."""
        base = "/".join(part for part in (folder.removeprefix("."), *module.split(".")) if part)
        return f"{base}.py" if f"{base}.py" in self.sources else self._package(base)

    def _package(self, folder: str) -> str:
        file = "/".join(part for part in (folder.removeprefix("."), "__init__.py") if part)
        return file if file in self.sources else folder

    def submodule(self, path: str, name: str) -> str:
        """A module of a package, given by its `__init__.py` or its folder; empty if there is none."""
        if path.endswith(".py") and not path.endswith("__init__.py"):
            return ""
        found = self.within(path.removesuffix("__init__.py").rstrip("/"), name)
        return found if found in self.sources else ""


def _count_shared_folders(one: str, other: str) -> int:
    """How many folders from the top two paths have in common."""
    count = 0
    for mine, theirs in zip(PurePosixPath(one).parts, PurePosixPath(other).parts, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


MAX_CACHED_CHARACTERS = 1_000_000
"""Characters of files whose scopes stay in memory."""
_recent_files: RecentAnswers[tuple[str, str], ScopedFile | None] = RecentAnswers(MAX_CACHED_CHARACTERS, lambda key: len(key[1]))


def load_scoped_file(path: str, text: str) -> ScopedFile | None:
    """None for what is not Python, or too large to be written by hand. The same content is taken apart once."""
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
