"""A section while it is made: pieces that are shown or left out, and what it takes of the free tokens."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from afresh.core.context_item import Excerpt, MapEntry, ShownLine, StepLine, render_lines
from afresh.core.prompt import Omission, Section, Tier
from afresh.core.template import SectionShare
from afresh.core.tokens import TokenCounter

OFF_TOPIC_REASON = "concerns something else than what the work is about now; `search` finds it"


@dataclass(frozen=True, slots=True)
class SectionPiece:
    """The smallest thing that is shown or left out. A lower rank is taken first; the order on the page is that of the tuple."""

    text: str
    what: str
    rank: int = 0
    source: str = ""
    """The action that shows the rest when only a part fits."""
    stub: str = ""
    """What is shown in its place when it is left out."""
    group: str = ""
    """Heading that it shares with its neighbours."""
    once: str = ""
    """A sign that stands for all it says: where another section shows the sign, the piece is not needed."""
    spare: bool = False
    """Taken only of what all claims have left."""
    asked: bool = False
    """The last step has read or edited it."""
    first: tuple[int, ...] = ()
    """Its lines by place, those first that are given up last. Without it a part is its beginning and its end."""
    lines: tuple[ShownLine, ...] = field(default=(), compare=False)
    """The text line by line, where some of its lines have numbers."""
    item: Excerpt | MapEntry | StepLine | None = field(default=None, compare=False)
    """What the text was rendered from, where that is asked for later."""

    def with_lines(self, lines: Sequence[ShownLine]) -> "SectionPiece":
        return replace(self, text=render_lines(lines), lines=tuple(lines))

    def as_stub(self) -> "SectionPiece":
        return replace(self, text=self.stub, lines=(self.item.stub,) if self.group and isinstance(self.item, Excerpt) else ())


@dataclass(frozen=True, slots=True)
class SectionDraft:
    name: str
    title: str
    tier: Tier
    pieces: tuple[SectionPiece, ...]
    rest: str = ""
    """Added at the end when not everything is shown."""
    left: tuple[SectionPiece, ...] = ()
    """Not shown, at most counted in a line of the section."""
    why_left: str = OFF_TOPIC_REASON
    strict: bool = False
    """A piece waits until all that are ranked above it are shown, be it in part."""
    steps: frozenset[int] = frozenset()
    """Steps that its lines are about."""
    trimmed: bool = False
    """Pieces were taken out before the space was shared."""


def draft_always_section(name: str, title: str, lines: Sequence[str]) -> SectionDraft:
    text = "\n".join(line for line in lines if line)
    return SectionDraft(name, title, Tier.ALWAYS, (SectionPiece(text, name),) if text else ())


class AllocationTurn(Enum):
    """When a section takes its tokens."""

    WITH_OTHERS = auto()
    BESIDE_OTHERS = auto()
    """With the others, but it shows only what they don't show so far."""
    AFTER_OTHERS = auto()
    """When it is known what the others show."""


@dataclass(slots=True, eq=False)
class Allocation(ABC):
    """A section while the free tokens of a prompt are shared. Methods return tokens: those it took, or those it gave back."""

    counter: TokenCounter
    share: SectionShare
    limit: int
    """Tokens that it may take in all."""
    spent: int = field(default=0, init=False)

    @property
    def name(self) -> str:
        return self.share.section

    @property
    def turn(self) -> AllocationTurn:
        return AllocationTurn.WITH_OTHERS

    def within(self, room: int) -> int:
        return min(room, self.limit - self.spent)

    def due(self, room: int) -> int:
        """What it may claim of all free tokens."""
        return int(self.share.part * room)

    def wish(self, most: int) -> int:
        """What it would take of its share."""
        return min(most, self.limit)

    def claim_urgent(self, room: int) -> int:
        """Taken before all shares: the little that the work turns on."""
        return 0

    def claim_asked(self, room: int) -> int:
        """Taken beyond what all share, of what the last step asked for."""
        return 0

    @abstractmethod
    def claim(self, room: int) -> int:
        """Taken of its share."""

    @abstractmethod
    def more(self, room: int) -> int:
        """Taken of what all claims have left."""

    def settle(self) -> int:
        """Given back, since the text as a whole costs less than its pieces."""
        return 0

    def hide_shown(self, pages: Sequence["Allocation"], given: Sequence[str]) -> int:
        """Given back, since other pages, or the `given` texts, show it."""
        return 0

    def abridge(self, paths: Collection[str]) -> int:
        """Given back, since these files are shown whole."""
        return 0

    @property
    def marks_cost(self) -> int:
        """Of the lines that may have to stand for what is left out."""
        return 0

    def add_stubs(self, room: int) -> int:
        """Taken for the lines that stand for what is left out."""
        return 0

    @property
    def shown(self) -> Sequence[SectionPiece]:
        """In the order of the page."""
        return ()

    @property
    def listed(self) -> Sequence[SectionPiece]:
        """All its pieces, shown or not."""
        return ()

    def is_cut(self, what: str) -> bool:
        """Whether a piece of this name is not shown whole."""
        return False

    @property
    @abstractmethod
    def sections(self) -> list[Section]: ...

    @property
    @abstractmethod
    def omissions(self) -> list[Omission]: ...

    @property
    def unread(self) -> int:
        """Tokens of what the last step has looked at, and is not shown whole."""
        return 0
