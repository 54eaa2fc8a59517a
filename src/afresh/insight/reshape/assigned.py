"""Which names are certainly bound before each statement of a function."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from afresh.insight.complexity import LoopNode, TryNode, is_irrefutable
from afresh.insight.reshape.liveness import is_endless_loop, can_suppress_exceptions
from afresh.insight.reshape.names import NameSet, list_header_parts, collect_name_uses, collect_names_bound_if_true

NamesIfReached = NameSet | None
"""Certainly bound names, or None where control cannot come."""


def intersect_reached(one: NamesIfReached, other: NamesIfReached) -> NamesIfReached:
    if one is None or other is None:
        return other if one is None else one
    return one & other


@dataclass(slots=True)
class DefiniteAssignment:
    before: dict[ast.stmt, NamesIfReached] = field(default_factory=dict[ast.stmt, NamesIfReached])
    _breaks: list[list[NamesIfReached]] = field(default_factory=list[list[NamesIfReached]])

    def block(self, statements: Iterable[ast.stmt], known: NamesIfReached) -> NamesIfReached:
        """Names certainly bound after the statements; None if they never end normally."""
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
