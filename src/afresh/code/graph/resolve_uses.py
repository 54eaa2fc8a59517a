"""Resolves one use of a name to the definitions that it may mean."""

import ast
from dataclasses import dataclass, field

from afresh.code.graph.class_hierarchy import ClassMember, find_member, has_unknown_members, resolve_member
from afresh.code.graph.inference_session import (
    ClassValue,
    FunctionValue,
    InferenceSession,
    InstanceValue,
    ModuleValue,
    SuperValue,
    UnknownValue,
    Value,
    Values,
)
from afresh.code.graph.resolve_names import call_member, resolve_import_binding, resolve_module_member
from afresh.code.graph.scopes import IMPLICIT_ROLES, FunctionNode, NameBinding, NameUse

DefinitionKey = tuple[str, str]
"""Path and qualified name."""


@dataclass(slots=True)
class UseMeaning:
    defined: set[DefinitionKey] = field(default_factory=set)
    classes: set[ClassValue] = field(default_factory=set)
    """Those among them that are classes."""
    receivers: set[ClassValue] = field(default_factory=set)
    """Classes on which the name is looked up; a subclass may override it."""
    unknown: bool = False

    def take(self, values: Values) -> None:
        for value in values:
            if isinstance(value, ClassValue | FunctionValue):
                self.defined.add((value.path, value.name))
            if isinstance(value, ClassValue):
                self.classes.add(value)
            self.unknown |= isinstance(value, UnknownValue)


def resolve_use(world: InferenceSession, use: NameUse, name: str) -> UseMeaning:
    found = UseMeaning()
    node = use.node
    if use.role in IMPLICIT_ROLES and isinstance(node, ast.expr):
        values = world.value(node, use.scope)
        for value in find_operands(world, use.role, values, name):
            ask_receiver(world, found, value, name)
        found.unknown |= UnknownValue() in values
    elif isinstance(node, ast.Attribute):
        for value in world.value(node.value, use.scope):
            ask_receiver(world, found, value, name)
    elif isinstance(node, ast.alias):
        for binding in use.scope.bound.get(node.asname or node.name, ()):
            if binding.how == "from" and binding.detail[2] == node.name:
                found.take(resolve_import_binding(world, binding))
    elif isinstance(node, ast.expr):
        found.take(world.value(node, use.scope))
    return found


def find_operands(world: InferenceSession, role: str, values: Values, name: str) -> list[InstanceValue]:
    """Return the instances that an operator is applied to. `for` uses the result of `__iter__`, and `+=` only calls `__add__`
    where there is no `__iadd__`.
    """
    found = [value for value in values if isinstance(value, InstanceValue)]
    if role == "iterated":
        found = [each for value in found for each in call_member(world, value.of, "__iter__") if isinstance(each, InstanceValue)]
    elif role == "augmented":
        found = [value for value in found if find_member(world, value.of, name.replace("__", "__i", 1)) is None]
    return found


def ask_receiver(world: InferenceSession, found: UseMeaning, value: Value, name: str) -> None:
    """Add to `found` what the name means on one receiver."""
    match value:
        case ModuleValue():
            found.take(resolve_module_member(world, value.path, name))
        case InstanceValue():
            ask_class(world, found, value.of, name, None)
            found.receivers.add(value.of)
        case ClassValue():
            ask_class(world, found, value, name, None)
            found.receivers.add(value)
        case SuperValue():
            ask_class(world, found, value.on, name, value.of)
        case UnknownValue() | FunctionValue():
            # a decorator may have replaced the function
            found.unknown = True


def ask_class(world: InferenceSession, found: UseMeaning, of: ClassValue, name: str, after: ClassValue | None) -> None:
    has = find_member(world, of, name, after)
    if name == "__class__":
        found.take(frozenset({of}))
    elif has is None:
        found.unknown |= has_unknown_members(world, of)
    elif has.functions:
        found.defined |= list_function_keys(has)
    else:
        known = UseMeaning()
        known.take(resolve_member(world, of, name, True, after))
        found.defined |= known.defined
        found.classes |= known.classes


def list_function_keys(has: ClassMember) -> set[DefinitionKey]:
    return {(has.owner.path, f"{has.owner.name}.{name_from_binding(binding)}") for binding in has.functions}


def name_from_binding(binding: NameBinding) -> str:
    return binding.node.name if isinstance(binding.node, FunctionNode) else ""


def find_constructors(world: InferenceSession, found: UseMeaning) -> set[DefinitionKey]:
    """Return the `__init__` and `__new__` that creating instances of these classes calls."""
    called: set[DefinitionKey] = set()
    for each in found.classes:
        for name in ("__init__", "__new__", "__post_init__"):
            if (has := find_member(world, each, name)) is not None:
                called |= list_function_keys(has)
    return called
