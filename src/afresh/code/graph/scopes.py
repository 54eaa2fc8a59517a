"""A Python file as scopes: what each name is bound to, and where names are used. Read in one walk over its syntax tree."""

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from afresh.code.caches import RecentAnswers
from afresh.code.python_source import MAX_SOURCE_CHARACTERS, parse_syntax_tree, split_lines

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
CHAINED_CALL_NAME = "()"
"""Used as the name of a call whose function is itself the result of a call."""
IGNORED_NODES = {ast.Load, ast.Store, ast.Del, ast.Constant, ast.Pass, ast.Break, ast.Continue}
"""Nodes without names. Quoted annotations are among them, since they call nothing."""


class NameBinding(NamedTuple):
    how: str
    """import, from, def, class, value, annotation, parameter, caught, entered (by `with`)"""
    node: ast.AST | None
    """None if the value is unknown: a loop variable, or a part of what is unpacked."""
    scope: "NameScope"
    origin: tuple[int, str, str] = (0, "", "")
    """For an import: level, module and name."""


class NameUse(NamedTuple):
    """One place where a name is used; `node` is the whole of `a.b.name`."""

    role: str
    """call, decorator, passed, argument, receiver, store, annotation, base, import"""
    node: ast.AST
    scope: "NameScope"
    call: ast.Call | None = None


@dataclass(slots=True, eq=False)
class NameScope:
    kind: str
    """module, class, function or lambda"""
    name: str
    """Qualified; for a lambda, the name of the enclosing function."""
    path: str
    node: ast.AST
    around: "NameScope | None" = None
    bound: dict[str, list[NameBinding]] = field(default_factory=dict)
    held: dict[str, list[NameBinding]] = field(default_factory=dict)
    """For a class, what its methods assign to attributes of `self`."""
    shared: set[str] = field(default_factory=set)
    """Names that are declared global or nonlocal here."""
    returns: list[ast.expr] = field(default_factory=list)
    is_generator: bool = False

    @property
    def own_class(self) -> "NameScope | None":
        """Return the class of the method that this scope is, or is nested in."""
        scope = self
        while scope is not None:
            if scope.kind == "function" and scope.around is not None and scope.around.kind == "class":
                return scope.around
            scope = scope.around
        return None

    @property
    def first(self) -> str:
        """Name of a method's first parameter; empty for functions and static methods."""
        if self.kind != "function" or self.around is None or self.around.kind != "class":
            return ""
        node = self.node
        if not isinstance(node, FunctionNode) or "staticmethod" in list_decorator_names(node):
            return ""
        parameters = [*node.args.posonlyargs, *node.args.args]
        return parameters[0].arg if parameters else ""


@dataclass(slots=True, eq=False)
class ScopedFile:
    path: str
    top: NameScope
    lines: Sequence[str]
    scopes: dict[str, NameScope] = field(default_factory=dict)
    """Classes and functions by qualified name; the last definition of a name."""
    uses: dict[str, list[NameUse]] = field(default_factory=dict)
    stars: list[NameBinding] = field(default_factory=list)

    def line(self, number: int) -> str:
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""


def list_decorator_names(node: FunctionNode | ast.ClassDef) -> list[str]:
    """Return the last part of each decorator's name: `functools.wraps(f)` gives `wraps`."""
    return [last_name_from_node(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list]


def find_default(arguments: ast.arguments, node: ast.arg) -> ast.expr | None:
    positional = [*arguments.posonlyargs, *arguments.args]
    paired = dict(zip(map(id, reversed(positional)), reversed(arguments.defaults), strict=False))
    named_only = dict(zip(map(id, arguments.kwonlyargs), arguments.kw_defaults, strict=True))
    return paired.get(id(node)) or named_only.get(id(node))


def last_name_from_node(node: ast.AST | None) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def list_all_parameters(arguments: ast.arguments) -> list[ast.arg]:
    optional = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *optional]


MAX_CACHED_CHARACTERS = 1_000_000
"""Total characters of files whose scopes are cached."""
_recent_files: RecentAnswers[tuple[str, str], ScopedFile | None] = RecentAnswers(MAX_CACHED_CHARACTERS, lambda key: len(key[1]))


