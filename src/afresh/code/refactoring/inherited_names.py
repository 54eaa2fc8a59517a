"""Asks whether a base class may already have a name. Installed modules are read as text and never imported."""

import ast
import builtins
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from afresh.code.python_source import MAX_SOURCE_CHARACTERS, parse_syntax_tree
from afresh.code.refactoring.identifier_words import collect_words

MAX_CLASSES_FOLLOWED = 60
MAX_REEXPORTS_FOLLOWED = 6


@dataclass(frozen=True, slots=True)
class ModuleText:
    """A module. Classes of the project have no module name and no text here: all their words are known already."""

    name: str
    text: str
    tree: ast.Module


@dataclass(frozen=True)
class ClassLookup:
    """Finds classes by name in the project and in folders with installed packages."""

    texts: Mapping[str, str]
    libraries: tuple[Path, ...] = ()

    def may_inherit(self, tree: ast.Module, owner: ast.ClassDef, name: str) -> bool:
        """Whether a base of the class has the name, or may have it because a base can't be found."""
        pending: list[tuple[ModuleText, ast.ClassDef]] = [(ModuleText("", "", tree), owner)]
        for _ in range(MAX_CLASSES_FOLLOWED):
            if not pending:
                return False
            module, node = pending.pop()
            if name in collect_words(module.text) and module.name:
                return True
            for base in node.bases:
                found = self._find_base(module, base, name)
                if found is None:
                    return True
                pending.extend(found)
        return True

    def _find_base(self, module: ModuleText, base: ast.expr, name: str) -> list[tuple[ModuleText, ast.ClassDef]] | None:
        """Return the classes that a base may be; None if it is not known, or a builtin class with the name."""
        dotted = _read_dotted_name(base)
        if not dotted:
            return None
        for class_name, origin in _resolve_in_module(module.tree, dotted):
            if origin is None:
                own = _find_classes(module.tree, class_name)
                return [(module, one) for one in own] if own else self._find_builtin(class_name, name)
            if (found := self._find_imported(module.name, origin, class_name)) is not None:
                return found
        return None

    def _find_builtin(self, class_name: str, name: str) -> list[tuple[ModuleText, ast.ClassDef]] | None:
        kind = getattr(builtins, class_name, None)
        return None if not isinstance(kind, type) or name in dir(kind) else []

    def _find_imported(
        self, importer: str, origin: str, class_name: str, depth: int = 0
    ) -> list[tuple[ModuleText, ast.ClassDef]] | None:
        """Return the class from a module; project classes are found by their name alone, since their words are all known."""
        installed = None if importer == "" and origin.startswith(".") else self._read_module(importer, origin)
        if installed is None:
            trees = [tree for tree in self._project_trees(class_name) if _find_classes(tree, class_name)]
            return [(ModuleText("", "", tree), one) for tree in trees for one in _find_classes(tree, class_name)] or None
        if own := _find_classes(installed.tree, class_name):
            return [(installed, one) for one in own]
        if depth >= MAX_REEXPORTS_FOLLOWED:
            return None
        for again, source in [*_resolve_in_module(installed.tree, (class_name,)), *_star_imports(installed.tree, class_name)]:
            if source is not None and (found := self._find_imported(installed.name, source, again, depth + 1)):
                return found
        return None

    def _project_trees(self, class_name: str) -> Iterator[ast.Module]:
        for text in self.texts.values():
            if f"class {class_name}" in text and (tree := parse_syntax_tree(text)) is not None:
                yield tree

    def _read_module(self, importer: str, origin: str) -> ModuleText | None:
        dots = len(origin) - len(origin.lstrip("."))
        rest = origin.lstrip(".")
        if dots:
            package = importer.split(".") if _is_package(importer, self._roots) else importer.split(".")[:-1]
            package = package[: len(package) - (dots - 1)]
            rest = ".".join([*package, *([rest] if rest else [])])
        return _read_installed_module(rest, self._roots)

    @property
    def _roots(self) -> tuple[Path, ...]:
        return (Path(sysconfig.get_path("stdlib")), *self.libraries)


def _read_dotted_name(node: ast.expr) -> tuple[str, ...]:
    """Return the parts of `module.Class` or `Class[T]`; empty for other expressions."""
    if isinstance(node, ast.Subscript):
        return _read_dotted_name(node.value)
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute) and (above := _read_dotted_name(node.value)):
        return (*above, node.attr)
    return ()


def _resolve_in_module(tree: ast.Module, dotted: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Yield class name and module for each import that the name may come from; the module is None for names without import."""
    imports = [(node, alias) for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
    found = [(node, alias) for node, alias in imports if _bound_by_import(node, alias) == dotted[0]]
    for node, alias in found:
        if isinstance(node, ast.Import):
            yield dotted[-1], ".".join([alias.name, *dotted[1:-1]] if alias.asname else dotted[:-1])
        elif len(dotted) == 1:
            yield alias.name, "." * node.level + (node.module or "")
        else:
            yield dotted[-1], "." * node.level + ".".join(filter(None, [node.module, alias.name, *dotted[1:-1]]))
    if not found:
        yield dotted[-1], None


def _bound_by_import(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    return alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)


def _star_imports(tree: ast.Module, class_name: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            yield class_name, "." * node.level + (node.module or "")


def _find_classes(tree: ast.Module, name: str) -> list[ast.ClassDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name]


def _is_package(module: str, roots: tuple[Path, ...]) -> bool:
    return any((root / module.replace(".", "/") / "__init__.py").is_file() for root in roots)


@lru_cache(maxsize=256)
def _read_installed_module(name: str, roots: tuple[Path, ...]) -> ModuleText | None:
    if not name or not all(part.isidentifier() for part in name.split(".")):
        return None
    place = name.replace(".", "/")
    for root in roots:
        for file in (root / place / "__init__.py", root / f"{place}.py"):
            if file.is_file() and file.stat().st_size <= MAX_SOURCE_CHARACTERS:
                text = file.read_text(encoding="utf-8", errors="replace")
                tree = parse_syntax_tree(text)
                return ModuleText(name, text, tree) if tree is not None else None
    return None


def find_library_folders(root: Path) -> tuple[Path, ...]:
    """Return the folders of installed packages in the environments inside a project."""
    places = (root / name for name in (".venv", "venv", "env"))
    return tuple(sorted(folder for place in places for folder in place.glob("lib*/python*/site-packages")))
