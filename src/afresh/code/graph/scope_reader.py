"""Fills a file's scopes in one walk over its syntax tree."""

import ast
from collections.abc import Callable, Iterable
from typing import Any

from afresh.code.graph.scopes import (
    CHAINED_CALL_NAME,
    SPECIAL_CALLS_BY_NODE,
    FunctionNode,
    NameBinding,
    NameScope,
    NameUse,
    ScopedFile,
    UnpackStep,
    implicit_role_from_node,
    list_all_parameters,
)

NamedNode = ast.Name | ast.Attribute
IGNORED_NODES = {ast.Load, ast.Store, ast.Del, ast.Constant, ast.Pass, ast.Break, ast.Continue}
"""Nodes without names. Quoted annotations are among them, since they call nothing."""


def read_scopes(file: ScopedFile, tree: ast.Module) -> None:
    ScopeReader(file).each(tree.body)


class ScopeReader:
    """The current scope, and how the current expression is used (`role`)."""

    def __init__(self, file: ScopedFile) -> None:
        self.file, self.scope, self.role = file, file.top, "passed"

    def bind(self, name: str, binding: NameBinding) -> None:
        scope: NameScope | None = self.scope
        if name in self.scope.shared:
            scope = self.scope.around
            while scope is not None and scope.kind != "module" and name not in scope.bound:
                scope = scope.around
        (scope or self.file.top).bound.setdefault(name, []).append(binding)

    def note(self, name: str, use: NameUse) -> None:
        self.file.uses.setdefault(name, []).append(use)

    def look(self, node: ast.AST | None, role: str) -> None:
        if node is None:
            return
        before, self.role = self.role, role
        self.visit(node)
        self.role = before

    def each(self, nodes: Iterable[ast.AST | None], role: str = "passed") -> None:
        for node in nodes:
            self.look(node, role)

    def visit(self, node: ast.AST) -> None:
        kind = type(node)
        if kind in IGNORED_NODES:
            return
        if kind in SPECIAL_CALLS_BY_NODE:
            for name, operand in SPECIAL_CALLS_BY_NODE[kind](node):
                self.note(name, NameUse(implicit_role_from_node(name, kind), operand, self.scope))
        NODE_VISITORS.get(kind, ScopeReader.generic_visit)(self, node)

    def generic_visit(self, node: ast.AST) -> None:
        self.each(ast.iter_child_nodes(node), "annotation" if self.role == "annotation" else "passed")

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.note(node.id, NameUse(self.role, node, self.scope))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        role = self.role if isinstance(node.ctx, ast.Load) else "store"
        self.note(node.attr, NameUse(role, node, self.scope))
        self.look(node.value, "annotation" if self.role == "annotation" else "receiver")

    def visit_Call(self, node: ast.Call) -> None:
        role = "decorator" if self.role == "decorator" else "call"
        called = node.func
        if isinstance(called, NamedNode):
            name = called.id if isinstance(called, ast.Name) else called.attr
            self.note(name, NameUse(role, called, self.scope, node))
            if isinstance(called, ast.Attribute):
                self.look(called.value, "receiver")
        else:
            self.note(CHAINED_CALL_NAME, NameUse(role, called, self.scope, node))
            self.look(called, "receiver")
        self.each((*node.args, *(keyword.value for keyword in node.keywords)), "argument")

    def visit_Starred(self, node: ast.Starred) -> None:
        self.look(node.value, self.role)

    # Bindings

    def target(self, node: ast.AST, value: ast.expr | None, steps: tuple[UnpackStep, ...] = ()) -> None:
        if isinstance(node, ast.Name):
            self.bind(node.id, NameBinding("value", value, self.scope, steps))
        elif isinstance(node, ast.Tuple | ast.List):
            for index, part in enumerate(node.elts):
                self.target(part, value, (*steps, index))
        elif isinstance(node, ast.Starred):
            self.target(node.value, value, (*steps[:-1], "rest"))
        else:
            if isinstance(node, ast.Attribute):
                self.hold(node, NameBinding("value", value, self.scope, steps))
            self.look(node, "passed")

    def hold(self, node: ast.Attribute, binding: NameBinding) -> None:
        """Record `self.name = …` in a method as an attribute of its class."""
        owner = self.scope.around
        if owner is not None and isinstance(node.value, ast.Name) and node.value.id == self.scope.first != "":
            owner.held.setdefault(node.attr, []).append(binding)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.look(node.value, "passed")
        for target in node.targets:
            self.target(target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.look(node.annotation, "annotation")
        self.look(node.value, "passed")
        noted = NameBinding("annotation", node.annotation, self.scope)
        if isinstance(node.target, ast.Name):
            self.bind(node.target.id, noted)
        elif isinstance(node.target, ast.Attribute):
            self.hold(node.target, noted)
        else:
            self.look(node.target, "passed")

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.look(node.value, "passed")
        if not isinstance(node.target, ast.Name):
            self.look(node.target, "passed")

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.look(node.value, "passed")
        self.target(node.target, node.value)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.look(node.iter, "passed")
        self.target(node.target, node.iter, ("item",))
        self.each((*node.body, *node.orelse))

    visit_AsyncFor = visit_For

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.look(node.iter, "passed")
        self.target(node.target, node.iter, ("item",))
        self.each(node.ifs)

    def comprehended(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        """Visit the generators first: they bind the names that the element uses."""
        self.each(node.generators)
        self.each((node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,))

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = comprehended

    def visit_withitem(self, node: ast.withitem) -> None:
        self.look(node.context_expr, "passed")
        if node.optional_vars is not None:
            self.target(node.optional_vars, node.context_expr, ("enter",))

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.look(node.type, "passed")
        if node.name:
            self.bind(node.name, NameBinding("caught", node.type, self.scope))
        self.each(node.body)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self.look(node.pattern, "passed")
        if node.name:
            known = node.pattern.cls if isinstance(node.pattern, ast.MatchClass) else None
            self.bind(node.name, NameBinding("caught" if known else "value", known, self.scope))

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.scope.shared.update(node.names)

    visit_Nonlocal = visit_Global

    def visit_Import(self, node: ast.Import) -> None:
        for name in node.names:
            here = name.asname or name.name.split(".")[0]
            there = name.name if name.asname else here
            self.bind(here, NameBinding("import", node, self.scope, (0, there, "")))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for name in node.names:
            binding = NameBinding("from", node, self.scope, (node.level, node.module or "", name.name))
            if name.name == "*":
                self.file.stars.append(binding)
                continue
            self.bind(name.asname or name.name, binding)
            self.note(name.name, NameUse("import", name, self.scope))

    # Nested scopes

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.each(node.decorator_list, "decorator")
        self.each((*node.bases, *(keyword.value for keyword in node.keywords)), "base")
        self.bind(node.name, NameBinding("class", node, self.scope))
        self.inside(node, "class", node.name, node.body)

    def visit_FunctionDef(self, node: FunctionNode) -> None:
        arguments = node.args
        self.each(node.decorator_list, "decorator")
        self.each((*arguments.defaults, *arguments.kw_defaults))
        self.each((*(parameter.annotation for parameter in list_all_parameters(arguments)), node.returns), "annotation")
        self.bind(node.name, NameBinding("def", node, self.scope))
        self.inside(node, "function", node.name, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.each((*node.args.defaults, *node.args.kw_defaults))
        self.inside(node, "lambda", "", [node.body])

    def inside(self, node: FunctionNode | ast.ClassDef | ast.Lambda, kind: str, name: str, body: Iterable[ast.AST]) -> None:
        around = self.scope
        qualified = f"{around.name}.{name}" if around.name and name else name or around.name
        self.scope = NameScope(kind, qualified, self.file.path, node, around)
        if kind != "lambda":
            self.file.scopes[qualified] = self.scope
        if not isinstance(node, ast.ClassDef):
            for parameter in list_all_parameters(node.args):
                self.bind(parameter.arg, NameBinding("parameter", parameter, self.scope))
        self.each(body)
        self.scope = around

    # Returned values

    def visit_Return(self, node: ast.Return) -> None:
        self.look(node.value, "passed")
        if node.value is not None:
            self.scope.returns.append(node.value)

    def visit_Yield(self, node: ast.Yield) -> None:
        self.look(node.value, "passed")
        self.scope.yields.append((node.value or ast.Constant(None), False))

    def visit_YieldFrom(self, node: ast.YieldFrom) -> None:
        self.look(node.value, "passed")
        self.scope.yields.append((node.value, True))


NODE_VISITORS: dict[type, Callable[[ScopeReader, Any], None]] = {
    getattr(ast, name.removeprefix("visit_")): visit for name, visit in vars(ScopeReader).items() if name.startswith("visit_")
}
