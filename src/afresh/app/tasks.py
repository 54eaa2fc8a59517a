"""Adds tasks after checking the order, and finds them by name."""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from afresh.actions.tools.registry import TOOLS
from afresh.app.allow_test_changes import license_paths
from afresh.app.project import Project
from afresh.app.read_tasks import find_task_id
from afresh.app.settings import Settings
from afresh.config.templates.load_template import load_template, make_template, merge_task_type
from afresh.config.templates.template_files import TemplateLayers
from afresh.context.build_prompt import build_prompt, select_offered_tools
from afresh.context.sources.instructions import InstructionsAllowance, render_instructions, select_instruction_chain
from afresh.core.ceiling_state import MODEL_WINDOW_DIVISOR, compute_highest_ceiling
from afresh.core.context_item import Note
from afresh.core.event import Event, JournalHead, QuestionAsked, TaskCreated, TaskEnded
from afresh.core.hash_chain import link_events
from afresh.core.prompt import Prompt
from afresh.core.redaction import redact_secrets
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.task import FIX_VIOLATION_TYPE, REFACTOR_TYPE, Check, QueueTicket, Task, TaskStatus, choose_report_path
from afresh.core.template import MIN_THINKING_TOKENS, Template
from afresh.core.tokens import REQUEST_FRAMING_TOKENS, EstimatingCounter
from afresh.errors import BadInput, Conflict, OverCeiling
from afresh.memory.gathered_context import GatheredContext
from afresh.models.choose_model import (
    DEFAULT_WINDOW_TOKENS,
    NO_NAMED_MODELS,
    find_context_window,
    find_framing_tokens,
    is_provider,
    make_spec_absolute,
)
from afresh.models.model_settings import NamedModel
from afresh.policy.questions import ask_about_ceiling
from afresh.ports.knowledge import InstructionReader

ID_SUFFIX_BYTES = 4
"""Random bytes of an id: enough that tasks from two machines with the same goal do not collide in an export."""
MAX_TAKEN_IDS = 8
"""How often a taken id is replaced; more collisions in a row are an error."""


DEFAULT_MAX_STEPS = 60
TYPES_WITHOUT_NEW_TESTS = (REFACTOR_TYPE, FIX_VIOLATION_TYPE)
"""Types that `require_tests` does not concern: they keep behaviour as it is."""


@dataclass(frozen=True, slots=True)
class TaskOrder:
    """A task as ordered on the command line."""

    goal: str
    type: str = ""
    checks: tuple[str, ...] = ()
    priority: int = 0
    needs: tuple[str, ...] = ()
    model: str = ""
    budget: int = 0
    max_steps: int = 0
    max_budget: int = 0
    loop: str = ""
    thinking: int | None = None
    test_changes: tuple[str, ...] = ()
    """Test files and folders that the task may change."""


def add_task(project: Project, order: TaskOrder) -> State:
    given = project.settings
    if not order.goal.strip():
        raise BadInput("the goal is empty", next='describe the goal: afresh run "make the parser accept tabs"')
    known = {ticket.task for ticket in project.queue.tickets() if not ticket.parent}
    if missing := [need for need in order.needs if need not in known]:
        raise BadInput(f"no such task to wait for: {missing[0]}", next="afresh list lists the tasks", safe="nothing was added")
    allowed = [license_paths(project.paths.root, order.test_changes)] if order.test_changes else []
    type = order.type or given.type or "implement_feature"
    merged = merge_task_type(type, project.templates)
    report = choose_report_path(merged.family, order.goal, lambda path: (project.paths.root / path).is_file())
    defaults = project.instructions.defaults((merged.family, type))
    checks = order.checks or (() if report else given.checks or ((defaults.test_command,) if defaults.test_command else ()))
    task = Task(
        id=make_task_id(redact_secrets(order.goal)),
        goal=redact_secrets(order.goal),
        type=type,
        checks=tuple(Check(command, given.check_timeout) for command in checks),
        priority=order.priority,
        needs=order.needs,
        model=make_spec_absolute(order.model or given.model),
        budget=order.budget or given.budget or choose_ceiling(make_template(merged), order, given),
        max_steps=order.max_steps or given.max_steps or defaults.max_steps or DEFAULT_MAX_STEPS,
        project=project.paths.root.name,
        family=merged.family if merged.family != type else "",
        report=report,
        max_budget=order.max_budget or given.max_budget,
        loop=order.loop or given.loop or "",
        parts=given.delegation.parts if given.delegation.offer else 0,
        thinking=order.thinking,
        require_tests=bool(defaults.require_tests) and not report and merged.family not in TYPES_WITHOUT_NEW_TESTS,
    )
    refuse_unworkable_task(task, project.templates, project.instructions, given.models)
    if not checks and not report:
        task = replace(task, checks=find_task_checks(project))
        refuse_unworkable_task(task, project.templates, project.instructions, given.models)
    return create_task(project, task, allowed)


