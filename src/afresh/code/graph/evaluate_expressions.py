"""What an expression may stand for."""

import ast
from collections.abc import Callable

from afresh.code.graph.evaluate_calls import CALL_EVALUATORS, resolve_attribute, resolve_call
from afresh.code.graph.inference_session import InferenceSession
from afresh.code.graph.inferred_values import (
    NO_VALUES,
    NONE_VALUES,
    UNKNOWN_VALUES,
    ClassValue,
    ContainerValue,
    ExternalValue,
    FunctionValue,
    InstanceValue,
    UnknownValue,
    Value,
    Values,
    call_container_method,
    get_item_values,
    to_external_value,
    to_list_value,
)
from afresh.code.graph.resolve_names import call_member, resolve_name, unite_values
from afresh.code.graph.scopes import NameScope


def evaluate_expression(world: InferenceSession, node: ast.expr, scope: NameScope) -> Values:
    found = EXPRESSION_EVALUATORS.get(type(node))
    return found(world, node, scope) if found else UNKNOWN_VALUES


def _evaluate_name(world: InferenceSession, node: ast.Name, scope: NameScope) -> Values:
    return resolve_name(world, node.id, scope, node.lineno)


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
    """An empty one will be filled with something."""
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


def _evaluate_binary_operation(world: InferenceSession, node: ast.BinOp, scope: NameScope) -> Values:
    left = world.value(node.left, scope)
    return left if all(isinstance(value, ExternalValue | ContainerValue) for value in left) and left else UNKNOWN_VALUES


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


def _evaluate_lambda(world: InferenceSession, node: ast.Lambda, scope: NameScope) -> Values:
    return to_external_value("builtins.function") if isinstance(node.body, ast.Constant) else frozenset({UnknownValue()})


EXPRESSION_EVALUATORS: dict[type[ast.AST], Callable[..., Values]] = {
    ast.Name: _evaluate_name,
    ast.Attribute: _evaluate_attribute,
    ast.Call: _evaluate_call,
    ast.Subscript: _evaluate_subscript,
    ast.List: _evaluate_sequence,
    ast.Set: _evaluate_sequence,
    ast.Tuple: _evaluate_tuple,
    ast.Dict: _evaluate_dict,
    ast.BinOp: _evaluate_binary_operation,
    ast.ListComp: _evaluate_comprehension,
    ast.SetComp: _evaluate_comprehension,
    ast.GeneratorExp: _evaluate_comprehension,
    ast.DictComp: _evaluate_dict_comprehension,
    ast.Constant: _evaluate_constant,
    ast.Lambda: _evaluate_lambda,
    ast.IfExp: _evaluate_conditional,
    ast.BoolOp: _evaluate_boolean_operation,
    ast.NamedExpr: _evaluate_inner_value,
    ast.Await: _evaluate_inner_value,
    ast.Starred: _evaluate_inner_value,
    ast.JoinedStr: lambda world, node, scope: to_external_value("builtins.str"),
    ast.Compare: lambda world, node, scope: to_external_value("builtins.bool"),
}
