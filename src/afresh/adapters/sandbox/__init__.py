"""Where commands run: bubblewrap, then Landlock with seccomp, then nothing at all (only when the user says so)."""

from afresh.adapters.sandbox.choose import choose_sandbox, open_level
from afresh.adapters.sandbox.mounts import ResourceLimits, Mounts
from afresh.adapters.sandbox.own_tree import require_own_tree
from afresh.adapters.sandbox.probe import SANDBOX_BY_LEVEL, LevelProbe, probe_level

__all__ = [
    "SANDBOX_BY_LEVEL",
    "ResourceLimits",
    "Mounts",
    "LevelProbe",
    "choose_sandbox",
    "open_level",
    "probe_level",
    "require_own_tree",
]
