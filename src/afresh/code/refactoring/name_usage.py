"""Which names a piece of code reads and binds in its own scope."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from afresh.code.complexity import FunctionNode, list_statement_bodies

NameSet = frozenset[str]
ComprehensionNode = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
ScopeNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
EAGER_CONSUMERS = {"all", "any", "dict", "frozenset", "join", "list", "max", "min", "set", "sorted", "sum", "tuple"}


@dataclass(slots=True)
class NameUses(ast.NodeVisitor):
    """Collects names in evaluation order. `reads` must be bound before; `surely` are bound in any case; `kept` are names that a
    closure created here keeps using.
    """

    reads: set[str] = field(default_factory=set[str])
    binds: set[str] = field(default_factory=set[str])
    surely: set[str] = field(default_factory=set[str])
    kept: set[str] = field(default_factory=set[str])
    _eager: set[int] = field(default_factory=set[int])

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._read(node.id)
        elif isinstance(node.ctx, ast.Store):
            self._bind(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._bind(node.target.id)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._read(node.target.id)
        self.visit(node.value)
        self.visit(node.target)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.visit(node.target)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Visit the operands: later ones see what earlier ones bound, but code after the expression can't rely on it."""
        self.visit(node.values[0])
        self._perhaps(node.values[1:])

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        self._perhaps([node.body])
        self._perhaps([node.orelse])

    def visit_Compare(self, node: ast.Compare) -> None:
        self.visit(node.left)
        self.visit(node.comparators[0])
        self._perhaps(node.comparators[1:])

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in EAGER_CONSUMERS and node.args:
            self._eager.add(id(node.args[0]))
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self._bind(alias.asname or alias.name.partition(".")[0])

    visit_ImportFrom = visit_Import

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        self.generic_visit(node)
        if node.name:
            self._bind(node.name)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.generic_visit(node)
        if node.rest:
            self._bind(node.rest)

    def visit_ListComp(self, node: ComprehensionNode) -> None:
        self.binds |= {child.target.id for child in ast.walk(node) if isinstance(child, ast.NamedExpr)}
        outside = collect_free_names(node)
        for name in outside:
            self._read(name)
        if isinstance(node, ast.GeneratorExp) and id(node) not in self._eager:
            self.kept |= outside

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        self._close_over(node)

    def visit_FunctionDef(self, node: FunctionNode | ast.ClassDef) -> None:
        for part in iterate_outer_parts(node):
            self.visit(part)
        self._close_over(node)
        self._bind(node.name)

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

    def _close_over(self, node: ScopeNode) -> None:
        outside = collect_free_names(node)
        self.kept |= outside
        for name in outside:
            self._read(name)

    def _read(self, name: str) -> None:
        if name not in self.surely:
            self.reads.add(name)

    def _bind(self, name: str) -> None:
        self.binds.add(name)
        self.surely.add(name)

    def _perhaps(self, nodes: Iterable[ast.AST]) -> None:
        before = set(self.surely)
        for node in nodes:
            self.visit(node)
        self.surely = before


@lru_cache(maxsize=1 << 14)
def collect_name_uses(*nodes: ast.AST | None) -> NameUses:
    """Return the uses in these nodes. The result is cached, so callers must not change it."""
    uses = NameUses()
    for node in nodes:
        if node is not None:
            uses.visit(node)
    return uses


def collect_names_bound_if_true(test: ast.expr) -> NameSet:
    """Return the names that are bound whenever the test is true."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return frozenset().union(*map(collect_names_bound_if_true, test.values))
    return frozenset(collect_name_uses(test).surely)


def iterate_outer_parts(node: ScopeNode) -> Iterator[ast.AST]:
    """Yield the parts of a definition that are evaluated in the enclosing scope."""
    if not isinstance(node, ast.Lambda):
        yield from node.decorator_list
    if isinstance(node, ast.ClassDef):
        yield from node.bases
        yield from (keyword.value for keyword in node.keywords)
        return
    yield from node.args.defaults
    yield from filter(None, node.args.kw_defaults)
    if not isinstance(node, ast.Lambda):
        yield from filter(None, [arg.annotation for arg in list_parameters(node)] + [node.returns])


def list_parameters(node: FunctionNode | ast.Lambda) -> list[ast.arg]:
    args = node.args
    found = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    return [arg for arg in found if arg is not None]


def walk_own_scope(roots: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Walk the nodes without entering nested scopes (comprehensions are entered: they run in place)."""
    for root in roots:
        yield from _walk_root(root)