def create_task(project: Project, task: Task, events: Sequence[Event] = ()) -> State:
    """Start a task's journal, with another id if the commit finds it taken."""
    for _ in range(MAX_TAKEN_IDS):
        try:
            return record_events(project, None, task.id, [TaskCreated(task), *events])
        except Conflict:
            task = replace(task, id=make_task_id(task.goal))
    return record_events(project, None, task.id, [TaskCreated(task), *events])


def choose_ceiling(style: Template, order: TaskOrder, given: Settings) -> int:
    """Return the template's ceiling plus the model's thinking budget, so that prompts keep their size."""
    model = order.model or given.model
    asked = max([style.thinking, *[phase.thinking for phase in style.phases]]) if order.thinking is None else order.thinking
    return style.ceiling + (asked if order.thinking or (model and is_provider(model, given.models)) else 0)


def find_task_checks(project: Project) -> tuple[Check, ...]:
    """Return checks from the project's files that are known to find tests. They are run when the task starts, not here."""
    from afresh.app.choose_checks import ProjectWithSettings, choose_checks

    chosen = choose_checks(ProjectWithSettings(project.paths, project.settings), limit=0)
    return tuple(Check(command, project.settings.check_timeout) for command in chosen.checks)


def find_task(project: Project, name: str | None) -> str:
    """Find a task by id or prefix; without a name return the one that was changed last."""
    return find_task_id(project.queue, project.paths.folder / "export", name)


def end_task(project: Project, task: str, status: TaskStatus, reason: str) -> State:
    return record_events(project, project.store.load(task), task, [TaskEnded(status, reason)])


def block_task(project: Project, task: str, why: str, question: QuestionAsked | None = None) -> State:
    """Block the task with a question, and release it."""
    return record_events(
        project, project.store.load(task), task, [question or ask_about_ceiling(why), TaskEnded(TaskStatus.BLOCKED, why)]
    )


def record_events(project: Project, state: State | None, task: str, events: Sequence[Event]) -> State:
    """Record events from outside of a run, such as a person's."""
    entries = link_events(task, state.head if state else JournalHead(), project.clock.now(), events)
    after = fold_entries(state, entries)
    project.store.append(entries, (), after)
    project.facts.saw(after, entries)
    project.view_writer.saw(after, entries)
    return after


def make_task_id(goal: str) -> str:
    words = re.findall(r"[a-z0-9]+", goal.lower())
    slug = "-".join(words)[:28].strip("-") or "task"
    return f"{slug}-{secrets.token_hex(ID_SUFFIX_BYTES)}"


def list_parts(tickets: Sequence[QueueTicket], task: str) -> list[QueueTicket]:
    return [ticket for ticket in tickets if ticket.parent == task]


NOTHING_ADDED = "nothing was added"


def build_prompt_per_phase(memory: GatheredContext, style: Template, budget: int, counter: EstimatingCounter) -> list[Prompt]:
    """Build a prompt for each phase. Raises OverCeiling for the first that does not fit."""
    first = [replace(style, phases=(phase, *[one for one in style.phases if one is not phase])) for phase in style.phases] or [
        style
    ]
    return [build_prompt(memory, one, select_offered_tools(style.at(""), TOOLS), budget, counter) for one in first]


def refuse_unworkable_task(
    task: Task, shelf: TemplateLayers, instructions: InstructionReader, named: Mapping[str, NamedModel] = NO_NAMED_MODELS
) -> None:
    refuse_unstorable_text(task.goal, task.model, *(check.command for check in task.checks))
    if any(not check.command.strip() for check in task.checks):
        raise BadInput("a check is empty", next="give a command that exits 0 when the task is done", safe=NOTHING_ADDED)
    if task.max_budget and task.max_budget < task.budget:
        raise BadInput(
            f"--max-budget {task.max_budget:,} is below the budget of {task.budget:,} tokens",
            next=f"use --max-budget {task.budget} for a budget that is never raised",
            safe=NOTHING_ADDED,
        )
    refuse_thinking_budget(task, load_template(task.type, shelf).ceiling, named)
    if task.model:
        refuse_large_ceiling(task.budget, find_context_window(task.model, named))
        refuse_large_ceiling(task.max_budget, find_context_window(task.model, named), "--max-budget")
    refuse_overfull_prompt(State(task=task), shelf, instructions, named)


