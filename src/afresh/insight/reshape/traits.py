"""What a statement holds that matters when it is to be moved, worked out once for each."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from afresh.insight.complexity import LoopNode
from afresh.insight.reshape.names import ComprehensionNode, ScopeNode, walk_own_scope

STACK_INSPECTING_NAMES = {"_getframe", "currentframe", "getouterframes", "extract_stack", "format_stack", "print_stack", "f_back"}
"""Where code is called from counts for these, and for every `stacklevel`."""
JumpNode = ast.Break | ast.Continue


@dataclass(frozen=True, slots=True)
class StatementTraits:
    returns: tuple[ast.Return, ...]
    jumps: tuple[JumpNode, ...]
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


def combine_traits(statements: Sequence[ast.stmt]) -> StatementTraits:
    each = [_measure_traits(statement) for statement in statements]
    return StatementTraits(
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
def _measure_traits(statement: ast.stmt) -> StatementTraits:
    nodes = list(walk_own_scope([statement]))
    rebinds = any(isinstance(node, ast.Nonlocal) for node in ast.walk(statement))
    return StatementTraits(
        tuple(node for node in nodes if isinstance(node, ast.Return)),
        tuple(_find_outward_jumps(statement)),
        tuple(sorted((node for node in nodes if isinstance(node, ast.Name)), key=lambda name: (name.lineno, name.col_offset))),
        any(isinstance(node, ast.Raise) for node in nodes),
        any(map(_is_async_node, nodes)),
        any(map(_is_bound_to_function, nodes)) or rebinds,
        any(_is_bound_to_function(node) for node in nodes if not isinstance(node, ast.Yield | ast.YieldFrom)) or rebinds,
        any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes),
        any(_needs_class_scope(node) for node in ast.walk(statement)),
    )


def _find_outward_jumps(statement: ast.stmt) -> list[JumpNode]:
    found: list[JumpNode] = []
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, JumpNode):
            found.append(node)
        elif isinstance(node, LoopNode):
            pending.extend(node.orelse)
        elif not isinstance(node, ScopeNode | ast.expr):
            pending.extend(ast.iter_child_nodes(node))
    return found


def _is_async_node(node: ast.AST) -> bool:
    if isinstance(node, ComprehensionNode):
        return any(part.is_async for part in node.generators)
    return isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith)


def _is_bound_to_function(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return isinstance(node.ctx, ast.Del) or node.id in STACK_INSPECTING_NAMES
    if isinstance(node, ast.Attribute):
        return node.attr in STACK_INSPECTING_NAMES
    if isinstance(node, ast.keyword):
        return node.arg == "stacklevel"
    return isinstance(node, ast.Yield | ast.YieldFrom | ast.Global | ast.Nonlocal)


def _needs_class_scope(node: ast.AST) -> bool:
    if isinstance(node, ast.Name) and node.id in ("super", "__class__"):
        return True
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return name.startswith("__") and not name.endswith("__")
