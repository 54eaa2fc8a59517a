"""Liveness: which names are needed after each statement of a function, and which a handler would see if the statement raised."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from afresh.code.complexity import LoopNode, TryNode, is_irrefutable
from afresh.code.refactoring.name_usage import NameSet, collect_name_uses, collect_names_bound_if_true, list_header_parts

NO_NAMES: NameSet = frozenset()
SUPPRESSING_WORDS = ("suppress", "raises", "ignore", "catch", "swallow")


@dataclass(frozen=True, slots=True)
class ExitLiveness:
    """Names needed where control goes when it does not continue with the next statement."""

    breaks: NameSet = NO_NAMES
    continues: NameSet = NO_NAMES
    returns: NameSet = NO_NAMES
    raises: NameSet = NO_NAMES


@dataclass(slots=True)
class Liveness:
    after: dict[ast.stmt, NameSet] = field(default_factory=dict[ast.stmt, NameSet])
    raised: dict[ast.stmt, NameSet] = field(default_factory=dict[ast.stmt, NameSet])

    def block(self, statements: list[ast.stmt], out: NameSet, exits: ExitLiveness) -> NameSet:
        """Return the names needed before the statements, given those needed after them."""
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
                name_uses = collect_name_uses(statement.test)
                return then | name_uses.reads | (self.block(statement.orelse, out, exits) - name_uses.surely)
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
        name_uses = collect_name_uses(statement)
        match statement:
            case ast.Return():
                return exits.returns | name_uses.reads
            case ast.Raise():
                return exits.raises | name_uses.reads
            case ast.Break():
                return exits.breaks
            case ast.Continue():
                return exits.continues
            case _:
                return (out - name_uses.surely) | name_uses.reads

    def _loop(self, loop: LoopNode, out: NameSet, exits: ExitLiveness) -> NameSet:
        name_uses = collect_name_uses(loop.test) if isinstance(loop, ast.While) else collect_name_uses(loop.target)
        ends = NO_NAMES if is_endless_loop(loop) else self.block(loop.orelse, out, exits)
        top: NameSet = NO_NAMES
        while True:
            inside = replace(exits, breaks=out, continues=top)
            before = name_uses.reads | ends | (self.block(loop.body, top, inside) - name_uses.surely)
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
        name_uses = collect_name_uses(*list_header_parts(node))
        if can_suppress_exceptions(node):
            exits = replace(exits, raises=exits.raises | out)
        return (self.block(node.body, out, exits) - name_uses.surely) | name_uses.reads

    def _match(self, node: ast.Match, out: NameSet, exits: ExitLiveness) -> NameSet:
        live = NO_NAMES if is_irrefutable(node.cases[-1]) else out
        for case in node.cases:
            name_uses = collect_name_uses(case.pattern, case.guard)
            live |= name_uses.reads | (self.block(case.body, out, exits) - name_uses.surely)
        return live | collect_name_uses(node.subject).reads


def find_needed_names(statements: list[ast.stmt]) -> NameSet:
    """Return the names that the statements read before they bind them."""
    return Liveness().block(statements, NO_NAMES, ExitLiveness())


def is_endless_loop(loop: LoopNode) -> bool:
    return isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and bool(loop.test.value)


def can_suppress_exceptions(node: ast.With | ast.AsyncWith) -> bool:
    """Whether a context manager may suppress exceptions, so that code after it can see names that are half bound inside."""
    words = " ".join(ast.unparse(item.context_expr).lower() for item in node.items)
    return any(word in words for word in SUPPRESSING_WORDS)


NamesIfReached = NameSet | None
"""Definitely bound names, or None where control cannot arrive."""


def intersect_reached(one: NamesIfReached, other: NamesIfReached) -> NamesIfReached:
    if one is None or other is None:
        return other if one is None else one
    return one & other


@dataclass(slots=True)
class DefiniteAssignment:
    before: dict[ast.stmt, NamesIfReached] = field(default_factory=dict[ast.stmt, NamesIfReached])
    _breaks: list[list[NamesIfReached]] = field(default_factory=list[list[NamesIfReached]])

    def block(self, statements: Iterable[ast.stmt], known: NamesIfReached) -> NamesIfReached:
        """Return the names definitely bound after the statements; None if they never end normally."""
        for statement in statements:
            self.before[statement] = known
            if known is not None:
                known = self._statement(statement, known)
        return known

    def _statement(self, statement: ast.stmt, known: NameSet) -> NamesIfReached:
        match statement:
            case ast.If():
                then = self.block(statement.body, known | collect_names_bound_if_true(statement.test))
                return intersect_reached(then, self.block(statement.orelse, known | collect_name_uses(statement.test).surely))
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(statement, known)
            case ast.Try() | ast.TryStar():
                return self._try(statement, known)
            case ast.With() | ast.AsyncWith():
                after = self.block(statement.body, known | collect_name_uses(*list_header_parts(statement)).surely)
                return intersect_reached(after, known) if can_suppress_exceptions(statement) else after
            case ast.Match():
                return self._match(statement, known)
            case _:
                return self._simple(statement, known)

    def _simple(self, statement: ast.stmt, known: NameSet) -> NamesIfReached:
        if isinstance(statement, ast.Break) and self._breaks:
            self._breaks[-1].append(known)
        if isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break):
            return None
        if isinstance(statement, ast.Delete):
            return known - {target.id for target in statement.targets if isinstance(target, ast.Name)}
        return known | collect_name_uses(statement).surely

    def _loop(self, loop: LoopNode, known: NameSet) -> NamesIfReached:
        test = loop.test if isinstance(loop, ast.While) else loop.iter
        known |= collect_name_uses(test).surely
        inside = known | (
            collect_names_bound_if_true(test) if isinstance(loop, ast.While) else collect_name_uses(loop.target).surely
        )
        self._breaks.append([])
        self.block(loop.body, inside)
        breaks = self._breaks.pop()
        after: NamesIfReached = None if is_endless_loop(loop) else self.block(loop.orelse, known)
        for broken in breaks:
            after = intersect_reached(after, broken)
        return after

    def _try(self, node: TryNode, known: NameSet) -> NamesIfReached:
        after = self.block(node.orelse, self.block(node.body, known))
        for handler in node.handlers:
            caught = self.block(handler.body, known | ({handler.name} if handler.name else set()))
            after = intersect_reached(after, None if caught is None else caught - {handler.name or ""})
        final = self.block(node.finalbody, known)
        return None if after is None or final is None else after | final

    def _match(self, node: ast.Match, known: NameSet) -> NamesIfReached:
        known |= collect_name_uses(node.subject).surely
        after: NamesIfReached = None if is_irrefutable(node.cases[-1]) else known
        for case in node.cases:
            after = intersect_reached(after, self.block(case.body, known | collect_name_uses(case.pattern, case.guard).surely))
        return after
