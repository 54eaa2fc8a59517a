"""One function in its file, with what rewrites ask before a change: who else uses a name, what a value surely is."""

import ast
import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from afresh.code.python_source import PythonFunction, PythonSource
from afresh.code.refactoring.blocks import StatementList, find_statement_lists
from afresh.code.refactoring.call_stack import calls_any_of, reads_call_stack
from afresh.code.refactoring.function_flow import FunctionFlow
from afresh.code.refactoring.name_usage import NameSet, collect_bound_names, walk_own_scope
from afresh.code.refactoring.project_facts import ProjectFacts

PLAIN_NODES = ast.Name | ast.Constant
SUSPENDING_NODES = ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr | ast.Lambda
BUILTIN_NAMES = frozenset(dir(builtins))


@dataclass(frozen=True)
class RewriteTarget:
    source: PythonSource
    function: PythonFunction
    project: ProjectFacts

    @cached_property
    def host(self) -> FunctionFlow:
        return FunctionFlow(self.function, self.project.find_frame_sensitive_names(self.source, self.function))

    @cached_property
    def places(self) -> list[StatementList]:
        return list(find_statement_lists(self.function.node))

    def pairs(self) -> Iterator[tuple[StatementList, int, ast.stmt]]:
        for place in self.places:
            for number, statement in enumerate(place.statements):
                yield place, number, statement

    def builtin(self, name: str) -> bool:
        """Whether the name still means the builtin here."""
        hidden = self.host.names | self.host.all_outer | collect_bound_names(self.source.tree.body) | self._declared_global
        return name in BUILTIN_NAMES and name not in hidden

    @cached_property
    def _declared_global(self) -> NameSet:
        found = (node.names for node in ast.walk(self.source.tree) if isinstance(node, ast.Global))
        return frozenset(name for names in found for name in names)

    def watched(self, names: NameSet) -> bool:
        """Whether another scope uses one of the names, or they are not local to the function."""
        held = any(closure.names & names for closure in self.host.closures)
        return held or self.host.unsafe or bool(names & (self.host.declared | self.host.unsteady)) or not names <= self.host.names

    def half_done(self, names: NameSet, *statements: ast.stmt) -> bool:
        """Whether a handler would see the names if one of the statements raised."""
        return any(names & self.host.liveness.raised.get(statement, names) for statement in statements)

    def forgettable(self, names: NameSet, first: ast.stmt, last: ast.stmt) -> bool:
        """Whether nothing after or outside these statements depends on the names that they bind."""
        if self.watched(names) or self.half_done(names, first, last):
            return False
        if names & self.host.liveness.after.get(last, names):
            return False
        lines = range(first.lineno, (last.end_lineno or last.lineno) + 1)
        lost = {name for name in names if all(line in lines for line in self.host.bindings.get(name, []))}
        mentions = (node for node in ast.walk(self.function.node) if isinstance(node, ast.Name) and node.id in lost)
        return not any(node.lineno not in lines for node in mentions)

    def known_before(self, statement: ast.stmt) -> NameSet:
        """Return the names that are definitely bound when the statement begins."""
        return (self.host.assigned.before.get(statement) or frozenset()) - self.host.unsteady

    def needs_own_frame(self, nodes: Iterable[ast.AST]) -> bool:
        """Whether the code depends on how many frames are above it: in a comprehension there would be one more."""
        roots = list(nodes)
        reads = any(reads_call_stack(node) for root in roots for node in ast.walk(root))
        return reads or calls_any_of(roots, self.host.frame_sensitive)

    def values(self, name: str) -> list[ast.expr] | None:
        """Return all values that a local name is ever assigned; None if it is bound in another way, too."""
        found = [value for node in self.host.nodes if (value := _value_assigned_to(node, name)) is not None]
        return found if len(found) == len(self.host.bindings.get(name, [])) else None

    def surely_dict(self, node: ast.expr) -> bool:
        """Whether a local name is only ever a plain dict: `**options`, or assigned dict literals."""
        if not isinstance(node, ast.Name) or node.id in self.host.unsteady or node.id not in self.host.names:
            return False
        kwarg = self.function.node.args.kwarg
        if kwarg is not None and kwarg.arg == node.id:
            return len(self.host.bindings[node.id]) == 1
        values = self.values(node.id)
        return bool(values) and all(self._makes_dict(value) for value in values or [])

    def _makes_dict(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            return value.func.id == "dict" and self.builtin("dict")
        return isinstance(value, ast.Dict | ast.DictComp)


def _value_assigned_to(node: ast.AST, name: str) -> ast.expr | None:
    match node:
        case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
            return value
        case ast.AnnAssign(target=ast.Name(id=found), value=value) if found == name:
            return value
        case _:
            return None


def is_harmless(node: ast.expr, known: NameSet) -> bool:
    """Whether evaluating it has no effect and can't fail: a constant, a bound name, or a literal of such."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name in known
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(is_harmless(part, known) for part in parts)
        case ast.Dict(keys=keys, values=values):
            return not keys and not values
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
        case _:
            return False


def is_surely_bool(node: ast.expr, scene: RewriteTarget) -> bool:
    match node:
        case ast.Constant(value=value):
            return isinstance(value, bool)
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=ops):
            return len(ops) == 1 and isinstance(ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn)
        case ast.BoolOp(values=values):
            return all(is_surely_bool(value, scene) for value in values)
        case ast.Call(func=ast.Name(id=name)):
            named = name in ("isinstance", "issubclass", "callable", "hasattr", "any", "all", "bool")
            return named and scene.builtin(name)
        case _:
            return False


def has_mention_of(nodes: list[ast.expr] | list[ast.stmt], *names: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id in names for root in nodes for node in ast.walk(root))


def has_suspending_node(*nodes: ast.AST) -> bool:
    """Whether it contains something that means something else inside a comprehension."""
    found = [node for root in nodes for node in ast.walk(root)]
    return any(
        isinstance(node, SUSPENDING_NODES) or (isinstance(node, ast.Name) and node.id in ("super", "__class__")) for node in found
    )


def has_next_call(*nodes: ast.AST) -> bool:
    """Whether it calls `next`: its StopIteration would become an error inside a generator."""
    calls = [node for root in nodes for node in walk_own_scope([root]) if isinstance(node, ast.Call)]
    return any(isinstance(call.func, ast.Name) and call.func.id == "next" and len(call.args) < 2 for call in calls)


def is_same_code(one: ast.AST, other: ast.AST) -> bool:
    return ast.dump(one) == ast.dump(other)


def is_same_body(one: list[ast.stmt], other: list[ast.stmt]) -> bool:
    return len(one) == len(other) and all(map(is_same_code, one, other))
