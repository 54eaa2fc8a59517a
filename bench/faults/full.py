"""A disk that is too small, in many sizes: the writer stops with an error for a person, and what it acknowledged is there."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from faults.count import Count, Row, Twin, run_tool
from faults.writer import STOPPED_FOR_A_PERSON, read_kept, read_last_acknowledged, writing

FULL_SIZES_KB = range(40, 1_240, 20)
SHORT_SIZES_KB = range(40, 1_240, 300)
ENTRIES_PER_STEP = 6


def try_full_disks(count: Count, sizes: Sequence[int], early: bool = False) -> int:
    """How often something was lost. `early`: the twin, that acknowledges the step that it is about to write."""
    lost = 0
    with tempfile.TemporaryDirectory(prefix="afresh-full-") as top:
        place = Path(top)
        for size in sizes:
            run_tool("mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(place))
            try:
                with writing(place) as (child, told):
                    acknowledged = read_last_acknowledged(told)[0] + (ENTRIES_PER_STEP if early else 0)
                    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                run_tool("mount", "-o", "remount,size=64m", str(place))
                kept, refused = read_kept(place)
            finally:
                run_tool("umount", str(place))
            wrong = code != STOPPED_FOR_A_PERSON or kept < acknowledged or bool(refused)
            count.note("full", kb=size, twin=early, acknowledged=acknowledged, kept=kept, refused=refused, code=code, lost=wrong)
            lost += wrong
    return lost


def measure(count: Count) -> list[Row]:
    sizes = list(SHORT_SIZES_KB if count.short else FULL_SIZES_KB)
    lost = try_full_disks(count, sizes)
    again = sizes[:: max(1, len(sizes) // 10)]
    caught = try_full_disks(count, again, early=True)
    return [Row("disk-full sizes", len(sizes), lost, (Twin("acknowledged before the commit", len(again), caught),))]
