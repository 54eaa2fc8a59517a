"""What is left in words of steps that memory has let go. Bounded, however often it is written anew."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CompactionPolicy:
    """Policy: when memory is compacted, and what stays."""

    full: float = 0.8
    """Part of memory's pool at which the loop compacts."""
    left: float = 0.6
    """Part that is held afterwards."""
    keep_steps: int = 8
    """Of the newest steps nothing goes."""
    keep_passages: int = 46
    """So few that memory is compacted before it has to forget without a word: see `passage.FEWEST`."""
    oldest: int = 0
    """Steps after which a passage goes in any case, at the next compaction; 0: never for its age alone."""


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """What was done in a step and what it came to; or, `verbatim`, a sentence of its thought that decides something."""

    step: int
    text: str
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class NameSeen:
    """A path or an identifier that stands in no passage any more. `odds`: of being needed a step after it was seen last."""

    name: str
    step: int
    odds: float


@dataclass(frozen=True, slots=True)
class Summary:
    through: int = 0
    """The last step that it speaks of."""
    keep: tuple[str, ...] = ()
    """What the agent wanted kept, in its own words."""
    prose: str = ""
    """A model's own summary of what came before the lines."""
    lines: tuple[SummaryLine, ...] = ()
    names: tuple[NameSeen, ...] = ()

    @property
    def names_line(self) -> str:
        return f"Names: {' '.join(seen.name for seen in self.names)}" if self.names else ""

    @property
    def text(self) -> str:
        kept = [f"Keep: {words}" for words in self.keep]
        told = [render_summary_line(line) for line in self.lines]
        return "\n".join(part for part in (*kept, self.prose, *told, self.names_line) if part)


def render_summary_line(line: SummaryLine) -> str:
    return f"- step {line.step}: " + (f"“{line.text}”" if line.verbatim else line.text)
