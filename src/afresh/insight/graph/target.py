"""The symbol that is asked about: under which names it is used, and in which files to look."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from afresh.domain.code import SymbolKind, SymbolPlace
from afresh.insight.graph.classes import find_member, is_property
from afresh.insight.graph.hierarchy import find_import_aliases, find_all_subclasses, owner_from_method
from afresh.insight.graph.implicit import EXPLICIT_SPECIAL_METHODS
from afresh.insight.graph.meaning import DefinitionKey
from afresh.insight.graph.scopes import CHAINED_CALL_NAME, FunctionNode
from afresh.insight.graph.values import ClassValue
from afresh.insight.graph.world import InferenceSession

MAX_ALIASES = 12
MAX_ALIAS_ROUNDS = 3
CONSTRUCTOR_NAMES = ("__init__", "__new__", "__post_init__")
CLASS_SELF_NAMES = ("cls", "__class__", CHAINED_CALL_NAME)


@dataclass(frozen=True, slots=True)
class CallTarget:
    place: SymbolPlace
    key: DefinitionKey
    owner: ClassValue | None
    """Of a method."""
    accessed: bool
    """A property: to name it is to call it."""
    arguments: ast.arguments | None
    names: frozenset[str]
    inside: frozenset[str]
    """Names that mean it only in files that define its class or one below: `cls` and the like."""

    @property
    def short(self) -> str:
        return self.place.symbol.short

    @property
    def implicit(self) -> bool:
        return self.short.startswith("__") and self.short.endswith("__") and self.short not in EXPLICIT_SPECIAL_METHODS

    @property
    def made(self) -> bool:
        """Called by making an instance."""
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
    """The names it goes by: its own, and those it is imported or assigned under."""
    names = set(roots)
    fresh = set(names)
    for _ in range(MAX_ALIAS_ROUNDS):
        found = {
            other for name in sorted(fresh) for other in (*find_import_aliases(world, name), *find_assigned_aliases(world, name))
        }
        fresh = set(sorted(found - names)[:MAX_ALIASES])
        if not fresh:
            break
        names |= fresh
    return names


def find_assigned_aliases(world: InferenceSession, name: str) -> set[str]:
    """Only in files that were opened anyway: an alias in a file that was never looked at has no uses that were."""
    return world.aliases.get(name, set())


def find_candidate_files(world: InferenceSession, target: CallTarget, most: int) -> tuple[list[str], int]:
    """Files to look into, those near the definition first, and how many more there are."""
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
