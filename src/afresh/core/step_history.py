"""What was said, done and printed, by reference: the text is a block of the archive."""

from dataclasses import replace
from enum import StrEnum

from afresh.core.fast_dataclass import dataclass
from afresh.core.truncate import to_one_line


class PassageVoice(StrEnum):
    THOUGHT = "thought"
    ACTION = "action"
    OUTPUT = "output"


ENDED_OK = "ok"
FAILED_SUFFIX = " (failed)"
"""After the line of an action that failed, where others of the same reply did not."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of the history, whose text is in the archive."""

    step: int
    voice: PassageVoice
    block: str
    size: int
    """Characters of it that memory looks at."""
    subject: str = ""
    about: tuple[str, ...] = ()
    """Files that the action of its step names, without their folders."""
    ended: str = ""
    """For an action, its ending in a word; empty if unknown."""
    late: bool = False
    """Of an output, nothing that came after it in its reply can have changed a file."""
    writes: bool = False
    """For actions: whether the first one writes files."""

    def before(self, change: int) -> bool:
        """Is it older than what the step `change` has changed?"""
        return self.step < change or (self.step == change and not self.late)


PASSAGE_CHARACTERS_PER_CEILING_TOKEN = 6
"""Characters of a passage that memory looks at, for each token of the ceiling; of a longer one its beginning and its end."""
POOL_CHARACTERS_PER_CEILING_TOKEN = 60
POOL_PASSAGES_PER_CEILING_TOKEN = 0.15
MIN_PASSAGES_KEPT = 60
POOL_SHARE_AFTER_FORGETTING = 0.4
"""Characters of passages that are remembered for each token of the ceiling, and passages; at least so many passages; and the part
that is left after the least wanted were forgotten, so that forgetting is rare."""
VOICE_DROP_WEIGHTS = {PassageVoice.OUTPUT: 8, PassageVoice.THOUGHT: 3, PassageVoice.ACTION: 1}
"""How much sooner than an action of the same age."""


def count_remembered_characters(text: str, ceiling: int) -> int:
    return min(len(text), PASSAGE_CHARACTERS_PER_CEILING_TOKEN * ceiling)


def set_action_ending(passages: tuple[Passage, ...], step: int, ended: str, only: str = "") -> tuple[Passage, ...]:
    """The action of a step is now known to have ended so; `only` if it was said to have ended otherwise."""

    def is_meant(passage: Passage) -> bool:
        return passage.step == step and passage.voice is PassageVoice.ACTION and only in ("", passage.ended)

    return tuple(replace(passage, ended=ended) if is_meant(passage) else passage for passage in passages)


def mark_passages_undone(passages: tuple[Passage, ...], step: int) -> tuple[Passage, ...]:
    def is_meant(passage: Passage) -> bool:
        return passage.step >= step and passage.voice is PassageVoice.ACTION

    return tuple(replace(passage, ended="undone") if is_meant(passage) else passage for passage in passages)


def compute_pool_fullness(size: int, number: int, ceiling: int) -> float:
    """The part of memory's pool that is taken, by characters or by passages: a short one is read and written as a long one is."""
    return max(size / (POOL_CHARACTERS_PER_CEILING_TOKEN * ceiling), number / (POOL_PASSAGES_PER_CEILING_TOKEN * ceiling))


def bound_passages(passages: tuple[Passage, ...], ceiling: int) -> tuple[Passage, ...]:
    """As many as the pool holds. What falls out is in the archive still, and can be read there."""
    held, number = sum([passage.size for passage in passages]), len(passages)
    if compute_pool_fullness(held, number, ceiling) <= 1.0 or number <= MIN_PASSAGES_KEPT:
        return passages
    now = passages[-1].step
    order = sorted(passages, key=lambda one: (now - one.step + 1) * VOICE_DROP_WEIGHTS[one.voice], reverse=True)
    gone: set[int] = set()
    for passage in order[:-MIN_PASSAGES_KEPT]:
        if compute_pool_fullness(held, number - len(gone), ceiling) <= POOL_SHARE_AFTER_FORGETTING:
            break
        gone.add(id(passage))
        held -= passage.size
    return tuple([passage for passage in passages if id(passage) not in gone])


@dataclass(frozen=True, slots=True)
class CompactionPolicy:
    """Policy: when memory is compacted, and what stays."""

    full: float = 0.8
    """Part of memory's pool at which the loop compacts."""
    left: float = 0.6
    """Part that is held afterwards."""
    keep_steps: int = 8
    """So many of the newest steps are kept whole."""
    keep_passages: int = 46
    """Fewer than `MIN_PASSAGES_KEPT`, so that memory is compacted before it forgets anything silently."""
    oldest: int = 0
    """Steps after which a passage goes in any case; 0: never for its age alone."""
    most_passages: int = 0
    """Passages at which memory is compacted, whatever the ceiling; 0: by its pool alone."""
    context: int = 0
    """Tokens of a call, with its reserve, from which memory is compacted; 0: whatever a call takes."""


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """What was done in a step and the result; or, `verbatim`, a sentence of its thought that decides something."""

    step: int
    text: str
    verbatim: bool = False
    writes: bool = False
    """The step wrote files."""


MAX_KEPT_CHARACTERS = 900
"""Of all that an agent has kept in its own words, and not withdrawn."""
WITHDRAWAL_PREFIX = "no longer:"


def update_kept_words(kept: tuple[str, ...], words: str) -> tuple[str, ...]:
    """With these words; or, if they begin with `no longer:`, without those that the rest of them is in."""
    words = to_one_line(words)
    if words.lower().startswith(WITHDRAWAL_PREFIX):
        gone = words[len(WITHDRAWAL_PREFIX) :].strip().casefold()
        return tuple([one for one in kept if gone not in one.casefold()])
    held = [*[one for one in kept if one != words], words] if words else [*kept]
    while len(held) > 1 and sum(map(len, held)) > MAX_KEPT_CHARACTERS:
        held.pop(0)
    return tuple(held)


def loses_kept_words(kept: tuple[str, ...], words: str) -> bool:
    """Whether there is no room for these words beside all that is kept."""
    return not words.lower().startswith(WITHDRAWAL_PREFIX) and not {*kept} <= {*update_kept_words(kept, words)}


@dataclass(frozen=True, slots=True)
class NameSeen:
    """A path or an identifier that stands in no passage any more. `odds`: of being needed a step after it was seen last."""

    name: str
    step: int
    odds: float


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary in words of the steps that no passage covers."""

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
        texts = [render_summary_line(line) for line in self.lines]
        return "\n".join(part for part in (*kept, self.prose, *texts, self.names_line) if part)


def render_summary_line(line: SummaryLine) -> str:
    return f"- step {line.step}: " + (f"“{line.text}”" if line.verbatim else line.text)


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """A hook's answer; `note` is its fault."""

    go: bool
    note: str = ""
