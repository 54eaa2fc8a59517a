"""Merges the files of a template, checks the result, and makes the Template that prompts are built with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from afresh.config.templates.template_files import SHIPPED_LAYERS, TemplateFile, TemplateLayers, TemplateValue
from afresh.config.yaml_reader import FileFault, KeyPath, error_from_faults, suggest_known_word
from afresh.core.prompt import Tier
from afresh.core.report_path import REPORT_PATHS_BY_TYPE
from afresh.core.states.strategy_state import REACT_STRATEGY, StrategyPace
from afresh.core.step_history import CompactionPolicy
from afresh.core.task import DISCOVERY_TYPE
from afresh.core.template import (
    CALL_KINDS,
    CODE_PHASES,
    DISCOVERY_PHASES,
    REPORT_PHASES,
    REQUIRED_SECTIONS,
    PhaseTemplate,
    SectionShare,
    Template,
)
from afresh.errors import BadInput

ROOT_TEMPLATE = "base"


@dataclass(frozen=True, slots=True)
class MergedTemplate:
    name: str
    chain: tuple[TemplateFile, ...]
    """The template files, from the nearest to the root."""
    values: Mapping[KeyPath, TemplateValue]
    faults: tuple[FileFault, ...] = ()

    @property
    def family(self) -> str:
        """The shipped type whose rules apply: a shipped name keeps its own, even if a project overrides the template."""
        shipped = [name for name in SHIPPED_LAYERS.names() if name not in (ROOT_TEMPLATE, *CALL_KINDS)]
        return next((template.name for template in self.chain if template.name in shipped), "")

    def order(self, phase: str = "") -> tuple[str, ...]:
        """Sections in order of priority: those that a nearer file names are in its order."""
        keys: list[KeyPath] = [("sections",), *([("phases", phase, "sections")] if phase else [])]
        names: list[str] = []
        for key in keys:
            for template in reversed(self.chain):
                names = rearrange_sections(names, template.orders.get(key, ()))
        return tuple(names)

    def value(self, *key: str, phase: str = "") -> TemplateValue | None:
        """The value in a phase: what any file sets for the phase overrides what any sets for all phases."""
        return (self.values.get(("phases", phase, *key)) if phase else None) or self.values.get(key)


def merge_template(name: str, layers: TemplateLayers, depth: int = 0) -> MergedTemplate:
    """BadInput if there is no template of that name; faults of existing files are in the result."""
    start = layers.find(name, depth)
    if start is None:
        raise BadInput(f"no such template: {name!r}", next=suggest_known_word(name, layers.names()))
    chain, faults = follow_parents(start, layers)
    values: dict[KeyPath, TemplateValue] = {}
    for template in reversed(chain):
        values |= template.values
    return MergedTemplate(name, tuple(chain), values, (*(fault for sheet in chain for fault in sheet.faults), *faults))


def follow_parents(start: tuple[int, TemplateFile], layers: TemplateLayers) -> tuple[list[TemplateFile], list[FileFault]]:
    """The files from the nearest to the root. A file that extends its own name extends the next layer's file of that name."""
    chain, seen, place = list[TemplateFile](), set[tuple[int, str]](), start
    while True:
        depth, sheet = place
        seen.add((depth, sheet.name))
        chain.append(sheet)
        value = sheet.values.get(("extends",))
        # a file that names no parent has the next file of its name, or else the root
        implied = sheet.name if layers.find(sheet.name, depth + 1) else ROOT_TEMPLATE if sheet.name != ROOT_TEMPLATE else ""
        parent = value.held if value else implied
        if not parent:
            return chain, []
        found = layers.find(parent, depth + 1 if parent == sheet.name else 0)
        line = value.line if value else 1
        if found is None:
            others = [name for name in layers.names() if name != sheet.name or layers.find(name, depth + 1)]
            return chain, [
                FileFault(sheet.file, line, "extends", f"no such template: {parent!r}", suggest_known_word(parent, others))
            ]
        if (found[0], found[1].name) in seen:
            names = " → ".join([*(template.name for template in chain), parent])
            return chain, [FileFault(sheet.file, line, "extends", f"circular: {names}", f"end with `extends: {ROOT_TEMPLATE}`")]
        place = found


