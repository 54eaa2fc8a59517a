"""What a command may use, and what a process and its descendants use, from /proc."""

import os
import resource
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ProcessTree:
    """How many processes there are under one, and the memory they hold together."""

    processes: int
    memory: int


def measure_process_tree(root: int) -> ProcessTree:
    """Count what descends from `root`; shared pages count for each process that has them."""
    process_tree = list_process_tree(root)
    return ProcessTree(len(process_tree), sum(process_tree.values()) * os.sysconf("SC_PAGE_SIZE"))


def list_process_tree(root: int) -> dict[int, int]:
    """All processes below `root`, with the pages that each holds."""
    children: dict[int, list[tuple[int, int]]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (line := _read_stat(name)):
            children.setdefault(line[0], []).append((int(name), line[1]))
    waiting, found = [root], dict[int, int]()
    while waiting:
        for process, held in children.get(waiting.pop(), ()):
            waiting.append(process)
            found[process] = held
    return found


def read_unmapped_memory() -> int:
    """Bytes of the whole machine that are neither free, nor a cache, nor a process's own pages: shared memory, files in memory,
    what waits in sockets, pipes and queues. How it grows counts for a command, since nothing shows whose it is."""
    try:
        with open("/proc/meminfo") as file:
            fields = {name: int(size) for name, size, *_ in map(str.split, file)}
        own = sum(fields[f"{name}:"] for name in ("MemFree", "Buffers", "Cached", "SReclaimable", "AnonPages"))
        return (fields["MemTotal:"] + fields["Shmem:"] - own) << 10
    except (OSError, KeyError):
        return 0


def _read_stat(process: str) -> tuple[int, int] | None:
    """Parent and resident pages; None for a process that has just gone."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return int(fields[1]), int(fields[21])


def _read_half_of_memory() -> int:
    return max(1 << 30, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """What one command may use, all of its processes together where nothing else is said."""

    processes: int = 512
    memory: int = field(default_factory=_read_half_of_memory)
    file_size: int = 2 << 30
    """Size of any one file."""
    written: int = 4 << 30
    """Bytes of all files together that a command makes or changes."""
    files: int = 100_000
    """Files that a command makes or changes: more than the packages of a large project."""
    task_written: int = 16 << 30
    """Bytes of all files that commands of a task have made or changed, and of its snapshots."""
    task_files: int = 400_000
    temporary: int = 1 << 30
    """Size of the private /tmp, which is in memory."""
    cpu: int = 3600
    """Seconds of any one process."""
    output: int = 2_000_000
    """Bytes kept, half from the head and half from the tail."""


def to_rlimits(limits: ResourceLimits) -> tuple[tuple[int, int], ...]:
    """Resource and value, for soft and hard limit alike; no higher than the hard limits that afresh was started with."""
    wanted = (
        (resource.RLIMIT_NPROC, _count_threads() + limits.processes),
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_FSIZE, limits.file_size),
        (resource.RLIMIT_CPU, limits.cpu),
        (resource.RLIMIT_CORE, 0),
    )
    return tuple((name, _lower_to_hard_limit(name, value)) for name, value in wanted)


def _lower_to_hard_limit(name: int, value: int) -> int:
    hard = resource.getrlimit(name)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def read_file_size_limit() -> int:
    """Bytes that a file may have by the limit that afresh was started with (`ulimit -f`); 0 for no limit."""
    soft = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return 0 if soft == resource.RLIM_INFINITY else soft


def _count_threads() -> int:
    """On this machine: the kernel counts all processes of the user against the limit, not only the command's."""
    try:
        with open("/proc/loadavg") as file:
            return int(file.read().split()[3].partition("/")[2])
    except (OSError, ValueError, IndexError):
        return 4096
