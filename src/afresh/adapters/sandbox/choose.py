"""The strongest level that holds on this machine; no level is ever skipped in silence."""

from pathlib import Path

from afresh.adapters.sandbox.bubblewrap import bubblewrap_program
from afresh.adapters.sandbox.mounts import Limits, Mounts
from afresh.adapters.sandbox.probe import LEVELS, Confined, probe
from afresh.errors import NoSandbox


def choose(mounts: Mounts, allow_none: bool = False, limits: Limits | None = None, cache: Path | None = None) -> Confined:
    """Only `allow_none`, which comes from the user's own flag, leads to no sandbox; no variable and no file does."""
    reasons: list[str] = []
    for level in ("bubblewrap", "landlock"):
        result = probe(level, cache)
        if result.holds:
            return open_level(level, mounts, limits)
        reasons.append(f"{level} does not hold ({result.why_not})")
    if allow_none:
        return open_level("none", mounts, limits)
    raise NoSandbox("; ".join(reasons), next=advice(), safe="nothing has been run")


def open_level(level: str, mounts: Mounts, limits: Limits | None = None) -> Confined:
    """This very level, without asking whether it holds."""
    return LEVELS[level](mounts, limits or Limits())


def advice() -> str:
    """What a person can do on this machine to get a sandbox."""
    steps: list[str] = []
    if bubblewrap_program() is None:
        steps.append("install bubblewrap (Debian, Ubuntu: sudo apt install bubblewrap)")
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        steps.append(
            "AppArmor keeps bubblewrap from making namespaces (Ubuntu 23.10 and newer): sudo apt install apparmor-profiles && "
            "sudo cp /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && "
            "sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict"
        )
    if _setting("kernel/unprivileged_userns_clone") == "0":
        steps.append("allow user namespaces: sudo sysctl kernel.unprivileged_userns_clone=1")
    if _setting("user/max_user_namespaces") == "0":
        steps.append("allow user namespaces: sudo sysctl user.max_user_namespaces=10000")
    if in_container():
        steps.append(
            "in this container: Landlock needs no option of the container, only a kernel of 5.13 or newer that has it; "
            "or let the container be the sandbox"
        )
    return "; ".join([*steps, "or pass --no-sandbox, which lets commands do all that you can do"])


def in_container() -> bool:
    """As far as the usual marks tell."""
    return any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv"))


def _setting(name: str) -> str:
    try:
        return (Path("/proc/sys") / name).read_text().strip()
    except OSError:
        return ""
