"""Evaluates expressions to the values that they may have: names, attributes, calls, containers and their items."""

import ast
from collections.abc import Callable, Sequence

from afresh.code.graph.class_hierarchy import resolve_member, resolve_return
from afresh.code.graph.inference_session import (
    NO_VALUES,
    NONE_VALUES,
    UNKNOWN_VALUES,
    ClassValue,
    ContainerValue,
    ExternalValue,
    FunctionValue,
    InferenceSession,
    InstanceValue,
    ModuleValue,
    SuperValue,
    Value,
    Values,
    call_container_method,
    get_item_values,
    to_external_value,
    to_list_value,
)
from afresh.code.graph.resolve_names import call_member, iterate_value, resolve_module_member, resolve_name, unite_values
from afresh.code.graph.scopes import NameScope


def resolve_attribute(world: InferenceSession, value: Value, name: str) -> Values:
    """Return the values that `value.name` may have."""
    match value:
        case ModuleValue():
            return resolve_module_member(world, value.path, name)
        case ClassValue():
            return resolve_member(world, value, name, False)
        case InstanceValue():
            return resolve_member(world, value.of, name, True)
        case SuperValue():
            return resolve_member(world, value.on, name, True, after=value.of)
        case ExternalValue() | ContainerValue():
            return to_external_value(f"{value.name if isinstance(value, ExternalValue) else f'builtins.{value.shape}'}.{name}")
    return to_external_value("builtins.function") if isinstance(value, FunctionValue) else UNKNOWN_VALUES


def resolve_call(world: InferenceSession, value: Value) -> Values:
    """Return the values that calling `value` may return."""
    match value:
        case ClassValue():
            return frozenset({InstanceValue(value)})
        case FunctionValue():
            return resolve_return(world, value)
        case InstanceValue():
            return call_member(world, value.of, "__call__") or UNKNOWN_VALUES
        case ContainerValue(shape="callable"):
            return value.parts[0]
        case ExternalValue():
            return to_external_value(f"{value.name}()")
    return UNKNOWN_VALUES


# Functions of the standard library that return their argument

CallArguments = Sequence[ast.expr]


