"""Finds the uses of a Python symbol where its name, or that of its class, is written."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from afresh.code.graph.inference import (
    ClassMember,
    ClassValue,
    FunctionValue,
    Inference,
    InstanceValue,
    ModuleValue,
    SuperValue,
    UnknownValue,
    Value,
    Values,
    is_property,
    owner_from_method,
)
from afresh.code.graph.scopes import CHAINED_CALL_NAME, FunctionNode, NameScope, NameUse, ScopedFile
from afresh.code.search_hit import SymbolUse, SymbolUses, UseKind
from afresh.core.symbol import SymbolKind, SymbolPlace

DefinitionKey = tuple[str, str]
"""Path and qualified name."""
MAX_ALIASES = 12
CONSTRUCTOR_NAMES = ("__init__", "__new__", "__post_init__")
CLASS_SELF_NAMES = ("cls", "__class__", CHAINED_CALL_NAME)
KIND_BY_ROLE = {
    "call": UseKind.CALL, "decorator": UseKind.DECORATOR, "passed": UseKind.PASSED, "argument": UseKind.PASSED,
    "import": UseKind.IMPORT,
}  # fmt: skip
ACCESS_ROLES = {"passed", "argument", "receiver", "store"}


@dataclass(frozen=True, slots=True)
class CallTarget:
    place: SymbolPlace
    owner: ClassValue | None
    """The class, if the target is a method."""
    accessed: bool
    """Whether it is a property, so that naming it calls it."""
    arguments: ast.arguments | None
    names: frozenset[str]
    inside: frozenset[str]
    """Names such as `cls` that mean the target only in files that define its class or a subclass."""

    @property
    def made(self) -> bool:
        """Whether creating an instance calls it."""
        return self.owner is not None and self.place.symbol.short in CONSTRUCTOR_NAMES


def _make_call_target(inference: Inference, place: SymbolPlace) -> CallTarget:
    owner, short = owner_from_method(place), place.symbol.short
    scope = inference.scope(place.path, place.symbol.name)
    node = scope.node if scope else None
    member = inference.find_member(owner, short) if owner else None
    is_class = place.symbol.kind in (SymbolKind.CLASS, SymbolKind.INTERFACE)
    names = {short}
    if owner and short in CONSTRUCTOR_NAMES:
        names |= {each.name.rpartition(".")[2] for each in (owner, *inference.list_subclasses(owner))}
    names |= {other for name in sorted(names) for other in sorted(inference.find_import_aliases(name))[:MAX_ALIASES]}
    return CallTarget(
        place,
        owner,
        bool(member and any(map(is_property, member.functions))),
        node.args if isinstance(node, FunctionNode) else None,
        frozenset(names),
        frozenset(CLASS_SELF_NAMES if is_class or (owner and short in CONSTRUCTOR_NAMES) else ()),
    )


def _find_candidate_files(inference: Inference, target: CallTarget, most: int) -> tuple[list[str], int]:
    """Return the files to search, those near the definition first, and how many more there are."""
    code, home = inference.code, target.place.path
    speaking = {path for name in target.names for path in code.mentioning(name)}
    near = set(code.importers(home))
    paths = sorted(
        (path for path in speaking | {home} if path in inference.modules.sources),
        key=lambda path: (path != home, path not in near, code.is_test(path), path),
    )
    return paths[:most], max(0, len(paths) - most)


def _can_accept_call(call: ast.Call, arguments: ast.arguments, bound: bool) -> bool:
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


def find_python_callers(inference: Inference, place: SymbolPlace, most: int) -> SymbolUses:
    target = _make_call_target(inference, place)
    uses: dict[tuple[str, int, UseKind], SymbolUse] = {}
    paths, unread = _find_candidate_files(inference, target, most)
    for path in paths:
        file = inference.file(path)
        for use in _find_uses(inference, target, file) if file else ():
            kept = uses.get((use.path, use.line, use.kind))
            if kept is None or (use.sure and not kept.sure):
                uses[use.path, use.line, use.kind] = use
        inference.release()
    ordered = sorted(uses.values(), key=lambda use: (not use.sure, use.path, use.line, use.kind))
    return SymbolUses(tuple(ordered), unread, inference.exhausted)


def _find_uses(inference: Inference, target: CallTarget, file: ScopedFile) -> Iterator[SymbolUse]:
    inside = target.inside if _defines_related_class(target, file) else frozenset()
    for name in sorted(target.names | inside):
        for use in file.uses.get(name, ()):
            if (judged := _judge_use(inference, target, use, name)) is not None:
                kind, sure = judged
                # the name of an attribute is at the end of its expression
                line = (use.node.end_lineno or 0) if isinstance(use.node, ast.Attribute) else getattr(use.node, "lineno", 0)
                yield SymbolUse(file.path, line, use.scope.name, file.line(line), sure, kind, target.place)


def _defines_related_class(target: CallTarget, file: ScopedFile) -> bool:
    return file.path == target.place.path or any(
        name.rpartition(".")[2] in target.names and isinstance(scope.node, ast.ClassDef) for name, scope in file.scopes.items()
    )


def _judge_use(inference: Inference, target: CallTarget, use: NameUse, name: str) -> tuple[UseKind, bool] | None:
    """Return how the target is used and whether that is sure; None if the name means something else."""
    if target.accessed:
        kind = UseKind.CALL if use.role in ACCESS_ROLES else None
    else:
        kind = KIND_BY_ROLE.get(use.role) if not target.made or use.role in ("call", "decorator") else None
    if kind is None or (name in target.inside and kind is not UseKind.CALL):
        return None
    meant = _resolve_use(inference, use, name)
    constructors = _find_constructors(inference, meant) if target.made else set[DefinitionKey]()
    if (target.place.path, target.place.symbol.name) in meant.defined | constructors:
        return kind, True
    if _may_be_overridden(inference, target, meant) or (meant.unknown and not meant.defined and _is_plausible(target, use, name)):
        return kind, False
    return None


def _may_be_overridden(inference: Inference, target: CallTarget, meant: "UseMeaning") -> bool:
    """Whether the receiver's class is a base of the target's class, so that the target may be called in its place."""
    return target.owner is not None and any(
        each != target.owner and each in inference.resolve_method_order(target.owner)[1:] for each in meant.receivers
    )


def _is_plausible(target: CallTarget, use: NameUse, name: str) -> bool:
    """Whether a use fits if only the name is known: methods must be attributes, functions must not, and a call must fit the
    parameters.
    """
    if use.role == "import" or target.made or name != target.place.symbol.short:
        return False
    if isinstance(use.node, ast.Attribute) != (target.owner is not None) or _is_bound(use, name):
        return False
    if use.role == "passed" and not target.accessed:
        return False
    if use.call is None or target.arguments is None:
        return True
    return _can_accept_call(use.call, target.arguments, bound=target.owner is not None)


def _is_bound(use: NameUse, name: str) -> bool:
    """Whether a bare name is bound in an enclosing scope and so means that binding."""
    scope: NameScope | None = use.scope
    while scope is not None and isinstance(use.node, ast.Name):
        if name in scope.bound:
            return True
        scope = scope.around
    return False


@dataclass(slots=True)
class UseMeaning:
    """The definitions that one use of a name may mean."""

    defined: set[DefinitionKey] = field(default_factory=set)
    classes: set[ClassValue] = field(default_factory=set)
    """The receivers that are classes."""
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


def _resolve_use(inference: Inference, use: NameUse, name: str) -> UseMeaning:
    meaning, node = UseMeaning(), use.node
    if isinstance(node, ast.Attribute):
        for value in inference.value(node.value, use.scope):
            _ask_receiver(inference, meaning, value, name)
    elif isinstance(node, ast.alias):
        for binding in use.scope.bound.get(node.asname or node.name, ()):
            if binding.how == "from" and binding.origin[2] == node.name:
                meaning.take(inference.resolve_binding(binding))
    elif isinstance(node, ast.expr):
        meaning.take(inference.value(node, use.scope))
    return meaning


def _ask_receiver(inference: Inference, meaning: UseMeaning, value: Value, name: str) -> None:
    """Add to `found` what the name means on one receiver."""
    match value:
        case ModuleValue(path):
            meaning.take(inference.resolve_module_member(path, name))
        case InstanceValue(of):
            _ask_class(inference, meaning, of, name)
            meaning.receivers.add(of)
        case ClassValue():
            _ask_class(inference, meaning, value, name)
            meaning.receivers.add(value)
        case SuperValue(of, on):
            _ask_class(inference, meaning, on, name, of)
        case UnknownValue() | FunctionValue():  # a decorator may have replaced the function
            meaning.unknown = True


def _ask_class(inference: Inference, meaning: UseMeaning, of: ClassValue, name: str, after: ClassValue | None = None) -> None:
    member = inference.find_member(of, name, after)
    if name == "__class__":
        meaning.take(frozenset({of}))
    elif member is None:
        meaning.unknown |= inference.has_unknown_members(of)
    elif member.functions:
        meaning.defined |= _list_function_keys(member)
    else:
        known = UseMeaning()
        known.take(inference.resolve_member(of, name, True, after))
        meaning.defined |= known.defined
        meaning.classes |= known.classes


def _list_function_keys(member: ClassMember) -> set[DefinitionKey]:
    names = [each.node.name for each in member.functions if isinstance(each.node, FunctionNode)]
    return {(member.owner.path, f"{member.owner.name}.{name}") for name in names}


def _find_constructors(inference: Inference, meant: UseMeaning) -> set[DefinitionKey]:
    """Return the `__init__` and `__new__` that creating instances of these classes calls."""
    members = [inference.find_member(each, name) for each in meant.classes for name in CONSTRUCTOR_NAMES]
    return {key for member in members if member for key in _list_function_keys(member)}
