"""Decides whether a block can be extracted without changing what the function does, and with which parameters and results."""

import ast
from dataclasses import dataclass
from enum import StrEnum

from afresh.code.refactoring.blocks import StatementBlock, StatementTraits, combine_traits
from afresh.code.refactoring.call_stack import calls_any_of
from afresh.code.refactoring.data_flow import DefiniteAssignment, find_needed_names
from afresh.code.refactoring.function_flow import FunctionFlow
from afresh.code.refactoring.name_usage import NameSet, collect_bound_names


class ExtractionShape(StrEnum):
    """How control returns from the new function."""

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
    host: FunctionFlow
    block: StatementBlock
    shape: ExtractionShape
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    waits: bool
    """Whether it contains an `await`, so that the new function is async."""
    yields: bool = False
    """Whether it contains a `yield`, so that the new function is a generator whose values are passed on."""


def plan_extraction(host: FunctionFlow, block: StatementBlock) -> Extraction | None:
    traits = combine_traits(block.statements)
    shape = _choose_shape(block, traits)
    if (
        shape is None
        or not _can_move_block(host, block, traits)
        or (traits.yields and not _can_pass_yields_on(host, traits, shape))
    ):
        return None
    bound = collect_bound_names(block.statements)
    results = frozenset[str]() if shape is ExtractionShape.RETURN else bound & host.liveness.after[block.statements[-1]]
    seen_when_raising = bound & host.liveness.raised[block.statements[0]]
    if seen_when_raising or (shape is ExtractionShape.MAYBE and results) or host.lost_without(block, bound - results):
        return None
    if _frees_values_of_host(host, block, traits, results):
        return None
    surely = DefiniteAssignment().block(block.statements, frozenset()) if shape is ExtractionShape.CALL else None
    needed = _find_parameters(host, block, results - (surely or frozenset()))
    if needed is None:
        return None
    return Extraction(
        host, block, shape, _order_parameters(host, traits, needed), _order_results(traits, results), traits.waits, traits.yields
    )


def _frees_values_of_host(host: FunctionFlow, block: StatementBlock, traits: StatementTraits, results: NameSet) -> bool:
    """Whether it sets a name to None so that the value of the function is freed: in another function it would free nothing."""
    nodes = [node for statement in block.statements for node in ast.walk(statement) if isinstance(node, ast.Assign)]
    emptied = [node for node in nodes if isinstance(node.value, ast.Constant) and node.value.value is None]
    names = {target.id for node in emptied for target in node.targets if isinstance(target, ast.Name)} - results
    names -= {node.id for node in traits.names if isinstance(node.ctx, ast.Load)}
    lines = range(block.first_line, block.last_line + 1)
    return any(line not in lines for name in names for line in host.bindings.get(name, []))


def explain_obstacle(host: FunctionFlow, block: StatementBlock) -> str:
    """Return why a block can't be extracted, in words."""
    traits = combine_traits(block.statements)
    if traits.stuck:
        return "pieces delete or declare names, or look at the call stack"
    if _choose_shape(block, traits) is None:
        return "pieces break out of a loop or may return from the middle"
    if calls_any_of(block.statements, host.frame_sensitive):
        return "pieces call the function again, or a function that looks at its callers"
    if host.unsafe:
        return "the function looks at its own variables by name"
    bound = collect_bound_names(block.statements)
    if bound & host.declared or not _closures_agree(host, block, bound):
        return "nested functions watch the variables of the pieces"
    return "pieces need names that may be unbound, or bind names that a handler sees"


def _can_move_block(host: FunctionFlow, block: StatementBlock, traits: StatementTraits) -> bool:
    reached = host.assigned.before.get(block.statements[0]) is not None and block.statements[-1] in host.liveness.after
    if not reached or traits.stuck or host.unsafe or (host.is_generator and any(node.value for node in traits.returns)):
        return False
    bound = collect_bound_names(block.statements)
    sensitive = calls_any_of(block.statements, host.frame_sensitive)
    return not sensitive and not bound & host.declared and _closures_agree(host, block, bound)


def _can_pass_yields_on(host: FunctionFlow, traits: StatementTraits, shape: ExtractionShape) -> bool:
    """Whether `yield from` can pass on the block's values, `send` and `throw`; async generators have no such statement."""
    return (
        isinstance(host.node, ast.FunctionDef)
        and not traits.waits
        and not traits.returns
        and shape in (ExtractionShape.CALL, ExtractionShape.CONTINUE)
    )


def _find_parameters(host: FunctionFlow, block: StatementBlock, passed_through: NameSet) -> NameSet | None:
    """Return the names to pass in; None if one of them may be unbound at that point."""
    wanted = find_needed_names(block.statements)
    local = (wanted & host.names) | passed_through
    outer = wanted & (host.all_outer - host.names)
    known = host.assigned.before.get(block.statements[0])
    if known is None or not local <= known or not outer <= host.outer or (local | outer) & host.unsteady:
        return None
    return local | outer


def _choose_shape(block: StatementBlock, traits: StatementTraits) -> ExtractionShape | None:
    if any(isinstance(jump, ast.Break) for jump in traits.jumps) or (traits.returns and traits.jumps):
        return None
    if traits.jumps:
        return ExtractionShape.CONTINUE if block.at_end and block.place.ends_loop else None
    if not traits.returns:
        return ExtractionShape.CALL
    completes = DefiniteAssignment().block(block.statements, frozenset()) is not None
    if not completes or (block.at_end and block.place.ends_function):
        return ExtractionShape.RETURN
    return ExtractionShape.MAYBE if all(is_never_none(node.value) for node in traits.returns) else None


def is_never_none(value: ast.expr | None) -> bool:
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
            return is_never_none(value.body) and is_never_none(value.orelse)
        case _:
            return False


def _closures_agree(host: FunctionFlow, block: StatementBlock, bound: NameSet) -> bool:
    """Whether all closures keep seeing the same variables: none outside may use what the block binds, none inside what changes
    later.
    """
    loops = host.loops_around(block)
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


def _order_parameters(host: FunctionFlow, traits: StatementTraits, needed: NameSet) -> tuple[str, ...]:
    """Return `self` or `cls` first, then the function's arguments in their order, then other names by first use."""
    order = [name for name in ("self", "cls") if name in needed]
    order += [name for name in host.arguments if name in needed] + [node.id for node in traits.names if node.id in needed]
    return tuple(dict.fromkeys([*order, *sorted(needed)]))


def _order_results(traits: StatementTraits, results: NameSet) -> tuple[str, ...]:
    return tuple(dict.fromkeys([node.id for node in traits.names if node.id in results] + sorted(results)))
