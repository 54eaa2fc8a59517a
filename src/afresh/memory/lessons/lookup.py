"""Look up what earlier tasks have learnt, before the first step and when the phase changes, and tell if a reply drew on it."""

from collections.abc import Sequence

from afresh.core.context_item import Note
from afresh.core.lesson import PATTERN_ID_PREFIX
from afresh.core.state import State
from afresh.core.tokens import TokenCounter
from afresh.core.truncate import find_longest_fitting, to_one_line

FIRST_LESSON_SHARE = 0.6  # of the lessons' tokens, for the first if there are others
MIN_LESSON_TOKENS = 30  # a shorter part of a lesson says too little
MAX_LINE_CHARACTERS = 240

MAX_QUERY_FAILURES = 3


def keep_one_foreign_lesson(notes: Sequence[Note]) -> list[Note]:
    """The lessons, with only the first of those from other projects."""
    foreign = [look for look in notes if look.subject.startswith(PATTERN_ID_PREFIX)][1:]
    return [look for look in notes if look not in foreign]


def build_lesson_queries(state: State) -> tuple[str, str]:
    """The goal and what the user said since; and with it what fails now and what has been changed."""
    failing = [f"{failure.test} {to_one_line(failure.message, 200)}" for failure in state.failures][:MAX_QUERY_FAILURES]
    goal = "\n".join([state.task.goal, *state.dialogue.words[-2:]])
    return goal, "\n".join([goal, *failing, *state.workspace.changed[:MAX_QUERY_FAILURES]])


def fit_lessons(notes: Sequence[Note], room: int, counter: TokenCounter) -> list[Note]:
    """As many as there is room for, each as far as there is room: whole lines from its beginning."""
    shown: list[Note] = []
    for number, look in enumerate(notes):
        most = int(room * FIRST_LESSON_SHARE) if number == 0 and len(notes) > 1 else room
        text = _truncate_lesson(look, most, counter)
        if text:
            shown.append(Note(look.kind, look.subject, text))
            room -= counter(text)
    return shown


def _truncate_lesson(look: Note, room: int, counter: TokenCounter) -> str:
    lines = [
        to_one_line(line, MAX_LINE_CHARACTERS) if len(line) > MAX_LINE_CHARACTERS else line
        for line in look.text.splitlines()
        if line.strip()
    ]
    if counter(whole := "\n".join(lines)) <= room:
        return whole
    mark = f"\n…{f' `read` {look.subject}' if '/' in look.subject else ''}"
    part = find_longest_fitting(
        lambda count: "\n".join(lines[:count]) + mark, 1, len(lines) - 1, lambda text: counter(text) <= room
    )
    return part if part and counter(part) >= MIN_LESSON_TOKENS else ""
