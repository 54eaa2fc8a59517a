"""What happens to knowledge in the course of a task: looked up, drawn on, put into words, left behind."""

from dataclasses import dataclass

from afresh.domain.action import Reply


@dataclass(frozen=True, slots=True)
class LessonsLookedUp:
    """What earlier tasks have learnt was looked up for a phase; these fit, and stand in the windows from now on."""

    step: int
    phase: str
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LessonsUsed:
    """A reply drew on knowledge in its window: it names the object, or something that stands nowhere else."""

    step: int
    ids: tuple[str, ...]
    signs: tuple[str, ...]
    """For each what gave it away."""


@dataclass(frozen=True, slots=True)
class LessonWorded:
    """A model was asked to put what was learnt into words: paid for, whether they are used or not."""

    reply: Reply | None
    note: str = ""
    """Why there is no reply."""


@dataclass(frozen=True, slots=True)
class LessonLearnt:
    """The task is over, and what there is to keep of it is kept: as this object, or not, and why."""

    id: str
    why: str = ""