@lru_cache(maxsize=1 << 12)
def _walk_root(root: ast.AST) -> tuple[ast.AST, ...]:
    nodes: list[ast.AST] = []
    pending = [root]
    while pending:
        node = pending.pop()
        nodes.append(node)
        pending.extend(iterate_outer_parts(node) if isinstance(node, ScopeNode) else ast.iter_child_nodes(node))
    return tuple(nodes)


def body_from_scope(scope: ScopeNode) -> list[ast.stmt]:
    return scope.body if isinstance(scope.body, list) else [ast.Expr(scope.body)]


def collect_declared_names(scope: ScopeNode) -> NameSet:
    """Return the names that a scope declares global or nonlocal."""
    found = (node.names for node in walk_own_scope(body_from_scope(scope)) if isinstance(node, ast.Global | ast.Nonlocal))
    return frozenset(name for names in found for name in names)


def collect_local_names(scope: ScopeNode) -> NameSet:
    """Return the parameters and everything bound in the scope itself."""
    bound = collect_bound_names(body_from_scope(scope))
    if not isinstance(scope, ast.ClassDef):
        bound |= {arg.arg for arg in list_parameters(scope)}
    return bound - collect_declared_names(scope)


def collect_bound_names(statements: Iterable[ast.stmt]) -> NameSet:
    """Return the names that the statements may bind in their scope."""
    found: set[str] = set()
    for statement in statements:
        found.update(_collect_bound_by_statement(statement))
    return frozenset(found)


@lru_cache(maxsize=1 << 12)
def _collect_bound_by_statement(statement: ast.stmt) -> NameSet:
    return frozenset(_iterate_bound_names(statement))


def _iterate_bound_names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, FunctionNode | ast.ClassDef):
        yield from collect_name_uses(statement).binds
        return
    yield from collect_name_uses(*list_header_parts(statement)).binds
    if isinstance(statement, ast.Try | ast.TryStar):
        yield from (handler.name for handler in statement.handlers if handler.name)
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id
    if isinstance(statement, ast.Delete):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
    for body in list_statement_bodies(statement):
        yield from collect_bound_names(body)


def list_header_parts(statement: ast.stmt) -> list[ast.AST]:
    """Return the parts of a statement that are not statements themselves."""
    match statement:
        case ast.If() | ast.While():
            return [statement.test]
        case ast.For() | ast.AsyncFor():
            return [statement.iter, statement.target]
        case ast.With() | ast.AsyncWith():
            return [part for item in statement.items for part in (item.context_expr, item.optional_vars) if part is not None]
        case ast.Try() | ast.TryStar():
            return [handler.type for handler in statement.handlers if handler.type is not None]
        case ast.Match():
            cases = [part for case in statement.cases for part in (case.pattern, case.guard) if part is not None]
            return [statement.subject, *cases]
        case _:
            return [statement]


def collect_free_names(node: ast.AST) -> NameSet:
    """Return the names that a nested scope takes from outside."""
    if isinstance(node, ComprehensionNode):
        own = {name for part in node.generators for name in collect_name_uses(part.target).binds}
        return frozenset(_collect_reads_below(ast.iter_child_nodes(node)) - own)
    assert isinstance(node, ScopeNode)
    reads = _collect_reads_below(body_from_scope(node))
    # methods do not see the names of their class, so a class hides nothing
    return frozenset(reads if isinstance(node, ast.ClassDef) else reads - collect_local_names(node))


def _collect_reads_below(nodes: Iterable[ast.AST]) -> set[str]:
    found: set[str] = set()
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if isinstance(node, ComprehensionNode | ScopeNode):
            found |= collect_free_names(node)
            pending.extend(iterate_outer_parts(node) if isinstance(node, ScopeNode) else ())
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if isinstance(node, ast.Nonlocal):
            found.update(node.names)
        pending.extend(ast.iter_child_nodes(node))
    return found
