"""Were entries only added? A list, tuple, set or dict of a module, or the cases of a test, may grow."""

import ast
import re
from collections.abc import Sequence

_CONTAINERS = (ast.List, ast.Tuple, ast.Set)
_CONTAINER_CALLS = frozenset({"set", "frozenset", "tuple", "list", "dict", "sorted"})
_SWITCHING_NAME = re.compile(
    r"skip|ignore|xfail|exclu|omit|known|fail|broken|disabl|deselect|flaky|slow|unsupported|todo|pending|quarantine|norecurse"
    r"|collect|allow|except|tolera|pytestmark|pytest_plugins|__test__",
    re.IGNORECASE,
)
"""Of lists whose entries are left out of something."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_extended(before: ast.stmt, now: ast.stmt, module: Sequence[ast.stmt]) -> bool:
    """Whether a statement that runs when the module is loaded has only gained entries."""
    if isinstance(before, ast.FunctionDef | ast.AsyncFunctionDef):
        return isinstance(now, type(before)) and _is_same_test_with_more_cases(before, now)
    name = _get_plain_target(before)
    if not name or name != _get_plain_target(now) or _SWITCHING_NAME.search(name) or _decides_something(name, module):
        return False
    old, new = _get_value(before), _get_value(now)
    return old is not None and new is not None and _has_more_entries(old, new)


def _get_value(statement: ast.stmt) -> ast.expr | None:
    return statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None


def _get_plain_target(statement: ast.stmt) -> str:
    targets = (
        statement.targets
        if isinstance(statement, ast.Assign)
        else [statement.target]
        if isinstance(statement, ast.AnnAssign)
        else []
    )
    return next((one.id for one in targets if len(targets) == 1 and isinstance(one, ast.Name)), "")


def _decides_something(name: str, module: Sequence[ast.stmt]) -> bool:
    """Whether the name is asked in a condition: who is on that list may be treated in another way."""
    conditions = [
        condition
        for node in ast.walk(ast.Module([*module], []))
        for condition in (
            [node.test]
            if isinstance(node, ast.If | ast.IfExp | ast.While)
            else node.ifs
            if isinstance(node, ast.comprehension)
            else [node]
            if isinstance(node, ast.Call) and "skipif" in ast.unparse(node.func)
            else []
        )
    ]
    return any(isinstance(node, ast.Name) and node.id == name for one in conditions for node in ast.walk(one))


def _is_same_test_with_more_cases(before: _Function, now: _Function) -> bool:
    undecorated = [ast.dump(_without_decorators(one)) for one in (before, now)]
    return undecorated[0] == undecorated[1] and has_only_more_cases(before.decorator_list, now.decorator_list)


def _without_decorators(node: _Function) -> ast.AST:
    parts = {name: getattr(node, name) for name in node._fields if name != "decorator_list"}
    return type(node)(**parts, decorator_list=[])


def has_only_more_cases(before: Sequence[ast.expr], now: Sequence[ast.expr]) -> bool:
    """The same decorators, but for more cases in a `parametrize`."""
    if len(before) != len(now):
        return False
    return all(ast.dump(one) == ast.dump(other) or _is_more_cases(one, other) for one, other in zip(before, now, strict=True))


def _is_more_cases(before: ast.expr, now: ast.expr) -> bool:
    if not isinstance(before, ast.Call) or not isinstance(now, ast.Call):
        return False
    if ast.unparse(before.func) != ast.unparse(now.func) or not ast.unparse(before.func).endswith("parametrize"):
        return False
    if len(before.args) != len(now.args) or [key.arg for key in before.keywords] != [key.arg for key in now.keywords]:
        return False
    if [ast.dump(one) for one in before.args[:1]] != [ast.dump(one) for one in now.args[:1]]:
        return False
    growing = [*zip(before.args[1:], now.args[1:], strict=True)]
    growing += [(one.value, other.value) for one, other in zip(before.keywords, now.keywords, strict=True)]
    return all(ast.dump(one) == ast.dump(other) or _has_more_entries(one, other) for one, other in growing)


def _has_more_entries(before: ast.expr, now: ast.expr) -> bool:
    """All entries of before, in their order, and others."""
    if isinstance(before, ast.Call) and isinstance(now, ast.Call):
        known = ast.unparse(before.func) == ast.unparse(now.func) and ast.unparse(before.func) in _CONTAINER_CALLS
        single = len(before.args) == len(now.args) == 1 and not (before.keywords or now.keywords)
        return known and single and _has_more_entries(before.args[0], now.args[0])
    if isinstance(before, ast.Dict) and isinstance(now, ast.Dict):
        return _is_subsequence(_dump_pairs(before), _dump_pairs(now)) and _has_each_key_once(now)
    if type(before) is type(now) and isinstance(before, _CONTAINERS) and isinstance(now, _CONTAINERS):
        return _is_subsequence([ast.dump(one) for one in before.elts], [ast.dump(one) for one in now.elts])
    return False


def _dump_pairs(node: ast.Dict) -> list[str]:
    return [f"{ast.dump(key) if key else '**'}: {ast.dump(value)}" for key, value in zip(node.keys, node.values, strict=True)]


def _has_each_key_once(node: ast.Dict) -> bool:
    """A key that comes twice, or that another mapping brings, would replace an entry."""
    keys = [ast.dump(key) for key in node.keys if key]
    return len({*keys}) == len(node.keys)


def _is_subsequence(few: Sequence[str], many: Sequence[str]) -> bool:
    rest = iter(many)
    return all(one in rest for one in few)


def is_extended_anywhere(before: ast.AST, now: ast.AST) -> bool:
    """Whether two statements differ only by entries more in their literals, at any depth: what is expected may change by that."""
    if type(before) is not type(now):
        return False
    if isinstance(before, ast.expr) and isinstance(now, ast.expr) and _has_more_entries(before, now):
        return True
    return all(_is_same_or_extended(getattr(before, name, None), getattr(now, name, None)) for name in before._fields)


def _is_same_or_extended(before: object, now: object) -> bool:
    if isinstance(before, list) and isinstance(now, list):
        pair = [*zip(before, now, strict=False)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return len(before) == len(now) and all(_is_same_or_extended(one, other) for one, other in pair)  # pyright: ignore
    if isinstance(before, ast.AST) and isinstance(now, ast.AST):
        return ast.dump(before) == ast.dump(now) or is_extended_anywhere(before, now)
    return before == now
