"""Whether the work moves: what the last steps left behind, what was spent since it last did, and what was noticed. Bounded."""

from dataclasses import dataclass, replace
from enum import StrEnum

from afresh.domain.bill import NOTHING_DUE, Bill

MARKS = 24
NAMED = 8
TOOLS = 12
BESTS = 16
"""Steps that are looked back on; what one of them leaves behind of each kind; tools and checks that are counted."""


class Rung(StrEnum):
    NONE = ""
    WARN = "warned"
    TURN = "turned"
    STOP = "stopped"

    @property
    def height(self) -> int:
        return list(Rung).index(self)


@dataclass(frozen=True, slots=True)
class Act:
    """An action in the tree that it was done in (`key`), and what came of it."""

    key: str
    result: str
    """Empty when the harness refused to do it again."""
    told: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A file before and after a step, by its content."""

    path: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Ending:
    """How a command or a check ended; `sign` is empty when it succeeded."""

    source: str
    sign: str
    told: str = ""


@dataclass(frozen=True, slots=True)
class Glance:
    """Lines that were read; of an archived output its name and no lines."""

    path: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Best:
    """The best that a check has come to."""

    source: str
    failed: int
    passed: int


@dataclass(frozen=True, slots=True)
class Gain:
    """What is verified so far, and why a step counts as progress over that."""

    why: str = ""
    measure: int = -1
    """The lowest that the task type's measure has been; -1 before it was known."""
    mended: tuple[str, ...] = ()
    """Tests that failed before the task and passed since."""
    bests: tuple[Best, ...] = ()
    done: int = 0
    """Items of the plan that are done."""
    paths: int = 0
    """Files that differ from the base."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a step leaves behind."""

    step: int
    acts: tuple[Act, ...] = ()
    edits: tuple[Edit, ...] = ()
    endings: tuple[Ending, ...] = ()
    glances: tuple[Glance, ...] = ()
    worked: bool = True
    tools: tuple[str, ...] = ()
    tokens: int = 0
    """Of its call, and of the parts that it has handed out."""
    money: int | None = None
    """Nano-dollars for them; None where the price is not known."""


@dataclass(frozen=True, slots=True)
class Marked:
    """Recorded with every step; `gain` only when it was one."""

    mark: Mark
    gain: Gain | None = None


@dataclass(frozen=True, slots=True)
class Noticed:
    """A sign of getting nowhere has reached a rung of the ladder; or has gone, when the rung is none."""

    step: int
    sign: str
    rung: Rung
    evidence: str = ""
    keys: tuple[str, ...] = ()
    """Actions that are refused from now on, as long as the tree stays as it is."""


@dataclass(frozen=True, slots=True)
class Course:
    marks: tuple[Mark, ...] = ()
    since: int = 0
    """The last step that was progress, or after which a person has spoken."""
    tokens: int = 0
    """Spent since then."""
    bill: Bill = NOTHING_DUE
    """What they have cost."""
    tools: tuple[tuple[str, int], ...] = ()
    """What was done since then, and how often."""
    gain: Gain = Gain()
    alarms: tuple[Noticed, ...] = ()

    def alarm(self, sign: str) -> Noticed | None:
        return next((one for one in self.alarms if one.sign == sign), None)


ON_COURSE = Course()


def marked(course: Course, event: Marked) -> Course:
    """Progress clears all alarms: whatever was noticed, the work has moved."""
    mark = event.mark
    marks = (*course.marks, mark)[-MARKS:]
    if event.gain and event.gain.why:
        return replace(course, marks=marks, since=mark.step, tokens=0, bill=NOTHING_DUE, tools=(), gain=event.gain, alarms=())
    tools = dict(course.tools)
    for tool in mark.tools:
        tools[tool] = tools.get(tool, 0) + 1
    most = tuple(sorted(tools.items(), key=lambda one: (-one[1], one[0]))[:TOOLS])
    spent = paid(course, mark.money, mark.tokens)
    return replace(spent, marks=marks, tools=most, gain=event.gain or course.gain)


def paid(course: Course, cost: int | None, tokens: int) -> Course:
    return replace(course, tokens=course.tokens + tokens, bill=course.bill.plus(cost, tokens))


def noticed(course: Course, event: Noticed) -> Course:
    others = tuple([one for one in course.alarms if one.sign != event.sign])
    return replace(course, alarms=(*others, event) if event.rung is not Rung.NONE else others)


def anew(course: Course, step: int) -> Course:
    """A person has spoken: what went before is no longer held against it."""
    return Course(since=step, gain=course.gain)
