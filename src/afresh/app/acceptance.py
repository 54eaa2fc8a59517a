"""What may not enter the queue: a task that nobody could ever work on would stand in the way of those behind it."""

from dataclasses import replace

from afresh.adapters.models import known_window
from afresh.adapters.templates import Shelf, template
from afresh.adapters.tools import TOOLS
from afresh.domain.memory import Memory
from afresh.domain.state import State
from afresh.domain.task import Task
from afresh.domain.template import Template
from afresh.domain.window import Window
from afresh.engine.build import build, offered
from afresh.engine.tokens import Counter
from afresh.errors import BadInput, OverCeiling

SAFE = "nothing was added"


def build_each(memory: Memory, style: Template) -> list[Window]:
    """A window of each phase; OverCeiling from the first that does not fit."""
    alone = [replace(style, phases=(phase,)) for phase in style.phases] or [style]
    return [build(memory, one, offered(one.at(""), TOOLS), memory.state.task.budget, Counter()) for one in alone]


def refuse_unworkable(task: Task, shelf: Shelf) -> None:
    refuse_unstorable(task.goal, task.model, *(check.command for check in task.checks))
    if any(not check.command.strip() for check in task.checks):
        raise BadInput("a check is empty, so it would verify nothing", next="give a command that must exit 0", safe=SAFE)
    if task.model:
        refuse_large(task.budget, known_window(task.model))
    refuse_overfull(State(task=task), shelf)


def refuse_unstorable(*texts: str) -> None:
    """Bytes that are no text come in from a command line as halves of pairs; no file can hold them."""
    for text in texts:
        if not text.isprintable() and any("\ud800" <= sign <= "\udfff" for sign in text):
            said = text.encode(errors="backslashreplace").decode()[:100]
            raise BadInput(f"{said!r} is not UTF-8", next="write it in UTF-8", safe=SAFE)


def refuse_large(budget: int, window: int) -> None:
    """A fifth of the model's window, never more."""
    if budget > window // 5:
        raise BadInput(
            f"a ceiling of {budget:,} tokens is over 20 % of this model's window of {window:,}",
            next=f"--budget {window // 5}",
            safe="nothing was sent",
        )


def refuse_overfull(state: State, shelf: Shelf) -> None:
    """By trying: a window of every phase holds the tools, the criteria and all that the user said, or there is none."""
    try:
        build_each(Memory(state, ()), template(state.task.type, shelf))
    except OverCeiling as fault:
        raise BadInput(str(fault), next="use fewer words, or a larger --budget when adding the task", safe=SAFE) from None
