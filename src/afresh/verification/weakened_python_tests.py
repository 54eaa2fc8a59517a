"""Was a Python test file weakened? Compared as syntax, statement by statement, so that layout, comments and docstrings are free.

What is only added is free: a test, a helper, an import, an entry more in a list of the module or in the cases of a test, a check
more in a test.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afresh.core.licences.licence_for_tests import Weakening, WeakeningWay
from afresh.core.recognise_test_files import is_conftest
from afresh.verification.extended_literals import has_only_more_cases, is_extended, is_extended_anywhere
from afresh.verification.strengthened_tests import is_strengthened

DEFINITION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORT_NODES = (ast.Import, ast.ImportFrom)
_COLLECTION_SWITCHES = frozenset(
    {"pytestmark", "collect_ignore", "collect_ignore_glob", "pytest_plugins", "__test__", "load_tests"}
)
_PATCHING_CALLS = ("sys.modules", "setattr", "monkeypatch.setattr", "mock.patch", "builtins.")
_SKIPPING_WORDS = ("pytest.skip", "importorskip", "SkipTest", "pytest.exit", "sys.exit", "os._exit", "sys.modules")
_SWITCHING_OFF = re.compile(
    r"\b(?:mark|pytest|unittest)\.(?:skip\w*|xfail|exit)\b|\b(?:skipTest|SkipTest|importorskip|skipIf|skipUnless|os\._exit)\b"
    r"|^\s*@(?:skip|xfail)|\b(?:skip|xfail)\(",
    re.MULTILINE,
)
_ASSERTING_CALL = re.compile(r"(?:^|\.)_?(?:assert\w*|raises|warns|fail|expect\w*|check\w*|verify\w*)$")
_SET_UP_NAMES = frozenset(
    {"setup", "setup_module", "setup_class", "setup_method", "setup_function", "setUp", "setUpClass", "setUpModule", "asyncSetUp"}
)


@dataclass(frozen=True, slots=True, eq=False)
class WeakenedStatement:
    """A weakening with the statements that it is about."""

    weakening: Weakening
    scope: tuple[str, ...]
    """Names of the classes that it is in."""
    lost: ast.stmt | None = None
    """The statement of the base that is not there any more."""
    instead: ast.stmt | None = None
    """What stands in its place, or was added."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """The same module or class, before and after."""

    path: str
    before: Sequence[ast.stmt]
    after: Sequence[ast.stmt]
    names: tuple[str, ...] = ()
    fewer: bool = False
    """The file has fewer tests than before."""

    def report(
        self, way: WeakeningWay, name: str, told: str, lost: ast.stmt | None = None, instead: ast.stmt | None = None
    ) -> WeakenedStatement:
        shown = lost or instead
        known = Weakening(
            self.path,
            way,
            f"{self.path}: {told}",
            ".".join((*self.names, name)) if name else "",
            ast.unparse(shown) if shown else "",
        )
        return WeakenedStatement(known, self.names, lost, instead)

    def qualify(self, name: str) -> str:
        return ".".join((*self.names, name))


def find_weakened_python_tests(path: str, base: str, now: str) -> tuple[Weakening, ...]:
    """What of the base's tests is gone, altered or switched off; SyntaxError if either is no Python."""
    return tuple(one.weakening for one in find_weakened_statements(path, base, now))


def find_weakened_statements(path: str, base: str, now: str) -> list[WeakenedStatement]:
    before, after = parse_without_docstrings(base), parse_without_docstrings(now)
    scope = _Scope(path, before, after, fewer=_count_tests(after) < _count_tests(before))
    hooks = [*_find_added_hooks(scope)] if is_conftest(path) else []
    return [*_find_lost_statements(scope), *_find_switched_off(scope), *hooks]


def _find_added_hooks(scope: _Scope) -> Iterator[WeakenedStatement]:
    """Hooks and patches that would reach tests from outside their files."""
    known = {ast.dump(statement) for statement in scope.before}
    for statement in scope.after:
        if ast.dump(statement) not in known:
            for what in _describe_hook(statement):
                yield scope.report(WeakeningWay.HOOK, _get_name(statement), what, instead=statement)


