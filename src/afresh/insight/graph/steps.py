"""From a value to what a `for`, a `with` or an assignment to several names takes out of it."""

from afresh.insight.graph.classes import resolve_member, resolve_return
from afresh.insight.graph.containers import get_item_values, list_item_values
from afresh.insight.graph.scopes import UnpackStep
from afresh.insight.graph.values import (
    NO_VALUES,
    UNKNOWN_VALUES,
    ClassValue,
    FunctionValue,
    InstanceValue,
    ContainerValue,
    ExternalValue,
    Value,
    Values,
    to_list_value,
)
from afresh.insight.graph.world import InferenceSession


def unpack_values(world: InferenceSession, values: Values, steps: tuple[UnpackStep, ...]) -> Values:
    for step in steps:
        values = NO_VALUES.union(*(_unpack_value(world, value, step) for value in values))
    return values


def _unpack_value(world: InferenceSession, value: Value, step: UnpackStep) -> Values:
    if step == "item":
        return iterate_value(world, value)
    if step == "enter":
        return enter_value(world, value)
    if step == "rest":
        return to_list_value(iterate_value(world, value))
    return get_item_values(value, int(step))


def iterate_value(world: InferenceSession, value: Value) -> Values:
    """Of one of our own classes: what its `__iter__` gives."""
    if not isinstance(value, InstanceValue):
        return NO_VALUES if isinstance(value, ClassValue) else list_item_values(value)
    iterators = call_member(world, value.of, "__iter__")
    own = {each for each in iterators if isinstance(each, InstanceValue)}
    found = NO_VALUES.union(*(list_item_values(each) for each in iterators if each not in own))
    return found.union(*(call_member(world, each.of, "__next__") for each in own if isinstance(each, InstanceValue)))


def enter_value(world: InferenceSession, value: Value) -> Values:
    if isinstance(value, ContainerValue):
        return value.parts[0] if value.shape == "context" else UNKNOWN_VALUES
    if isinstance(value, InstanceValue):
        given = call_member(world, value.of, "__enter__") | call_member(world, value.of, "__aenter__")
        return given or frozenset({value})
    return frozenset({value}) if isinstance(value, ExternalValue) else UNKNOWN_VALUES


def call_member(world: InferenceSession, of: ClassValue, name: str) -> Values:
    found: set = set()
    for function in resolve_member(world, of, name, True):
        if isinstance(function, FunctionValue):
            found |= resolve_return(world, function)
    return frozenset(found)
