"""A section before the room is shared: pieces that are shown or left out."""

from collections.abc import Sequence
from dataclasses import dataclass

from afresh.core.prompt import Tier


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file that a map tells of, and what is enough to say where the file itself is shown."""

    path: str
    lines: int
    brief: str


@dataclass(frozen=True, slots=True)
class SectionPiece:
    """The smallest thing that is shown or left out. A lower rank is taken first; the order on the page is that of the tuple."""

    text: str
    what: str
    rank: int = 0
    source: str = ""
    """Where the rest is to be had when only a part fits."""
    stub: str = ""
    """What stands in its place when it is left out."""
    group: str = ""
    """Heading that it shares with its neighbours."""
    once: str = ""
    """A sign that stands for all it says: where another section shows the sign, the piece need not stand too."""
    spare: bool = False
    """Taken only of what all claims have left."""
    asked: bool = False
    """The last step has looked at it."""
    first: tuple[int, ...] = ()
    """Its lines by place, those first that are given up last. Without it a part is its beginning and its end."""
    listed: ListedFile | None = None
    """The file that it tells of, where that may be said shorter."""


@dataclass(frozen=True, slots=True)
class SectionDraft:
    name: str
    title: str
    tier: Tier
    pieces: tuple[SectionPiece, ...]
    rest: str = ""
    """Stands at the end when not everything is shown."""
    left: tuple[SectionPiece, ...] = ()
    """Not told, only counted in a line of the section."""
    strict: bool = False
    """A piece waits until all that are ranked above it are shown, be it in part."""
    trimmed: bool = False
    """Pieces were taken out before the room was shared."""


def draft_always_section(name: str, title: str, lines: Sequence[str]) -> SectionDraft:
    text = "\n".join(line for line in lines if line)
    return SectionDraft(name, title, Tier.ALWAYS, (SectionPiece(text, name),) if text else ())
