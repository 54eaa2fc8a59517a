"""Was a Python test file weakened? Compared as syntax, so that layout, comments and docstrings are free."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from afresh.core.change import Change
from afresh.core.recognise_test_files import is_conftest, is_in_test_folder, is_test_code
from afresh.core.task import Check
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import FileTree, Workspace
from afresh.verification.check_configuration import find_changed_settings, is_check_configuration
from afresh.verification.weakened_tests_by_grammar import (
    find_weakened_tests_elsewhere,
    find_weakenings_by_lines,
    may_hold_inline_tests,
)


@dataclass(frozen=True, slots=True)
class ProtectedFileChange:
    """A changed path that may bear on how the task is judged, before and after; None where there was no (readable) text."""

    change: Change
    base: str | None
    now: str | None


def is_protected_path(path: str) -> bool:
    """Tests, and what lies beside them for them to read."""
    return is_test_code(path) or is_in_test_folder(path)


def find_weakened_tests(context: ToolContext, workspace: Workspace, checks: Sequence[Check]) -> Mapping[str, tuple[str, ...]]:
    """Files that weaken the tests of the base, and in which ways; empty when none does. The tree is left as it was found."""
    snapshot = workspace.snapshot()
    changes = workspace.changes(context.state.workspace.first_snapshot, snapshot)
    governing = _list_base_test_files(context.files, changes)
    relevant = [change for change in changes if _is_relevant(change, checks, governing)]
    if not relevant:
        return {}
    touched = _read_both_sides(context, workspace, relevant, snapshot)
    return {one.change.path: found for one in touched if (found := _find_weakenings(one, checks))}


def _list_base_test_files(files: FileTree, changes: Sequence[Change]) -> frozenset[str]:
    added = {change.path for change in changes if change.kind == "added"}
    deleted = {change.path for change in changes if change.kind == "deleted"}
    return frozenset(path for path in {*files.paths(), *deleted} - added if is_test_code(path))


def _is_relevant(change: Change, checks: Sequence[Check], tests: frozenset[str]) -> bool:
    if change.kind == "added":
        return (is_conftest(change.path) or is_check_configuration(change.path, checks)) and has_tests_in_scope(
            change.path, tests
        )
    return is_protected_path(change.path) or may_hold_inline_tests(change.path) or is_check_configuration(change.path, checks)


def has_tests_in_scope(path: str, tests: frozenset[str]) -> bool:
    """A configuration file bears on the tests in and below its folder."""
    folder = str(PurePosixPath(path).parent)
    return folder in (".", "src") or any(test.startswith(folder + "/") for test in tests)


def _read_both_sides(
    context: ToolContext, workspace: Workspace, changes: Sequence[Change], snapshot: str
) -> list[ProtectedFileChange]:
    paths = [change.path for change in changes]
    now = _read_texts(context.files, paths)
    workspace.restore(context.state.workspace.first_snapshot, paths)
    try:
        base = _read_texts(context.files, paths)
    finally:
        workspace.restore(snapshot)
    return [ProtectedFileChange(change, base.get(change.path), now.get(change.path)) for change in changes]


def _read_texts(files: FileTree, paths: Sequence[str]) -> Mapping[str, str]:
    present = frozenset(files.paths())
    texts: dict[str, str] = {}
    for path in paths:
        if path in present:
            try:
                texts[path] = files.read(path)
            except (ModelMistake, UnicodeDecodeError):
                continue
    return texts


def _find_weakenings(touched: ProtectedFileChange, checks: Sequence[Check]) -> tuple[str, ...]:
    path = touched.change.path
    if is_check_configuration(path, checks):
        return find_changed_settings(path, touched.base, touched.now, checks)
    if touched.change.kind == "deleted" and is_protected_path(path):
        return (f"{path} was deleted",)
    if not path.endswith(".py"):
        return find_weakened_tests_elsewhere(touched.change, touched.base, touched.now)
    try:
        return _find_weakenings_by_syntax(path, touched.base or "", touched.now or "")
    except (SyntaxError, ValueError, RecursionError):
        return find_weakenings_by_lines(touched.change)


def _find_weakenings_by_syntax(path: str, base: str, now: str) -> tuple[str, ...]:
    found = find_weakened_python_tests(path, base, now)
    return (*found, *find_added_hooks(path, now, base)) if is_conftest(path) else found


_DEFINITION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORT_NODES = (ast.Import, ast.ImportFrom)
_COLLECTION_SWITCHES = frozenset(
    {"pytestmark", "collect_ignore", "collect_ignore_glob", "pytest_plugins", "__test__", "load_tests"}
)
_PATCHING_CALLS = ("sys.modules", "setattr", "monkeypatch.setattr", "mock.patch", "builtins.")


def find_weakened_python_tests(path: str, base: str, now: str) -> tuple[str, ...]:
    """What of the base's tests is gone, altered or switched off; SyntaxError if either is no Python."""
    before, after = _parse_without_docstrings(base), _parse_without_docstrings(now)
    return (*_find_lost_statements(path, before, after), *_find_switched_off(path, before, after))


def find_added_hooks(path: str, now: str, base: str = "") -> tuple[str, ...]:
    """Hooks and patches that would reach tests from outside their files."""
    known = {ast.dump(statement) for statement in _parse_without_docstrings(base)}
    fresh = [statement for statement in _parse_without_docstrings(now) if ast.dump(statement) not in known]
    return tuple(f"{path}: {what}" for statement in fresh for what in _describe_hook(statement))


