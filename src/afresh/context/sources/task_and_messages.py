"""How a window tells what the user has said since the goal: word for word, each answer beside its question."""

from afresh.context.section import SectionDraft, draft_always_section
from afresh.context.sources.verification_status import render_finish_criteria
from afresh.core.answer_options import UserStatement, list_user_statements
from afresh.core.context_policy import MemoryPolicy
from afresh.core.state import State
from afresh.core.truncate import join_first, to_one_line
from afresh.memory.gathered_context import GatheredContext

NEWEST_MESSAGE_HEADING = "### Latest message from the user (takes precedence over the goal above)"


def render_user_messages(state: State, policy: MemoryPolicy) -> list[str]:
    """Earlier questions are cut, the latest is not; answers never are."""
    told = list_user_statements(state)
    return [
        *[_render_earlier_message(word, policy) for word in told[:-1]],
        *[f"{NEWEST_MESSAGE_HEADING}\n{_render_latest_message(word)}" for word in told[-1:] if word.text],
    ]


def _render_earlier_message(word: UserStatement, policy: MemoryPolicy) -> str:
    asked = f"Asked: {to_one_line(word.asked, policy.max_earlier_question_characters)} " if word.question else ""
    return f"- {asked}The user said: {word.text}"


def _render_latest_message(word: UserStatement) -> str:
    return f"Asked: {word.asked}\nAnswer: {word.text}" if word.question else word.text


MAX_LICENCE_SUBJECTS = 6
USER_RULES_HEADING = "User rules:"
SUBTASK_NOTE = (
    "This is one part of a larger task; others do the rest. Change only what this part needs, and complete when it is done."
)


def draft_task(memory: GatheredContext) -> SectionDraft:
    order = memory.state.task
    rules = [f"- {look.text}" for look in memory.notes("rule")]
    told = [
        *([SUBTASK_NOTE] if order.parent else []),
        *([USER_RULES_HEADING] if rules else []),
        *rules,
        *render_user_messages(memory.state, memory.policy.memory),
    ]
    lines = [order.goal, *told, *render_finish_criteria(order), *render_licence(memory.state)]
    return draft_always_section("task", f"Task ({order.type})", lines)


def render_licence(state: State) -> list[str]:
    """Which existing tests may change, where some may."""
    subjects = dict.fromkeys(entry.subject for entry in state.verification.licence)
    return [f"Existing tests you may change: {join_first([*subjects], MAX_LICENCE_SUBJECTS)}"] if subjects else []
