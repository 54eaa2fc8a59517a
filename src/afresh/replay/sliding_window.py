"""The yardstick: the task and the latest steps that fit, which is what cutting a history down to a budget gives."""

from collections.abc import Callable, Iterator, Sequence

from afresh.replay.run import RecordedRun, RecordedStep, iterate_step_parts

TRUNCATION_MARK = "\n[… cut …]\n"
JOINT_TOKENS = 1
MIN_FILLED_TOKENS = 40
"""Tokens between two steps; fewer than a scrap are not worth filling."""

CountTokens = Callable[[str], int]


def render_step(step: RecordedStep) -> str:
    """A step as the history of an accumulating agent holds it."""
    return "\n".join(text for part, text in iterate_step_parts(step) if text or part != "said")


def build_sliding_windows(run: RecordedRun, budget: int, count: CountTokens) -> Iterator[str]:
    """One text a step. The oldest step in it is cut to fill what is left. Looks back no further than the budget reaches."""
    task = truncate_middle(run.task, count(run.task), budget // 2, count)
    texts: list[str] = []
    sizes: list[int] = []
    room = budget - count(task) - 2 * JOINT_TOKENS
    for step in run.steps:
        said = truncate_middle(step.said, count(step.said), room, count)
        latest = _latest_steps(texts, sizes, room - count(said), count)
        yield "\n".join([task, *latest, *([said] if said else [])])
        texts.append(render_step(step))
        sizes.append(count(texts[-1]))


def _latest_steps(texts: Sequence[str], sizes: Sequence[int], room: int, count: CountTokens) -> list[str]:
    chosen: list[str] = []
    for text, size in zip(reversed(texts), reversed(sizes), strict=True):
        if size + JOINT_TOKENS > room:
            if room > MIN_FILLED_TOKENS:
                chosen.append(truncate_middle(text, size, room - JOINT_TOKENS, count))
            break
        chosen.append(text)
        room -= size + JOINT_TOKENS
    return chosen[::-1]


def truncate_middle(text: str, size: int, room: int, count: CountTokens) -> str:
    """Head and tail of a text that does not fit, as the popular agents show long outputs."""
    if size <= room:
        return text
    kept = len(text) * max(0, room) // size
    while kept > len(TRUNCATION_MARK):
        short = text[: kept // 2] + TRUNCATION_MARK + text[len(text) - kept // 2 :]
        if count(short) <= room:
            return short
        kept = kept * 9 // 10
    return ""
