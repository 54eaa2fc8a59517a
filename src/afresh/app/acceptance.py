"""What may not enter the queue: a task that nobody could ever work on would stand in the way of those behind it."""

from collections.abc import Mapping
from dataclasses import replace

from afresh.adapters.models import WINDOW, is_provider, known_framing, known_window
from afresh.adapters.models.choose import NONE
from afresh.adapters.models.settings import Named
from afresh.adapters.templates import Shelf, template
from afresh.adapters.tools import TOOLS
from afresh.domain.fact import Look
from afresh.domain.memory import Memory
from afresh.domain.state import State
from afresh.domain.task import Task
from afresh.domain.template import LEAST_THINKING, Template
from afresh.domain.window import Window
from afresh.engine.budget import SHARE_OF_WINDOW, most
from afresh.engine.build import build, offered
from afresh.engine.instructions import Allowance, chain_for, rendered
from afresh.engine.tokens import FRAMING, Counter
from afresh.errors import BadInput, OverCeiling
from afresh.ports import Instructions

SAFE = "nothing was added"


def build_each(memory: Memory, style: Template, budget: int, counter: Counter) -> list[Window]:
    """A window of each phase; OverCeiling from the first that does not fit."""
    first = [replace(style, phases=(phase, *[one for one in style.phases if one is not phase])) for phase in style.phases] or [
        style
    ]
    return [build(memory, one, offered(style.at(""), TOOLS), budget, counter) for one in first]


def refuse_unworkable(task: Task, shelf: Shelf, instructions: Instructions, named: Mapping[str, Named] = NONE) -> None:
    refuse_unstorable(task.goal, task.model, *(check.command for check in task.checks))
    if any(not check.command.strip() for check in task.checks):
        raise BadInput("a check is empty, so it would verify nothing", next="give a command that must exit 0", safe=SAFE)
    if task.max_budget and task.max_budget < task.budget:
        raise BadInput(
            f"the highest ceiling, {task.max_budget:,} tokens, is below the ordinary one of {task.budget:,}",
            next=f"--max-budget {task.budget} for a ceiling that is never raised",
            safe=SAFE,
        )
    refuse_thoughtless(task, template(task.type, shelf).ceiling, named)
    if task.model:
        refuse_large(task.budget, known_window(task.model, named))
        refuse_large(task.max_budget, known_window(task.model, named), "--max-budget")
    refuse_overfull(State(task=task), shelf, instructions, named)


def refuse_thoughtless(task: Task, ceiling: int, named: Mapping[str, Named]) -> None:
    """Rather than to think with less than was asked for, or not at all, without a word."""
    wanted = task.thinking or 0
    if wanted and task.model and not is_provider(task.model, named):
        what = f"{task.model.partition(':')[0]} can't be given tokens to think with, only a provider's model can"
        raise BadInput(what, next="leave --thinking out, or pass another --model", safe=SAFE)
    if wanted and (table := named.get(task.model)) and table.thinking is False:
        what = f"[models.{task.model}] says that it does not think (thinking = false)"
        raise BadInput(what, next="leave --thinking out, or take that line out of your config.toml", safe=SAFE)
    if 0 < wanted < LEAST_THINKING:
        what = f"{wanted:,} tokens are too few to think with: providers take {LEAST_THINKING:,} and more"
        raise BadInput(what, next=f"--thinking {LEAST_THINKING}, or 0 for none", safe=SAFE)
    if wanted and task.budget - ceiling < wanted:
        what = f"a ceiling of {task.budget:,} tokens leaves no {wanted:,} to think with beside a window of {ceiling:,}"
        raise BadInput(what, next=f"--budget {ceiling + wanted}, or no --budget", safe=SAFE)


def refuse_unstorable(*texts: str) -> None:
    """Bytes that are no text come in from a command line as halves of pairs; no file can hold them."""
    for text in texts:
        if not text.isprintable() and any("\ud800" <= sign <= "\udfff" for sign in text):
            said = text.encode(errors="backslashreplace").decode()[:100]
            raise BadInput(f"{said!r} is not UTF-8", next="write it in UTF-8", safe=SAFE)


def refuse_large(budget: int, window: int, option: str = "--budget") -> None:
    """A fifth of the model's window, never more."""
    if budget > window // SHARE_OF_WINDOW:
        raise BadInput(
            f"a ceiling of {budget:,} tokens is over 20 % of this model's window of {window:,}",
            next=f"{option} {window // SHARE_OF_WINDOW}",
            safe="nothing was sent",
        )


def refuse_overfull(state: State, shelf: Shelf, instructions: Instructions, named: Mapping[str, Named] = NONE) -> None:
    """By trying, with the highest ceiling: a window of every phase holds the tools, the criteria, all that was said, and what
    people have laid down."""
    task, style = state.task, template(state.task.type, shelf)
    window, framing = _known(task.model, named)
    highest, counter = most(task, window), Counter(framing=framing)
    allowance = Allowance(highest, style.instructions)
    try:
        text = rendered(chain_for(state, instructions), allowance).text
    except OverCeiling as fault:
        what = f"{fault.evidence} ({allowance.share:.0%} of the highest ceiling, {highest:,})"
        raise BadInput(what, next=f"{fault.next}; `afresh instructions` shows what counts", safe=SAFE) from None
    try:
        build_each(Memory(state, (Look("instructions", "", text),)), style, highest, counter)
    except OverCeiling as fault:
        what = f"no window could hold that: {fault.evidence} under the highest ceiling, {highest:,} tokens"
        raise BadInput(what, next="use fewer words, or add the task with a larger --max-budget", safe=SAFE) from None


def _known(model: str, named: Mapping[str, Named]) -> tuple[int, int]:
    """A name that is no longer in the user's settings is told to whoever resumes the task, not to whoever answers it."""
    try:
        return (known_window(model, named), known_framing(model, named)) if model else (WINDOW, FRAMING)
    except BadInput:
        return WINDOW, FRAMING