def _evaluate_first_argument(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    return world.value(given[0], scope) if given else UNKNOWN_VALUES


def _evaluate_items(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    return unite_values(iterate_value(world, value) for value in _evaluate_first_argument(world, given, scope))


def _evaluate_list_call(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    return to_list_value(_evaluate_items(world, given, scope) if given else UNKNOWN_VALUES)


def _evaluate_super(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    own = scope.own_class
    if own is None:
        return UNKNOWN_VALUES
    here = ClassValue(own.path, own.name)
    said = (
        [value for value in _evaluate_first_argument(world, given, scope) if isinstance(value, ClassValue)] if given else [here]
    )
    return frozenset(SuperValue(value, here) for value in said) or UNKNOWN_VALUES


def _evaluate_untracked(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    return UNKNOWN_VALUES


UNTRACKED_FUNCTIONS = (
    "dict", "collections.defaultdict", "collections.OrderedDict", "enumerate", "zip", "map", "filter", "functools.reduce",
    "itertools.chain", "getattr", "typing.cast", "vars", "globals", "locals", "eval", "__import__", "importlib.import_module",
    "pickle.loads", "threading.local", "weakref.ref", "weakref.proxy", "contextvars.ContextVar", "queue.Queue",
)  # fmt: skip
"""Functions whose results are unknown."""
CALL_EVALUATORS: dict[str, Callable[[InferenceSession, CallArguments, NameScope], Values]] = {
    **dict.fromkeys(
        ("list", "set", "tuple", "frozenset", "sorted", "iter", "reversed", "collections.deque"), _evaluate_list_call
    ),
    **dict.fromkeys(("functools.partial", "copy.copy", "copy.deepcopy", "staticmethod", "classmethod"), _evaluate_first_argument),
    **dict.fromkeys(("next", "min", "max", "random.choice"), _evaluate_items),
    **dict.fromkeys(UNTRACKED_FUNCTIONS, _evaluate_untracked),
    "super": _evaluate_super,
}


def evaluate_expression(world: InferenceSession, node: ast.expr, scope: NameScope) -> Values:
    found = EXPRESSION_EVALUATORS.get(type(node))
    return found(world, node, scope) if found else UNKNOWN_VALUES


def _evaluate_name(world: InferenceSession, node: ast.Name, scope: NameScope) -> Values:
    return resolve_name(world, node.id, scope)


def _evaluate_attribute(world: InferenceSession, node: ast.Attribute, scope: NameScope) -> Values:
    return unite_values(resolve_attribute(world, value, node.attr) for value in world.value(node.value, scope))


def _evaluate_call(world: InferenceSession, node: ast.Call, scope: NameScope) -> Values:
    if isinstance(node.func, ast.Attribute):
        held = [value for value in world.value(node.func.value, scope) if isinstance(value, ContainerValue)]
        if held:
            return unite_values(call_container_method(value, node.func.attr) for value in held)
    return unite_values(_evaluate_call_of_value(world, value, node, scope) for value in world.value(node.func, scope))


def _evaluate_call_of_value(world: InferenceSession, value: Value, node: ast.Call, scope: NameScope) -> Values:
    if not isinstance(value, ExternalValue):
        return resolve_call(world, value)
    known = CALL_EVALUATORS.get(value.name.removeprefix("builtins."))
    if known is not None:
        return known(world, node.args, scope)
    given = (*node.args, *(keyword.value for keyword in node.keywords))
    handed_on = (each for argument in given for each in world.value(argument, scope))
    ours = any(isinstance(each, InstanceValue | ClassValue | FunctionValue) for each in handed_on)
    return UNKNOWN_VALUES if ours else resolve_call(world, value)


# Other expressions


def _evaluate_subscript(world: InferenceSession, node: ast.Subscript, scope: NameScope) -> Values:
    index = node.slice.value if isinstance(node.slice, ast.Constant) and type(node.slice.value) is int else None
    return unite_values(
        _get_subscripted_values(world, value, index, isinstance(node.slice, ast.Slice))
        for value in world.value(node.value, scope)
    )


def _get_subscripted_values(world: InferenceSession, value: Value, index: int | None, some: bool) -> Values:
    if isinstance(value, ClassValue) or some:
        return frozenset({value})
    return (
        call_member(world, value.of, "__getitem__") or UNKNOWN_VALUES
        if isinstance(value, InstanceValue)
        else get_item_values(value, index)
    )


def _evaluate_sequence(world: InferenceSession, node: ast.List | ast.Set, scope: NameScope) -> Values:
    """Return a list of the item values; an empty literal has unknown items, since it will be filled later."""
    parts = (world.value(each.value if isinstance(each, ast.Starred) else each, scope) for each in node.elts)
    return to_list_value(unite_values(parts) if node.elts else UNKNOWN_VALUES)


def _evaluate_tuple(world: InferenceSession, node: ast.Tuple, scope: NameScope) -> Values:
    return (
        frozenset({ContainerValue("tuple", tuple(world.value(each, scope) for each in node.elts))})
        if node.elts
        else to_list_value(NO_VALUES)
    )


def _evaluate_dict(world: InferenceSession, node: ast.Dict, scope: NameScope) -> Values:
    if not node.values:
        return frozenset({ContainerValue("dict", (UNKNOWN_VALUES, UNKNOWN_VALUES))})
    keys = unite_values(world.value(key, scope) for key in node.keys if key is not None)
    return frozenset({ContainerValue("dict", (keys, unite_values(world.value(value, scope) for value in node.values)))})


def _evaluate_inner_value(world: InferenceSession, node: ast.NamedExpr | ast.Await | ast.Starred, scope: NameScope) -> Values:
    return world.value(node.value, scope)


def _evaluate_conditional(world: InferenceSession, node: ast.IfExp, scope: NameScope) -> Values:
    return world.value(node.body, scope) | world.value(node.orelse, scope)


def _evaluate_boolean_operation(world: InferenceSession, node: ast.BoolOp, scope: NameScope) -> Values:
    return unite_values(world.value(part, scope) for part in node.values)


def _evaluate_comprehension(
    world: InferenceSession, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: NameScope
) -> Values:
    return to_list_value(world.value(node.elt, scope))


def _evaluate_dict_comprehension(world: InferenceSession, node: ast.DictComp, scope: NameScope) -> Values:
    return frozenset({ContainerValue("dict", (world.value(node.key, scope), world.value(node.value, scope)))})


def _evaluate_constant(world: InferenceSession, node: ast.Constant, scope: NameScope) -> Values:
    return NONE_VALUES if node.value is None else to_external_value(f"builtins.{type(node.value).__name__}")


EXPRESSION_EVALUATORS: dict[type[ast.AST], Callable[..., Values]] = {
    ast.Name: _evaluate_name,
    ast.Attribute: _evaluate_attribute,
    ast.Call: _evaluate_call,
    ast.Subscript: _evaluate_subscript,
    ast.List: _evaluate_sequence,
    ast.Set: _evaluate_sequence,
    ast.Tuple: _evaluate_tuple,
    ast.Dict: _evaluate_dict,
    ast.ListComp: _evaluate_comprehension,
    ast.SetComp: _evaluate_comprehension,
    ast.GeneratorExp: _evaluate_comprehension,
    ast.DictComp: _evaluate_dict_comprehension,
    ast.Constant: _evaluate_constant,
    ast.IfExp: _evaluate_conditional,
    ast.BoolOp: _evaluate_boolean_operation,
    ast.NamedExpr: _evaluate_inner_value,
    ast.Await: _evaluate_inner_value,
    ast.Starred: _evaluate_inner_value,
    ast.JoinedStr: lambda world, node, scope: to_external_value("builtins.str"),
    ast.Compare: lambda world, node, scope: to_external_value("builtins.bool"),
}
