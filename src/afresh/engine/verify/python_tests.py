"""Was a Python test file weakened? Compared as syntax, so that layout, comments and docstrings are free."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

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
            yield f"{path}: {within}{rebound[0]} was set anew"
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
