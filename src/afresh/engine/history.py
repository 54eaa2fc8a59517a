"""One history in a window: a step is told under the work so far, or as the last one, and in no two places."""

import re
from collections.abc import Sequence

from afresh.engine.allot import SectionAllocation
from afresh.engine.work import HistoryAllocation

STEP_LINE = re.compile(r"- step (\d+): (.*)", re.DOTALL)


def _merge_step_outcomes(pages: Sequence[SectionAllocation | HistoryAllocation]) -> None:
    """Steps that have a line of their own are told with what else is shown of the work; alone they stand by themselves."""
    work = next((one for one in pages if isinstance(one, HistoryAllocation) and one.choice.rows), None)
    earlier = next((one for one in pages if isinstance(one, SectionAllocation) and one.draft.name == "earlier"), None)
    if work and earlier:
        shown = [earlier.taken[piece] for piece in earlier.draft.pieces if piece in earlier.taken]
        work.outcomes = {int(match[1]): match[2] for piece in shown if (match := STEP_LINE.fullmatch(piece.text))}
        work.write()
        earlier.elsewhere = bool(work.outcomes)
