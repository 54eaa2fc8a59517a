"""One template laid over the one it extends, value by value; each keeps the place it came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from afresh.config.templates.template_files import SHIPPED_LAYERS, TemplateFile, TemplateLayers, TemplateValue
from afresh.config.yaml_values import FileFault, KeyPath, suggest_known_word
from afresh.core.template import CALL_KINDS
from afresh.errors import BadInput

ROOT_TEMPLATE = "base"


@dataclass(frozen=True, slots=True)
class MergedTemplate:
    name: str
    chain: tuple[TemplateFile, ...]
    """From the nearest to the root."""
    values: Mapping[KeyPath, TemplateValue]
    faults: tuple[FileFault, ...] = ()

    @property
    def family(self) -> str:
        """The shipped type whose rules hold: a name that is shipped keeps its own, whatever a project lays over it."""
        shipped = [name for name in SHIPPED_LAYERS.names() if name not in (ROOT_TEMPLATE, *CALL_KINDS)]
        return next((sheet.name for sheet in self.chain if sheet.name in shipped), "")

    def order(self, phase: str = "") -> tuple[str, ...]:
        """Sections in order of claim: those that a nearer file names stand among themselves as it names them."""
        keys: list[KeyPath] = [("sections",), *([("phases", phase, "sections")] if phase else [])]
        names: list[str] = []
        for key in keys:
            for sheet in reversed(self.chain):
                names = rearrange_sections(names, sheet.orders.get(key, ()))
        return tuple(names)

    def value(self, *key: str, phase: str = "") -> TemplateValue | None:
        """As it is in a phase: what any file says of the phase goes before what any says of all of them."""
        return (self.values.get(("phases", phase, *key)) if phase else None) or self.values.get(key)


def merge_template(name: str, shelf: TemplateLayers, depth: int = 0) -> MergedTemplate:
    """BadInput if there is no template of that name; what is wrong in those there are is among the faults."""
    start = shelf.find(name, depth)
    if start is None:
        raise BadInput(f"there is no template {name!r}", next=suggest_known_word(name, shelf.names()))
    chain, faults = follow_parents(start, shelf)
    values: dict[KeyPath, TemplateValue] = {}
    for sheet in reversed(chain):
        values |= sheet.values
    return MergedTemplate(name, tuple(chain), values, (*(fault for sheet in chain for fault in sheet.faults), *faults))


def follow_parents(start: tuple[int, TemplateFile], shelf: TemplateLayers) -> tuple[list[TemplateFile], list[FileFault]]:
    """The sheets from the nearest to the root. Its own name, said or not, means the one that it lies over."""
    chain, seen, place = list[TemplateFile](), set[tuple[int, str]](), start
    while True:
        depth, sheet = place
        seen.add((depth, sheet.name))
        chain.append(sheet)
        said = sheet.values.get(("extends",))
        parent = said.held if said else find_implied_parent(depth, sheet.name, shelf)
        if not parent:
            return chain, []
        found = shelf.find(parent, depth + 1 if parent == sheet.name else 0)
        line = said.line if said else 1
        if found is None:
            others = [name for name in shelf.names() if name != sheet.name or shelf.find(name, depth + 1)]
            return chain, [
                FileFault(sheet.file, line, "extends", f"there is no template {parent!r}", suggest_known_word(parent, others))
            ]
        if (found[0], found[1].name) in seen:
            names = " → ".join([*(one.name for one in chain), parent])
            return chain, [
                FileFault(sheet.file, line, "extends", f"goes round in a circle: {names}", f"end with `extends: {ROOT_TEMPLATE}`")
            ]
        place = found


def find_implied_parent(depth: int, name: str, shelf: TemplateLayers) -> str:
    """A file that names no parent lies over the one of its own name, or else builds on the root."""
    return name if shelf.find(name, depth + 1) else ROOT_TEMPLATE if name != ROOT_TEMPLATE else ""


def rearrange_sections(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The places of the wanted ones are filled anew in their order; new ones stand before the known one that follows them."""
    known = [name for name in wanted if name in names]
    turns = iter(known)
    made = [next(turns) if name in known else name for name in names]
    for at in range(len(wanted) - 1, -1, -1):
        if wanted[at] not in names:
            follower = wanted[at + 1] if at + 1 < len(wanted) else None
            made.insert(made.index(follower) if follower else len(made), wanted[at])
    return made
