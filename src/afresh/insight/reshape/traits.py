"""What a statement holds that matters when it is to be moved, worked out once for each."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from afresh.insight.complexity import Loop
from afresh.insight.reshape.names import Comprehension, Scope, own_nodes

LOOKS_AT_STACK = {"_getframe", "currentframe", "getouterframes", "extract_stack", "format_stack", "print_stack", "f_back"}
"""Where code is called from counts for these, and for every `stacklevel`."""
Jump = ast.Break | ast.Continue


@dataclass(frozen=True, slots=True)
class Traits:
    returns: tuple[ast.Return, ...]
    jumps: tuple[Jump, ...]
    """Those that aim at a loop outside."""
    names: tuple[ast.Name, ...]
    raises: bool
    waits: bool
    """Needs an async function."""
    fixed: bool
    """Yields, declares or deletes names, or looks at the call stack: it means something else in another function."""
    stuck: bool
    """The same without yields, which a generator can pass on."""
    yields: bool
    in_class: bool
    """Uses `super()` or a name that only means something inside its class."""


def traits(statements: Sequence[ast.stmt]) -> Traits:
    each = [_traits(statement) for statement in statements]
    return Traits(
        tuple(one for found in each for one in found.returns),
        tuple(one for found in each for one in found.jumps),
        tuple(one for found in each for one in found.names),
        any(found.raises for found in each),
        any(found.waits for found in each),
        any(found.fixed for found in each),
        any(found.stuck for found in each),
        any(found.yields for found in each),
        any(found.in_class for found in each),
    )


@lru_cache(maxsize=1 << 12)
def _traits(statement: ast.stmt) -> Traits:
    nodes = list(own_nodes([statement]))
    rebinds = any(isinstance(node, ast.Nonlocal) for node in ast.walk(statement))
    return Traits(
        tuple(node for node in nodes if isinstance(node, ast.Return)),
        tuple(_escaping(statement)),
        tuple(sorted((node for node in nodes if isinstance(node, ast.Name)), key=lambda name: (name.lineno, name.col_offset))),
        any(isinstance(node, ast.Raise) for node in nodes),
        any(map(_waits, nodes)),
        any(map(_fixed, nodes)) or rebinds,
        any(_fixed(node) for node in nodes if not isinstance(node, ast.Yield | ast.YieldFrom)) or rebinds,
        any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes),
        any(_private(node) for node in ast.walk(statement)),
    )


def _escaping(statement: ast.stmt) -> list[Jump]:
    found: list[Jump] = []
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, Jump):
            found.append(node)
        elif isinstance(node, Loop):
            pending.extend(node.orelse)
        elif not isinstance(node, Scope | ast.expr):
            pending.extend(ast.iter_child_nodes(node))
    return found


def _waits(node: ast.AST) -> bool:
    if isinstance(node, Comprehension):
        return any(part.is_async for part in node.generators)
    return isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith)


def _fixed(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return isinstance(node.ctx, ast.Del) or node.id in LOOKS_AT_STACK
    if isinstance(node, ast.Attribute):
        return node.attr in LOOKS_AT_STACK
    if isinstance(node, ast.keyword):
        return node.arg == "stacklevel"
    return isinstance(node, ast.Yield | ast.YieldFrom | ast.Global | ast.Nonlocal)


def _private(node: ast.AST) -> bool:
    if isinstance(node, ast.Name) and node.id in ("super", "__class__"):
        return True
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return name.startswith("__") and not name.endswith("__")
