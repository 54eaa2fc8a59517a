"""What can be known of a value without running the code: whether it can be looked up in a table."""

import ast

from afresh.insight.reshape.scene import RewriteTarget

HASHABLE_TYPE_NAMES = {"str", "int", "bytes", "bool", "float", "None"}
TEXT_METHODS = {"capitalize", "casefold", "format", "join", "lower", "lstrip", "replace", "rstrip", "strip", "title", "upper"}
TEXT_ATTRIBUTES = ("sys.platform", "os.name", ".__name__", ".__qualname__", ".__class__")
HASHABLE_MAKING_FUNCTIONS = {"str", "repr", "len", "type", "ord", "chr", "int", "bool", "id", "hash", "ascii", "bytes"}


def is_surely_hashable(scene: RewriteTarget, name: str) -> bool:
    """A local name that only ever holds text, numbers and the like, by its declared type or by all that it is set to."""
    if name not in scene.host.names or name in scene.host.unsteady | scene.host.declared:
        return False
    annotation = scene.host.annotations.get(name)
    if annotation is not None and _is_hashable_type(annotation):
        return True
    values = scene.values(name)
    return bool(values) and all(_makes_hashable(scene, value) for value in values or [])


def _is_hashable_type(annotation: ast.expr) -> bool:
    match annotation:
        case ast.Name(id=name):
            return name in HASHABLE_TYPE_NAMES
        case ast.Constant(value=value):
            return value is None or all(part.strip() in HASHABLE_TYPE_NAMES for part in str(value).split("|"))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _is_hashable_type(left) and _is_hashable_type(right)
        case ast.Subscript(value=ast.Name(id="Optional") | ast.Attribute(attr="Optional"), slice=inner):
            return _is_hashable_type(inner)
        case ast.Subscript(value=ast.Name(id="Literal") | ast.Attribute(attr="Literal")):
            return True
        case _:
            return False


def _makes_hashable(scene: RewriteTarget, value: ast.expr) -> bool:
    match value:
        case ast.Constant() | ast.JoinedStr() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod() | ast.Add()):
            return True
        case ast.Call(func=func):
            verb = getattr(func, "attr", "") in TEXT_METHODS
            return verb or (isinstance(func, ast.Name) and func.id in HASHABLE_MAKING_FUNCTIONS and scene.builtin(func.id))
        case ast.IfExp(body=one, orelse=other):
            return _makes_hashable(scene, one) and _makes_hashable(scene, other)
        case ast.BoolOp(values=values):
            return all(_makes_hashable(scene, one) for one in values)
        case _:
            return ast.unparse(value).endswith(TEXT_ATTRIBUTES)
