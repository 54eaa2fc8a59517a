"""Methods that Python calls without their name being written: operators, `with`, `for`, subscripts and builtin functions."""

import ast
from collections.abc import Callable, Iterator

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
"""Never meant by an operator: their callers are found by the name of the class."""


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


# The special methods that a node of each kind may call, and on what.
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
    """How a special method is meant without its name being written."""
    if name == "__next__" and kind is not ast.Call:
        return "iterated"
    return "augmented" if kind is ast.AugAssign and name != "__getitem__" and not name.startswith("__i") else "implicit"