def _describe_hook(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, FUNCTION_NODES) and statement.name.startswith("pytest_"):
        yield f"hook {statement.name} was added"
    elif isinstance(statement, DEFINITION_NODES):
        if is_autouse_fixture(statement):
            yield f"{statement.name}, a fixture that applies to every test, was added"
    elif isinstance(statement, IMPORT_NODES):
        hooks = [name for name in list_bound_names(statement) if name.startswith("pytest_") or name == "*"]
        yield from (f"`{ast.unparse(statement)}` was added: it may bring hooks" for _ in hooks[:1])
    else:
        text = ast.unparse(statement)
        if any(name in text for name in (*_PATCHING_CALLS, *_COLLECTION_SWITCHES)) or _sets_attribute(statement):
            yield f"`{text.splitlines()[0][:80]}` was added at import"


def is_autouse_fixture(statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    return any("autouse" in ast.unparse(decorator) for decorator in statement.decorator_list)


def _sets_attribute(statement: ast.stmt) -> bool:
    """`module.name = …` outside of any function patches whoever uses the module."""
    stores = (node for node in ast.walk(statement) if isinstance(node, (ast.Attribute, ast.Subscript)))
    return any(isinstance(node.ctx, ast.Store) for node in stores)


def _find_lost_statements(scope: _Scope) -> Iterator[WeakenedStatement]:
    """Statements of the base that are not there any more, in classes member by member."""
    left = Counter(ast.dump(statement) for statement in scope.after if not isinstance(statement, ast.ClassDef))
    classes = {statement.name: statement for statement in scope.after if isinstance(statement, ast.ClassDef)}
    for statement in scope.before:
        if isinstance(statement, IMPORT_NODES):
            continue
        if isinstance(statement, ast.ClassDef):
            yield from _find_lost_members(scope, statement, classes.get(statement.name))
        elif left[ast.dump(statement)]:
            left[ast.dump(statement)] -= 1
        elif found := _describe_lost(scope, statement, find_counterpart(statement, scope.before, scope.after)):
            yield found


def _describe_lost(scope: _Scope, lost: ast.stmt, now: ast.stmt | None) -> WeakenedStatement | None:
    """None where entries were only added."""
    name = _get_name(lost)
    shown = scope.qualify(lost.name if isinstance(lost, DEFINITION_NODES) else _quote_statement(lost))
    if now is None:
        return scope.report(_choose_removal(scope), name, f"{shown} was removed", lost)
    if is_extended(lost, now, scope.after) or is_strengthened(lost, now):
        return None
    if is_switched_off(lost, now):
        return scope.report(WeakeningWay.SKIP, name, f"{shown} was altered so that it is skipped or asserts nothing", lost, now)
    way = WeakeningWay.EXTEND if is_extended_anywhere(lost, now) else WeakeningWay.ALTER
    return scope.report(way, name, f"{shown} was altered", lost, now)


def _choose_removal(scope: _Scope) -> WeakeningWay:
    return WeakeningWay.REMOVE if scope.fewer else WeakeningWay.REPLACE


def find_counterpart(lost: ast.stmt, before: Sequence[ast.stmt], after: Sequence[ast.stmt]) -> ast.stmt | None:
    """The statement that stands where one of the base stood: new, and it binds the same names."""
    names, known = {*list_bound_names(lost)}, {ast.dump(statement) for statement in before}
    fresh = (one for one in after if ast.dump(one) not in known and not isinstance(one, IMPORT_NODES))
    return next((one for one in fresh if names and names == {*list_bound_names(one)}), None)


def is_switched_off(lost: ast.stmt, now: ast.stmt) -> bool:
    """Whether a test is skipped, expected to fail, left early or without any assertion, and was not before."""
    if not isinstance(lost, DEFINITION_NODES):
        return False
    if not isinstance(now, DEFINITION_NODES) or _skips_more(ast.unparse(lost), ast.unparse(now)):
        return True
    if isinstance(lost, FUNCTION_NODES) and lost.name.startswith("test"):
        returns = _count_nodes(now, ast.Return) > _count_nodes(lost, ast.Return)
        return returns or (_count_assertions(lost) > 0 and _count_assertions(now) == 0)
    return False


def _skips_more(before: str, after: str) -> bool:
    return len(_SWITCHING_OFF.findall(after)) > len(_SWITCHING_OFF.findall(before))


def _count_nodes(statement: ast.stmt, kind: type[ast.AST]) -> int:
    return sum(isinstance(node, kind) for node in ast.walk(statement))


def _count_assertions(statement: ast.stmt) -> int:
    calls = (node for node in ast.walk(statement) if isinstance(node, ast.Call))
    spoken = sum(bool(_ASSERTING_CALL.search(ast.unparse(one.func))) for one in calls)
    return spoken + sum(isinstance(node, ast.Assert) and not isinstance(node.test, ast.Constant) for node in ast.walk(statement))


def _find_lost_members(scope: _Scope, before: ast.ClassDef, after: ast.ClassDef | None) -> Iterator[WeakenedStatement]:
    name = scope.qualify(before.name)
    if after is None:
        yield scope.report(_choose_removal(scope), before.name, f"class {name} was removed", before)
        return
    if not _has_same_head(before, after):
        way = WeakeningWay.SKIP if _skips_more(*map(_write_decorators, (before, after))) else WeakeningWay.ALTER
        yield scope.report(way, before.name, f"the head of class {name} was altered", before, after)
    inner = _Scope(scope.path, before.body, after.body, (*scope.names, before.name), scope.fewer)
    yield from _find_lost_statements(inner)
    yield from _find_switched_off(inner)


def _find_switched_off(scope: _Scope) -> Iterator[WeakenedStatement]:
    """Statements that were added and that hide, replace or skip what was there."""
    known = Counter(ast.dump(statement) for statement in scope.before)
    mine = {name for statement in scope.before if not isinstance(statement, IMPORT_NODES) for name in list_bound_names(statement)}
    lost = [one for one in scope.before if not any(ast.dump(one) == ast.dump(other) for other in scope.after)]
    paired = {id(find_counterpart(one, scope.before, scope.after)) for one in lost if not isinstance(one, ast.ClassDef)}
    for statement in scope.after:
        if known[ast.dump(statement)]:
            known[ast.dump(statement)] -= 1
        elif id(statement) not in paired and (what := _describe_switch(scope, statement, mine)):
            name, told = what
            yield scope.report(WeakeningWay.SKIP, name, told, instead=statement)


def _describe_switch(scope: _Scope, statement: ast.stmt, mine: set[str]) -> tuple[str, str] | None:
    """The name that a new statement takes over or sets, and what to say; None where it reaches no test that was there."""
    rebound = sorted(name for name in list_bound_names(statement) if _is_taken(name, mine, statement))
    if rebound:
        return rebound[0], f"{scope.qualify(rebound[0])} was reassigned"
    text = ast.unparse(statement)
    if isinstance(statement, DEFINITION_NODES):
        reaching = statement.name in _SET_UP_NAMES or is_autouse_fixture(statement)
        if reaching and mine and _SWITCHING_OFF.search(text):
            return statement.name, f"{scope.qualify(statement.name)}, which applies to tests of the base, was added"
    elif not isinstance(statement, IMPORT_NODES) and any(word in text for word in _SKIPPING_WORDS):
        return "", f"`{text.splitlines()[0][:80]}` was added at module level"
    return None


def _is_taken(name: str, mine: set[str], statement: ast.stmt) -> bool:
    return name in _COLLECTION_SWITCHES or (name in mine and not isinstance(statement, ast.ClassDef))


def list_bound_names(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement gives a new meaning in its own scope, or takes away."""
    if isinstance(statement, DEFINITION_NODES):
        yield statement.name
        return
    if isinstance(statement, IMPORT_NODES):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield node.id


def _get_name(statement: ast.stmt) -> str:
    """The name of a definition, or the one that an assignment binds."""
    return next(list_bound_names(statement), "")


def _quote_statement(statement: ast.stmt) -> str:
    return f"`{ast.unparse(statement).splitlines()[0][:60]}`"


def _count_tests(body: Sequence[ast.stmt]) -> int:
    module = ast.Module([*body], [])
    return sum(isinstance(node, FUNCTION_NODES) and node.name.startswith("test") for node in ast.walk(module))


def _has_same_head(before: ast.ClassDef, after: ast.ClassDef) -> bool:
    """The same bases and decorators, but for more cases."""
    bases = [[ast.dump(part) for part in (*one.bases, *one.keywords)] for one in (before, after)]
    return bases[0] == bases[1] and has_only_more_cases(before.decorator_list, after.decorator_list)


def _write_decorators(statement: ast.ClassDef) -> str:
    return "\n".join(f"@{ast.unparse(decorator)}" for decorator in statement.decorator_list)


def parse_without_docstrings(text: str) -> list[ast.stmt]:
    """The module's statements, without any docstring."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, *DEFINITION_NODES)) and _opens_with_text(node.body):
            node.body = node.body[1:] or [ast.Pass()]
    return tree.body


def _opens_with_text(body: Sequence[ast.stmt]) -> bool:
    first = body[0] if body else None
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
