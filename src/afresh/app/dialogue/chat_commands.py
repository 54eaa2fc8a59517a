"""Commands of a conversation, at the terminal and in an editor: /undo, /cost, /model, /apply."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from afresh.app.dialogue.conversation import Conversation, refuse_unknown_model
from afresh.app.project import Project
from afresh.app.results.auto_merge import apply_checked
from afresh.app.results.task_result import undo_task_steps
from afresh.app.spending.read_spending import describe_cost
from afresh.app.spending.spending_report import sum_task_spending
from afresh.core.text import format_count

CHAT_COMMANDS = {
    "undo": ("[N] [WHY]", "take back the last change, or the last N steps"),
    "diff": ("", "show what was changed so far"),
    "cost": ("", "show what the conversation has cost"),
    "model": ("NAME", "use another model from the next turn on"),
    "apply": ("", "merge the result (--unverified: even without a PASS)"),
}
"""By name: what may follow, and what it does. Whoever shows the conversation does /diff."""


def run_chat_command(project: Project, now: Conversation, name: str, words: str, own: Sequence[str]) -> tuple[Conversation, str]:
    """Do what a command asks; return where the conversation is now, and what to say. `own`: commands that the caller does."""
    does: dict[str, Callable[[Project, Conversation, str], tuple[Conversation, str]]] = {
        "undo": undo_from_words,
        "diff": show_nothing_yet,
        "cost": describe_conversation_cost,
        "model": choose_conversation_model,
        "apply": apply_conversation,
    }
    if name not in does:
        return now, f"no such command: /{name}; commands: {', '.join(f'/{one}' for one in (*CHAT_COMMANDS, *own))}"
    return does[name if now.task or name == "model" else "diff"](project, now, words)


def show_nothing_yet(project: Project, now: Conversation, words: str) -> tuple[Conversation, str]:
    return now, "Nothing was done yet."


def apply_conversation(project: Project, now: Conversation, words: str) -> tuple[Conversation, str]:
    _, said = apply_checked(project, now.task, unverified=words == "--unverified")
    return replace(now, task="", applied=now.task), f"{said} The next message goes on from here."


def undo_from_words(project: Project, now: Conversation, words: str) -> tuple[Conversation, str]:
    count, _, why = words.partition(" ")
    steps, why = (int(count), why) if count.isdecimal() else (0, words)
    state = undo_task_steps(project, now.task, steps, why.strip())
    return now, f"Undone. Files still changed: {', '.join(state.workspace.changed) or 'none'}."


def describe_conversation_cost(project: Project, now: Conversation, words: str) -> tuple[Conversation, str]:
    spending = project.store.load(now.task).spending
    money = describe_cost(sum_task_spending(project, now.task)) or "no money"
    return (
        now,
        f"{money}: {format_count(spending.calls, 'call')}, {spending.usage.input:,} tokens in, {spending.usage.output:,} out",
    )


def choose_conversation_model(project: Project, now: Conversation, name: str) -> tuple[Conversation, str]:
    if not name:
        used = now.model or (project.store.load(now.task).task.model if now.task else "")
        return now, f"model: {used or 'as configured'}"
    refuse_unknown_model(project, name)
    return replace(now, model=name), f"{name} from the next turn on."
