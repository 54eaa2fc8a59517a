"""Who works here, and whether a worker still lives."""

import os
import socket
from hashlib import sha256
from pathlib import Path


def worker_id() -> str:
    """This process: host, process number and the moment it started, so that a reused number is not taken for it."""
    return f"{_host()}:{os.getpid()}:{_started(os.getpid())}"


def known_dead(worker: str) -> bool:
    """Whether the worker's process is known to have ended. What runs on another machine can't be known from here."""
    host, process, started = ["", "", *worker.rsplit(":", 2)][-3:]
    return host == _host() and process.isdigit() and _started(int(process)) != started


def _host() -> str:
    """Machine, boot and process-number space: containers share host names, and the same number can be another process there."""
    return f"{socket.gethostname().replace(':', '-')}-{sha256(_space().encode()).hexdigest()[:6]}"


def _space() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text() + os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _started(process: int) -> str:
    """Clock ticks from boot to its start; `gone` when it no longer runs; `unknown` where there is no /proc."""
    if not Path("/proc/self/stat").exists():
        return "unknown" if _signalable(process) else "gone"
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "gone"
    return "gone" if fields[0] in "ZX" else fields[19]


def _signalable(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
