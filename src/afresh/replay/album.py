"""The contexts that a page can show: moments with something missing, and of the others evenly chosen ones."""

import json
import zlib
from dataclasses import dataclass

from afresh.replay.measure import StepMeasurement

MAX_EVEN_SAMPLES = 200
MAX_ACTION_CHARACTERS = 8_000
MAX_THOUGHT_CHARACTERS = 3_000
"""Characters of an action and of a thought that are shown."""


@dataclass(frozen=True, slots=True)
class SampledContext:
    """What is known of one moment. `missing` is how many things its context lacked."""

    run: int
    number: int
    missing: int
    packed: bytes

    def unpack(self) -> dict[str, str]:
        return json.loads(zlib.decompress(self.packed))


class ContextSampler:
    """Takes in every moment and keeps few. A second pass over the runs is not needed: when there are too many evenly chosen
    ones, every second of them goes."""

    def __init__(self, room: int = 24_000_000) -> None:
        self.room, self.stride, self.longest = room, 1, 0
        self.even: dict[tuple[int, int], SampledContext] = {}
        self.missed: dict[tuple[int, int], SampledContext] = {}

    def offer(self, run: int, moment: StepMeasurement) -> None:
        self.longest = max(self.longest, moment.number)
        missing, due = len(moment.missing), not (moment.number - 1) % self.stride
        if not missing and not due:
            return
        picture = SampledContext(run, moment.number, missing, _pack_step(moment))
        if len(picture.packed) > self.room:
            return
        self.room -= len(picture.packed)
        (self.missed if missing else self.even)[run, moment.number] = picture
        if len(self.even) > MAX_EVEN_SAMPLES:
            self._thin()

    def _thin(self) -> None:
        """Every second one goes, until the rest fits or is one moment a run."""
        while len(self.even) > MAX_EVEN_SAMPLES and self.stride <= self.longest:
            self.stride *= 2
            gone = [key for key in self.even if (key[1] - 1) % self.stride]
            self.room += sum(len(self.even.pop(key).packed) for key in gone)

    def pictures(self) -> list[SampledContext]:
        """The evenly chosen ones first, then those with the most missing."""
        return [*self.even.values(), *sorted(self.missed.values(), key=lambda it: (-it.missing, it.run, it.number))]


def _pack_step(moment: StepMeasurement) -> bytes:
    step = moment.step
    shown = {
        "context": moment.context,
        "said": _truncate_text(step.said, MAX_THOUGHT_CHARACTERS),
        "thought": _truncate_text(step.thought, MAX_THOUGHT_CHARACTERS),
        "tool": step.tool,
        "action": _truncate_text(step.action, MAX_ACTION_CHARACTERS),
    }
    return zlib.compress(json.dumps(shown).encode(), 6)


def _truncate_text(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}\n[… {len(text) - limit:,} more characters]"
