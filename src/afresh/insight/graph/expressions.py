"""What an expression may stand for."""

import ast
from collections.abc import Callable, Sequence

from afresh.insight.graph.annotations import annotated
from afresh.insight.graph.classes import member, returned
from afresh.insight.graph.containers import at, method
from afresh.insight.graph.names import member_of_module, named, union
from afresh.insight.graph.scopes import Scope
from afresh.insight.graph.steps import called_member, item
from afresh.insight.graph.values import (
    NONE,
    NOTHING,
    UNKNOWN,
    Above,
    Class,
    Function,
    Instance,
    Many,
    Module,
    Outside,
    Unknown,
    Value,
    Values,
    listed,
    outside,
)  # fmt: skip
from afresh.insight.graph.world import World


def evaluate(world: World, node: ast.expr, scope: Scope) -> Values:
    found = TABLE.get(type(node))
    return found(world, node, scope) if found else UNKNOWN


def attribute(world: World, value: Value, name: str) -> Values:
    """What `value.name` may stand for."""
    match value:
        case Module():
            return member_of_module(world, value.path, name)
        case Class():
            return member(world, value, name, False)
        case Instance():
            return member(world, value.of, name, True)
        case Above():
            return member(world, value.on, name, True, after=value.of)
        case Outside() | Many():
            return outside(f"{value.name if isinstance(value, Outside) else f'builtins.{value.shape}'}.{name}")
    return outside("builtins.function") if isinstance(value, Function) else UNKNOWN


def called(world: World, value: Value) -> Values:
    """What a call of it gives."""
    match value:
        case Class():
            return frozenset({Instance(value)})
        case Function():
            return returned(world, value)
        case Instance():
            return called_member(world, value.of, "__call__") or UNKNOWN
        case Many(shape="callable"):
            return value.parts[0]
        case Outside():
            return outside(f"{value.name}()")
    return UNKNOWN


def _name(world: World, node: ast.Name, scope: Scope) -> Values:
    return named(world, node.id, scope, node.lineno)


def _attribute(world: World, node: ast.Attribute, scope: Scope) -> Values:
    return union(attribute(world, value, node.attr) for value in world.value(node.value, scope))


def _call(world: World, node: ast.Call, scope: Scope) -> Values:
    if isinstance(node.func, ast.Attribute):
        held = [value for value in world.value(node.func.value, scope) if isinstance(value, Many)]
        if held:
            return union(method(value, node.func.attr) for value in held)
    return union(_one_call(world, value, node, scope) for value in world.value(node.func, scope))


def _one_call(world: World, value: Value, node: ast.Call, scope: Scope) -> Values:
    if not isinstance(value, Outside):
        return called(world, value)
    known = BUILTINS.get(value.name.removeprefix("builtins."))
    if known is not None:
        return known(world, node.args, scope)
    given = (*node.args, *(keyword.value for keyword in node.keywords))
    handed_on = (each for argument in given for each in world.value(argument, scope))
    ours = any(isinstance(each, Instance | Class | Function) for each in handed_on)
    return UNKNOWN if ours else called(world, value)


# Functions of the standard library that give back what they were given

Arguments = Sequence[ast.expr]


def _first(world: World, given: Arguments, scope: Scope) -> Values:
    return world.value(given[0], scope) if given else UNKNOWN


def _items(world: World, given: Arguments, scope: Scope) -> Values:
    return union(item(world, value) for value in _first(world, given, scope))


def _listed(world: World, given: Arguments, scope: Scope) -> Values:
    return listed(_items(world, given, scope) if given else UNKNOWN)


def _enumerated(world: World, given: Arguments, scope: Scope) -> Values:
    return listed(frozenset({Many("tuple", (outside("builtins.int"), _items(world, given, scope)))}))


def _zipped(world: World, given: Arguments, scope: Scope) -> Values:
    return listed(frozenset({Many("tuple", tuple(_items(world, [each], scope) for each in given))}))


def _mapped(world: World, given: Arguments, scope: Scope) -> Values:
    return listed(union(called(world, value) for value in _first(world, given, scope)))


def _type(world: World, given: Arguments, scope: Scope) -> Values:
    if len(given) != 1:
        return UNKNOWN
    return frozenset(value.of if isinstance(value, Instance) else value for value in _first(world, given, scope))


def _super(world: World, given: Arguments, scope: Scope) -> Values:
    own = scope.own_class
    if own is None:
        return UNKNOWN
    here = Class(own.path, own.name)
    said = [value for value in _first(world, given, scope) if isinstance(value, Class)] if given else [here]
    return frozenset(Above(value, here) for value in said) or UNKNOWN


def _cast(world: World, given: Arguments, scope: Scope) -> Values:
    return annotated(world, given[0], scope) if given else UNKNOWN


def _getattr(world: World, given: Arguments, scope: Scope) -> Values:
    if len(given) > 1 and isinstance(given[1], ast.Constant) and isinstance(given[1].value, str):
        name = given[1].value
        return union(attribute(world, value, name) for value in _first(world, given, scope))
    return UNKNOWN


def _either(world: World, given: Arguments, scope: Scope) -> Values:
    return union(world.value(each, scope) for each in given) if len(given) > 1 else _items(world, given, scope)


