"""Refuses a task whose words, limits and instructions can't fit into a prompt of its model."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from afresh.actions.tools.registry import TOOLS
from afresh.app.mcp_servers import list_approved_schemas
from afresh.config.templates.load_template import load_template
from afresh.config.templates.template_files import TemplateLayers
from afresh.context.build_prompt import build_prompt, select_offered_tools
from afresh.context.limit import compute_usual_reply
from afresh.context.sources.instructions import InstructionsAllowance, render_instructions, select_instruction_chain
from afresh.core.context_item import Note
from afresh.core.prompt import Prompt
from afresh.core.state import State
from afresh.core.states.ceiling_state import (
    CEILING_STEP_TOKENS,
    MODEL_WINDOW_DIVISOR,
    compute_highest_ceiling,
    round_up_ceiling,
)
from afresh.core.task import Task, name_briefly
from afresh.core.template import MIN_THINKING_TOKENS, Template
from afresh.core.tokens import REQUEST_FRAMING_TOKENS, EstimatingCounter
from afresh.errors import BadInput, OverCeiling
from afresh.memory.gathered_context import GatheredContext
from afresh.models.choose_model import (
    DEFAULT_WINDOW_TOKENS,
    NO_NAMED_MODELS,
    find_context_window,
    find_framing_tokens,
    is_provider,
)
from afresh.models.model_settings import NamedModel
from afresh.ports.knowledge import InstructionReader

NOTHING_ADDED = "nothing was added"
USUAL_WINDOW_TOKENS = 20_000
"""A fifth of it is what most types of tasks begin with."""


def build_prompt_per_phase(memory: GatheredContext, style: Template, budget: int, counter: EstimatingCounter) -> list[Prompt]:
    """Build a prompt for each phase. Raises OverCeiling for the first that does not fit."""
    remote = list_approved_schemas(memory.state.task.tools)
    style = style.with_tools(tuple(schema.name for schema in remote))
    tools = (*select_offered_tools(style.at(""), TOOLS), *remote)
    styles = [replace(style, phases=(phase,)) for phase in style.phases] or [style]
    return [
        build_prompt(memory, template, tools, budget, counter, compute_usual_reply(memory.state, template)) for template in styles
    ]


def refuse_unworkable_task(
    task: Task, layers: TemplateLayers, instructions: InstructionReader, named: Mapping[str, NamedModel] = NO_NAMED_MODELS
) -> None:
    refuse_unstorable_text(task.goal, task.model, *(check.command for check in task.checks))
    if any(not check.command.strip() for check in task.checks):
        raise BadInput("a check is empty", next="give a command that exits 0 when the task is done", safe=NOTHING_ADDED)
    refuse_thinking_budget(task, load_template(task.type, layers).ceiling, named)
    refuse_unworkable_limits(task, named)
    refuse_overfull_prompt(State(task=task), layers, instructions, named)


def refuse_unworkable_limits(task: Task, named: Mapping[str, NamedModel]) -> None:
    """Raise BadInput for limits that contradict each other, or the model's context window."""
    if task.max_budget and task.max_budget < task.budget:
        raise BadInput(
            f"max_budget {task.max_budget:,} is below the limit of {task.budget:,} tokens that calls start with",
            next=f"use --set max_budget={task.budget} for a limit that is never raised",
            safe=NOTHING_ADDED,
        )
    if task.model:
        refuse_large_ceiling(task.budget, find_context_window(task.model, named))
        refuse_large_ceiling(task.max_budget, find_context_window(task.model, named), "max_budget")


def refuse_thinking_budget(task: Task, ceiling: int, named: Mapping[str, NamedModel]) -> None:
    """Raise BadInput instead of silently reducing the thinking budget."""
    wanted = task.thinking or 0
    if wanted and task.model and not is_provider(task.model, named):
        what = f"{task.model.partition(':')[0]} does not support thinking"
        raise BadInput(what, next="omit thinking, or pass another --model", safe=NOTHING_ADDED)
    if wanted and (table := named.get(task.model)) and table.thinking is False:
        what = f"[models.{task.model}] has thinking = false"
        raise BadInput(what, next="omit thinking, or remove that line from your config.toml", safe=NOTHING_ADDED)
    if 0 < wanted < MIN_THINKING_TOKENS:
        what = f"thinking {wanted:,} is too small: providers need at least {MIN_THINKING_TOKENS:,}"
        raise BadInput(what, next=f"use --set thinking={MIN_THINKING_TOKENS}, or 0 for none", safe=NOTHING_ADDED)
    if wanted and task.budget - ceiling < wanted:
        what = f"a budget of {task.budget:,} tokens can't hold {wanted:,} for thinking and a prompt of {ceiling:,}"
        raise BadInput(what, next=f"use --set budget={ceiling + wanted}, or omit budget", safe=NOTHING_ADDED)


