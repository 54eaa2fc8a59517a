"""Look up what earlier tasks have learnt, before the first step and when the phase changes, and tell if a reply drew on it."""

from collections.abc import Iterator, Sequence

from afresh.domain.action import Reply
from afresh.domain.event import LessonsLookedUp, Event, LessonsUsed
from afresh.domain.fact import Item
from afresh.domain.knowledge import PATTERN_ID_PREFIX
from afresh.domain.memory import GatheredContext
from afresh.domain.state import State
from afresh.domain.text import to_one_line
from afresh.domain.trace import find_names
from afresh.domain.window import Prompt
from afresh.engine.agent import Runtime
from afresh.engine.tokens import TokenCounter
from afresh.engine.why import compile_name_pattern

MAX_LESSONS = 3
LESSONS_CEILING_SHARE = 0.08
FIRST_LESSON_SHARE = 0.6
"""Objects at once; the part of the ceiling that they may take; and the part of that for the first, when there are others."""
MIN_LESSON_TOKENS = 30
"""Tokens below which a part of one says too little."""
MAX_LESSON_LINE_CHARACTERS = 240
MAX_QUERY_FAILURES = 3
MIN_COMMAND_CHARACTERS = 8
LESSONS_SECTION = "knowledge"


def gather_lessons(state: State, agent: Runtime) -> Sequence[Item]:
    """What the window may show of it: looked up anew when the phase is new, otherwise the same objects as they are now."""
    library = agent.library
    if library is None:
        return ()
    if state.knowledge.phase == state.phase:
        found = library.named(state.knowledge.window)
    else:
        kept = library.named([id for id in state.knowledge.window if id in state.knowledge.used])
        fits = library.find(build_lesson_queries(state), MAX_LESSONS)
        shown = {look.subject for look in kept}
        found = keep_one_foreign_lesson([*kept, *[look for look in fits if look.subject not in shown]])[:MAX_LESSONS]
    return fit_lessons(found, int(state.budget * LESSONS_CEILING_SHARE), agent.counter)


def keep_one_foreign_lesson(looks: Sequence[Item]) -> list[Item]:
    """Of those from other projects only the first."""
    foreign = [look for look in looks if look.subject.startswith(PATTERN_ID_PREFIX)][1:]
    return [look for look in looks if look not in foreign]


def record_consultation(state: State, memory: GatheredContext, agent: Runtime) -> list[Event]:
    """Also that nothing fitted is recorded, so that it is not looked up again in every step."""
    if agent.library is None or state.knowledge.phase == state.phase or not agent.library.stocked():
        return []
    return [LessonsLookedUp(state.step + 1, state.phase, tuple(look.subject for look in memory.of(LESSONS_SECTION)))]


def build_lesson_queries(state: State) -> tuple[str, str]:
    """The goal and what the user said since; and with it what fails now and what has been changed."""
    runs = state.verdict.runs if state.verdict else state.baseline.runs if state.baseline else ()
    failing = [f"{one.test} {to_one_line(one.message, 200)}" for run in runs for one in run.failures][:MAX_QUERY_FAILURES]
    goal = "\n".join([state.task.goal, *state.words[-2:]])
    return goal, "\n".join([goal, *failing, *state.changed[:MAX_QUERY_FAILURES]])


def fit_lessons(looks: Sequence[Item], room: int, counter: TokenCounter) -> list[Item]:
    """As many as there is room for, each as far as there is room: whole lines from its beginning."""
    shown: list[Item] = []
    for number, look in enumerate(looks):
        most = int(room * FIRST_LESSON_SHARE) if number == 0 and len(looks) > 1 else room
        text = _truncate_lesson(look, most, counter)
        if text:
            shown.append(Item(look.kind, look.subject, text))
            room -= counter(text)
    return shown


def _truncate_lesson(look: Item, room: int, counter: TokenCounter) -> str:
    lines = [
        to_one_line(line, MAX_LESSON_LINE_CHARACTERS) if len(line) > MAX_LESSON_LINE_CHARACTERS else line
        for line in look.text.splitlines()
        if line.strip()
    ]
    for count in range(len(lines), 0, -1):
        rest = "" if count == len(lines) else f"\n…{f' `read` {look.subject}' if '/' in look.subject else ''}"
        text = "\n".join(lines[:count]) + rest
        if (tokens := counter(text)) <= room:
            return text if count == len(lines) or tokens >= MIN_LESSON_TOKENS else ""
    return ""


def detect_used_lessons(step: int, memory: GatheredContext, window: Prompt, reply: Reply) -> list[Event]:
    """Which objects of the window the reply has drawn on; only what acts counts."""
    shown = next((section.text for section in window.sections if section.name == LESSONS_SECTION), "")
    if not shown or not reply.actions:
        return []
    said = "\n".join([reply.thought, *[str(value) for action in reply.actions for value in action.args.values()]])
    rest = "\n".join(section.text for section in window.sections if section.name != LESSONS_SECTION)
    found = {
        look.subject: sign
        for look in memory.of(LESSONS_SECTION)
        if look.text in shown and (sign := _find_lesson_sign(look, said, rest, memory))
    }
    return [LessonsUsed(step, tuple(found), tuple(found.values()))] if found else []


def _find_lesson_sign(look: Item, said: str, rest: str, memory: GatheredContext) -> str:
    """The first thing in a reply that can only come from this object: its id, or a name or command that it alone holds."""
    if compile_name_pattern(look.subject).search(said):
        return look.subject
    known = memory.trace.names
    own = (sign for sign in _list_lesson_signs(look.text) if sign not in rest and sign not in known)
    return next((sign for sign in own if compile_name_pattern(sign).search(said)), "")


def _list_lesson_signs(text: str) -> Iterator[str]:
    """Paths, identifiers, and what stands between backticks."""
    yield from find_names(text)
    for quoted in text.split("`")[1::2]:
        if len(quoted) >= MIN_COMMAND_CHARACTERS and "\n" not in quoted:
            yield quoted
