"""Templates as the engine uses them."""

from collections.abc import Iterator
from typing import Any

from afresh.adapters.templates.fault import Fault, nearest, refusal
from afresh.adapters.templates.merge import ROOT, Merged, merge
from afresh.adapters.templates.shelf import SHIPPED, Shelf
from afresh.domain.report import PLACES
from afresh.domain.strategy import REACT, Pace
from afresh.domain.summary import Pruning
from afresh.domain.template import ALWAYS, CODE_PHASES, KINDS, REPORT_PHASES, Phase, Share, Template
from afresh.domain.window import Tier
from afresh.errors import BadInput

OTHER_CALLS = tuple(kind for kind in KINDS if kind != "work")
"""Kinds of call that are no work on a task; each has the template of its own name."""


def types(shelf: Shelf = SHIPPED) -> list[str]:
    """Task types that there is a template for."""
    return [name for name in shelf.names() if name not in (ROOT, *OTHER_CALLS)]


def template(type: str, shelf: Shelf = SHIPPED) -> Template:
    """For work on a task of this type."""
    return make(merged_type(type, shelf))


def merged_type(type: str, shelf: Shelf) -> Merged:
    if type not in (known := types(shelf)):
        raise BadInput(f"there is no task type {type!r}", next=f"`afresh template list` tells of each; {nearest(type, known)}")
    return merge(type, shelf)


def call_template(kind: str, shelf: Shelf = SHIPPED) -> Template:
    """For a call that is no work on a task: `summary`."""
    assert kind in OTHER_CALLS, f"{kind} is work on a task: its template goes by the task's type"
    return make(merge(kind, shelf))


def make(merged: Merged) -> Template:
    if faults := faults_of(merged):
        raise refusal(faults)
    kind = held(merged, "kind", "work")
    return Template(
        type=merged.name,
        system="\n\n".join(part for part in (opening(merged), held(merged, "guidance", "")) if part),
        tools=held(merged, "tools", ()),
        shares=shares(merged),
        reserve=held(merged, "reserve", 0.25),
        thinking=held(merged, "thinking", 0),
        ceiling=held(merged, "ceiling", 4_000),
        recall=held(merged, "recall", 1_200),
        instructions=held(merged, "instructions", 0.15),
        phases=tuple(phase(merged, name) for name in reached(merged)),
        kind=kind,
        about=held(merged, "about", ""),
        weights=tuple((key[1], value.held) for key, value in merged.values.items() if key[0] == "weights"),
        loop=held(merged, "loop", REACT),
        pace=Pace(**{key[1]: value.held for key, value in merged.values.items() if key[0] == "pace"}),
        pruning=Pruning(**{key[1]: value.held for key, value in merged.values.items() if key[0] == "compaction"}),
    )


def opening(merged: Merged) -> str:
    """What every call for work is told first, on code or for a report; another kind of call says all it needs itself."""
    if held(merged, "kind", "work") != "work":
        return ""
    name = "report.md" if merged.family in PLACES else "system.md"
    return (SHIPPED.layers[0].folder.parent / "prompts" / name).read_text("utf-8").strip()


def reached(merged: Merged) -> tuple[str, ...]:
    """The phases that tasks of this type go through; what a parent says of further ones never comes up."""
    if held(merged, "kind", "work") != "work":
        return ()
    return REPORT_PHASES if merged.family in PLACES else CODE_PHASES


def phase(merged: Merged, name: str) -> Phase:
    guidance = merged.values.get(("phases", name, "guidance"))
    steps = merged.values.get(("phases", name, "steps"))
    return Phase(
        name=name,
        guidance=guidance.held if guidance else "",
        tools=held(merged, "tools", (), name),
        shares=shares(merged, name),
        reserve=held(merged, "reserve", 0.25, name),
        steps=steps.held if steps else 0,
        thinking=held(merged, "thinking", 0, name),
    )


def shares(merged: Merged, phase: str = "") -> tuple[Share, ...]:
    return tuple(share(merged, section, phase) for section in merged.order(phase) if section not in ALWAYS)


def share(merged: Merged, section: str, phase: str = "") -> Share:
    part, cap, tier = (merged.value("sections", section, field, phase=phase) for field in ("share", "cap", "tier"))
    return Share(section, part.held if part else 0.0, cap.held if cap else 1.0, tier.held if tier else Tier.DEMAND)


def held(merged: Merged, key: str, default: Any, phase: str = "") -> Any:
    value = merged.value(key, phase=phase)
    return value.held if value else default


def faults_of(merged: Merged) -> tuple[Fault, ...]:
    """What is wrong in the files, and what is wrong only once they are laid over each other."""
    if any(fault.key == "extends" for fault in merged.faults):
        return merged.faults
    whole = (*wrong_kind(merged), *unreachable(merged), *endless(merged), *over_cap(merged), *never_enough(merged))
    return tuple(dict.fromkeys((*merged.faults, *whole)))


def wrong_kind(merged: Merged) -> Iterator[Fault]:
    kind, wanted = held(merged, "kind", "work"), merged.name if merged.name in KINDS else "work"
    if kind != wanted:
        own = merged.chain[0]
        value = own.values.get(("kind",)) or own.values.get(("extends",))
        what = f"{merged.name} is a template for calls of kind {wanted}, not {kind}"
        yield Fault(own.file, value.line if value else 1, "kind", what, f"`extends: {ROOT}`, or name the file {kind}.yaml")


def unreachable(merged: Merged) -> Iterator[Fault]:
    """Only what the nearest file says: what it inherits may be meant for others."""
    if merged.name == ROOT:
        return
    spoken = {key[1]: value for key, value in reversed(list(merged.chain[0].values.items())) if key[0] == "phases"}
    for name, value in spoken.items():
        if name not in reached(merged):
            names = ", ".join(reached(merged)) or "none"
            what = f"{merged.name} never comes into this phase"
            yield Fault(value.file, value.line, f"phases.{name}", what, f"its phases are: {names}")


def endless(merged: Merged) -> Iterator[Fault]:
    """Without `complete` no task can end."""
    for name in ("", *reached(merged)):
        value = merged.value("tools", phase=name)
        if value and held(merged, "kind", "work") == "work" and "complete" not in value.held:
            yield Fault(value.file, value.line, "tools", "complete is missing: no task could end", "add complete")


def never_enough(merged: Merged) -> Iterator[Fault]:
    full, left = (merged.values.get(("compaction", field)) for field in ("full", "left"))
    if full and left and left.held >= full.held:
        nearer = left if left.file == merged.chain[0].file else full
        what = f"{left.held:g} is not below full ({full.held:g}): a compaction would win nothing"
        yield Fault(nearer.file, nearer.line, "compaction.left", what, "lower left or raise full")


def over_cap(merged: Merged) -> Iterator[Fault]:
    for name in ("", *reached(merged)):
        for section in merged.order(name):
            part, cap = (merged.value("sections", section, field, phase=name) for field in ("share", "cap"))
            if part and cap and part.held > cap.held:
                nearer = part if part.file == merged.chain[0].file else cap
                what = f"its share {part.held:g} is over its cap {cap.held:g}"
                yield Fault(nearer.file, nearer.line, f"sections.{section}", what, "raise the cap or lower the share")
