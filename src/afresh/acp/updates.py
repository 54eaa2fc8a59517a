"""Session updates of the protocol, made from typed values of a task."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from acp import helpers
from acp.schema import AvailableCommand, AvailableCommandInput, ToolCallLocation, ToolKind, UnstructuredCommandInput

from afresh.app.dialogue.chat_commands import CHAT_COMMANDS
from afresh.core.action import Action, Observation, describe_action
from afresh.core.event import (
    ActionsExecuted,
    JournalEntry,
    PlanSet,
    QuestionAnswered,
    QuestionAsked,
    ReplyReceived,
    TaskCreated,
)
from afresh.core.reply import Reply, answer_from_words
from afresh.core.states.strategy_state import PlanItem, find_focus_item
from afresh.core.states.supervision_state import PersonSpoke
from afresh.core.tool_traits import ToolTrait, has_trait

KINDS_BY_TRAIT: tuple[tuple[ToolTrait, ToolKind], ...] = (
    (ToolTrait.SEARCHES, "search"),
    (ToolTrait.READS, "read"),
    (ToolTrait.WRITES, "edit"),
    (ToolTrait.RUNS, "execute"),
    (ToolTrait.NOTES, "think"),
)
"""The first that fits."""
SHOWN_OTHERWISE = (ToolTrait.PLANS, ToolTrait.ASKS, ToolTrait.COMPLETES)
"""Tools that the editor sees as a plan, a request for permission or the final message."""
CONTINUE_COMMAND = "continue"
MAX_OUTPUT_CHARACTERS = 20_000


def is_shown_as_call(action: Action) -> bool:
    return not has_trait(action, *SHOWN_OTHERWISE)


def choose_call_kind(action: Action) -> ToolKind:
    for trait, kind in KINDS_BY_TRAIT:
        if has_trait(action, trait):
            return kind
    return "other"


def start_call_update(call: str, action: Action, root: Path, status: Any = "in_progress") -> Any:
    path = action.args.get("path")
    places = [ToolCallLocation(path=str(root / path))] if isinstance(path, str) and (root / path).is_file() else []
    return helpers.start_tool_call(call, describe_action(action), kind=choose_call_kind(action), status=status, locations=places)


def make_text_content(text: str) -> Any:
    return helpers.tool_content(helpers.text_block(text))


def make_output_content(observation: Observation, whole: str) -> list[Any]:
    """What a command printed, as it would stand in a terminal; of other actions what the model is shown."""
    text = whole if has_trait(observation.action, ToolTrait.RUNS) else observation.text
    return [make_text_content(quote_block(text[:MAX_OUTPUT_CHARACTERS]))] if text.strip() else []


def quote_block(text: str, language: str = "") -> str:
    """Return text as a fenced block that nothing in it can end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def make_plan_update(items: Sequence[PlanItem]) -> Any:
    focus = find_focus_item(items)
    statuses = ["completed" if item.done else "in_progress" if place == focus else "pending" for place, item in enumerate(items)]
    return helpers.update_plan(
        helpers.plan_entry(item.text, status=status)  # pyright: ignore[reportArgumentType]
        for item, status in zip(items, statuses, strict=True)
    )


def make_commands_update() -> Any:
    offered = CHAT_COMMANDS | {CONTINUE_COMMAND: ("", "continue a turn that was stopped")}
    return helpers.update_available_commands(
        AvailableCommand(
            name=name,
            description=meaning,
            input=AvailableCommandInput(root=UnstructuredCommandInput(hint=hint)) if hint else None,
        )
        for name, (hint, meaning) in offered.items()
    )


def list_history_updates(entries: Iterable[JournalEntry], root: Path) -> Iterator[Any]:
    """Return what was said and done in a task, for an editor that opens its session again."""
    for entry in entries:
        match entry.event:
            case TaskCreated(task):
                yield helpers.update_user_message_text(task.goal)
            case PersonSpoke(text) | QuestionAnswered(text):
                yield helpers.update_user_message_text(text)
            case QuestionAsked(question):
                yield helpers.update_agent_message_text(question)
            case PlanSet(items):
                yield make_plan_update(items)
            case ReplyReceived(_, reply):
                yield from _list_reply_updates(reply)
            case ActionsExecuted(_, observations):
                yield from _list_call_updates(observations, f"{entry.task}-{entry.seq}", root)
            case _:
                pass


def _list_reply_updates(reply: Reply) -> Iterator[Any]:
    if answer := answer_from_words(reply, turn=1):
        yield helpers.update_agent_message_text(answer)
    elif reply.thought:
        yield helpers.update_agent_thought_text(reply.thought)
    for action in reply.actions:
        if has_trait(action, ToolTrait.COMPLETES):
            yield helpers.update_agent_message_text(str(action.args.get("summary", "")))


def _list_call_updates(observations: Sequence[Observation], name: str, root: Path) -> Iterator[Any]:
    for place, seen in enumerate(observations):
        if is_shown_as_call(seen.action):
            yield start_call_update(f"{name}-{place}", seen.action, root, "completed" if seen.ok else "failed")
