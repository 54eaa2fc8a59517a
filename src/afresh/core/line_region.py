"""Lines that the model has seen, as looks at a file and changes of it move them."""

from dataclasses import replace

from afresh.core.change import Hunk
from afresh.core.fast_dataclass import dataclass

MAX_REGIONS = 16
"""Remembered at most."""


@dataclass(frozen=True, slots=True)
class Region:
    """Lines of a file that the model has seen or written; their current text is read again for every window."""

    path: str
    start: int
    end: int
    step: int
    changed: bool = False

    def meets(self, start: int, end: int) -> bool:
        """Whether it has a line between these two, both counted."""
        return self.start <= end and start <= self.end


def add_region(regions: tuple[Region, ...], new: Region) -> tuple[Region, ...]:
    """The newest look stands last and whole; of older ones only what it does not show, and not the oldest of too many."""
    others: list[Region] = []
    for old in regions:
        together = old.path == new.path and old.meets(new.start, new.end)
        others += subtract_region(old, new) if together else [old]
    return (*others, new)[-MAX_REGIONS:]


def subtract_region(old: Region, new: Region) -> list[Region]:
    """What the new look does not show of the old one."""
    above = replace(old, end=new.start - 1)
    below = replace(old, start=new.end + 1)
    return [part for part in (above, below) if part.start <= part.end]


def move_regions(regions: tuple[Region, ...], hunks: tuple[Hunk, ...], step: int) -> tuple[Region, ...]:
    """Regions follow their lines through a change, and what was changed is a region itself."""
    regions = shift_regions(regions, hunks)
    for hunk in hunks:
        last = max(hunk.new_start, hunk.new_start + hunk.new_count - 1)
        regions = add_region(regions, Region(hunk.path, hunk.new_start, last, step, True))
    return regions


def shift_regions(regions: tuple[Region, ...], hunks: tuple[Hunk, ...]) -> tuple[Region, ...]:
    """Regions where their lines are after a change."""
    for hunk in reversed(hunks):
        grown = hunk.new_count - hunk.old_count
        regions = tuple([shift_region(region, hunk, grown) if region.path == hunk.path else region for region in regions])
    return regions


def shift_region(region: Region, hunk: Hunk, grown: int) -> Region:
    start = region.start + grown if region.start > hunk.old_start + hunk.old_count else region.start
    end = region.end + grown if region.end >= hunk.old_start else region.end
    return replace(region, start=max(1, start), end=max(start, end))
