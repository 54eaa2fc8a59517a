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
        """Whether it contains a line from `start` to `end`, both included."""
        return self.start <= end and start <= self.end


def add_region(regions: tuple[Region, ...], new: Region) -> tuple[Region, ...]:
    """The newest look stands last and whole; of older ones only what it does not show, and not the oldest of too many."""
    others: list[Region] = []
    for old in regions:
        together = old.path == new.path and old.meets(new.start, new.end)
        parts = (replace(old, end=new.start - 1), replace(old, start=new.end + 1)) if together else (old,)
        others += [part for part in parts if not together or part.start <= part.end]
    return (*others, new)[-MAX_REGIONS:]


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
        moved = list[Region]()
        for region in regions:
            if region.path == hunk.path:
                start = region.start + grown * (region.start > hunk.old_start + hunk.old_count)
                end = region.end + grown * (region.end >= hunk.old_start)
                region = replace(region, start=max(1, start), end=max(start, end))
            moved.append(region)
        regions = tuple(moved)
    return regions
