"""Finds the uses of a Python symbol."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from afresh.code.graph.class_hierarchy import (
    find_all_subclasses,
    find_import_aliases,
    find_member,
    is_property,
    owner_from_method,
    resolve_method_order,
)
from afresh.code.graph.inference_session import ClassValue, InferenceSession
from afresh.code.graph.resolve_uses import DefinitionKey, UseMeaning, find_constructors, resolve_use
from afresh.code.graph.scopes import (
    CHAINED_CALL_NAME,
    EXPLICIT_SPECIAL_METHODS,
    IMPLICIT_ROLES,
    FunctionNode,
    NameScope,
    NameUse,
    ScopedFile,
)
from afresh.code.search_hit import SymbolUse, SymbolUses, UseKind
from afresh.core.symbol import SymbolKind, SymbolPlace

MAX_ALIASES = 12
CONSTRUCTOR_NAMES = ("__init__", "__new__", "__post_init__")
CLASS_SELF_NAMES = ("cls", "__class__", CHAINED_CALL_NAME)


@dataclass(frozen=True, slots=True)
class CallTarget:
    place: SymbolPlace
    key: DefinitionKey
    owner: ClassValue | None
    """The class, if the target is a method."""
    accessed: bool
    """Whether it is a property, so that naming it calls it."""
    arguments: ast.arguments | None
    names: frozenset[str]
    inside: frozenset[str]
    """Names such as `cls` that mean the target only in files that define its class or a subclass."""

    @property
    def short(self) -> str:
        return self.place.symbol.short

    @property
    def implicit(self) -> bool:
        return self.short.startswith("__") and self.short.endswith("__") and self.short not in EXPLICIT_SPECIAL_METHODS

    @property
    def made(self) -> bool:
        """Whether creating an instance calls it."""
        return self.owner is not None and self.short in CONSTRUCTOR_NAMES


def make_call_target(world: InferenceSession, place: SymbolPlace) -> CallTarget:
    owner = owner_from_method(place)
    scope = world.scope(place.path, place.symbol.name)
    node = scope.node if scope else None
    has = find_member(world, owner, place.symbol.short) if owner else None
    is_class = place.symbol.kind in (SymbolKind.CLASS, SymbolKind.INTERFACE)
    made = owner is not None and place.symbol.short in CONSTRUCTOR_NAMES
    roots = {place.symbol.short}
    if made and owner is not None:
        roots |= {each.name.rpartition(".")[2] for each in (owner, *find_all_subclasses(world, owner))}
    return CallTarget(
        place,
        (place.path, place.symbol.name),
        owner,
        bool(has and any(is_property(binding) for binding in has.functions)),
        node.args if isinstance(node, FunctionNode) else None,
        frozenset(find_used_names(world, roots)),
        frozenset(CLASS_SELF_NAMES if is_class or made else ()),
    )


def find_used_names(world: InferenceSession, roots: Iterable[str]) -> set[str]:
    """Return the names that files use for it: its own, and import aliases."""
    names = set(roots)
    return names | {other for name in sorted(names) for other in sorted(find_import_aliases(world, name))[:MAX_ALIASES]}


def find_candidate_files(world: InferenceSession, target: CallTarget, most: int) -> tuple[list[str], int]:
    """Return the files to search, those near the definition first, and how many more there are."""
    code, home = world.code, target.place.path
    speaking = {path for name in target.names for path in code.mentioning(name)}
    if target.implicit and target.owner is not None:
        kin = [target.owner, *find_all_subclasses(world, target.owner)]
        speaking |= {path for each in kin for path in code.mentioning(each.name.rpartition(".")[2])}
        speaking |= {path for each in {one.path for one in kin} for path in code.importers(each)}
    near = set(code.importers(home))
    paths = sorted(
        (path for path in speaking | {home} if path in world.sources),
        key=lambda path: (path != home, path not in near, code.is_test(path), path),
    )
    return paths[:most], max(0, len(paths) - most)


def can_accept_call(call: ast.Call, arguments: ast.arguments, bound: bool) -> bool:
    """Whether a call fits the parameters. With `bound`, the receiver fills the first one. Starred arguments fit anything."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(keyword.arg is None for keyword in call.keywords):
        return True
    positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)][bound:]
    given = len(call.args)
    named = {keyword.arg for keyword in call.keywords if keyword.arg}
    if given > len(positional) and arguments.vararg is None:
        return False
    known = {*positional[given:], *(each.arg for each in arguments.kwonlyargs)}
    if arguments.kwarg is None and not named <= known:
        return False
    required = positional[given : len(positional) - len(arguments.defaults)] if arguments.defaults else positional[given:]
    needed = {each.arg for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None}
    return {*required, *needed} <= named


