"""Does a changed test still do all that it did, and only check more? Then it is not weakened."""

import ast
import re
from collections.abc import Sequence

_ASSERTING_CALL = re.compile(r"(?:^|\.)(?:assert\w+|raises|warns|subTest)$")
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Loop = ast.For | ast.AsyncFor
_Block = ast.With | ast.AsyncWith | ast.If


def is_strengthened(before: ast.stmt, now: ast.stmt) -> bool:
    """Whether every statement of the test is there, in its place, and all that is new are checks, names for them, and entries
    more in a list that a loop goes through."""
    if not isinstance(before, _Function) or not isinstance(now, type(before)) or not before.name.startswith("test"):
        return False
    known = {node.id for node in ast.walk(before) if isinstance(node, ast.Name)}
    return _dump_head(before) == _dump_head(now) and _keeps_all(before.body, now.body, known)


def _dump_head(function: _Function) -> str:
    return ast.dump(function.args) + "".join(ast.dump(one) for one in function.decorator_list)


def _keeps_all(before: Sequence[ast.stmt], now: Sequence[ast.stmt], known: set[str]) -> bool:
    """In the same order; `known` are names that the test uses, which may get no other value."""
    kept = 0
    for statement in now:
        if kept < len(before) and _keeps(before[kept], statement, known):
            kept += 1
        elif not _only_checks(statement, known):
            return False
    return kept == len(before)


def _keeps(before: ast.stmt, now: ast.stmt, known: set[str]) -> bool:
    if ast.dump(before) == ast.dump(now):
        return True
    if isinstance(before, _Loop) and isinstance(now, type(before)):
        same = ast.dump(before.target) == ast.dump(now.target) and not before.orelse and not now.orelse
        return same and _has_more_entries(before.iter, now.iter) and _keeps_all(before.body, now.body, known)
    if isinstance(before, _Block) and isinstance(now, type(before)):
        return _dump_block_head(before) == _dump_block_head(now) and _keeps_all(before.body, now.body, known)
    return False


def _dump_block_head(block: _Block) -> str:
    if isinstance(block, ast.If):
        return ast.dump(block.test) + "".join(ast.dump(one) for one in block.orelse)
    return "".join(ast.dump(item) for item in block.items)


def _has_more_entries(before: ast.expr, now: ast.expr) -> bool:
    if ast.dump(before) == ast.dump(now):
        return True
    if not isinstance(before, ast.List | ast.Tuple) or not isinstance(now, type(before)):
        return False
    rest = iter([ast.dump(entry) for entry in now.elts])
    return all(ast.dump(entry) in rest for entry in before.elts)


def _only_checks(statement: ast.stmt, known: set[str]) -> bool:
    """An assertion, a block of them, or a new name for a value."""
    if isinstance(statement, ast.Assert):
        return True
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call) and bool(_ASSERTING_CALL.search(ast.unparse(statement.value.func)))
    if isinstance(statement, ast.With):
        calls = [item.context_expr for item in statement.items]
        checks = all(isinstance(one, ast.Call) and _ASSERTING_CALL.search(ast.unparse(one.func)) for one in calls)
        return checks and all(isinstance(one, ast.Expr) or _only_checks(one, known) for one in statement.body)
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Name) and target.id not in known for target in statement.targets)
    return False
