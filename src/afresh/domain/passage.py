"""What was said, done and printed, by reference: the text is a block of the archive."""

from dataclasses import dataclass, replace
from enum import StrEnum


class Voice(StrEnum):
    THOUGHT = "thought"
    SKETCH = "sketch"
    """Code inside a thought."""
    ACTION = "action"
    OUTPUT = "output"


OK = "ok"


@dataclass(frozen=True, slots=True)
class Passage:
    step: int
    voice: Voice
    block: str
    size: int
    """Characters that memory looks at: see `looked_at`."""
    subject: str = ""
    about: tuple[str, ...] = ()
    """Files that the action of its step names, without their folders."""
    ended: str = ""
    """Of an action, how it ended, in a word; empty if nobody has said so."""
    late: bool = False
    """Of an output, nothing that came after it in its reply can have changed a file."""

    def before(self, change: int) -> bool:
        """Is it older than what the step `change` has changed?"""
        return self.step < change or (self.step == change and not self.late)


LONGEST = 6
"""Characters of a passage that memory looks at, for each token of the ceiling; of a longer one its beginning and its end."""
POOL = 60
MOST = 0.15
FEWEST = 60
KEPT = 0.4
"""Characters of passages that are remembered for each token of the ceiling, and passages; at least so many passages; and the part
that is left after the least wanted were forgotten, so that forgetting is rare."""
FORGOTTEN_FIRST = {Voice.OUTPUT: 8, Voice.THOUGHT: 3, Voice.SKETCH: 3, Voice.ACTION: 1}
"""How much sooner than an action of the same age."""


def looked_at(text: str, ceiling: int) -> int:
    return min(len(text), LONGEST * ceiling)


def ending(passages: tuple[Passage, ...], step: int, ended: str, only: str = "") -> tuple[Passage, ...]:
    """The action of a step is now known to have ended so; `only` if it was said to have ended otherwise."""
    return tuple([
        replace(one, ended=ended) if one.step == step and one.voice is Voice.ACTION and only in ("", one.ended) else one
        for one in passages
    ])  # fmt: skip


def fullness(size: int, number: int, ceiling: int) -> float:
    """The part of memory's pool that is taken, by characters or by passages: a short one is read and written as a long one is."""
    return max(size / (POOL * ceiling), number / (MOST * ceiling))


def remembered(passages: tuple[Passage, ...], ceiling: int) -> tuple[Passage, ...]:
    """As many as the pool holds. What falls out is in the archive still, and a `recall` away."""
    held, number = sum([passage.size for passage in passages]), len(passages)
    if fullness(held, number, ceiling) <= 1.0 or number <= FEWEST:
        return passages
    now = passages[-1].step
    order = sorted(passages, key=lambda one: (now - one.step + 1) * FORGOTTEN_FIRST[one.voice], reverse=True)
    gone: set[int] = set()
    for passage in order[:-FEWEST]:
        if fullness(held, number - len(gone), ceiling) <= KEPT:
            break
        gone.add(id(passage))
        held -= passage.size
    return tuple([passage for passage in passages if id(passage) not in gone])
