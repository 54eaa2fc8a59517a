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
