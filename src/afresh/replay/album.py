"""The contexts that a page can show: moments with something missing, and of the others evenly chosen ones."""

import json
import zlib
from dataclasses import dataclass

from afresh.replay.measure import Moment

EVENLY = 200
ACTION = 8_000
THOUGHT = 3_000
"""Characters of an action and of a thought that are shown."""


@dataclass(frozen=True, slots=True)
class Picture:
    """What is known of one moment. `missing` is how many things its context lacked."""

    run: int
    number: int
    missing: int
    packed: bytes

    def unpack(self) -> dict[str, str]:
        return json.loads(zlib.decompress(self.packed))


class Album:
    """Takes in every moment and keeps few. A second pass over the runs is not needed: when there are too many evenly chosen
    ones, every second of them goes."""

    def __init__(self, room: int = 24_000_000) -> None:
        self.room, self.stride, self.longest = room, 1, 0
        self.even: dict[tuple[int, int], Picture] = {}
        self.missed: dict[tuple[int, int], Picture] = {}

    def offer(self, run: int, moment: Moment) -> None:
        self.longest = max(self.longest, moment.number)
        missing, due = len(moment.missing), not (moment.number - 1) % self.stride
        if not missing and not due:
            return
        picture = Picture(run, moment.number, missing, _pack(moment))
        if len(picture.packed) > self.room:
            return
        self.room -= len(picture.packed)
        (self.missed if missing else self.even)[run, moment.number] = picture
        if len(self.even) > EVENLY:
            self._thin()

    def _thin(self) -> None:
        """Every second one goes, until the rest fits or is one moment a run."""
        while len(self.even) > EVENLY and self.stride <= self.longest:
            self.stride *= 2
            gone = [key for key in self.even if (key[1] - 1) % self.stride]
            self.room += sum(len(self.even.pop(key).packed) for key in gone)

    def pictures(self) -> list[Picture]:
        """The evenly chosen ones first, then those with the most missing."""
        return [*self.even.values(), *sorted(self.missed.values(), key=lambda it: (-it.missing, it.run, it.number))]


def _pack(moment: Moment) -> bytes:
    step = moment.step
    shown = {
        "context": moment.context,
        "said": _shortened(step.said, THOUGHT),
        "thought": _shortened(step.thought, THOUGHT),
        "tool": step.tool,
        "action": _shortened(step.action, ACTION),
    }
    return zlib.compress(json.dumps(shown).encode(), 6)


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}\n[… {len(text) - limit:,} more characters]"
