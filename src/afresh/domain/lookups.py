"""Which knowledge a task has looked up, and what came of it."""

from dataclasses import dataclass, replace

from afresh.domain.lessons import LessonsLookedUp, LessonLearnt, LessonsUsed

MAX_LESSONS_REMEMBERED = 40
"""Objects that are remembered of one task."""


@dataclass(frozen=True, slots=True)
class LessonSeen:
    id: str
    step: int
    """In whose window it stood first."""
    used: int = 0
    """The first step that drew on it; 0 for none."""


@dataclass(frozen=True, slots=True)
class LessonState:
    phase: str = ""
    """For which it was looked up last."""
    window: tuple[str, ...] = ()
    """What stands in the windows now."""
    seen: tuple[LessonSeen, ...] = ()
    learnt: bool = False
    """The task is over, and what it leaves behind is drafted and counted."""
    left: str = ""
    """The object that it leaves behind, if there is one."""

    @property
    def used(self) -> tuple[str, ...]:
        return tuple(one.id for one in self.seen if one.used)


INITIAL_LESSON_STATE = LessonState()
LessonEvent = LessonsLookedUp | LessonsUsed | LessonLearnt


def apply_lesson_event(event: LessonEvent, known: LessonState) -> LessonState:
    match event:
        case LessonsLookedUp(step, phase, ids):
            new = [LessonSeen(id, step) for id in ids if id not in {one.id for one in known.seen}]
            kept = sorted((*known.seen, *new), key=lambda one: (not one.used, one.id not in ids))[:MAX_LESSONS_REMEMBERED]
            return replace(known, phase=phase, window=ids, seen=tuple(sorted(kept, key=lambda one: (one.step, one.id))))
        case LessonsUsed(step, ids):
            seen = [replace(one, used=step) if one.id in ids and not one.used else one for one in known.seen]
            return replace(known, seen=tuple(seen))
        case LessonLearnt(id):
            return replace(known, learnt=True, left=id)
