from collections.abc import Iterator, Sequence

from afresh.context.section import SectionDraft, SectionPiece
from afresh.core.context_item import Note
from afresh.core.event import Event
from afresh.core.lesson import LessonsLookedUp, LessonsUsed
from afresh.core.prompt import Prompt, Tier
from afresh.core.reply import MODELS_THAT_DO_NOT_READ, Reply
from afresh.core.state import State
from afresh.core.text import compile_name_pattern
from afresh.memory.gathered_context import GatheredContext
from afresh.memory.history.names import find_names
from afresh.memory.lessons.lookup import build_lesson_queries, fit_lessons, keep_one_foreign_lesson
from afresh.ports.knowledge import LessonLibrary
from afresh.runtime import Runtime

MAX_LESSONS = 3
LESSONS_SHARE = 0.08  # of the limit of a call


def draft_lessons(memory: GatheredContext) -> SectionDraft:
    pieces = [SectionPiece(look.text, f"knowledge {look.subject}", rank) for rank, look in enumerate(memory.notes("knowledge"))]
    return SectionDraft(
        "knowledge", "Lessons from earlier tasks (may be outdated; if you use one, name its id)", Tier.PHASE, tuple(pieces)
    )


MIN_COMMAND_CHARACTERS = 8
LESSONS_SECTION = "knowledge"


def gather_lessons(state: State, runtime: Runtime) -> Sequence[Note]:
    """Lessons as far as they fit: looked up anew when the phase is new, otherwise the same ones as they are now."""
    library = runtime.knowledge.lessons
    if library is None:
        return ()
    if state.memory.lessons.phase == state.phase:
        found = library.named(state.memory.lessons.window)
    else:
        kept = library.named([id for id in state.memory.lessons.window if id in state.memory.lessons.used])
        fits = library.find(build_lesson_queries(state), MAX_LESSONS)
        known = {look.subject for look in kept}
        found = keep_one_foreign_lesson([*kept, *[look for look in fits if look.subject not in known]])[:MAX_LESSONS]
    return fit_lessons(found, int(state.task.budget * LESSONS_SHARE), runtime.settings.counter)


def record_consultation(state: State, memory: GatheredContext, library: LessonLibrary | None) -> list[Event]:
    """Also that nothing fitted is recorded, so that it is not looked up again in every step."""
    if library is None or state.memory.lessons.phase == state.phase or not library.stocked():
        return []
    return [LessonsLookedUp(state.work.step + 1, state.phase, tuple(look.subject for look in memory.notes(LESSONS_SECTION)))]


def detect_used_lessons(step: int, memory: GatheredContext, window: Prompt, reply: Reply) -> list[Event]:
    """Which objects of the window the reply has drawn on; only what acts counts, and only of who can read."""
    shown = next((section.text for section in window.sections if section.name == LESSONS_SECTION), "")
    if not shown or not reply.actions or reply.model in MODELS_THAT_DO_NOT_READ:
        return []
    said = "\n".join([reply.thought, *[str(value) for action in reply.actions for value in action.args.values()]])
    rest = "\n".join(section.text for section in window.sections if section.name != LESSONS_SECTION)
    found = {
        look.subject: sign
        for look in memory.notes(LESSONS_SECTION)
        if look.text in shown and (sign := _find_lesson_sign(look, said, rest, memory))
    }
    return [LessonsUsed(step, tuple(found), tuple(found.values()))] if found else []


def _find_lesson_sign(look: Note, said: str, rest: str, memory: GatheredContext) -> str:
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
