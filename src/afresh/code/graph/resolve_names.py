"""Resolves a name to the values that it may have where it is used."""

import ast
import builtins
from collections.abc import Iterable

from afresh.code.graph.class_hierarchy import resolve_member, resolve_return
from afresh.code.graph.inference_session import (
    NO_VALUES,
    UNKNOWN_VALUES,
    ClassValue,
    ContainerValue,
    ExternalValue,
    FunctionValue,
    InferenceSession,
    InstanceValue,
    ModuleValue,
    Value,
    Values,
    get_item_values,
    list_item_values,
    to_external_value,
    to_list_value,
)
from afresh.code.graph.resolve_annotations import instances_from_classes, resolve_annotation
from afresh.code.graph.scopes import (
    FunctionNode,
    NameBinding,
    NameScope,
    UnpackStep,
    find_default,
    list_decorator_names,
)

IMPLICIT_CLASS_METHODS = {"__new__", "__init_subclass__", "__class_getitem__"}


def resolve_name(world: InferenceSession, name: str, scope: NameScope) -> Values:
    within: NameScope | None = scope
    while within is not None:
        visible = within is scope or within.kind != "class"
        if visible and name in within.bound:
            return unite_values(resolve_binding(world, each) for each in within.bound[name])
        within = within.around
    if starred := resolve_star_imports(world, name, scope.path):
        return starred
    return to_external_value(f"builtins.{name}") if hasattr(builtins, name) else UNKNOWN_VALUES


def unite_values(found: Iterable[Values]) -> Values:
    return frozenset().union(*found)


def resolve_binding(world: InferenceSession, binding: NameBinding) -> Values:
    if binding.how in ("import", "from"):
        return resolve_import_binding(world, binding)
    if binding.how in ("def", "class"):
        return resolve_definition(binding)
    node = binding.node
    if isinstance(node, ast.arg):
        return resolve_parameter(world, node, binding.scope)
    if not isinstance(node, ast.expr):
        return UNKNOWN_VALUES
    if binding.how == "annotation":
        return resolve_annotation(world, node, binding.scope)
    value = world.value(node, binding.scope)
    return instances_from_classes(value) if binding.how == "caught" else unpack_values(world, value, binding.detail)


def resolve_definition(binding: NameBinding) -> Values:
    """Return the definition itself, ignoring that a decorator may replace it."""
    node, scope = binding.node, binding.scope
    if not isinstance(node, FunctionNode | ast.ClassDef):
        return UNKNOWN_VALUES
    name = f"{scope.name}.{node.name}" if scope.name else node.name
    return frozenset({ClassValue(scope.path, name) if isinstance(node, ast.ClassDef) else FunctionValue(scope.path, name)})


def resolve_import_binding(world: InferenceSession, binding: NameBinding) -> Values:
    level, module, name = int(binding.detail[0]), str(binding.detail[1]), str(binding.detail[2])
    here = binding.scope.path
    path = world.beside(level, module, here) if level else world.module(module, here)
    if not path:
        return resolve_external_import(world, module, name, here)
    return resolve_module_member(world, path, name) if name else frozenset({ModuleValue(path)})


def resolve_external_import(world: InferenceSession, module: str, name: str, here: str) -> Values:
    """Return an external value, or a module of this tree if it is in a folder without `__init__.py`."""
    if name and (path := world.module(f"{module}.{name}", here)):
        return frozenset({ModuleValue(path)})
    if not name and any(known.startswith(f"{module}.") for known in world.modules):
        return UNKNOWN_VALUES
    return to_external_value(f"{module}.{name}" if name else module)


def resolve_module_member(world: InferenceSession, path: str, name: str) -> Values:
    file = world.file(path) if path in world.sources else None
    if file and name in file.top.bound and world.depth < 30:
        world.depth += 1
        found = unite_values(resolve_binding(world, each) for each in file.top.bound[name])
        world.depth -= 1
        return found
    if below := world.submodule(path, name):
        return frozenset({ModuleValue(below)})
    if file is None:
        return UNKNOWN_VALUES
    starred = resolve_star_imports(world, name, path)
    return starred or (UNKNOWN_VALUES if "__getattr__" in file.top.bound else NO_VALUES)


def resolve_star_imports(world: InferenceSession, name: str, path: str) -> Values:
    file = world.file(path)
    if file is None or name.startswith("_") or world.depth >= 30:
        return NO_VALUES
    world.depth += 1
    found = unite_values(_resolve_star_import(world, each, name, path) for each in file.stars)
    world.depth -= 1
    return found


def _resolve_star_import(world: InferenceSession, star: NameBinding, name: str, path: str) -> Values:
    level, module = int(star.detail[0]), str(star.detail[1])
    target = world.beside(level, module, path) if level else world.module(module, path)
    return resolve_module_member(world, target, name) if target and target != path else NO_VALUES


def resolve_parameter(world: InferenceSession, node: ast.arg, scope: NameScope) -> Values:
    function = scope.node
    if not isinstance(function, FunctionNode):
        return UNKNOWN_VALUES
    if node.arg == scope.first and scope.around is not None:
        own = ClassValue(scope.path, scope.around.name)
        on_class = "classmethod" in list_decorator_names(function) or function.name in IMPLICIT_CLASS_METHODS
        return frozenset({own if on_class else InstanceValue(own)})
    if node.annotation is not None:
        known = resolve_annotation(world, node.annotation, scope.around or scope)
        return pack_parameter(function.args, node, known)
    if made := resolve_fixture(world, node.arg, scope):
        return made
    default = find_default(function.args, node)
    known = world.value(default, scope.around or scope) if default is not None else NO_VALUES
    return UNKNOWN_VALUES | {value for value in known if not isinstance(value, ExternalValue)}


def pack_parameter(arguments: ast.arguments, node: ast.arg, known: Values) -> Values:
    if node is arguments.vararg:
        return frozenset({ContainerValue("list", (known,))})
    return frozenset({ContainerValue("dict", (to_external_value("builtins.str"), known))}) if node is arguments.kwarg else known


def resolve_fixture(world: InferenceSession, name: str, scope: NameScope) -> Values:
    """Return the value of the pytest fixture of that name, from the same file or a conftest.py above it."""
    if not world.code.is_test(scope.path):
        return NO_VALUES
    folder = scope.path
    places = [folder]
    while folder:
        folder = folder.rpartition("/")[0]
        places.append(f"{folder}/conftest.py" if folder else "conftest.py")
    for place in places:
        found = world.scope(place, name) if place in world.sources else None
        if found and isinstance(found.node, FunctionNode) and "fixture" in list_decorator_names(found.node):
            given = resolve_return(world, FunctionValue(place, name))
            return unite_values(
                value.parts[0] if isinstance(value, ContainerValue) and found.yields else frozenset({value}) for value in given
            )
    return NO_VALUES


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
    """Return the item values; for a class of this tree, those of its `__iter__`."""
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
