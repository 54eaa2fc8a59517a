"""Instructions to look at: what a task would be told, where each line comes from, and what a person should know of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from afresh.adapters.instructions import InstructionFiles, instructions_for
from afresh.adapters.templates import Fault, make, merged_type, shelf_for, template
from afresh.adapters.workspace.repository import Repository
from afresh.app.project import Project
from afresh.app.settings import settings
from afresh.app.tasks import Desk
from afresh.domain.instructions import Chain, Level, Source, merged
from afresh.domain.room import levels
from afresh.domain.state import State
from afresh.domain.task import Task
from afresh.engine.instructions import Allowance, Rendered, chain_for, rendered, size, whole
from afresh.errors import BadInput, OverCeiling

UNREADABLE = ", and as it is not committed no task can read the rest"


@dataclass(frozen=True, slots=True)
class File:
    """A source as it is written, and what it would take alone and whole."""

    source: Source
    tokens: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What a task of that type would be told when it works on that path."""

    type: str
    path: str
    files: tuple[File, ...]
    chain: Chain
    ordered: int
    """Ceiling of a call, before any more room is given."""
    users: str
    """Where the user's own would be, for all repositories."""
    rendered: Rendered | None = None
    """None when it can't be used, or fits no ceiling that is allowed; `faults` say why."""
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()


def seen(where: Path, path: str = "", type: str = "") -> Seen:
    """Reads only: nothing is made in the repository."""
    repository = Repository.find(where)
    given, shelf = settings(Project(repository.root)), shelf_for(repository.root)
    type = type or given.type or "implement_feature"
    kind = merged_type(type, shelf)
    style, inside = make(kind), within(repository.root, where, path)
    budget = given.budget or style.ceiling
    order = Task(id="", goal="", type=type, family=kind.family, budget=budget, max_budget=given.max_budget)
    paths, found = (inside,) if inside else (), instructions_for(repository.root, shelf)
    looked = found.look((order.judged_as, type), paths)
    chain = tracked(merged(looked.sources, paths), repository)
    files = tuple(File(source, size([whole(source)])) for source in looked.sources)
    one = Seen(type, inside, files, chain, budget, found.users, faults=looked.faults, notes=looked.notes)
    if looked.faults:
        return one
    try:
        shown = roomiest(chain, order, style.instructions)
    except OverCeiling as fault:
        file = max((file for file in files if file.source.own), key=lambda file: file.tokens).source.file
        return replace(one, faults=(Fault(file, 1, "", fault.evidence.removeprefix(f"{file} "), fault.next),))
    return replace(one, rendered=shown, notes=(*looked.notes, *told(shown, budget, files)))


def within(root: Path, where: Path, path: str) -> str:
    """A path as it is from the root; empty for the root itself."""
    target = (where / path).resolve()
    if not target.exists():
        raise BadInput(f"there is no {path}", next="name a file or folder of this repository")
    if not target.is_relative_to(root):
        raise BadInput(f"{path} is outside the repository {root}", next="name a file or folder inside it")
    inside = target.relative_to(root).as_posix()
    return "" if inside == "." or not path else inside


def tracked(chain: Chain, repository: Repository) -> Chain:
    """Marked where a task's own tree would lack the file, so that nothing points at what can't be read."""

    def held(source: Source) -> bool:
        return source.own or bool(repository.git.ask("ls-tree", "--name-only", "HEAD", "--", source.file))

    return replace(chain, sources=tuple(replace(source, tracked=held(source)) for source in chain.sources))


def roomiest(chain: Chain, task: Task, share: float) -> Rendered:
    """Under the lowest ceiling that it fits; OverCeiling when none that may be granted is enough."""
    *lower, highest = levels(task.budget, task.budget_limit)
    for ceiling in lower:
        try:
            return rendered(chain, Allowance(ceiling, share))
        except OverCeiling:
            continue
    return rendered(chain, Allowance(highest, share))


def told(shown: Rendered, ordered: int, files: Sequence[File]) -> list[str]:
    """What is not as one would expect."""
    tokens = {file.source.file: file.tokens for file in files}
    lacking = {source.file for source in shown.chain.sources if not source.tracked}
    projects = {source.file for source in shown.chain.sources if source.level is Level.PROJECT}
    said = [
        f"{file} ({tokens[file]:,} tokens) is shown in part{UNREADABLE if file in lacking else ''}; "
        f"{'write what matters into .afresh/AGENT.md' if file in projects else 'shorten it'}, or give a larger --budget"
        for file in shown.partial
    ]
    if shown.allowance.ceiling > ordered:
        cap, raised = int(ordered * shown.allowance.share), shown.allowance.ceiling
        said.append(
            f"own instructions are over {cap:,} tokens, {shown.allowance.share:.0%} of the ceiling of {ordered:,}: "
            f"calls get {raised:,} instead; shorten them to save that"
        )
    return said


def remarks(desk: Desk, state: State) -> list[str]:
    """For whoever starts a task: which files it goes by, and what is not as one would expect."""
    chain, style = chain_for(state, desk.instructions), template(state.task.type, desk.templates)
    if not chain.sources:
        return []
    chain = tracked(chain, Repository.find(desk.project.root))
    shown = roomiest(chain, state.task, style.instructions)
    files = [File(source, size([whole(source)])) for source in chain.sources]
    named = ", ".join(file.source.file for file in files)
    return [f"instructions: {named}", *told(shown, state.task.budget, files)]


def first_found(files: InstructionFiles) -> str:
    """The files that count for any task here, for a person who sets a repository up."""
    return ", ".join(source.file for source in files.look((), ()).sources)
