"""What an annotation says of a value."""

import ast

from afresh.insight.graph.scopes import Scope
from afresh.insight.graph.values import (
    NONE,
    NOTHING,
    UNKNOWN,
    Class,
    Instance,
    Many,
    Outside,
    Unknown,
    Values,
    outside,
)  # fmt: skip
from afresh.insight.graph.world import World

INNER = {"Optional", "Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "InitVar", "Awaitable", "TypeGuard"}
LISTS = {
    "list", "List", "set", "Set", "frozenset", "FrozenSet", "Sequence", "MutableSequence", "Iterable", "Iterator", "Collection",
    "AbstractSet", "MutableSet", "deque", "Deque", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator", "Reversible",
    "KeysView", "ValuesView", "array",
}  # fmt: skip
DICTS = {
    "dict",
    "Dict",
    "Mapping",
    "MutableMapping",
    "defaultdict",
    "DefaultDict",
    "OrderedDict",
    "ChainMap",
    "WeakKeyDictionary",
}
CONTEXTS = {"ContextManager", "AbstractContextManager", "AsyncContextManager", "AbstractAsyncContextManager"}
ANY = {"Any", "object", "TypeVar", "ParamSpec", "Self", "T"}


def annotated(world: World, node: ast.expr, scope: Scope) -> Values:
    """Values of the type that is written down. What names no class of the tree is outside of it; `Any` says nothing."""
    world.work += 1
    if world.depth > 30:
        return UNKNOWN
    match node:
        case ast.Constant():
            return _quoted(world, node.value, scope) if isinstance(node.value, str) else NONE
        case ast.BinOp(left=left, right=right, op=ast.BitOr()):
            return annotated(world, left, scope) | annotated(world, right, scope)
        case ast.Subscript():
            return _generic(world, node, scope)
        case ast.Name() | ast.Attribute():
            return _plain(world, node, scope)
    return UNKNOWN


def instances(classes: Values) -> Values:
    """Of classes, or of a tuple of them as `isinstance` takes it."""
    found: set = set()
    for value in classes:
        if isinstance(value, Class):
            found.add(Instance(value))
        elif isinstance(value, Many):
            found |= instances(NOTHING.union(*value.parts))
        else:
            found.add(value if isinstance(value, Outside) else Unknown())
    return frozenset(found)


def _quoted(world: World, text: str, scope: Scope) -> Values:
    try:
        return annotated(world, ast.parse(text.strip(), mode="eval").body, scope)
    except (SyntaxError, ValueError):
        return UNKNOWN


def _plain(world: World, node: ast.Name | ast.Attribute, scope: Scope) -> Values:
    alias = _alias(node, scope)
    if alias is not None:
        world.depth += 1
        found = annotated(world, alias[0], alias[1])
        world.depth -= 1
        return found
    return frozenset().union(*(_instance(value) for value in world.evaluate(world, node, scope)))


def _instance(value: object) -> Values:
    if isinstance(value, Class):
        return frozenset({Instance(value)})
    if not isinstance(value, Outside) or value.name.rpartition(".")[2].removesuffix("()") in ANY:
        return UNKNOWN
    name = value.name.rpartition(".")[2]
    if name in DICTS:
        return frozenset({Many("dict", (UNKNOWN, UNKNOWN))})
    return frozenset({Many("list", (UNKNOWN,))}) if name in LISTS or name in ("tuple", "Tuple") else frozenset({value})


def _alias(node: ast.Name | ast.Attribute, scope: Scope) -> tuple[ast.expr, Scope] | None:
    """`Names = list[Name]` at the top of the same file."""
    if not isinstance(node, ast.Name):
        return None
    within: Scope | None = scope
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


def _generic(world: World, node: ast.Subscript, scope: Scope) -> Values:
    name = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name in INNER or name == "Union":
        return frozenset().union(*(annotated(world, part, scope) for part in (parts if name == "Union" else parts[:1])))
    if name in ("type", "Type"):
        return _classes(annotated(world, parts[0], scope))
    if name == "Literal":
        return outside("builtins.str")
    if name in ("Callable", "Coroutine"):
        given = annotated(world, parts[-1], scope)
        return given if name == "Coroutine" else frozenset({Many("callable", (given,))})
    return _container(world, name, parts, scope) or annotated(world, node.value, scope)


def _container(world: World, name: str, parts: list[ast.expr], scope: Scope) -> Values:
    if name in LISTS:
        return frozenset({Many("list", (annotated(world, parts[0], scope),))})
    if name in DICTS and len(parts) == 2:
        return frozenset({Many("dict", tuple(annotated(world, part, scope) for part in parts))})
    if name in ("tuple", "Tuple"):
        if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is Ellipsis:
            return frozenset({Many("list", (annotated(world, parts[0], scope),))})
        return frozenset({Many("tuple", tuple(annotated(world, part, scope) for part in parts))})
    if name in CONTEXTS:
        return frozenset({Many("context", (annotated(world, parts[0], scope),))})
    return NOTHING


def _classes(values: Values) -> Values:
    return frozenset(value.of if isinstance(value, Instance) else value for value in values)
