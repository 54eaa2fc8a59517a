"""What a name stands for where it is used."""

import ast
import builtins
from collections.abc import Iterable

from afresh.insight.graph.annotations import annotated, instances
from afresh.insight.graph.classes import returned
from afresh.insight.graph.scopes import Binding, FunctionNode, Scope, decorations, default_of, last_name
from afresh.insight.graph.steps import stepped
from afresh.insight.graph.values import (
    NOTHING,
    UNKNOWN,
    Class,
    Function,
    Instance,
    Many,
    Module,
    Outside,
    Unknown,
    Values,
    outside,
)  # fmt: skip
from afresh.insight.graph.world import World

MAKES_CLASS_METHODS = {"__new__", "__init_subclass__", "__class_getitem__"}


def named(world: World, name: str, scope: Scope, line: int = 0) -> Values:
    if line and (known := narrowed(world, name, scope, line)):
        return known
    within: Scope | None = scope
    while within is not None:
        visible = within is scope or within.kind != "class"
        if visible and name in within.bound:
            return union(bound(world, each) for each in within.bound[name])
        within = within.around
    if starred := from_stars(world, name, scope.path):
        return starred
    return outside(f"builtins.{name}") if hasattr(builtins, name) else UNKNOWN


def union(found: Iterable[Values]) -> Values:
    return frozenset().union(*found)


def narrowed(world: World, name: str, scope: Scope, line: int) -> Values:
    """What `isinstance` says of a name on this line; nothing if it says nothing."""
    for test, first, last in reversed(scope.tests):
        if first <= line <= last:
            parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
            for part in parts:
                if isinstance(part, ast.Call) and last_name(part.func) == "isinstance" and len(part.args) == 2:
                    subject, kinds = part.args
                    if isinstance(subject, ast.Name) and subject.id == name:
                        known = instances(world.value(kinds, scope))
                        return NOTHING if Unknown() in known else known
    return NOTHING


def bound(world: World, binding: Binding) -> Values:
    if binding.how in ("import", "from"):
        return imported(world, binding)
    if binding.how in ("def", "class"):
        return defined(world, binding)
    if isinstance(binding.node, ast.arg):
        return parameter(world, binding.node, binding.scope)
    return written(world, binding.how, binding.node, binding) if isinstance(binding.node, ast.expr) else UNKNOWN


def written(world: World, how: str, node: ast.expr, binding: Binding) -> Values:
    if how == "note":
        return annotated(world, node, binding.scope)
    value = world.value(node, binding.scope)
    return instances(value) if how == "caught" else stepped(world, value, binding.detail)


def defined(world: World, binding: Binding) -> Values:
    """A decorator may put something else in the place of what it decorates; then both are meant."""
    node, scope = binding.node, binding.scope
    if not isinstance(node, FunctionNode | ast.ClassDef):
        return UNKNOWN
    name = f"{scope.name}.{node.name}" if scope.name else node.name
    own: Values = frozenset({Class(scope.path, name) if isinstance(node, ast.ClassDef) else Function(scope.path, name)})
    if scope.kind == "class":
        return own
    made = union(applied(world, each, scope) for each in node.decorator_list)
    return own | {value for value in made if isinstance(value, Instance)}


def applied(world: World, decorator: ast.expr, scope: Scope) -> Values:
    found: set = set()
    for value in world.value(decorator, scope):
        if isinstance(value, Class):
            found.add(Instance(value))
        elif isinstance(value, Function):
            found |= returned(world, value)
        elif isinstance(value, Many) and value.shape == "callable":
            found |= value.parts[0]
    return frozenset(found)


def imported(world: World, binding: Binding) -> Values:
    level, module, name = int(binding.detail[0]), str(binding.detail[1]), str(binding.detail[2])
    here = binding.scope.path
    path = world.beside(level, module, here) if level else world.module(module, here)
    if not path:
        return beyond(world, module, name, here)
    return member_of_module(world, path, name) if name else frozenset({Module(path)})


def beyond(world: World, module: str, name: str, here: str) -> Values:
    """Not of this tree, unless it is a folder without `__init__.py`, of which there are only the modules."""
    if name and (path := world.module(f"{module}.{name}", here)):
        return frozenset({Module(path)})
    if not name and any(known.startswith(f"{module}.") for known in world.modules):
        return UNKNOWN
    return outside(f"{module}.{name}" if name else module)


def member_of_module(world: World, path: str, name: str) -> Values:
    file = world.file(path) if path in world.sources else None
    if file and name in file.top.bound and world.depth < 30:
        world.depth += 1
        found = union(bound(world, each) for each in file.top.bound[name])
        world.depth -= 1
        return found
    if below := world.submodule(path, name):
        return frozenset({Module(below)})
    if file is None:
        return UNKNOWN
    starred = from_stars(world, name, path)
    return starred or (UNKNOWN if "__getattr__" in file.top.bound else NOTHING)


def from_stars(world: World, name: str, path: str) -> Values:
    file = world.file(path)
    if file is None or name.startswith("_") or world.depth >= 30:
        return NOTHING
    world.depth += 1
    found = union(_starred(world, each, name, path) for each in file.stars)
    world.depth -= 1
    return found


def _starred(world: World, star: Binding, name: str, path: str) -> Values:
    level, module = int(star.detail[0]), str(star.detail[1])
    target = world.beside(level, module, path) if level else world.module(module, path)
    return member_of_module(world, target, name) if target and target != path else NOTHING


def parameter(world: World, node: ast.arg, scope: Scope) -> Values:
    function = scope.node
    if not isinstance(function, FunctionNode):
        return UNKNOWN
    if node.arg == scope.first and scope.around is not None:
        own = Class(scope.path, scope.around.name)
        on_class = "classmethod" in decorations(function) or function.name in MAKES_CLASS_METHODS
        return frozenset({own if on_class else Instance(own)})
    if node.annotation is not None:
        known = annotated(world, node.annotation, scope.around or scope)
        return packed(function.args, node, known)
    if made := fixture(world, node.arg, scope):
        return made
    default = default_of(function.args, node)
    known = world.value(default, scope.around or scope) if default is not None else NOTHING
    return UNKNOWN | {value for value in known if not isinstance(value, Outside)}


def packed(arguments: ast.arguments, node: ast.arg, known: Values) -> Values:
    if node is arguments.vararg:
        return frozenset({Many("list", (known,))})
    return frozenset({Many("dict", (outside("builtins.str"), known))}) if node is arguments.kwarg else known


def fixture(world: World, name: str, scope: Scope) -> Values:
    """pytest passes what the fixture of that name gives: of the same file, or of a conftest.py above it."""
    if not world.code.is_test(scope.path):
        return NOTHING
    folder = scope.path
    places = [folder]
    while folder:
        folder = folder.rpartition("/")[0]
        places.append(f"{folder}/conftest.py" if folder else "conftest.py")
    for place in places:
        found = world.scope(place, name) if place in world.sources else None
        if found and isinstance(found.node, FunctionNode) and "fixture" in decorations(found.node):
            given = returned(world, Function(place, name))
            return union(value.parts[0] if isinstance(value, Many) and found.yields else frozenset({value}) for value in given)
    return NOTHING