def rearrange_sections(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The names with the wanted ones in their own order; a new name comes before the known one that follows it."""
    known = [name for name in wanted if name in names]
    turns = iter(known)
    made = [next(turns) if name in known else name for name in names]
    for at in range(len(wanted) - 1, -1, -1):
        if wanted[at] not in names:
            follower = wanted[at + 1] if at + 1 < len(wanted) else None
            made.insert(made.index(follower) if follower else len(made), wanted[at])
    return made


OTHER_CALL_KINDS = tuple(kind for kind in CALL_KINDS if kind != "work")
"""Kinds of call that are no work on a task; each has the template of its own name."""


def list_task_types(layers: TemplateLayers = SHIPPED_LAYERS) -> list[str]:
    """Task types that there is a template for."""
    return [name for name in layers.names() if name not in (ROOT_TEMPLATE, *OTHER_CALL_KINDS)]


def load_template(type: str, layers: TemplateLayers = SHIPPED_LAYERS) -> Template:
    """The template for work on a task of this type."""
    return make_template(merge_task_type(type, layers))


def merge_task_type(type: str, layers: TemplateLayers) -> MergedTemplate:
    if type not in (known := list_task_types(layers)):
        raise BadInput(
            f"there is no task type {type!r}", next=f"`afresh template` describes each; {suggest_known_word(type, known)}"
        )
    return merge_template(type, layers)


def load_call_template(kind: str, layers: TemplateLayers = SHIPPED_LAYERS) -> Template:
    """The template of a call that is not work on a task, such as `summary`."""
    assert kind in OTHER_CALL_KINDS, f"{kind} is work on a task: its template goes by the task's type"
    return make_template(merge_template(kind, layers))


def make_template(merged: MergedTemplate) -> Template:
    if faults := find_template_faults(merged):
        raise error_from_faults(faults)
    kind = read_value(merged, "kind", "work")
    return Template(
        type=merged.name,
        system="\n\n".join(part for part in (read_system_prompt(merged), read_value(merged, "guidance", "")) if part),
        tools=read_value(merged, "tools", ()),
        shares=make_shares(merged),
        reserve=read_value(merged, "reserve", 0.25),
        thinking=read_value(merged, "thinking", 0),
        ceiling=read_value(merged, "limit", 4_000),
        recall=read_value(merged, "recall", 1_200),
        instructions=read_value(merged, "instructions", 0.15),
        phases=tuple(make_phase(merged, name) for name in list_phases(merged)),
        kind=kind,
        about=read_value(merged, "about", ""),
        weights=tuple((key[1], value.held) for key, value in merged.values.items() if key[0] == "weights"),
        loop=read_value(merged, "loop", REACT_STRATEGY),
        pace=StrategyPace(**{key[1]: value.held for key, value in merged.values.items() if key[0] == "pace"}),
        pruning=CompactionPolicy(**{key[1]: value.held for key, value in merged.values.items() if key[0] == "compaction"}),
    )


def read_system_prompt(merged: MergedTemplate) -> str:
    """The system text of calls for work, on code or for a report; other kinds of call have their own."""
    if read_value(merged, "kind", "work") != "work":
        return ""
    name = "report.md" if merged.family in REPORT_PATHS_BY_TYPE else "system.md"
    return (SHIPPED_LAYERS.layers[0].folder.parent / "prompts" / name).read_text("utf-8").strip()


def list_phases(merged: MergedTemplate) -> tuple[str, ...]:
    """The phases that tasks of this type go through; what a parent says of further ones never comes up."""
    if read_value(merged, "kind", "work") != "work":
        return ()
    if merged.family == DISCOVERY_TYPE:
        return DISCOVERY_PHASES
    return REPORT_PHASES if merged.family in REPORT_PATHS_BY_TYPE else CODE_PHASES


def make_phase(merged: MergedTemplate, name: str) -> PhaseTemplate:
    guidance, opening, steps = (merged.values.get(("phases", name, field)) for field in ("guidance", "opening", "steps"))
    return PhaseTemplate(
        name=name,
        guidance=guidance.held if guidance else "",
        tools=read_value(merged, "tools", (), name),
        shares=make_shares(merged, name),
        reserve=read_value(merged, "reserve", 0.25, name),
        steps=steps.held if steps else 0,
        thinking=read_value(merged, "thinking", 0, name),
        opening=opening.held if opening else "",
    )


def make_shares(merged: MergedTemplate, phase: str = "") -> tuple[SectionShare, ...]:
    return tuple(make_share(merged, section, phase) for section in merged.order(phase) if section not in REQUIRED_SECTIONS)


def make_share(merged: MergedTemplate, section: str, phase: str = "") -> SectionShare:
    part, cap, tier = (merged.value("sections", section, field, phase=phase) for field in ("share", "cap", "tier"))
    return SectionShare(section, part.held if part else 0.0, cap.held if cap else 1.0, tier.held if tier else Tier.DEMAND)


def read_value(merged: MergedTemplate, key: str, default: Any, phase: str = "") -> Any:
    value = merged.value(key, phase=phase)
    return value.held if value else default


def find_template_faults(merged: MergedTemplate) -> tuple[FileFault, ...]:
    """Faults in the files, and faults that show only after merging."""
    if any(fault.key == "extends" for fault in merged.faults):
        return merged.faults
    whole = (
        *find_wrong_kind(merged),
        *find_unreachable_phases(merged),
        *find_missing_complete(merged),
        *find_shares_over_cap(merged),
        *find_useless_compaction(merged),
    )
    return tuple(dict.fromkeys((*merged.faults, *whole)))


def find_wrong_kind(merged: MergedTemplate) -> Iterator[FileFault]:
    kind, wanted = read_value(merged, "kind", "work"), merged.name if merged.name in CALL_KINDS else "work"
    if kind != wanted:
        own = merged.chain[0]
        value = own.values.get(("kind",)) or own.values.get(("extends",))
        what = f"{merged.name} is a template for calls of kind {wanted}, not {kind}"
        yield FileFault(
            own.file, value.line if value else 1, "kind", what, f"`extends: {ROOT_TEMPLATE}`, or name the file {kind}.yaml"
        )


def find_unreachable_phases(merged: MergedTemplate) -> Iterator[FileFault]:
    """Phases that only the nearest file sets and that never occur: inherited ones may be meant for other types."""
    if merged.name == ROOT_TEMPLATE:
        return
    spoken = {key[1]: value for key, value in reversed(list(merged.chain[0].values.items())) if key[0] == "phases"}
    for name, value in spoken.items():
        if name not in list_phases(merged):
            names = ", ".join(list_phases(merged)) or "none"
            what = f"{merged.name} never comes into this phase"
            yield FileFault(value.file, value.line, f"phases.{name}", what, f"its phases are: {names}")


def find_missing_complete(merged: MergedTemplate) -> Iterator[FileFault]:
    """Phases without the tool `complete`: no task could end."""
    for name in ("", *list_phases(merged)):
        value = merged.value("tools", phase=name)
        if value and read_value(merged, "kind", "work") == "work" and "complete" not in value.held:
            yield FileFault(value.file, value.line, "tools", "complete is missing, so no task could finish", "add complete")


def find_useless_compaction(merged: MergedTemplate) -> Iterator[FileFault]:
    full, left = (merged.values.get(("compaction", field)) for field in ("full", "left"))
    if full and left and left.held >= full.held:
        nearer = left if left.file == merged.chain[0].file else full
        what = f"{left.held:g} is not below full ({full.held:g}): a compaction would win nothing"
        yield FileFault(nearer.file, nearer.line, "compaction.left", what, "lower left or raise full")


def find_shares_over_cap(merged: MergedTemplate) -> Iterator[FileFault]:
    for name in ("", *list_phases(merged)):
        for section in merged.order(name):
            part, cap = (merged.value("sections", section, field, phase=name) for field in ("share", "cap"))
            if part and cap and part.held > cap.held:
                nearer = part if part.file == merged.chain[0].file else cap
                what = f"its share {part.held:g} is over its cap {cap.held:g}"
                yield FileFault(nearer.file, nearer.line, f"sections.{section}", what, "raise the cap or lower the share")
