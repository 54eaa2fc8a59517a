"""Runs `afresh` in this process, which is told to end when the process that started it dies.

Usage: python -m afresh.app.service.end_with_parent PARENT ARGUMENT…
"""

import os
import signal
import sys

PR_SET_PDEATHSIG = 1
"""From prctl.h: the signal that the kernel sends when the parent dies. It outlasts exec."""


def ask_to_end_with_parent(parent: int) -> None:
    """SIGTERM when the parent dies. Linux only: elsewhere the process goes on, and holds nothing that others need.

    The parent sends SIGINT to end it at once. A parent that runs in the background may ignore that; this process does not.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it died before we could ask
        sys.exit(1)


if __name__ == "__main__":
    ask_to_end_with_parent(int(sys.argv[1]))
    os.execv(sys.executable, [sys.executable, "-m", "afresh.cli.main", *sys.argv[2:]])