def refuse_unstorable_text(*texts: str) -> None:
    """Raise BadInput for command-line bytes that are not valid text and could not be stored."""
    for text in texts:
        if not text.isprintable() and any("\ud800" <= sign <= "\udfff" for sign in text):
            note = text.encode(errors="backslashreplace").decode()[:100]
            raise BadInput(f"{note!r} is not UTF-8", next="write it in UTF-8", safe=NOTHING_ADDED)


def refuse_large_ceiling(budget: int, window: int, name: str = "budget") -> None:
    """Raise BadInput if the ceiling is over a fifth of the model's context window."""
    if budget > window // MODEL_WINDOW_DIVISOR:
        raise BadInput(
            f"a limit of {budget:,} tokens a call is over 20 % of this model's context window of {window:,}",
            next=f"--set {name}={window // MODEL_WINDOW_DIVISOR}, or leave it out",
            safe="nothing was sent",
        )


def refuse_overfull_prompt(
    state: State,
    layers: TemplateLayers,
    instructions: InstructionReader,
    named: Mapping[str, NamedModel] = NO_NAMED_MODELS,
    safe: str = NOTHING_ADDED,
) -> None:
    """Raise BadInput if a prompt with tools, criteria, user messages and instructions does not fit the highest limit in
    every phase: what is accepted here fits the prompts of the run, which are built by the same sum."""
    task, style = state.task, load_template(state.task.type, layers)
    window, framing = find_window_and_framing(task.model, named)
    highest, counter = compute_highest_ceiling(task, window), EstimatingCounter(framing=framing)
    allowance = InstructionsAllowance(highest, style.instructions)
    try:
        text = render_instructions(select_instruction_chain(state, instructions), allowance).text
    except OverCeiling as fault:
        what = f"{fault.evidence} ({allowance.share:.0%} of the highest limit, {highest:,} tokens a call)"
        raise BadInput(what, next=f"{fault.next}; `afresh context instructions` shows what is included", safe=safe) from None
    memory = GatheredContext(state, (Note("instructions", "", text),))
    try:
        build_prompt_per_phase(memory, style, highest, counter)
    except OverCeiling as fault:
        if highest == window // MODEL_WINDOW_DIVISOR and (needed := find_needed_limit(memory, style, highest, counter)):
            raise make_small_window_error(window, highest, needed) from None
        what = f"that does not fit into a prompt: {fault.evidence} under the highest limit, {highest:,} tokens a call"
        edit = "pass" if safe == NOTHING_ADDED else f"`afresh edit {name_briefly(task.id)}` with"
        needed = round_up_ceiling(fault.needed)
        larger = f", or {edit} --set max_budget={needed}" if needed <= window // MODEL_WINDOW_DIVISOR else ""
        raise BadInput(what, next=f"use fewer words{larger}", safe=safe) from None


def find_needed_limit(memory: GatheredContext, style: Template, limit: int, counter: EstimatingCounter) -> int:
    """Return the lowest limit, in steps, under which the first prompts fit; 0 if fewer words are the remedy."""
    for larger in range(round_up_ceiling(limit), style.ceiling + 1, CEILING_STEP_TOKENS):
        state = replace(memory.state, task=replace(memory.state.task, budget=larger))
        with suppress(OverCeiling):
            build_prompt_per_phase(replace(memory, state=state), style, larger, counter)
            return larger
    return 0


def make_small_window_error(window: int, limit: int, needed: int) -> BadInput:
    least, usual = needed * MODEL_WINDOW_DIVISOR, USUAL_WINDOW_TOKENS
    return BadInput(
        f"this model's context window of {window:,} tokens is too small: a call takes at most a fifth of it, {limit:,} tokens, "
        f"and this task needs {needed:,}",
        next=f"use a model with a window of at least {least:,} tokens; most tasks begin with {usual:,}. Ollama: start it with "
        f"OLLAMA_CONTEXT_LENGTH={usual}, then `afresh setup` again",
        safe=NOTHING_ADDED,
    )


def find_window_and_framing(model: str, named: Mapping[str, NamedModel]) -> tuple[int, int]:
    """Return the model's context window and framing tokens. An unknown model name is reported on resume, not here."""
    usual = (DEFAULT_WINDOW_TOKENS, REQUEST_FRAMING_TOKENS)
    try:
        return (find_context_window(model, named), find_framing_tokens(model, named)) if model else usual
    except BadInput:
        return usual