def _closing(world: World, given: Arguments, scope: Scope) -> Values:
    return frozenset({Many("context", (_first(world, given, scope),))})


def _filled(world: World, given: Arguments, scope: Scope) -> Values:
    return frozenset({Many("dict", (UNKNOWN, UNKNOWN))})


def _anything(world: World, given: Arguments, scope: Scope) -> Values:
    return UNKNOWN


DICTS = (
    "dict", "collections.defaultdict", "collections.OrderedDict", "collections.ChainMap", "weakref.WeakKeyDictionary",
    "weakref.WeakValueDictionary",
)  # fmt: skip
ANYTHING = (
    "eval", "__import__", "importlib.import_module", "pickle.loads", "vars", "globals", "locals", "threading.local",
    "weakref.ref", "weakref.proxy", "contextvars.ContextVar", "queue.Queue", "itertools.chain", "filter", "functools.reduce",
)  # fmt: skip
BUILTINS: dict[str, Callable[[World, Arguments, Scope], Values]] = {
    **dict.fromkeys(("list", "set", "tuple", "frozenset", "sorted", "iter", "reversed", "collections.deque"), _listed),
    **dict.fromkeys(("functools.partial", "copy.copy", "copy.deepcopy", "functools.partialmethod", "staticmethod"), _first),
    **dict.fromkeys(("next", "sum", "random.choice"), _items),
    **dict.fromkeys(DICTS, _filled),
    **dict.fromkeys(ANYTHING, _anything),
    **dict.fromkeys(("min", "max"), _either),
    **dict.fromkeys(("typing.cast", "typing_extensions.cast"), _cast),
    "classmethod": _first,
    "enumerate": _enumerated,
    "zip": _zipped,
    "map": _mapped,
    "type": _type,
    "super": _super,
    "getattr": _getattr,
    "contextlib.closing": _closing,
}


# Other expressions


def _subscript(world: World, node: ast.Subscript, scope: Scope) -> Values:
    index = node.slice.value if isinstance(node.slice, ast.Constant) and type(node.slice.value) is int else None
    return union(_taken(world, value, index, isinstance(node.slice, ast.Slice)) for value in world.value(node.value, scope))


def _taken(world: World, value: Value, index: int | None, some: bool) -> Values:
    if isinstance(value, Class) or some:
        return frozenset({value})
    return called_member(world, value.of, "__getitem__") or UNKNOWN if isinstance(value, Instance) else at(value, index)


def _sequence(world: World, node: ast.List | ast.Set, scope: Scope) -> Values:
    """An empty one will be filled with something."""
    parts = (world.value(each.value if isinstance(each, ast.Starred) else each, scope) for each in node.elts)
    return listed(union(parts) if node.elts else UNKNOWN)


def _tuple(world: World, node: ast.Tuple, scope: Scope) -> Values:
    return frozenset({Many("tuple", tuple(world.value(each, scope) for each in node.elts))}) if node.elts else listed(NOTHING)


def _dict(world: World, node: ast.Dict, scope: Scope) -> Values:
    if not node.values:
        return frozenset({Many("dict", (UNKNOWN, UNKNOWN))})
    keys = union(world.value(key, scope) for key in node.keys if key is not None)
    return frozenset({Many("dict", (keys, union(world.value(value, scope) for value in node.values)))})


def _binary(world: World, node: ast.BinOp, scope: Scope) -> Values:
    left = world.value(node.left, scope)
    return left if all(isinstance(value, Outside | Many) for value in left) and left else UNKNOWN


def _inner(world: World, node: ast.NamedExpr | ast.Await | ast.Starred, scope: Scope) -> Values:
    return world.value(node.value, scope)


def _chosen(world: World, node: ast.IfExp, scope: Scope) -> Values:
    return world.value(node.body, scope) | world.value(node.orelse, scope)


def _any_of(world: World, node: ast.BoolOp, scope: Scope) -> Values:
    return union(world.value(part, scope) for part in node.values)


def _collected(world: World, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope) -> Values:
    return listed(world.value(node.elt, scope))


def _dict_made(world: World, node: ast.DictComp, scope: Scope) -> Values:
    return frozenset({Many("dict", (world.value(node.key, scope), world.value(node.value, scope)))})


def _constant(world: World, node: ast.Constant, scope: Scope) -> Values:
    return NONE if node.value is None else outside(f"builtins.{type(node.value).__name__}")


def _lambda(world: World, node: ast.Lambda, scope: Scope) -> Values:
    return outside("builtins.function") if isinstance(node.body, ast.Constant) else frozenset({Unknown()})


TABLE: dict[type[ast.AST], Callable[..., Values]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.List: _sequence,
    ast.Set: _sequence,
    ast.Tuple: _tuple,
    ast.Dict: _dict,
    ast.BinOp: _binary,
    ast.ListComp: _collected,
    ast.SetComp: _collected,
    ast.GeneratorExp: _collected,
    ast.DictComp: _dict_made,
    ast.Constant: _constant,
    ast.Lambda: _lambda,
    ast.IfExp: _chosen,
    ast.BoolOp: _any_of,
    ast.NamedExpr: _inner,
    ast.Await: _inner,
    ast.Starred: _inner,
    ast.JoinedStr: lambda world, node, scope: outside("builtins.str"),
    ast.Compare: lambda world, node, scope: outside("builtins.bool"),
}
