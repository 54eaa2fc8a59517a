"""Shows which instructions a task would get, where each line comes from, and what is wrong with them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from afresh.app.project import Project
from afresh.app.settings import ProjectPaths, load_settings
from afresh.config.instructions.find_instructions import instructions_for_project
from afresh.config.instructions.merge_instructions import merge_instructions
from afresh.config.templates.load_template import load_template, make_template, merge_task_type
from afresh.config.templates.template_files import layers_for_project
from afresh.config.yaml_reader import FileFault
from afresh.context.sources.instructions import (
    InstructionsAllowance,
    RenderedInstructions,
    build_whole_form,
    count_instruction_tokens,
    render_instructions,
    select_instruction_chain,
)
from afresh.core.instructions import InstructionChain, InstructionFile, InstructionLevel
from afresh.core.state import State
from afresh.core.task import Task
from afresh.errors import BadInput, OverCeiling
from afresh.workspace.repository import Repository

UNCOMMITTED_FILE_NOTE = ", and as it is not committed no task can read the rest"


@dataclass(frozen=True, slots=True)
class SizedInstructionFile:
    """An instruction file, and its size in tokens when it is shown whole."""

    source: InstructionFile
    tokens: int


@dataclass(frozen=True, slots=True)
class InstructionsPreview:
    """The instructions for a task of one type that works on one path."""

    type: str
    path: str
    files: tuple[SizedInstructionFile, ...]
    chain: InstructionChain
    ordered: int
    """The ceiling of a call before it is raised."""
    users: str
    """Where the user's own instructions for all repositories would be."""
    rendered: RenderedInstructions | None = None
    """None if the instructions are invalid or exceed every permitted ceiling; `faults` says why."""
    faults: tuple[FileFault, ...] = ()
    notes: tuple[str, ...] = ()


def preview_instructions(where: Path, path: str = "", type: str = "") -> InstructionsPreview:
    """Preview instructions without changing the repository."""
    repository = Repository.find(where)
    settings, layers = load_settings(ProjectPaths(repository.root)), layers_for_project(repository.root)
    type = type or settings.type or "implement_feature"
    kind = merge_task_type(type, layers)
    style, inside = make_template(kind), resolve_inside_repository(repository.root, where, path)
    budget = settings.budget or style.ceiling
    order = Task(id="", goal="", type=type, family=kind.family, budget=budget, max_budget=settings.max_budget)
    paths, instruction_files = (inside,) if inside else (), instructions_for_project(repository.root, layers)
    looked = instruction_files.look((order.judged_as, type), paths)
    chain = mark_tracked_sources(merge_instructions(looked.sources, paths), repository)
    files = tuple(SizedInstructionFile(source, count_instruction_tokens([build_whole_form(source)])) for source in looked.sources)
    preview = InstructionsPreview(
        type, inside, files, chain, budget, instruction_files.users, faults=looked.faults, notes=looked.notes
    )
    if looked.faults:
        return preview
    try:
        shown = render_instructions(chain, InstructionsAllowance(order.budget, style.instructions, order.budget_limit))
    except OverCeiling as fault:
        file = max((file for file in files if file.source.own), key=lambda file: file.tokens).source.file
        return replace(preview, faults=(FileFault(file, 1, "", fault.evidence.removeprefix(f"{file} "), fault.next),))
    return replace(preview, rendered=shown, notes=(*looked.notes, *note_instruction_limits(shown, budget, files)))


def resolve_inside_repository(root: Path, where: Path, path: str) -> str:
    """Return a path relative to the root; empty for the root itself."""
    target = (where / path).resolve()
    if not target.exists():
        raise BadInput(f"no such file or folder: {path}", next="give a file or folder in this repository")
    if not target.is_relative_to(root):
        raise BadInput(f"{path} is outside the repository {root}", next="give a file or folder inside it")
    inside = target.relative_to(root).as_posix()
    return "" if inside == "." or not path else inside


def mark_tracked_sources(chain: InstructionChain, repository: Repository) -> InstructionChain:
    """Mark sources that a task's worktree would lack, so that no prompt refers to a missing file."""

    def held(source: InstructionFile) -> bool:
        return source.own or bool(repository.git.ask("ls-tree", "--name-only", "HEAD", "--", source.file))

    return replace(chain, sources=tuple(replace(source, tracked=held(source)) for source in chain.sources))


def note_instruction_limits(shown: RenderedInstructions, ordered: int, files: Sequence[SizedInstructionFile]) -> list[str]:
    """List surprises: raised ceilings, truncated or missing files."""
    tokens = {file.source.file: file.tokens for file in files}
    lacking = {source.file for source in shown.chain.sources if not source.tracked}
    projects = {source.file for source in shown.chain.sources if source.level is InstructionLevel.PROJECT}
    texts = [
        f"{file} ({tokens[file]:,} tokens) is shown in part{UNCOMMITTED_FILE_NOTE if file in lacking else ''}; "
        f"{'write what matters into .afresh/AGENT.md' if file in projects else 'shorten it'}, or pass --set budget=N"
        for file in shown.partial
    ]
    if shown.tokens > shown.allowance.cap:
        texts.append(
            f"own instructions are over {shown.allowance.cap:,} tokens, {shown.allowance.share:.0%} of the limit of {ordered:,}: "
            "calls may be larger for them; shorten them to save that"
        )
    return texts


def describe_task_instructions(project: Project, state: State) -> list[str]:
    """List the instruction files of a task, and surprises in them, for the start of a run."""
    chain, style = select_instruction_chain(state, project.instructions), load_template(state.task.type, project.templates)
    if not chain.sources:
        return []
    chain = mark_tracked_sources(chain, Repository.find(project.paths.root))
    shown = render_instructions(chain, InstructionsAllowance(state.task.budget, style.instructions, state.task.budget_limit))
    files = [SizedInstructionFile(source, count_instruction_tokens([build_whole_form(source)])) for source in chain.sources]
    named = ", ".join(file.source.file for file in files)
    return [f"instructions: {named}", *note_instruction_limits(shown, state.task.budget, files)]
