"""What an expression of Python may stand for, as far as reading alone can tell."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Module:
    path: str


@dataclass(frozen=True, slots=True)
class Class:
    path: str
    name: str
    """Qualified within its file."""


@dataclass(frozen=True, slots=True)
class Function:
    path: str
    name: str
    on: Class | None = None
    """Class of the receiver it was taken from, where that is known: it may differ from the class that defines it."""


@dataclass(frozen=True, slots=True)
class Instance:
    of: Class


@dataclass(frozen=True, slots=True)
class Above:
    """What `super()` gives: members of the classes after this one."""

    of: Class
    on: Class


@dataclass(frozen=True, slots=True)
class Outside:
    """Defined in no file of the tree: a dotted name of the standard library or a package, or what it has made."""

    name: str


@dataclass(frozen=True, slots=True)
class Many:
    """Something that holds others: `list` (also sets and iterators), `tuple`, `dict` (keys and values), `context` (what `with`
    gives), `callable` (what a call gives)."""

    shape: str
    parts: "tuple[Values, ...]"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Reading alone can't tell."""


Value = Module | Class | Function | Instance | Above | Outside | Many | Unknown
Values = frozenset[Value]
UNKNOWN: Values = frozenset({Unknown()})
NOTHING: Values = frozenset()
NONE: Values = frozenset({Outside("builtins.None")})


def listed(values: Values) -> Values:
    return frozenset({Many("list", (values,))})


def outside(name: str) -> Values:
    return frozenset({Outside(name)})