def _describe_hook(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and statement.name.startswith("pytest_"):
        yield f"hook {statement.name} was added"
    elif isinstance(statement, _DEFINITION_NODES):
        if any("autouse" in ast.unparse(decorator) for decorator in statement.decorator_list):
            yield f"{statement.name}, a fixture that applies to every test, was added"
    elif not isinstance(statement, _IMPORT_NODES):
        text = ast.unparse(statement)
        if any(name in text for name in (*_PATCHING_CALLS, *_COLLECTION_SWITCHES)) or _sets_attribute(statement):
            yield f"`{text.splitlines()[0][:80]}` was added at import"


def _sets_attribute(statement: ast.stmt) -> bool:
    """`module.name = …` outside of any function patches whoever uses the module."""
    stores = (node for node in ast.walk(statement) if isinstance(node, (ast.Attribute, ast.Subscript)))
    return any(isinstance(node.ctx, ast.Store) for node in stores)


def _find_lost_statements(path: str, before: Sequence[ast.stmt], after: Sequence[ast.stmt], within: str = "") -> Iterator[str]:
    """Statements of the base that are not there any more, in classes member by member."""
    left = Counter(ast.dump(statement) for statement in after if not _is_class(statement))
    classes = {statement.name: statement for statement in after if isinstance(statement, ast.ClassDef)}
    for statement in before:
        if isinstance(statement, _IMPORT_NODES):
            continue
        if isinstance(statement, ast.ClassDef):
            yield from _find_lost_members(path, statement, classes.get(statement.name), within)
        elif left[ast.dump(statement)]:
            left[ast.dump(statement)] -= 1
        else:
            yield f"{path}: {within}{_name_statement(statement)} was {'altered' if _is_defined(statement, after) else 'removed'}"


def _find_lost_members(path: str, before: ast.ClassDef, after: ast.ClassDef | None, within: str) -> Iterator[str]:
    name = f"{within}{before.name}"
    if after is None:
        yield f"{path}: class {name} was removed"
    elif _dump_class_head(before) != _dump_class_head(after):
        yield f"{path}: the head of class {name} was altered"
    else:
        yield from _find_lost_statements(path, before.body, after.body, f"{name}.")
        yield from _find_switched_off(path, before.body, after.body, f"{name}.")


def _find_switched_off(path: str, before: Sequence[ast.stmt], after: Sequence[ast.stmt], within: str = "") -> Iterator[str]:
    """Statements that were added and that hide, replace or skip what was there."""
    known = Counter(ast.dump(statement) for statement in before)
    mine = {name for statement in before for name in _list_bound_names(statement)}
    for statement in after:
        if known[ast.dump(statement)] or isinstance(statement, _IMPORT_NODES):
            known[ast.dump(statement)] -= 1
            continue
        rebound = sorted(name for name in _list_bound_names(statement) if _is_taken(name, mine, statement))
        if rebound and not (isinstance(statement, _DEFINITION_NODES) and _replaces_its_own(statement, before, after)):
            yield f"{path}: {within}{rebound[0]} was reassigned"
        elif not isinstance(statement, _DEFINITION_NODES) and _is_skipping(statement):
            yield f"{path}: `{ast.unparse(statement).splitlines()[0][:80]}` was added at module level"


def _is_taken(name: str, mine: set[str], statement: ast.stmt) -> bool:
    return name in _COLLECTION_SWITCHES or (name in mine and not _is_class(statement))


def _replaces_its_own(statement: ast.stmt, before: Sequence[ast.stmt], after: Sequence[ast.stmt]) -> bool:
    """An altered definition is told once, as altered."""
    name = _name_statement(statement)
    return sum(_name_statement(one) == name for one in after) <= sum(_name_statement(one) == name for one in before)


def _is_skipping(statement: ast.stmt) -> bool:
    text = ast.unparse(statement)
    return any(
        word in text for word in ("pytest.skip", "importorskip", "SkipTest", "pytest.exit", "sys.exit", "os._exit", "sys.modules")
    )


def _list_bound_names(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement gives a new meaning in its own scope, or takes away."""
    if isinstance(statement, _DEFINITION_NODES):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield node.id


def _is_class(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ClassDef)


def _is_defined(statement: ast.stmt, body: Sequence[ast.stmt]) -> bool:
    return isinstance(statement, _DEFINITION_NODES) and any(_name_statement(one) == statement.name for one in body)


def _name_statement(statement: ast.stmt) -> str:
    return statement.name if isinstance(statement, _DEFINITION_NODES) else f"`{ast.unparse(statement).splitlines()[0][:60]}`"


def _dump_class_head(statement: ast.ClassDef) -> str:
    parts = [*statement.bases, *statement.keywords, *statement.decorator_list]
    return "|".join(ast.dump(part) for part in parts)


def _parse_without_docstrings(text: str) -> list[ast.stmt]:
    """The module's statements, without any docstring."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, *_DEFINITION_NODES)) and _opens_with_text(node.body):
            node.body = node.body[1:] or [ast.Pass()]
    return tree.body


def _opens_with_text(body: Sequence[ast.stmt]) -> bool:
    first = body[0] if body else None
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
