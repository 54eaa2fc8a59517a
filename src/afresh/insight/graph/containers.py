"""What comes out of things that hold others."""

from afresh.insight.graph.values import NOTHING, UNKNOWN, Many, Outside, Value, Values, listed, outside

ELEMENT = {"pop", "popleft", "get", "setdefault", "popitem", "__getitem__", "__next__"}
SAME = {"copy", "union", "intersection", "difference", "reverse"}


def items(value: Value) -> Values:
    """What iterating over it gives; unknown for what holds nothing that is known."""
    if isinstance(value, Many):
        return NOTHING.union(*value.parts) if value.shape == "tuple" else value.parts[0]
    return of_outside(value)


def at(value: Value, index: int | None) -> Values:
    """What a subscript gives, or the part of an assignment to several names."""
    if not isinstance(value, Many):
        return of_outside(value)
    if value.shape == "tuple" and index is not None and -len(value.parts) <= index < len(value.parts):
        return value.parts[index]
    return value.parts[1] if value.shape == "dict" else items(value)


def of_outside(value: Value) -> Values:
    """Text holds text; what others have made may hold anything, also something of ours."""
    return frozenset({value}) if isinstance(value, Outside) and value.name.startswith("builtins.") else UNKNOWN


def method(value: Many, name: str) -> Values:
    """What a call of a builtin container's method gives."""
    if value.shape == "dict" and name == "items":
        return listed(frozenset({Many("tuple", value.parts)}))
    if value.shape == "dict" and name in ("values", "keys"):
        return listed(value.parts[name == "values"])
    if name in SAME:
        return frozenset({value})
    if name in ELEMENT:
        return at(value, None)
    return outside(f"builtins.{value.shape}.{name}()")


def made_context(given: Values) -> Values:
    """What `with` gives of a generator that is decorated as a context."""
    return frozenset({Many("context", (NOTHING.union(*(items(value) for value in given)),))})
