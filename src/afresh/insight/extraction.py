"""Whether a block can leave its function without changing what the function does, and with which parameters and results."""

import ast
from dataclasses import dataclass
from enum import StrEnum

from afresh.insight.assigned import Assigned
from afresh.insight.blocks import Block, loops_around
from afresh.insight.complexity import Loop
from afresh.insight.host import Host
from afresh.insight.liveness import needed_by
from afresh.insight.names import Comprehension, Names, Scope, bound_in, own_nodes


class Shape(StrEnum):
    """How control comes back from the new function."""

    CALL = "call"
    """It falls through; results are assigned."""
    RETURN = "return"
    """It ends the function: `return helper(…)`."""
    CONTINUE = "continue"
    """It is the rest of a loop's body: `continue` becomes `return`."""
    MAYBE = "maybe"
    """It may end the function, with a value that is never None."""


@dataclass(frozen=True, slots=True, eq=False)
class Extraction:
    host: Host
    block: Block
    shape: Shape
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    waits: bool
    """Holds an `await`, so the new function is async."""


def extraction(host: Host, block: Block) -> Extraction | None:
    nodes = list(own_nodes(block.statements))
    shape = _shape(host, block, nodes)
    if shape is None or _forbidden(host, nodes):
        return None
    bound = bound_in(block.statements)
    if bound & host.declared:
        return None
    results = frozenset() if shape is Shape.RETURN else bound & host.liveness.after[block.statements[-1]]
    if bound & host.liveness.raised[block.statements[0]] or not _closures_agree(host, block, bound):
        return None
    surely = Assigned().block(block.statements, frozenset())
    kept = surely if surely is not None and shape is Shape.CALL else frozenset[str]()
    needed = _needed(host, block, results - kept)
    if needed is None or (shape is Shape.MAYBE and results):
        return None
    if shape is Shape.RETURN and not _plain_end(nodes) and host.is_generator:
        return None
    waits = any(_waits(node) for node in nodes)
    return Extraction(host, block, shape, _ordered(host, nodes, needed), _in_order_of_binding(nodes, results), waits)


def _needed(host: Host, block: Block, passed_through: Names) -> Names | None:
    """Names to hand in; None if one of them may be unbound at that point."""
    wanted = needed_by(block.statements)
    local = (wanted & host.names) | passed_through
    outer = wanted & (host.all_outer - host.names)
    known = host.assigned.before[block.statements[0]]
    if known is None or not local <= known or not outer <= host.outer or (local | outer) & host.unsteady:
        return None
    return local | outer


def _shape(host: Host, block: Block, nodes: list[ast.AST]) -> Shape | None:
    returns = [node for node in nodes if isinstance(node, ast.Return)]
    jumps = escaping(block.statements)
    if any(isinstance(jump, ast.Break) for jump in jumps) or (returns and jumps):
        return None
    if jumps:
        return Shape.CONTINUE if block.at_end and block.place.ends_loop else None
    if not returns:
        return Shape.CALL
    completes = Assigned().block(block.statements, frozenset()) is not None
    if not completes or (block.at_end and block.place.ends_function):
        return Shape.RETURN
    return Shape.MAYBE if all(never_none(node.value) for node in returns) else None


def escaping(statements: list[ast.stmt]) -> list[ast.Break | ast.Continue]:
    """Jumps that aim at a loop outside the statements."""
    found: list[ast.Break | ast.Continue] = []
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Break | ast.Continue):
            found.append(node)
        elif isinstance(node, Loop):
            pending.extend(node.orelse)
        elif not isinstance(node, Scope | ast.expr):
            pending.extend(ast.iter_child_nodes(node))
    return found


def never_none(value: ast.expr | None) -> bool:
    match value:
        case ast.Constant():
            return value.value is not None
        case ast.JoinedStr() | ast.List() | ast.Tuple() | ast.Dict() | ast.Set() | ast.Lambda():
            return True
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return True
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.IfExp():
            return never_none(value.body) and never_none(value.orelse)
        case _:
            return False


def _forbidden(host: Host, nodes: list[ast.AST]) -> bool:
    if host.unsafe:
        return True
    for node in nodes:
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Global | ast.Nonlocal):
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
            return True
    return False


def _closures_agree(host: Host, block: Block, bound: Names) -> bool:
    """A closure must go on seeing the same variable: none outside may watch what the block binds, none inside what changes later."""
    loops = loops_around(host.node, block)
    for closure in host.closures:
        if not closure.inside(block):
            if closure.names & bound:
                return False
            continue
        for name in closure.names:
            outside = [line for line in host.bindings.get(name, []) if not block.first_line <= line <= block.last_line]
            moving = any(line > block.last_line or any(loop.lineno <= line for loop in loops) for line in outside)
            if moving or (name in bound and outside):
                return False
    return True


def _waits(node: ast.AST) -> bool:
    if isinstance(node, Comprehension):
        return any(part.is_async for part in node.generators)
    return isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith)


def _plain_end(nodes: list[ast.AST]) -> bool:
    return all(node.value is None for node in nodes if isinstance(node, ast.Return))


def _ordered(host: Host, nodes: list[ast.AST], needed: Names) -> tuple[str, ...]:
    """The function's own arguments first, in their order, then by first use."""
    seen = sorted((node.lineno, node.col_offset, node.id) for node in nodes if isinstance(node, ast.Name))
    order = [name for name in host.arguments if name in needed] + [name for _, _, name in seen if name in needed]
    return tuple(dict.fromkeys([*order, *sorted(needed)]))


def _in_order_of_binding(nodes: list[ast.AST], results: Names) -> tuple[str, ...]:
    places = [(node.lineno, node.col_offset, node.id) for node in nodes if isinstance(node, ast.Name)]
    return tuple(dict.fromkeys([name for _, _, name in sorted(places) if name in results] + sorted(results)))
