"""What comes out of things that hold others."""

from afresh.insight.graph.values import (
    NO_VALUES,
    UNKNOWN_VALUES,
    ContainerValue,
    ExternalValue,
    Value,
    Values,
    to_list_value,
    to_external_value,
)

ELEMENT_METHODS = {"pop", "popleft", "get", "setdefault", "popitem", "__getitem__", "__next__"}
SAME_CONTAINER_METHODS = {"copy", "union", "intersection", "difference", "reverse"}


def list_item_values(value: Value) -> Values:
    """What iterating over it gives; unknown for what holds nothing that is known."""
    if isinstance(value, ContainerValue):
        return NO_VALUES.union(*value.parts) if value.shape == "tuple" else value.parts[0]
    return get_external_items(value)


def get_item_values(value: Value, index: int | None) -> Values:
    """What a subscript gives, or the part of an assignment to several names."""
    if not isinstance(value, ContainerValue):
        return get_external_items(value)
    if value.shape == "tuple" and index is not None and -len(value.parts) <= index < len(value.parts):
        return value.parts[index]
    return value.parts[1] if value.shape == "dict" else list_item_values(value)


def get_external_items(value: Value) -> Values:
    """Text holds text; what others have made may hold anything, also something of ours."""
    return frozenset({value}) if isinstance(value, ExternalValue) and value.name.startswith("builtins.") else UNKNOWN_VALUES


def call_container_method(value: ContainerValue, name: str) -> Values:
    """What a call of a builtin container's method gives."""
    if value.shape == "dict" and name == "items":
        return to_list_value(frozenset({ContainerValue("tuple", value.parts)}))
    if value.shape == "dict" and name in ("values", "keys"):
        return to_list_value(value.parts[name == "values"])
    if name in SAME_CONTAINER_METHODS:
        return frozenset({value})
    if name in ELEMENT_METHODS:
        return get_item_values(value, None)
    return to_external_value(f"builtins.{value.shape}.{name}()")


def to_context_value(given: Values) -> Values:
    """What `with` gives of a generator that is decorated as a context."""
    return frozenset({ContainerValue("context", (NO_VALUES.union(*(list_item_values(value) for value in given)),))})
