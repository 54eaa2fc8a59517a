"""One Python file taken apart for questions of who means whom: scopes, what each name is bound to, and where names are used."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
UnpackStep = int | str
"""How to get from a value to what a name is bound to: an index, `item` of an iteration, `enter` of a `with`."""
CHAINED_CALL_NAME = "()"
"""Stands for the name of what is called where that is itself the result of a call."""


class NameBinding(NamedTuple):
    how: str
    """import, from, def, class, value, note (an annotation), parameter, caught"""
    node: ast.AST | None
    scope: "NameScope"
    detail: tuple[UnpackStep, ...] = ()
    """Of a value: the steps to it. Of an import: level, module, name."""


class NameUse(NamedTuple):
    """One place where a name is used; `node` is the whole of `a.b.name`, or what an operator is applied to."""

    role: str
    """call, decorator, passed, argument, receiver, store, annotation, base, import, implicit, iterated, augmented"""
    node: ast.AST
    scope: "NameScope"
    call: ast.Call | None = None


@dataclass(slots=True, eq=False)
class NameScope:
    kind: str
    """module, class, function or lambda"""
    name: str
    """Qualified; that of the function around it for a lambda."""
    path: str
    node: ast.AST
    around: "NameScope | None" = None
    bound: dict[str, list[NameBinding]] = field(default_factory=dict)
    held: dict[str, list[NameBinding]] = field(default_factory=dict)
    """Of a class: what its methods assign to attributes of `self`."""
    shared: set[str] = field(default_factory=set)
    """Names that are global or nonlocal here."""
    returns: list[ast.expr] = field(default_factory=list)
    yields: list[tuple[ast.expr, bool]] = field(default_factory=list)
    """With whether it is a `yield from`."""
    tests: list[tuple[ast.expr, int, int]] = field(default_factory=list)
    """`isinstance` conditions and the lines that they hold for."""

    @property
    def own_class(self) -> "NameScope | None":
        """The class whose method this is, or is written in."""
        scope = self
        while scope is not None:
            if scope.kind == "function" and scope.around is not None and scope.around.kind == "class":
                return scope.around
            scope = scope.around
        return None

    @property
    def first(self) -> str:
        """Name of a method's first parameter; empty for others and for static methods."""
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
    scopes: dict[str, NameScope]
    """Classes and functions by their qualified name, the last one of a name."""
    uses: dict[str, list[NameUse]]
    stars: list[NameBinding]
    lines: Sequence[str]
    aliases: dict[str, set[str]] = field(default_factory=dict)
    """Other names that are given to a name at the top of the file or of a class, or as an attribute."""
    local: dict[str, set[str]] = field(default_factory=dict)
    """The same within functions."""

    def line(self, number: int) -> str:
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""


def list_decorator_names(node: FunctionNode | ast.ClassDef) -> list[str]:
    """The last names of its decorators: `functools.wraps(f)` gives `wraps`."""
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
