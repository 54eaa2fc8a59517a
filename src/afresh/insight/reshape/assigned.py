"""Which names are certainly bound before each statement of a function."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from afresh.insight.complexity import Loop, Try, irrefutable
from afresh.insight.reshape.liveness import endless, suppresses
from afresh.insight.reshape.names import Names, header, uses, when_true

Reached = Names | None
"""Certainly bound names, or None where control cannot come."""


def both(one: Reached, other: Reached) -> Reached:
    if one is None or other is None:
        return other if one is None else one
    return one & other


@dataclass(slots=True)
class Assigned:
    before: dict[ast.stmt, Reached] = field(default_factory=dict[ast.stmt, Reached])
    _breaks: list[list[Reached]] = field(default_factory=list[list[Reached]])

    def block(self, statements: Iterable[ast.stmt], known: Reached) -> Reached:
        """Names certainly bound after the statements; None if they never end normally."""
        for statement in statements:
            self.before[statement] = known
            if known is not None:
                known = self._statement(statement, known)
        return known

    def _statement(self, statement: ast.stmt, known: Names) -> Reached:
        match statement:
            case ast.If():
                then = self.block(statement.body, known | when_true(statement.test))
                return both(then, self.block(statement.orelse, known | uses(statement.test).surely))
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(statement, known)
            case ast.Try() | ast.TryStar():
                return self._try(statement, known)
            case ast.With() | ast.AsyncWith():
                after = self.block(statement.body, known | uses(*header(statement)).surely)
                return both(after, known) if suppresses(statement) else after
            case ast.Match():
                return self._match(statement, known)
            case _:
                return self._simple(statement, known)

    def _simple(self, statement: ast.stmt, known: Names) -> Reached:
        if isinstance(statement, ast.Break) and self._breaks:
            self._breaks[-1].append(known)
        if isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break):
            return None
        if isinstance(statement, ast.Delete):
            return known - {target.id for target in statement.targets if isinstance(target, ast.Name)}
        return known | uses(statement).surely

    def _loop(self, loop: Loop, known: Names) -> Reached:
        test = loop.test if isinstance(loop, ast.While) else loop.iter
        known |= uses(test).surely
        inside = known | (when_true(test) if isinstance(loop, ast.While) else uses(loop.target).surely)
        self._breaks.append([])
        self.block(loop.body, inside)
        breaks = self._breaks.pop()
        after: Reached = None if endless(loop) else self.block(loop.orelse, known)
        for broken in breaks:
            after = both(after, broken)
        return after

    def _try(self, node: Try, known: Names) -> Reached:
        after = self.block(node.orelse, self.block(node.body, known))
        for handler in node.handlers:
            caught = self.block(handler.body, known | ({handler.name} if handler.name else set()))
            after = both(after, None if caught is None else caught - {handler.name or ""})
        final = self.block(node.finalbody, known)
        return None if after is None or final is None else after | final

    def _match(self, node: ast.Match, known: Names) -> Reached:
        known |= uses(node.subject).surely
        after: Reached = None if irrefutable(node.cases[-1]) else known
        for case in node.cases:
            after = both(after, self.block(case.body, known | uses(case.pattern, case.guard).surely))
        return after
