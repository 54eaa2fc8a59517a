"""Facts about a function that do not depend on the block to extract."""

import ast
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from afresh.code.complexity import FunctionNode, LoopNode
from afresh.code.python_source import PythonFunction
from afresh.code.refactoring.blocks import StatementBlock
from afresh.code.refactoring.data_flow import NO_NAMES, DefiniteAssignment, ExitLiveness, Liveness
from afresh.code.refactoring.name_usage import (
    EAGER_CONSUMERS,
    NameSet,
    ScopeNode,
    collect_declared_names,
    collect_local_names,
    collect_name_uses,
    list_parameters,
    walk_own_scope,
)

FRAME_INSPECTING_ARGUMENT_COUNTS = {"locals": 1, "vars": 1, "dir": 1, "eval": 2, "exec": 2}
"""With at least this many arguments, these inspect their argument and not the current scope."""


@dataclass(frozen=True)
class Closure:
    """A nested scope that may run later and still see the function's variables."""

    line: int
    end: int
    names: NameSet

    def inside(self, block: StatementBlock) -> bool:
        return block.first_line <= self.line and self.end <= block.last_line


class FunctionFlow:
    """The function that a block would be extracted from, with its data flow computed once."""

    def __init__(self, function: PythonFunction, frame_sensitive: NameSet = NO_NAMES) -> None:
        """`frame_sensitive` are functions that must not be called from one frame deeper."""
        node = function.node
        self.function, self.node, self.frame_sensitive = function, node, frame_sensitive
        self.names = collect_local_names(node)
        self.arguments = [arg.arg for arg in list_parameters(node)]
        self.declared = collect_declared_names(node)
        self.liveness, self.assigned = Liveness(), DefiniteAssignment()
        self.liveness.block(node.body, NO_NAMES, ExitLiveness())
        self.assigned.block(node.body, frozenset(self.arguments))
        self.nodes = list(walk_own_scope(node.body))

    @cached_property
    def unsafe(self) -> bool:
        """Whether the function inspects its own variables by name, so that it can't be split."""
        calls = (node for node in self.nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
        return any(len(call.args) < FRAME_INSPECTING_ARGUMENT_COUNTS.get(call.func.id, 0) for call in calls)  # type: ignore[attr-defined]

    @cached_property
    def closures(self) -> list[Closure]:
        found: list[Closure] = []
        calls = [node for node in self.nodes if isinstance(node, ast.Call) and node.args]
        used_up = {
            id(call.args[0]) for call in calls if getattr(call.func, "attr", getattr(call.func, "id", "")) in EAGER_CONSUMERS
        }
        for node in self.nodes:
            if isinstance(node, ScopeNode | ast.GeneratorExp) and id(node) not in used_up:
                names = frozenset(collect_name_uses(node).kept & self.names)
                if names:
                    found.append(Closure(node.lineno, node.end_lineno or node.lineno, names))
        return found

    @cached_property
    def _loops(self) -> list[LoopNode]:
        return [node for node in self.nodes if isinstance(node, LoopNode)]

    def loops_around(self, block: StatementBlock) -> list[LoopNode]:
        line = block.statements[0].lineno
        return [loop for loop in self._loops if loop.lineno < line <= (loop.end_lineno or 0)]

    @cached_property
    def bindings(self) -> dict[str, list[int]]:
        """Lines where each local name is bound, by statement or expression."""
        found: dict[str, list[int]] = {name: [self.node.lineno] for name in self.arguments}
        for node in self.nodes:
            for name in _names_stored_by(node):
                found.setdefault(name, []).append(getattr(node, "lineno", 0))
        return found

    @cached_property
    def _mentions(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for node in ast.walk(self.node):
            if isinstance(node, ast.Name):
                found.setdefault(node.id, []).append(node.lineno)
        return found

    def lost_without(self, block: StatementBlock, names: NameSet) -> NameSet:
        """Return the names that are local only because the block binds them; without the block they would mean something else."""
        lines = range(block.first_line, block.last_line + 1)
        gone = {name for name in names if all(line in lines for line in self.bindings.get(name, []))}
        return frozenset(name for name in gone if any(line not in lines for line in self._mentions.get(name, [])))

    @cached_property
    def unsteady(self) -> NameSet:
        """Names that become unbound (by `del`, or at the end of a handler while also bound elsewhere) or that inner scopes
        rebind.
        """
        gone = {node.id for node in self.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)}
        caught = [node.name for node in self.nodes if isinstance(node, ast.ExceptHandler) and node.name]
        gone |= {name for name in caught if len(self.bindings.get(name, [])) > caught.count(name)}
        outermost = self.function.enclosing[0] if self.function.enclosing else self.node
        for node in ast.walk(outermost):
            if isinstance(node, ast.Nonlocal):
                gone.update(node.names)
        return frozenset(gone)

    @cached_property
    def outer(self) -> NameSet:
        """Variables of the enclosing functions that are bound before this one is defined."""
        found: set[str] = set()
        chain = (*self.function.enclosing, self.node)
        for around, inner in pairwise(chain):
            known = _names_bound_at(around, inner)
            found = (found - collect_local_names(around)) | (known & collect_local_names(around))
        return frozenset(found)

    @cached_property
    def all_outer(self) -> NameSet:
        return frozenset().union(*map(collect_local_names, self.function.enclosing))

    @cached_property
    def is_generator(self) -> bool:
        return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in self.nodes)


def _names_bound_at(around: FunctionNode, inner: FunctionNode) -> NameSet:
    flow = DefiniteAssignment()
    flow.block(around.body, frozenset(arg.arg for arg in list_parameters(around)))
    for statement, known in flow.before.items():
        if statement is inner:
            return known or NO_NAMES
    return NO_NAMES


def _names_stored_by(node: ast.AST) -> list[str]:
    match node:
        case ast.Name(ctx=ast.Store()) | ast.Name(ctx=ast.Del()):
            return [node.id]
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Import() | ast.ImportFrom():
            return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
            return [node.name] if node.name else []
        case ast.MatchMapping():
            return [node.rest] if node.rest else []
        case _:
            return []
