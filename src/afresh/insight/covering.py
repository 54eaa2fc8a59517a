"""Which tests cover which code: by what they import, and by their names."""

import ast
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from afresh.insight.source import Source
from afresh.insight.tree import Tree

DEPTH = 2


def tests_for(changed: Sequence[str], tree: Tree) -> list[str]:
    """Test files for all the changed files; empty as soon as one of them cannot be judged."""
    modules = {name: path for path in tree.sources for name in module_names(path, tree)}
    tests = [path for path in tree.sources if PurePosixPath(path).name.startswith("test_") or path.endswith("_test.py")]
    reach = {test: _reach(test, tree, modules) for test in tests}
    found: set[str] = set()
    for path in changed:
        if not path.endswith(".py") or PurePosixPath(path).name == "conftest.py":
            return []
        covering = {test for test in tests if path == test or path in reach[test] or _named_after(test, path)}
        if not covering and path in tree.paths:
            return []
        found |= covering
    return sorted(found)


def module_names(path: str, tree: Tree) -> list[str]:
    """Names that the file may be imported by: from the top, and from below `src` or the folder without `__init__.py`."""
    parts = list(PurePosixPath(path).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    names = [".".join(parts)]
    top = len(parts) - 1 if PurePosixPath(path).stem != "__init__" else len(parts)
    while top > 0 and "/".join([*parts[:top], "__init__.py"]) in tree.sources:
        top -= 1
    names.append(".".join(parts[top:]))
    if parts and parts[0] in ("src", "lib"):
        names.append(".".join(parts[1:]))
    return [name for name in dict.fromkeys(names) if name]


def _reach(test: str, tree: Tree, modules: dict[str, str]) -> set[str]:
    """Files that a test imports, directly or by way of others."""
    start = [test, *(path for path in tree.sources if _shared_by(path, test))]
    reached: set[str] = set()
    layer = {path for one in start for path in _imports(tree.sources[one], tree, modules)}
    for _ in range(DEPTH + 1):
        reached |= layer
        # what a package gathers for its users is followed by name, not as a whole
        onward = [path for path in layer if not path.endswith("__init__.py")]
        layer = {path for one in onward for path in _imports(tree.sources[one], tree, modules)} - reached
    return reached


def _shared_by(path: str, test: str) -> bool:
    folder = str(PurePosixPath(path).parent)
    return PurePosixPath(path).name == "conftest.py" and (folder == "." or test.startswith(folder + "/"))


def _imports(source: Source, tree: Tree, modules: dict[str, str]) -> set[str]:
    found: set[str] = set()
    for node in _import_statements(source):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found |= _whole(alias.name, tree, modules)
        else:
            base = _absolute(node, source.path, tree)
            for alias in node.names:
                found |= _member(base, alias.name, tree, modules, 3)
    return found


@lru_cache(maxsize=4096)
def _import_statements(source: Source) -> list[ast.Import | ast.ImportFrom]:
    return [node for node in ast.walk(source.tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def _whole(name: str, tree: Tree, modules: dict[str, str]) -> set[str]:
    """`import package` may use anything that the package gathers."""
    path = modules.get(name)
    if path is None:
        return set()
    if not path.endswith("__init__.py"):
        return {path}
    gathered = (modules.get(other) for other in _gathered(tree.sources[path], tree).values())
    return {path, *(other for other in gathered if other)}


def _member(base: str, name: str, tree: Tree, modules: dict[str, str], depth: int) -> set[str]:
    """Where `from base import name` leads, through packages that pass the name on."""
    if f"{base}.{name}" in modules:
        return {modules[f"{base}.{name}"]}
    path = modules.get(base)
    if path is None:
        return set()
    if name == "*":
        return _whole(base, tree, modules)
    onward = _gathered(tree.sources[path], tree).get(name) if depth and path.endswith("__init__.py") else None
    return {path, *(_member(onward, name, tree, modules, depth - 1) if onward else ())}


def _gathered(source: Source, tree: Tree) -> dict[str, str]:
    """Names that a package imports, with the module that each comes from."""
    found: dict[str, str] = {}
    for node in source.tree.body:
        if isinstance(node, ast.ImportFrom):
            base = _absolute(node, source.path, tree)
            found.update({alias.asname or alias.name: base for alias in node.names})
    return found


def _absolute(node: ast.ImportFrom, path: str, tree: Tree) -> str:
    if not node.level:
        return node.module or ""
    package = module_names(path, tree)[-1].split(".") if module_names(path, tree) else []
    up = node.level - 1 if path.endswith("__init__.py") else node.level
    kept: Iterable[str] = package[: len(package) - up] if up else package
    return ".".join([*kept, *(node.module.split(".") if node.module else [])])


def _named_after(test: str, path: str) -> bool:
    stem, name = PurePosixPath(path).stem.strip("_"), PurePosixPath(test).stem
    return stem not in ("", "init") and name in (f"test_{stem}", f"{stem}_test")
