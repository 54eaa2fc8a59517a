"""Which names are still needed after each statement of a function, and which a handler would see if the statement raised."""

import ast
from dataclasses import dataclass, field, replace

from afresh.insight.complexity import LoopNode, TryNode, is_irrefutable
from afresh.insight.reshape.names import NameSet, list_header_parts, collect_name_uses, collect_names_bound_if_true

NO_NAMES: NameSet = frozenset()
SUPPRESSING_WORDS = ("suppress", "raises", "ignore", "catch", "swallow")


@dataclass(frozen=True, slots=True)
class ExitLiveness:
    """Names needed where control goes when it does not go on to the next statement."""

    breaks: NameSet = NO_NAMES
    continues: NameSet = NO_NAMES
    returns: NameSet = NO_NAMES
    raises: NameSet = NO_NAMES


@dataclass(slots=True)
class Liveness:
    after: dict[ast.stmt, NameSet] = field(default_factory=dict[ast.stmt, NameSet])
    raised: dict[ast.stmt, NameSet] = field(default_factory=dict[ast.stmt, NameSet])

    def block(self, statements: list[ast.stmt], out: NameSet, exits: ExitLiveness) -> NameSet:
        """Names needed before the statements, given those needed after them."""
        live = out
        for statement in reversed(statements):
            self.after[statement] = self.after.get(statement, NO_NAMES) | live
            self.raised[statement] = self.raised.get(statement, NO_NAMES) | exits.raises
            live = self._statement(statement, live, exits) | exits.raises
        return live

    def _statement(self, statement: ast.stmt, out: NameSet, exits: ExitLiveness) -> NameSet:
        match statement:
            case ast.If():
                then = self.block(statement.body, out, exits) - collect_names_bound_if_true(statement.test)
                found = collect_name_uses(statement.test)
                return then | found.reads | (self.block(statement.orelse, out, exits) - found.surely)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(statement, out, exits)
            case ast.Try() | ast.TryStar():
                return self._try(statement, out, exits)
            case ast.With() | ast.AsyncWith():
                return self._with(statement, out, exits)
            case ast.Match():
                return self._match(statement, out, exits)
            case _:
                return self._simple(statement, out, exits)

    def _simple(self, statement: ast.stmt, out: NameSet, exits: ExitLiveness) -> NameSet:
        found = collect_name_uses(statement)
        match statement:
            case ast.Return():
                return exits.returns | found.reads
            case ast.Raise():
                return exits.raises | found.reads
            case ast.Break():
                return exits.breaks
            case ast.Continue():
                return exits.continues
            case _:
                return (out - found.surely) | found.reads

    def _loop(self, loop: LoopNode, out: NameSet, exits: ExitLiveness) -> NameSet:
        found = collect_name_uses(loop.test) if isinstance(loop, ast.While) else collect_name_uses(loop.target)
        ends = NO_NAMES if is_endless_loop(loop) else self.block(loop.orelse, out, exits)
        top: NameSet = NO_NAMES
        while True:
            inside = replace(exits, breaks=out, continues=top)
            before = found.reads | ends | (self.block(loop.body, top, inside) - found.surely)
            if before == top:
                break
            top = top | before
        return top if isinstance(loop, ast.While) else top | collect_name_uses(loop.iter).reads

    def _try(self, node: TryNode, out: NameSet, exits: ExitLiveness) -> NameSet:
        if node.finalbody:
            anywhere = out | exits.breaks | exits.continues | exits.returns | exits.raises
            out = self.block(node.finalbody, anywhere, exits)
            exits = ExitLiveness(out, out, out, out)
        caught = exits.raises
        for handler in node.handlers:
            caught |= collect_name_uses(handler.type).reads | (self.block(handler.body, out, exits) - {handler.name or ""})
        orelse = self.block(node.orelse, out, exits)
        return self.block(node.body, orelse, replace(exits, raises=caught))

    def _with(self, node: ast.With | ast.AsyncWith, out: NameSet, exits: ExitLiveness) -> NameSet:
        found = collect_name_uses(*list_header_parts(node))
        if can_suppress_exceptions(node):
            exits = replace(exits, raises=exits.raises | out)
        return (self.block(node.body, out, exits) - found.surely) | found.reads

    def _match(self, node: ast.Match, out: NameSet, exits: ExitLiveness) -> NameSet:
        live = NO_NAMES if is_irrefutable(node.cases[-1]) else out
        for case in node.cases:
            found = collect_name_uses(case.pattern, case.guard)
            live |= found.reads | (self.block(case.body, out, exits) - found.surely)
        return live | collect_name_uses(node.subject).reads


def find_needed_names(statements: list[ast.stmt]) -> NameSet:
    """Names that the statements read before they bind them."""
    return Liveness().block(statements, NO_NAMES, ExitLiveness())


def is_endless_loop(loop: LoopNode) -> bool:
    return isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and bool(loop.test.value)


def can_suppress_exceptions(node: ast.With | ast.AsyncWith) -> bool:
    """Whether a context manager looks as if it swallowed exceptions, so that names half bound inside can be seen after it."""
    words = " ".join(ast.unparse(item.context_expr).lower() for item in node.items)
    return any(word in words for word in SUPPRESSING_WORDS)