def refuse_thinking_budget(task: Task, ceiling: int, named: Mapping[str, NamedModel]) -> None:
    """Raise BadInput instead of silently reducing the thinking budget."""
    wanted = task.thinking or 0
    if wanted and task.model and not is_provider(task.model, named):
        what = f"{task.model.partition(':')[0]} does not support --thinking"
        raise BadInput(what, next="omit --thinking, or pass another --model", safe=NOTHING_ADDED)
    if wanted and (table := named.get(task.model)) and table.thinking is False:
        what = f"[models.{task.model}] has thinking = false"
        raise BadInput(what, next="omit --thinking, or remove that line from your config.toml", safe=NOTHING_ADDED)
    if 0 < wanted < MIN_THINKING_TOKENS:
        what = f"--thinking {wanted:,} is too small: providers need at least {MIN_THINKING_TOKENS:,}"
        raise BadInput(what, next=f"use --thinking {MIN_THINKING_TOKENS}, or 0 for none", safe=NOTHING_ADDED)
    if wanted and task.budget - ceiling < wanted:
        what = f"a budget of {task.budget:,} tokens can't hold {wanted:,} for thinking and a prompt of {ceiling:,}"
        raise BadInput(what, next=f"use --budget {ceiling + wanted}, or omit --budget", safe=NOTHING_ADDED)


def refuse_unstorable_text(*texts: str) -> None:
    """Raise BadInput for command-line bytes that are not valid text and could not be stored."""
    for text in texts:
        if not text.isprintable() and any("\ud800" <= sign <= "\udfff" for sign in text):
            said = text.encode(errors="backslashreplace").decode()[:100]
            raise BadInput(f"{said!r} is not UTF-8", next="write it in UTF-8", safe=NOTHING_ADDED)


def refuse_large_ceiling(budget: int, window: int, option: str = "--budget") -> None:
    """Raise BadInput if the ceiling is over a fifth of the model's context window."""
    if budget > window // MODEL_WINDOW_DIVISOR:
        raise BadInput(
            f"a budget of {budget:,} tokens is over 20 % of this model's context window of {window:,}",
            next=f"{option} {window // MODEL_WINDOW_DIVISOR}",
            safe="nothing was sent",
        )


def refuse_overfull_prompt(
    state: State, shelf: TemplateLayers, instructions: InstructionReader, named: Mapping[str, NamedModel] = NO_NAMED_MODELS
) -> None:
    """Raise BadInput if a prompt with tools, criteria, user messages and instructions does not fit the highest ceiling in
    every phase."""
    task, style = state.task, load_template(state.task.type, shelf)
    window, framing = _find_window_and_framing(task.model, named)
    highest, counter = compute_highest_ceiling(task, window), EstimatingCounter(framing=framing)
    allowance = InstructionsAllowance(highest, style.instructions)
    try:
        text = render_instructions(select_instruction_chain(state, instructions), allowance).text
    except OverCeiling as fault:
        what = f"{fault.evidence} ({allowance.share:.0%} of the highest ceiling, {highest:,})"
        raise BadInput(what, next=f"{fault.next}; `afresh instructions` shows what is included", safe=NOTHING_ADDED) from None
    try:
        build_prompt_per_phase(GatheredContext(state, (Note("instructions", "", text),)), style, highest, counter)
    except OverCeiling as fault:
        what = f"that does not fit into a prompt: {fault.evidence} under the highest ceiling, {highest:,} tokens"
        raise BadInput(what, next="use fewer words, or add the task with a larger --max-budget", safe=NOTHING_ADDED) from None


def _find_window_and_framing(model: str, named: Mapping[str, NamedModel]) -> tuple[int, int]:
    """Return the model's context window and framing tokens. An unknown model name is reported on resume, not here."""
    try:
        return (
            (find_context_window(model, named), find_framing_tokens(model, named))
            if model
            else (DEFAULT_WINDOW_TOKENS, REQUEST_FRAMING_TOKENS)
        )
    except BadInput:
        return DEFAULT_WINDOW_TOKENS, REQUEST_FRAMING_TOKENS


def refuse_part_of_task(state: State) -> None:
    if parent := state.task.parent:
        raise BadInput(
            f"{state.task.id} is a subtask of {parent}; its result is part of that task",
            next=f"afresh show {parent} shows its state",
            safe="nothing was changed",
        )
