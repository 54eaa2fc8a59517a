"""Resolves type annotations to values."""

import ast

from afresh.code.graph.inference_session import (
    NO_VALUES,
    NONE_VALUES,
    UNKNOWN_VALUES,
    ClassValue,
    ContainerValue,
    ExternalValue,
    InferenceSession,
    InstanceValue,
    UnknownValue,
    Values,
    to_external_value,
    to_list_value,
)
from afresh.code.graph.scopes import NameScope

TRANSPARENT_GENERICS = {
    "Optional", "Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "InitVar", "Awaitable", "TypeGuard",
}  # fmt: skip
LIST_TYPES = {
    "list", "List", "set", "Set", "frozenset", "FrozenSet", "Sequence", "MutableSequence", "Iterable", "Iterator", "Collection",
    "AbstractSet", "MutableSet", "deque", "Deque", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator", "Reversible",
    "KeysView", "ValuesView", "array",
}  # fmt: skip
DICT_TYPES = {
    "dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict", "ChainMap", "WeakKeyDictionary",
}  # fmt: skip
CONTEXT_TYPES = {"ContextManager", "AbstractContextManager", "AsyncContextManager", "AbstractAsyncContextManager"}
ANY_TYPES = {"Any", "object", "TypeVar", "ParamSpec", "Self", "T"}


def resolve_annotation(world: InferenceSession, node: ast.expr, scope: NameScope) -> Values:
    """Return instances of the annotated type. Classes outside the tree give external values; `Any` gives an unknown value."""
    world.work += 1
    if world.depth > 30:
        return UNKNOWN_VALUES
    match node:
        case ast.Constant():
            return _resolve_quoted(world, node.value, scope) if isinstance(node.value, str) else NONE_VALUES
        case ast.BinOp(left=left, right=right, op=ast.BitOr()):
            return resolve_annotation(world, left, scope) | resolve_annotation(world, right, scope)
        case ast.Subscript():
            return _resolve_generic(world, node, scope)
        case ast.Name() | ast.Attribute():
            return _resolve_plain(world, node, scope)
    return UNKNOWN_VALUES


def instances_from_classes(classes: Values) -> Values:
    """Return instances of the classes, or of a tuple of them as `isinstance` takes it."""
    found: set = set()
    for value in classes:
        if isinstance(value, ClassValue):
            found.add(InstanceValue(value))
        elif isinstance(value, ContainerValue):
            found |= instances_from_classes(NO_VALUES.union(*value.parts))
        else:
            found.add(value if isinstance(value, ExternalValue) else UnknownValue())
    return frozenset(found)


def _resolve_quoted(world: InferenceSession, text: str, scope: NameScope) -> Values:
    try:
        return resolve_annotation(world, ast.parse(text.strip(), mode="eval").body, scope)
    except (SyntaxError, ValueError):
        return UNKNOWN_VALUES


def _resolve_plain(world: InferenceSession, node: ast.Name | ast.Attribute, scope: NameScope) -> Values:
    alias = _find_alias(node, scope)
    if alias is not None:
        world.depth += 1
        found = resolve_annotation(world, alias[0], alias[1])
        world.depth -= 1
        return found
    return frozenset().union(*(_instance_values(value) for value in world.evaluate(world, node, scope)))


def _instance_values(value: object) -> Values:
    if isinstance(value, ClassValue):
        return frozenset({InstanceValue(value)})
    if not isinstance(value, ExternalValue) or value.name.rpartition(".")[2].removesuffix("()") in ANY_TYPES:
        return UNKNOWN_VALUES
    name = value.name.rpartition(".")[2]
    if name in DICT_TYPES:
        return frozenset({ContainerValue("dict", (UNKNOWN_VALUES, UNKNOWN_VALUES))})
    return to_list_value(UNKNOWN_VALUES) if name in LIST_TYPES or name in ("tuple", "Tuple") else frozenset({value})


def _find_alias(node: ast.Name | ast.Attribute, scope: NameScope) -> tuple[ast.expr, NameScope] | None:
    """Return the expression of a type alias, such as `Names = list[Name]` at the top of the same file."""
    if not isinstance(node, ast.Name):
        return None
    within: NameScope | None = scope
    while within is not None and node.id not in within.bound:
        within = within.around
    found = within.bound[node.id] if within else []
    if within is None or len(found) != 1 or found[0].how != "value" or found[0].detail:
        return None
    written = found[0].node
    if isinstance(written, ast.Call):
        bounds = [keyword.value for keyword in written.keywords if keyword.arg == "bound"]
        return (bounds[0], within) if bounds else None
    return (written, within) if isinstance(written, ast.Subscript | ast.BinOp | ast.Constant) else None


def _resolve_generic(world: InferenceSession, node: ast.Subscript, scope: NameScope) -> Values:
    name = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name in TRANSPARENT_GENERICS or name == "Union":
        return frozenset().union(*(resolve_annotation(world, part, scope) for part in (parts if name == "Union" else parts[:1])))
    if name in ("type", "Type"):
        return _classes_from_instances(resolve_annotation(world, parts[0], scope))
    if name == "Literal":
        return to_external_value("builtins.str")
    if name in ("Callable", "Coroutine"):
        given = resolve_annotation(world, parts[-1], scope)
        return given if name == "Coroutine" else frozenset({ContainerValue("callable", (given,))})
    return _resolve_container(world, name, parts, scope) or resolve_annotation(world, node.value, scope)


def _resolve_container(world: InferenceSession, name: str, parts: list[ast.expr], scope: NameScope) -> Values:
    if name in LIST_TYPES:
        return to_list_value(resolve_annotation(world, parts[0], scope))
    if name in DICT_TYPES and len(parts) == 2:
        return frozenset({ContainerValue("dict", tuple(resolve_annotation(world, part, scope) for part in parts))})
    if name in ("tuple", "Tuple"):
        if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is Ellipsis:
            return to_list_value(resolve_annotation(world, parts[0], scope))
        return frozenset({ContainerValue("tuple", tuple(resolve_annotation(world, part, scope) for part in parts))})
    if name in CONTEXT_TYPES:
        return frozenset({ContainerValue("context", (resolve_annotation(world, parts[0], scope),))})
    return NO_VALUES


def _classes_from_instances(values: Values) -> Values:
    return frozenset(value.of if isinstance(value, InstanceValue) else value for value in values)
