"""Look up what earlier tasks have learnt, before the first step and when the phase changes, and tell if a reply drew on it."""

from collections.abc import Iterator, Sequence

from afresh.domain.action import Reply
from afresh.domain.event import Consulted, Event, Referred
from afresh.domain.fact import Look
from afresh.domain.knowledge import PATTERN
from afresh.domain.memory import Memory
from afresh.domain.state import State
from afresh.domain.text import one_line
from afresh.domain.trace import names
from afresh.domain.window import Window
from afresh.engine.agent import Agent
from afresh.engine.tokens import Gauge
from afresh.engine.why import pattern

MOST = 3
OF_CEILING = 0.08
FIRST = 0.6
"""Objects at once; the part of the ceiling that they may take; and the part of that for the first, when there are others."""
SMALLEST = 30
"""Tokens below which a part of one says too little."""
LONGEST_LINE = 240
FAILURES = 3
SHORTEST_COMMAND = 8
SECTION = "knowledge"


def consult(state: State, agent: Agent) -> Sequence[Look]:
    """What the window may show of it: looked up anew when the phase is new, otherwise the same objects as they are now."""
    library = agent.library
    if library is None:
        return ()
    if state.knowledge.phase == state.phase:
        found = library.named(state.knowledge.window)
    else:
        kept = library.named([id for id in state.knowledge.window if id in state.knowledge.used])
        fits = library.find(questions(state), MOST)
        shown = {look.subject for look in kept}
        found = one_pattern([*kept, *[look for look in fits if look.subject not in shown]])[:MOST]
    return within(found, int(state.budget * OF_CEILING), agent.counter)


def one_pattern(looks: Sequence[Look]) -> list[Look]:
    """Of those from other projects only the first."""
    foreign = [look for look in looks if look.subject.startswith(PATTERN)][1:]
    return [look for look in looks if look not in foreign]


def consulted(state: State, memory: Memory, agent: Agent) -> list[Event]:
    """Also that nothing fitted is recorded, so that it is not looked up again in every step."""
    if agent.library is None or state.knowledge.phase == state.phase or not agent.library.stocked():
        return []
    return [Consulted(state.step + 1, state.phase, tuple(look.subject for look in memory.of(SECTION)))]


def questions(state: State) -> tuple[str, str]:
    """The goal and what the user said since; and with it what fails now and what has been changed."""
    runs = state.verdict.runs if state.verdict else state.baseline.runs if state.baseline else ()
    failing = [f"{one.test} {one_line(one.message, 200)}" for run in runs for one in run.failures][:FAILURES]
    goal = "\n".join([state.task.goal, *state.words[-2:]])
    return goal, "\n".join([goal, *failing, *state.changed[:FAILURES]])


def within(looks: Sequence[Look], room: int, counter: Gauge) -> list[Look]:
    """As many as there is room for, each as far as there is room: whole lines from its beginning."""
    shown: list[Look] = []
    for number, look in enumerate(looks):
        most = int(room * FIRST) if number == 0 and len(looks) > 1 else room
        text = shortened(look, most, counter)
        if text:
            shown.append(Look(look.kind, look.subject, text))
            room -= counter(text)
    return shown


def shortened(look: Look, room: int, counter: Gauge) -> str:
    lines = [
        one_line(line, LONGEST_LINE) if len(line) > LONGEST_LINE else line for line in look.text.splitlines() if line.strip()
    ]
    for count in range(len(lines), 0, -1):
        rest = "" if count == len(lines) else f"\n…{f' `read` {look.subject}' if '/' in look.subject else ''}"
        text = "\n".join(lines[:count]) + rest
        if (tokens := counter(text)) <= room:
            return text if count == len(lines) or tokens >= SMALLEST else ""
    return ""


def referred(step: int, memory: Memory, window: Window, reply: Reply) -> list[Event]:
    """Which objects of the window the reply has drawn on; only what acts counts."""
    shown = next((section.text for section in window.sections if section.name == SECTION), "")
    if not shown or not reply.actions:
        return []
    said = "\n".join([reply.thought, *[str(value) for action in reply.actions for value in action.args.values()]])
    rest = "\n".join(section.text for section in window.sections if section.name != SECTION)
    found = {
        look.subject: sign for look in memory.of(SECTION) if look.text in shown and (sign := drawn(look, said, rest, memory))
    }
    return [Referred(step, tuple(found), tuple(found.values()))] if found else []


def drawn(look: Look, said: str, rest: str, memory: Memory) -> str:
    """The first thing in a reply that can only come from this object: its id, or a name or command that it alone holds."""
    if pattern(look.subject).search(said):
        return look.subject
    known = memory.trace.names
    own = (sign for sign in signs(look.text) if sign not in rest and sign not in known)
    return next((sign for sign in own if pattern(sign).search(said)), "")


def signs(text: str) -> Iterator[str]:
    """Paths, identifiers, and what stands between backticks."""
    yield from names(text)
    for quoted in text.split("`")[1::2]:
        if len(quoted) >= SHORTEST_COMMAND and "\n" not in quoted:
            yield quoted
