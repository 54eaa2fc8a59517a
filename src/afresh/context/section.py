"""A section while it is made: pieces that are shown or left out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from afresh.core.context_item import Excerpt, MapEntry, ShownLine, StepLine, render_lines
from afresh.core.prompt import Tier

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
    render: Callable[[Sequence[SectionPiece]], str] | None = field(default=None, compare=False)
    """How its pieces are put together, where that is more than one after another."""


def draft_always_section(name: str, title: str, lines: Sequence[str]) -> SectionDraft:
    text = "\n".join(line for line in lines if line)
    return SectionDraft(name, title, Tier.ALWAYS, (SectionPiece(text, name),) if text else ())
