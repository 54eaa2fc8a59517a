"""A model may word what worked better than rules do: what it is asked, and when its words will do."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.core.lesson import LESSON_HEADINGS, Lesson, LessonWorded, get_heading_text, replace_heading_text
from afresh.core.prompt import Request
from afresh.core.text import escape_hidden
from afresh.core.tokens import estimate_tokens
from afresh.core.truncate import to_one_line
from afresh.errors import NeedsPerson, TryAgain
from afresh.memory.history.names import find_names
from afresh.models.call import SideCall, make_side_call

WORKED_PART = LESSON_HEADINGS[1]
MAX_REQUIRED_NAMES = 12
MAX_REWORDED_TOKENS = 320
"""Names that the text must hold, and tokens that it may have."""


def ask_for_rewording(lesson: Lesson, ask: SideCall) -> LessonWorded:
    """The model's answer, to be recorded before anything is done with it. A fault of the provider leaves the rules' own words."""
    request = build_rewording_request(lesson, ask)
    if request is None:
        return LessonWorded(None, "the template has no room for the text")
    try:
        return LessonWorded(make_side_call(request, ask))
    except (TryAgain, NeedsPerson) as fault:
        return LessonWorded(None, to_one_line(str(fault), 200))


def build_rewording_request(lesson: Lesson, ask: SideCall) -> Request | None:
    layout = ask.template.at("")
    reserve = int(ask.template.ceiling * layout.reserve)
    parts = [("Identifiers that the text must contain", " ".join(list_required_names(lesson)) or "none")]
    parts += [(title, get_heading_text(lesson.body, title)) for title in LESSON_HEADINGS[:3]]
    request = Request(layout.system, "\n\n".join(f"## {title}\n{text}" for title, text in parts), (), reserve)
    return request if ask.counter.whole(request) + reserve <= ask.template.ceiling else None


def list_required_names(lesson: Lesson) -> Sequence[str]:
    return find_names(get_heading_text(lesson.body, WORKED_PART))[:MAX_REQUIRED_NAMES]


def apply_rewording(lesson: Lesson, worded: LessonWorded | None) -> Lesson:
    """The lesson in the model's words, if they pass the checks; else as the rules wrote it."""
    prose = escape_hidden(worded.reply.thought).strip() if worded and worded.reply else ""
    lines = [line for line in prose.splitlines() if line.strip()]
    whole = all(name in prose for name in list_required_names(lesson)) and not any(
        line.startswith(("#", "---")) for line in lines
    )
    fits = prose and whole and estimate_tokens(prose) <= MAX_REWORDED_TOKENS
    return replace(lesson, body=replace_heading_text(lesson.body, WORKED_PART, "\n".join(lines))) if fits else lesson
