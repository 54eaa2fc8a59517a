"""Methods that Python calls without their name being written: operators, `with`, `for`, subscripts and builtin functions."""

import ast
from collections.abc import Callable, Iterator

Meant = Iterator[tuple[str, ast.expr]]

BINARY: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "matmul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or", ast.BitAnd: "and",
    ast.BitXor: "xor",
}  # fmt: skip
COMPARED: dict[type[ast.AST], str] = {
    ast.Eq: "__eq__", ast.NotEq: "__ne__", ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__",
}  # fmt: skip
UNARY: dict[type[ast.AST], str] = {
    ast.USub: "__neg__",
    ast.UAdd: "__pos__",
    ast.Invert: "__invert__",
    ast.Not: "__bool__",
}
BUILTINS = {
    "len": "__len__", "iter": "__iter__", "next": "__next__", "str": "__str__", "repr": "__repr__", "hash": "__hash__",
    "bool": "__bool__", "int": "__int__", "float": "__float__", "bytes": "__bytes__", "abs": "__abs__", "round": "__round__",
    "reversed": "__reversed__", "list": "__iter__", "tuple": "__iter__", "set": "__iter__", "sorted": "__iter__",
    "frozenset": "__iter__", "dict": "__iter__", "sum": "__iter__", "any": "__iter__", "all": "__iter__", "enumerate": "__iter__",
    "zip": "__iter__", "map": "__iter__", "min": "__iter__", "max": "__iter__", "format": "__format__", "print": "__str__",
    "dir": "__dir__",
}  # fmt: skip
SUBSCRIPT: dict[type[ast.AST], str] = {ast.Load: "__getitem__", ast.Store: "__setitem__", ast.Del: "__delitem__"}
UNWRITTEN = ("implicit", "iterated", "augmented")
"""Roles of uses in which the name itself is not written."""
WRITTEN_OUT = frozenset({"__init__", "__new__", "__init_subclass__", "__post_init__", "__class_getitem__"})
"""Never meant by an operator: their callers are found by the name of the class."""


def _binary(node: ast.BinOp) -> Meant:
    yield f"__{BINARY[type(node.op)]}__", node.left
    yield f"__r{BINARY[type(node.op)]}__", node.right


def _augmented(node: ast.AugAssign) -> Meant:
    yield f"__i{BINARY[type(node.op)]}__", node.target
    yield f"__{BINARY[type(node.op)]}__", node.target
    if isinstance(node.target, ast.Subscript):
        yield "__getitem__", node.target.value


def _compared(node: ast.Compare) -> Meant:
    left = node.left
    for operator, right in zip(node.ops, node.comparators, strict=True):
        if isinstance(operator, ast.In | ast.NotIn):
            yield "__contains__", right
        elif type(operator) in COMPARED:
            yield COMPARED[type(operator)], left
        left = right


def _called(node: ast.Call) -> Meant:
    if isinstance(node.func, ast.Name) and node.args and (name := BUILTINS.get(node.func.id)):
        for each in node.args:
            yield name, each.value if isinstance(each, ast.Starred) else each


def _with(node: ast.With) -> Meant:
    for item in node.items:
        yield "__enter__", item.context_expr
        yield "__exit__", item.context_expr


def _async_with(node: ast.AsyncWith) -> Meant:
    for item in node.items:
        yield "__aenter__", item.context_expr
        yield "__aexit__", item.context_expr


def _for(node: ast.For | ast.comprehension) -> Meant:
    yield "__iter__", node.iter
    yield "__next__", node.iter


def _format(node: ast.FormattedValue) -> Meant:
    yield "__repr__" if node.conversion == ord("r") else "__str__", node.value
    yield "__format__", node.value


# The special methods that a node of each kind may call, and on what.
TABLE: dict[type[ast.AST], Callable[..., Meant]] = {
    ast.BinOp: _binary,
    ast.AugAssign: _augmented,
    ast.Compare: _compared,
    ast.Call: _called,
    ast.With: _with,
    ast.AsyncWith: _async_with,
    ast.For: _for,
    ast.comprehension: _for,
    ast.FormattedValue: _format,
    ast.UnaryOp: lambda node: iter([(UNARY[type(node.op)], node.operand)]),
    ast.Subscript: lambda node: iter([(SUBSCRIPT[type(node.ctx)], node.value)]),
    ast.AsyncFor: lambda node: iter([("__aiter__", node.iter), ("__anext__", node.iter)]),
    ast.Await: lambda node: iter([("__await__", node.value)]),
    ast.Starred: lambda node: iter([("__iter__", node.value)]),
    ast.YieldFrom: lambda node: iter([("__iter__", node.value)]),
    ast.If: lambda node: iter([("__bool__", node.test), ("__len__", node.test)]),
    ast.While: lambda node: iter([("__bool__", node.test), ("__len__", node.test)]),
}
