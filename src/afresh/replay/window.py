"""The yardstick: the task and the latest steps that fit, which is what cutting a history down to a budget gives."""

from collections.abc import Callable, Iterator, Sequence

from afresh.replay.needed import parts
from afresh.replay.run import Run, RunStep

CUT = "\n[… cut …]\n"
JOINT = 1
SCRAP = 40
"""Tokens between two steps; fewer than a scrap are not worth filling."""

Count = Callable[[str], int]


def told(step: RunStep) -> str:
    """A step as the history of an accumulating agent holds it."""
    return "\n".join(text for part, text in parts(step) if text or part != "said")


def window(run: Run, budget: int, count: Count) -> Iterator[str]:
    """One text a step. The oldest step in it is cut to fill what is left. Looks back no further than the budget reaches."""
    task = cut(run.task, count(run.task), budget // 2, count)
    texts: list[str] = []
    sizes: list[int] = []
    room = budget - count(task) - 2 * JOINT
    for step in run.steps:
        said = cut(step.said, count(step.said), room, count)
        latest = _latest(texts, sizes, room - count(said), count)
        yield "\n".join([task, *latest, *([said] if said else [])])
        texts.append(told(step))
        sizes.append(count(texts[-1]))


def _latest(texts: Sequence[str], sizes: Sequence[int], room: int, count: Count) -> list[str]:
    chosen: list[str] = []
    for text, size in zip(reversed(texts), reversed(sizes), strict=True):
        if size + JOINT > room:
            if room > SCRAP:
                chosen.append(cut(text, size, room - JOINT, count))
            break
        chosen.append(text)
        room -= size + JOINT
    return chosen[::-1]


def cut(text: str, size: int, room: int, count: Count) -> str:
    """Head and tail of a text that does not fit, as the popular agents show long outputs."""
    if size <= room:
        return text
    kept = len(text) * max(0, room) // size
    while kept > len(CUT):
        short = text[: kept // 2] + CUT + text[len(text) - kept // 2 :]
        if count(short) <= room:
            return short
        kept = kept * 9 // 10
    return ""
