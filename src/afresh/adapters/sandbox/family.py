"""A process and all that descend from it, as /proc tells."""

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProcessTree:
    """How many processes there are under one, and the memory they hold together."""

    processes: int
    memory: int


def measure_process_tree(root: int) -> ProcessTree:
    """Count what descends from `root`; shared pages count for each process that has them."""
    children: dict[int, list[tuple[int, int]]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (line := _read_stat(name)):
            children.setdefault(line[0], []).append((int(name), line[1]))
    waiting, count, pages = [root], 0, 0
    while waiting:
        for process, held in children.get(waiting.pop(), ()):
            waiting.append(process)
            count, pages = count + 1, pages + held
    return ProcessTree(count, pages * os.sysconf("SC_PAGE_SIZE"))


def _read_stat(process: str) -> tuple[int, int] | None:
    """Parent and resident pages; None for a process that has just gone."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return int(fields[1]), int(fields[21])
