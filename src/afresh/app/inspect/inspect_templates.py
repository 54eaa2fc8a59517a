"""Lists and shows templates, with the origin of each value, and checks them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afresh.app.orders.check_task_limits import build_prompt_per_phase
from afresh.config.templates.load_template import (
    OTHER_CALL_KINDS,
    MergedTemplate,
    find_template_faults,
    list_phases,
    list_task_types,
    make_share,
    make_template,
    merge_template,
)
from afresh.config.templates.template_files import TemplateLayer, TemplateLayers, TemplateValue, layers_for_project
from afresh.config.yaml_reader import NAME_PATTERN, FileFault
from afresh.core.prompt import Prompt, Tier
from afresh.core.report_path import choose_report_path
from afresh.core.state import State
from afresh.core.task import Task
from afresh.core.template import REQUIRED_SECTIONS, SectionShare, Template
from afresh.core.tokens import EstimatingCounter
from afresh.errors import BadInput, NeedsPerson, OverCeiling
from afresh.memory.gathered_context import GatheredContext
from afresh.workspace.repository import Repository


@dataclass(frozen=True, slots=True)
class TemplateRow:
    """A template in a list; `fault` says why it is invalid."""

    name: str
    origin: str
    file: str
    about: str = ""
    ceiling: int = 0
    kind: str = "work"
    fault: str = ""


@dataclass(frozen=True, slots=True)
class SourcedTemplateValue:
    """A value and where it is defined."""

    key: str
    value: Any
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class SectionClaim:
    """A section by priority, and where its share, cap and tier are defined."""

    share: SectionShare
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TemplateDetails:
    """A template merged with its bases, for one phase or without phases."""

    template: Template
    phase: str
    files: tuple[str, ...]
    family: str
    values: tuple[SourcedTemplateValue, ...]
    claims: tuple[SectionClaim, ...]
    room: int
    """Tokens under the limit that are left for optional sections."""


def open_templates_at(path: Path) -> TemplateLayers:
    """Open the templates at a path; outside of a repository, the user's and the shipped ones."""
    try:
        return layers_for_project(Repository.find(path).root)
    except NeedsPerson:
        return layers_for_project(None)


def list_template_rows(layers: TemplateLayers) -> list[TemplateRow]:
    return [make_template_row(name, layers) for name in (*list_task_types(layers), *OTHER_CALL_KINDS)]


def make_template_row(name: str, layers: TemplateLayers) -> TemplateRow:
    merged = merge_template(name, layers)
    nearest = merged.chain[0]
    try:
        template = make_template(merged)
    except BadInput as fault:
        return TemplateRow(name, nearest.origin, nearest.file, fault=fault.what.removeprefix(f"{nearest.file}:"))
    return TemplateRow(name, nearest.origin, nearest.file, template.about, template.ceiling, template.kind)


def load_template_details(name: str, phase: str, layers: TemplateLayers) -> TemplateDetails:
    merged = merge_template(name, layers)
    template, phases = make_template(merged), list_phases(merged)
    if phase and phase not in phases:
        raise BadInput(f"{name} has no phase {phase!r}", next=f"its phases are: {', '.join(phases) or 'none'}")
    return TemplateDetails(
        template=template,
        phase=phase,
        files=tuple(sheet.file for sheet in merged.chain),
        family=merged.family,
        values=tuple(list_template_values(merged, phase)),
        claims=tuple(
            make_section_claim(merged, section, phase) for section in merged.order(phase) if section not in REQUIRED_SECTIONS
        ),
        room=min(window.headroom for window in build_minimal_prompts(template, merged.family, phase)),
    )


def list_template_values(merged: MergedTemplate, phase: str) -> Iterator[SourcedTemplateValue]:
    """Return the values in effect: those of one phase, else all."""
    for key, value in merged.values.items():
        if key[0] == "extends" or (key[0] == "phases" and (phase or key[1] not in list_phases(merged))):
            continue
        template_value = value
        if phase and key[0] != "guidance":
            template_value = merged.values.get(("phases", phase, *key), value)
        yield make_template_value(".".join(key), template_value)
    yield from (
        make_template_value(".".join(key), value)
        for key, value in merged.values.items()
        if phase and key[:2] == ("phases", phase) and (key[2] == "guidance" or key[2:] not in merged.values)
    )


def make_template_value(key: str, value: TemplateValue) -> SourcedTemplateValue:
    name = value.held.name.lower() if isinstance(value.held, Tier) else value.held
    return SourcedTemplateValue(key, list(name) if isinstance(name, tuple) else name, value.file, value.line)


def make_section_claim(merged: MergedTemplate, section: str, phase: str) -> SectionClaim:
    values = [merged.value("sections", section, field, phase=phase) for field in ("share", "cap", "tier")]
    return SectionClaim(make_share(merged, section, phase), tuple(dict.fromkeys(f"{v.file}:{v.line}" for v in values if v)))


def build_minimal_prompts(template: Template, family: str, phase: str = "") -> list[Prompt]:
    """Build a prompt per phase with required content only."""
    order = Task(
        id="", goal="", type=template.type, budget=template.ceiling, report=choose_report_path(family, "", lambda _: False)
    )
    built = build_prompt_per_phase(GatheredContext(State(task=order)), template, order.budget, EstimatingCounter())
    return (
        [prompt for prompt, at in zip(built, template.phases, strict=True) if phase in ("", at.name)]
        if template.phases
        else built
    )


def check_template_files(files: Sequence[Path], layers: TemplateLayers) -> tuple[list[str], list[FileFault]]:
    """Return the templates that were checked (default: all in use) and all their faults."""
    template_files = [locate_template_file(file, layers) for file in files] or [
        (layers, depth, file) for depth, layer in enumerate(layers.layers) for file in layer.names()
    ]
    faults = {fault for one in template_files for fault in find_file_faults(*one)}
    names = [where.layers[depth].shown(file) for where, depth, file in template_files]
    return names, sorted(faults, key=lambda fault: (fault.file, fault.line, fault.key))


def locate_template_file(file: Path, layers: TemplateLayers) -> tuple[TemplateLayers, int, str]:
    """Return a template file's layer and name. A file outside of the template folders is checked as if it were in the
    project's."""
    if not file.is_file():
        raise BadInput(f"no such file: {file}", next="give a template file, or none to check all")
    for depth, layer in enumerate(layers.layers):
        if layer.folder.resolve() == file.parent.resolve():
            return layers, depth, file.name
    return TemplateLayers((TemplateLayer("file", file.parent, only=file.name), *layers.layers)), 0, file.name


def find_file_faults(layers: TemplateLayers, depth: int, file: str) -> tuple[FileFault, ...]:
    template = layers.layers[depth].read(file)
    if not NAME_PATTERN.fullmatch(template.name) or not file.endswith(".yaml"):
        return template.faults
    merged = merge_template(template.name, layers, depth)
    return find_template_faults(merged) or tuple(find_overfull_template(merged))


def find_overfull_template(merged: MergedTemplate) -> Iterator[FileFault]:
    """Report a template whose required content leaves no space for optional sections."""
    template = make_template(merged)
    try:
        build_minimal_prompts(template, merged.family)
    except OverCeiling as fault:
        value = merged.values[("limit",)]
        yield FileFault(value.file, value.line, "limit", str(fault), "raise the limit, or shorten the guidance")
