"""Which names are still needed after each statement of a function, and which a handler would see if the statement raised."""

import ast
from dataclasses import dataclass, field, replace

from afresh.insight.complexity import Loop, Try, irrefutable
from afresh.insight.reshape.names import Names, header, uses, when_true

NONE: Names = frozenset()
SUPPRESSING = ("suppress", "raises", "ignore", "catch", "swallow")


@dataclass(frozen=True, slots=True)
class Exits:
    """Names needed where control goes when it does not go on to the next statement."""

    breaks: Names = NONE
    continues: Names = NONE
    returns: Names = NONE
    raises: Names = NONE


@dataclass(slots=True)
class Liveness:
    after: dict[ast.stmt, Names] = field(default_factory=dict[ast.stmt, Names])
    raised: dict[ast.stmt, Names] = field(default_factory=dict[ast.stmt, Names])

    def block(self, statements: list[ast.stmt], out: Names, exits: Exits) -> Names:
        """Names needed before the statements, given those needed after them."""
        live = out
        for statement in reversed(statements):
            self.after[statement] = self.after.get(statement, NONE) | live
            self.raised[statement] = self.raised.get(statement, NONE) | exits.raises
            live = self._statement(statement, live, exits) | exits.raises
        return live

    def _statement(self, statement: ast.stmt, out: Names, exits: Exits) -> Names:
        match statement:
            case ast.If():
                then = self.block(statement.body, out, exits) - when_true(statement.test)
                found = uses(statement.test)
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

    def _simple(self, statement: ast.stmt, out: Names, exits: Exits) -> Names:
        found = uses(statement)
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

    def _loop(self, loop: Loop, out: Names, exits: Exits) -> Names:
        found = uses(loop.test) if isinstance(loop, ast.While) else uses(loop.target)
        ends = NONE if endless(loop) else self.block(loop.orelse, out, exits)
        top: Names = NONE
        while True:
            inside = replace(exits, breaks=out, continues=top)
            before = found.reads | ends | (self.block(loop.body, top, inside) - found.surely)
            if before == top:
                break
            top = top | before
        return top if isinstance(loop, ast.While) else top | uses(loop.iter).reads

    def _try(self, node: Try, out: Names, exits: Exits) -> Names:
        if node.finalbody:
            anywhere = out | exits.breaks | exits.continues | exits.returns | exits.raises
            out = self.block(node.finalbody, anywhere, exits)
            exits = Exits(out, out, out, out)
        caught = exits.raises
        for handler in node.handlers:
            caught |= uses(handler.type).reads | (self.block(handler.body, out, exits) - {handler.name or ""})
        orelse = self.block(node.orelse, out, exits)
        return self.block(node.body, orelse, replace(exits, raises=caught))

    def _with(self, node: ast.With | ast.AsyncWith, out: Names, exits: Exits) -> Names:
        found = uses(*header(node))
        if suppresses(node):
            exits = replace(exits, raises=exits.raises | out)
        return (self.block(node.body, out, exits) - found.surely) | found.reads

    def _match(self, node: ast.Match, out: Names, exits: Exits) -> Names:
        live = NONE if irrefutable(node.cases[-1]) else out
        for case in node.cases:
            found = uses(case.pattern, case.guard)
            live |= found.reads | (self.block(case.body, out, exits) - found.surely)
        return live | uses(node.subject).reads


def needed_by(statements: list[ast.stmt]) -> Names:
    """Names that the statements read before they bind them."""
    return Liveness().block(statements, NONE, Exits())


def endless(loop: Loop) -> bool:
    return isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and bool(loop.test.value)


def suppresses(node: ast.With | ast.AsyncWith) -> bool:
    """Whether a context manager looks as if it swallowed exceptions, so that names half bound inside can be seen after it."""
    words = " ".join(ast.unparse(item.context_expr).lower() for item in node.items)
    return any(word in words for word in SUPPRESSING)