WAY_BY_ROLE = {
    "call": UseKind.CALL,
    "implicit": UseKind.CALL,
    "iterated": UseKind.CALL,
    "augmented": UseKind.CALL,
    "decorator": UseKind.DECORATOR,
    "passed": UseKind.PASSED,
    "argument": UseKind.PASSED,
    "import": UseKind.IMPORT,
}
ACCESS_ROLES = {"passed", "argument", "receiver", "store"}


def find_python_callers(world: InferenceSession, place: SymbolPlace, most: int) -> SymbolUses:
    target = make_call_target(world, place)
    found: dict[tuple[str, int, UseKind], SymbolUse] = {}
    paths, unread = find_candidate_files(world, target, most)
    for path in paths:
        file = world.file(path)
        for call in _find_uses(world, target, file) if file else ():
            kept = found.get((call.path, call.line, call.kind))
            if kept is None or (call.sure and not kept.sure):
                found[call.path, call.line, call.kind] = call
        world.release()
    return SymbolUses(tuple(sorted(found.values(), key=call_sort_key)), unread, world.exhausted)


def call_sort_key(call: SymbolUse) -> tuple[bool, str, int, str]:
    return not call.sure, call.path, call.line, call.kind


def _find_uses(world: InferenceSession, target: CallTarget, file: ScopedFile) -> Iterator[SymbolUse]:
    inside = target.inside if _defines_related_class(target, file) else frozenset()
    for name in sorted(file.uses if target.short == "__call__" else target.names | inside):
        for use in file.uses.get(name, ()):
            if (judged := _judge_use(world, target, use, name)) is not None:
                line = name_line_from_node(use.node)
                yield SymbolUse(file.path, line, use.scope.name, file.line(line), judged[1], judged[0], target.place)


def _defines_related_class(target: CallTarget, file: ScopedFile) -> bool:
    return file.path == target.place.path or any(
        name.rpartition(".")[2] in target.names and isinstance(scope.node, ast.ClassDef) for name, scope in file.scopes.items()
    )


def name_line_from_node(node: ast.AST) -> int:
    """Return the line of the name itself, which is the end of an attribute expression."""
    return (node.end_lineno or 0) if isinstance(node, ast.Attribute) else getattr(node, "lineno", 0)


def _judge_use(world: InferenceSession, target: CallTarget, use: NameUse, name: str) -> tuple[UseKind, bool] | None:
    """Return how the target is used and whether that is sure; None if the name means something else."""
    way = way_from_use(target, use)
    if way is None or (name in target.inside and way is not UseKind.CALL):
        return None
    if target.short == "__call__" and use.role in ("call", "decorator") and name != "__call__":
        return (way, True) if _calls_instance(world, target, use) else None
    meant = resolve_use(world, use, name)
    defined = meant.defined
    if target.made and use.role in ("call", "decorator"):
        defined = defined | find_constructors(world, meant)
    if target.key in defined:
        # operators apply to any type, so the use is only sure if no other value is possible
        return way, not (meant.unknown and use.role in IMPLICIT_ROLES)
    if _may_be_overridden(world, target, meant) or (meant.unknown and not meant.defined and _is_plausible(target, use, name)):
        return way, False
    return None


def way_from_use(target: CallTarget, use: NameUse) -> UseKind | None:
    if target.accessed:
        return UseKind.CALL if use.role in ACCESS_ROLES else None
    if target.made and use.role not in ("call", "decorator"):
        return None
    return WAY_BY_ROLE.get(use.role)


def _calls_instance(world: InferenceSession, target: CallTarget, use: NameUse) -> bool:
    return target.key in resolve_use(world, use._replace(role="implicit"), "__call__").defined


def _may_be_overridden(world: InferenceSession, target: CallTarget, meant: UseMeaning) -> bool:
    """Whether the receiver's class is a base of the target's class, so that the target may be called in its place."""
    return target.owner is not None and any(
        each != target.owner and each in resolve_method_order(world, target.owner)[1:] for each in meant.receivers
    )


def _is_plausible(target: CallTarget, use: NameUse, name: str) -> bool:
    """Whether a use fits if only the name is known: methods must be attributes, functions must not, and a call must fit the
    parameters.
    """
    if use.role in (*IMPLICIT_ROLES, "import") or target.implicit or target.made or name != target.short:
        return False
    if isinstance(use.node, ast.Attribute) != (target.owner is not None) or _is_bound(use, name):
        return False
    if use.role == "passed" and not target.accessed:
        return False
    if use.call is None or target.arguments is None:
        return True
    return can_accept_call(use.call, target.arguments, bound=target.owner is not None)


def _is_bound(use: NameUse, name: str) -> bool:
    """Whether a bare name is bound in an enclosing scope and so means that binding."""
    scope: NameScope | None = use.scope
    while scope is not None and isinstance(use.node, ast.Name):
        if name in scope.bound:
            return True
        scope = scope.around
    return False