def load_scoped_file(path: str, text: str) -> ScopedFile | None:
    """Read the scopes of a file; None if it is not Python, or too large to be written by hand. Results are cached by content."""
    return _recent_files.get_or_make((path, text), lambda: _read_scopes(path, text))


def _read_scopes(path: str, text: str) -> ScopedFile | None:
    tree = parse_syntax_tree(text) if len(text) <= MAX_SOURCE_CHARACTERS else None
    if tree is None:
        return None
    file = ScopedFile(path, NameScope("module", "", path, tree), split_lines(text))
    try:
        ScopeReader(file).each(tree.body)
    except RecursionError:
        return None
    return file


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

    def look(self, node: ast.AST | None, role: str = "passed") -> None:
        if node is None or type(node) in IGNORED_NODES:
            return
        before, self.role = self.role, role
        NODE_VISITORS.get(type(node), ScopeReader.generic_visit)(self, node)
        self.role = before

    def each(self, nodes: Iterable[ast.AST | None], role: str = "passed") -> None:
        for node in nodes:
            self.look(node, role)

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
        self.note(last_name_from_node(called) or CHAINED_CALL_NAME, NameUse(role, called, self.scope, node))
        if not isinstance(called, ast.Name):
            self.look(called.value if isinstance(called, ast.Attribute) else called, "receiver")
        self.each((*node.args, *(keyword.value for keyword in node.keywords)), "argument")

    def visit_Starred(self, node: ast.Starred) -> None:
        self.look(node.value, self.role)

    # Bindings

    def target(self, node: ast.AST, value: ast.expr | None, how: str = "value") -> None:
        if isinstance(node, ast.Name):
            self.bind(node.id, NameBinding(how, value, self.scope))
        elif isinstance(node, ast.Tuple | ast.List):
            for part in node.elts:
                self.target(part, None)
        elif isinstance(node, ast.Starred):
            self.target(node.value, None)
        else:
            if isinstance(node, ast.Attribute):
                self.hold(node, NameBinding(how, value, self.scope))
            self.look(node)

    def hold(self, node: ast.Attribute, binding: NameBinding) -> None:
        """Record `self.name = …` in a method as an attribute of its class."""
        owner = self.scope.around
        if owner is not None and isinstance(node.value, ast.Name) and node.value.id == self.scope.first != "":
            owner.held.setdefault(node.attr, []).append(binding)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.look(node.value)
        for target in node.targets:
            self.target(target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.look(node.annotation, "annotation")
        self.look(node.value)
        noted = NameBinding("annotation", node.annotation, self.scope)
        if isinstance(node.target, ast.Name):
            self.bind(node.target.id, noted)
        elif isinstance(node.target, ast.Attribute):
            self.hold(node.target, noted)
        else:
            self.look(node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.look(node.value)
        if not isinstance(node.target, ast.Name):
            self.look(node.target)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.look(node.value)
        self.target(node.target, node.value)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.look(node.iter)
        self.target(node.target, None)
        self.each((*node.body, *node.orelse))

    visit_AsyncFor = visit_For

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.look(node.iter)
        self.target(node.target, None)
        self.each(node.ifs)

    def comprehended(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        """Visit the generators first: they bind the names that the element uses."""
        self.each(node.generators)
        self.each((node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,))

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = comprehended

    def visit_withitem(self, node: ast.withitem) -> None:
        self.look(node.context_expr)
        if node.optional_vars is not None:
            self.target(node.optional_vars, node.context_expr, "entered")

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.look(node.type)
        if node.name:
            self.bind(node.name, NameBinding("caught", node.type, self.scope))
        self.each(node.body)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self.look(node.pattern)
        if node.name:
            known = node.pattern.cls if isinstance(node.pattern, ast.MatchClass) else None
            self.bind(node.name, NameBinding("caught", known, self.scope))

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
        self.look(node.value)
        if node.value is not None:
            self.scope.returns.append(node.value)

    def visit_Yield(self, node: ast.Yield | ast.YieldFrom) -> None:
        self.look(node.value)
        self.scope.is_generator = True

    visit_YieldFrom = visit_Yield


NODE_VISITORS: dict[type, Callable[[ScopeReader, Any], None]] = {
    getattr(ast, name.removeprefix("visit_")): visit for name, visit in vars(ScopeReader).items() if name.startswith("visit_")
}
