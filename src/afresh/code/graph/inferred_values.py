"""What an expression of Python may stand for, as far as reading alone can tell."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModuleValue:
    path: str


@dataclass(frozen=True, slots=True)
class ClassValue:
    path: str
    name: str
    """Qualified within its file."""


@dataclass(frozen=True, slots=True)
class FunctionValue:
    path: str
    name: str
    on: ClassValue | None = None
    """Class of the receiver it was taken from, where that is known: it may differ from the class that defines it."""


@dataclass(frozen=True, slots=True)
class InstanceValue:
    of: ClassValue


@dataclass(frozen=True, slots=True)
class SuperValue:
    """What `super()` gives: members of the classes after this one."""

    of: ClassValue
    on: ClassValue


@dataclass(frozen=True, slots=True)
class ExternalValue:
    """Defined in no file of the tree: a dotted name of the standard library or a package, or what it has made."""

    name: str


@dataclass(frozen=True, slots=True)
class ContainerValue:
    """Something that holds others: `list` (also sets and iterators), `tuple`, `dict` (keys and values), `context` (what `with`
    gives), `callable` (what a call gives)."""

    shape: str
    parts: "tuple[Values, ...]"


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """Reading alone can't tell."""


Value = ModuleValue | ClassValue | FunctionValue | InstanceValue | SuperValue | ExternalValue | ContainerValue | UnknownValue
Values = frozenset[Value]
UNKNOWN_VALUES: Values = frozenset({UnknownValue()})
NO_VALUES: Values = frozenset()
NONE_VALUES: Values = frozenset({ExternalValue("builtins.None")})


def to_list_value(values: Values) -> Values:
    return frozenset({ContainerValue("list", (values,))})


def to_external_value(name: str) -> Values:
    return frozenset({ExternalValue(name)})


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
