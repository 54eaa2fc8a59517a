"""A Python file as scopes: what each name is bound to, where names are used, and which special methods are called implicitly."""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
UnpackStep = int | str
"""How to get from a value to what a name is bound to: an index, `item` of an iteration, `enter` of a `with`."""
CHAINED_CALL_NAME = "()"
"""Used as the name of a call whose function is itself the result of a call."""


class NameBinding(NamedTuple):
    how: str
    """import, from, def, class, value, note (an annotation), parameter, caught"""
    node: ast.AST | None
    scope: "NameScope"
    detail: tuple[UnpackStep, ...] = ()
    """For a value, the unpacking steps to it. For an import, level, module and name."""


class NameUse(NamedTuple):
    """One place where a name is used; `node` is the whole of `a.b.name`, or the operand of an operator."""

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
    yields: list[tuple[ast.expr, bool]] = field(default_factory=list)
    """Yielded expressions, each with whether it is a `yield from`."""

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
    scopes: dict[str, NameScope]
    """Classes and functions by qualified name; the last definition of a name."""
    uses: dict[str, list[NameUse]]
    stars: list[NameBinding]
    lines: Sequence[str]

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


SpecialCalls = Iterator[tuple[str, ast.expr]]

BINARY_METHOD_STEMS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "matmul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or", ast.BitAnd: "and",
    ast.BitXor: "xor",
}  # fmt: skip
COMPARISON_METHODS: dict[type[ast.AST], str] = {
    ast.Eq: "__eq__", ast.NotEq: "__ne__", ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__",
}  # fmt: skip
UNARY_METHODS: dict[type[ast.AST], str] = {
    ast.USub: "__neg__",
    ast.UAdd: "__pos__",
    ast.Invert: "__invert__",
    ast.Not: "__bool__",
}
METHODS_BY_BUILTIN = {
    "len": "__len__", "iter": "__iter__", "next": "__next__", "str": "__str__", "repr": "__repr__", "hash": "__hash__",
    "bool": "__bool__", "int": "__int__", "float": "__float__", "bytes": "__bytes__", "abs": "__abs__", "round": "__round__",
    "reversed": "__reversed__", "list": "__iter__", "tuple": "__iter__", "set": "__iter__", "sorted": "__iter__",
    "frozenset": "__iter__", "dict": "__iter__", "sum": "__iter__", "any": "__iter__", "all": "__iter__", "enumerate": "__iter__",
    "zip": "__iter__", "map": "__iter__", "min": "__iter__", "max": "__iter__", "format": "__format__", "print": "__str__",
    "dir": "__dir__",
}  # fmt: skip
SUBSCRIPT_METHODS: dict[type[ast.AST], str] = {ast.Load: "__getitem__", ast.Store: "__setitem__", ast.Del: "__delitem__"}
IMPLICIT_ROLES = ("implicit", "iterated", "augmented")
"""Roles of uses in which the name itself is not written."""
EXPLICIT_SPECIAL_METHODS = frozenset({"__init__", "__new__", "__init_subclass__", "__post_init__", "__class_getitem__"})
"""Special methods that no operator calls; their callers are found by the name of the class."""


def _binary_methods(node: ast.BinOp) -> SpecialCalls:
    yield f"__{BINARY_METHOD_STEMS[type(node.op)]}__", node.left
    yield f"__r{BINARY_METHOD_STEMS[type(node.op)]}__", node.right


def _augmented_methods(node: ast.AugAssign) -> SpecialCalls:
    yield f"__i{BINARY_METHOD_STEMS[type(node.op)]}__", node.target
    yield f"__{BINARY_METHOD_STEMS[type(node.op)]}__", node.target
    if isinstance(node.target, ast.Subscript):
        yield "__getitem__", node.target.value


def _comparison_methods(node: ast.Compare) -> SpecialCalls:
    left = node.left
    for operator, right in zip(node.ops, node.comparators, strict=True):
        if isinstance(operator, ast.In | ast.NotIn):
            yield "__contains__", right
        elif type(operator) in COMPARISON_METHODS:
            yield COMPARISON_METHODS[type(operator)], left
        left = right


def _builtin_methods(node: ast.Call) -> SpecialCalls:
    if isinstance(node.func, ast.Name) and node.args and (name := METHODS_BY_BUILTIN.get(node.func.id)):
        for each in node.args:
            yield name, each.value if isinstance(each, ast.Starred) else each


def _with_methods(node: ast.With) -> SpecialCalls:
    for item in node.items:
        yield "__enter__", item.context_expr
        yield "__exit__", item.context_expr


def _async_with_methods(node: ast.AsyncWith) -> SpecialCalls:
    for item in node.items:
        yield "__aenter__", item.context_expr
        yield "__aexit__", item.context_expr


def _for_methods(node: ast.For | ast.comprehension) -> SpecialCalls:
    yield "__iter__", node.iter
    yield "__next__", node.iter


def _format_methods(node: ast.FormattedValue) -> SpecialCalls:
    yield "__repr__" if node.conversion == ord("r") else "__str__", node.value
    yield "__format__", node.value


# The special methods that a node of each kind may call, and on which operand.
SPECIAL_CALLS_BY_NODE: dict[type[ast.AST], Callable[..., SpecialCalls]] = {
    ast.BinOp: _binary_methods,
    ast.AugAssign: _augmented_methods,
    ast.Compare: _comparison_methods,
    ast.Call: _builtin_methods,
    ast.With: _with_methods,
    ast.AsyncWith: _async_with_methods,
    ast.For: _for_methods,
    ast.comprehension: _for_methods,
    ast.FormattedValue: _format_methods,
    ast.UnaryOp: lambda node: iter([(UNARY_METHODS[type(node.op)], node.operand)]),
    ast.Subscript: lambda node: iter([(SUBSCRIPT_METHODS[type(node.ctx)], node.value)]),
    ast.AsyncFor: lambda node: iter([("__aiter__", node.iter), ("__anext__", node.iter)]),
    ast.Await: lambda node: iter([("__await__", node.value)]),
    ast.Starred: lambda node: iter([("__iter__", node.value)]),
    ast.YieldFrom: lambda node: iter([("__iter__", node.value)]),
    ast.If: lambda node: iter([("__bool__", node.test), ("__len__", node.test)]),
    ast.While: lambda node: iter([("__bool__", node.test), ("__len__", node.test)]),
}


def implicit_role_from_node(name: str, kind: type) -> str:
    """Return the role in which a node of this kind calls the special method implicitly."""
    if name == "__next__" and kind is not ast.Call:
        return "iterated"
    return "augmented" if kind is ast.AugAssign and name != "__getitem__" and not name.startswith("__i") else "implicit"
