"""How a window tells what the user has said since the goal: word for word, each answer beside its question."""

from afresh.domain.said import UserStatement, list_user_statements
from afresh.domain.state import State
from afresh.domain.text import to_one_line

NEWEST_MESSAGE_HEADING = "### The user said last (the newest instruction, it goes before the goal above)"
MAX_EARLIER_QUESTION_CHARACTERS = 240
"""Characters of an earlier question with its options; of the latest they stand in full. Answers are never cut."""


def render_user_messages(state: State) -> list[str]:
    told = list_user_statements(state)
    return [
        *map(_render_earlier_message, told[:-1]),
        *[f"{NEWEST_MESSAGE_HEADING}\n{_render_latest_message(word)}" for word in told[-1:] if word.text],
    ]


def _render_earlier_message(word: UserStatement) -> str:
    asked = f"Asked: {to_one_line(word.asked, MAX_EARLIER_QUESTION_CHARACTERS)} " if word.question else ""
    return f"- {asked}The user said: {word.text}"


def _render_latest_message(word: UserStatement) -> str:
    return f"Asked: {word.asked}\nAnswer: {word.text}" if word.question else word.text
