"""Limits that the kernel keeps for each process; the watch in process.py keeps those of all together."""

import resource

from afresh.adapters.sandbox.mounts import ResourceLimits


def to_rlimits(limits: ResourceLimits) -> tuple[tuple[int, int], ...]:
    """Resource and value, for soft and hard limit alike."""
    return (
        (resource.RLIMIT_NPROC, _count_threads() + limits.processes),
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_FSIZE, limits.file_size),
        (resource.RLIMIT_CPU, limits.cpu),
        (resource.RLIMIT_CORE, 0),
    )


def _count_threads() -> int:
    """On this machine: the kernel counts all processes of the user against the limit, not only the command's."""
    try:
        with open("/proc/loadavg") as file:
            return int(file.read().split()[3].partition("/")[2])
    except (OSError, ValueError, IndexError):
        return 4096
