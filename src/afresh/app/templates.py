"""Templates to look at: which there are, what they come to, and what is wrong with them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afresh.adapters.templates import Fault, Layer, Merged, Shelf, faults_of, make, merge, shelf_for, types
from afresh.adapters.templates.make import OTHER_CALLS, reached, share
from afresh.adapters.templates.read import Value
from afresh.adapters.templates.values import NAME
from afresh.adapters.workspace.repository import Repository
from afresh.app.acceptance import build_each
from afresh.domain.memory import Memory
from afresh.domain.report import place
from afresh.domain.state import State
from afresh.domain.task import Task
from afresh.domain.template import ALWAYS, Share, Template
from afresh.domain.window import Tier, Window
from afresh.engine.tokens import Counter
from afresh.errors import BadInput, NeedsPerson, OverCeiling


@dataclass(frozen=True, slots=True)
class Row:
    """A template in a list; `fault` says why it can't be used."""

    name: str
    origin: str
    file: str
    about: str = ""
    ceiling: int = 0
    kind: str = "work"
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A value and the place it comes from."""

    key: str
    value: Any
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A section in order of claim, and the places that its share, cap and tier come from."""

    share: Share
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A template laid over all that it builds on, as it is in one phase or before any phase is considered."""

    template: Template
    phase: str
    files: tuple[str, ...]
    family: str
    values: tuple[Said, ...]
    claims: tuple[Claim, ...]
    room: int
    """Tokens that are left for what may be cut, under the ceiling, before anything is known of a task."""


def shelf_at(path: Path) -> Shelf:
    """Outside any repository the user's templates and the shipped ones still count."""
    try:
        return shelf_for(Repository.find(path).root)
    except NeedsPerson:
        return shelf_for(None)


def listed(shelf: Shelf) -> list[Row]:
    return [row(name, shelf) for name in (*types(shelf), *OTHER_CALLS)]


def row(name: str, shelf: Shelf) -> Row:
    merged = merge(name, shelf)
    nearest = merged.chain[0]
    try:
        made = make(merged)
    except BadInput as fault:
        return Row(name, nearest.origin, nearest.file, fault=fault.what.removeprefix(f"{nearest.file}:"))
    return Row(name, nearest.origin, nearest.file, made.about, made.ceiling, made.kind)


def shown(name: str, phase: str, shelf: Shelf) -> Shown:
    merged = merge(name, shelf)
    made, phases = make(merged), reached(merged)
    if phase and phase not in phases:
        raise BadInput(f"{name} has no phase {phase!r}", next=f"its phases are: {', '.join(phases) or 'none'}")
    return Shown(
        template=made,
        phase=phase,
        files=tuple(sheet.file for sheet in merged.chain),
        family=merged.family,
        values=tuple(said(merged, phase)),
        claims=tuple(claim(merged, section, phase) for section in merged.order(phase) if section not in ALWAYS),
        room=min(window.headroom for window in windows(made, merged.family, phase)),
    )


def said(merged: Merged, phase: str) -> Iterator[Said]:
    """Every value that counts: of one phase those that hold in it, else all."""
    for key, value in merged.values.items():
        if key[0] == "extends" or (key[0] == "phases" and (phase or key[1] not in reached(merged))):
            continue
        held = value
        if phase and key[0] != "guidance":
            held = merged.values.get(("phases", phase, *key), value)
        yield said_of(".".join(key), held)
    yield from (
        said_of(".".join(key), value)
        for key, value in merged.values.items()
        if phase and key[:2] == ("phases", phase) and (key[2] == "guidance" or key[2:] not in merged.values)
    )


def said_of(key: str, value: Value) -> Said:
    held = value.held.name.lower() if isinstance(value.held, Tier) else value.held
    return Said(key, list(held) if isinstance(held, tuple) else held, value.file, value.line)


def claim(merged: Merged, section: str, phase: str) -> Claim:
    values = [merged.value("sections", section, field, phase=phase) for field in ("share", "cap", "tier")]
    return Claim(share(merged, section, phase), tuple(dict.fromkeys(f"{v.file}:{v.line}" for v in values if v)))


def windows(made: Template, family: str, phase: str = "") -> list[Window]:
    """A call of each phase that holds only what must be in."""
    order = Task(id="", goal="", type=made.type, budget=made.ceiling, report=place(family, "", lambda _: False))
    built = build_each(Memory(State(task=order)), made, order.budget, Counter())
    return [one for one, at in zip(built, made.phases, strict=True) if phase in ("", at.name)] if made.phases else built


def checked(files: Sequence[Path], shelf: Shelf) -> tuple[list[str], list[Fault]]:
    """The templates that were looked at, and every fault of each; all that count here when no file is named."""
    found = [located(file, shelf) for file in files] or [
        (shelf, depth, file) for depth, layer in enumerate(shelf.layers) for file in layer.names()
    ]
    faults = {fault for one in found for fault in faults_in(*one)}
    names = [where.layers[depth].shown(file) for where, depth, file in found]
    return names, sorted(faults, key=lambda fault: (fault.file, fault.line, fault.key))


def located(file: Path, shelf: Shelf) -> tuple[Shelf, int, str]:
    """Where the file stands; one that is kept elsewhere is looked at as if it were the nearest of all."""
    if not file.is_file():
        raise BadInput(f"there is no file {file}", next="name a template's file, or none to look at all")
    for depth, layer in enumerate(shelf.layers):
        if layer.folder.resolve() == file.parent.resolve():
            return shelf, depth, file.name
    return Shelf((Layer("file", file.parent, only=file.name), *shelf.layers)), 0, file.name


def faults_in(shelf: Shelf, depth: int, file: str) -> tuple[Fault, ...]:
    sheet = shelf.layers[depth].read(file)
    if not NAME.fullmatch(sheet.name) or not file.endswith(".yaml"):
        return sheet.faults
    merged = merge(sheet.name, shelf, depth)
    return faults_of(merged) or tuple(overfull(merged))


def overfull(merged: Merged) -> Iterator[Fault]:
    """A template that leaves no room for the work is none."""
    made = make(merged)
    try:
        windows(made, merged.family)
    except OverCeiling as fault:
        value = merged.values[("ceiling",)]
        yield Fault(value.file, value.line, "ceiling", str(fault), "raise the ceiling, or say less in the guidance")
