"""Where commands run: bubblewrap, then Landlock with seccomp, then nothing at all (only when the user says so)."""

from afresh.adapters.sandbox.choose import choose, open_level
from afresh.adapters.sandbox.mounts import Limits, Mounts
from afresh.adapters.sandbox.own_tree import require_own_tree
from afresh.adapters.sandbox.probe import LEVELS, Probe, probe

__all__ = ["LEVELS", "Limits", "Mounts", "Probe", "choose", "open_level", "probe", "require_own_tree"]
