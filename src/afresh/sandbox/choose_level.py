"""The strongest level that holds on this machine; no level is ever skipped in silence."""

from pathlib import Path

from afresh.errors import NoSandbox
from afresh.sandbox.bubblewrap import find_bubblewrap
from afresh.sandbox.escape_probe import SANDBOX_BY_LEVEL, AnySandbox, probe_level
from afresh.sandbox.mounts import Mounts
from afresh.sandbox.resource_limits import ResourceLimits


def choose_sandbox(
    mounts: Mounts, allow_none: bool = False, limits: ResourceLimits | None = None, cache: Path | None = None
) -> AnySandbox:
    """The strongest sandbox that holds. Only `allow_none`, a flag of the user, allows none; no variable and no file does."""
    reasons: list[str] = []
    for level in ("bubblewrap", "landlock"):
        result = probe_level(level, cache)
        if result.holds:
            return open_level(level, mounts, limits)
        reasons.append(f"{level} does not hold ({result.why_not})")
    if allow_none:
        return open_level("none", mounts, limits)
    raise NoSandbox("; ".join(reasons), next=describe_remedies(), safe="nothing has been run")


def open_level(level: str, mounts: Mounts, limits: ResourceLimits | None = None) -> AnySandbox:
    """This very level, without asking whether it holds."""
    return SANDBOX_BY_LEVEL[level](mounts, limits or ResourceLimits())


def describe_remedies() -> str:
    """The steps with which a person gets a sandbox on this machine."""
    steps = [describe_bubblewrap_steps()]
    if is_in_container():
        steps.append(
            "in this container: Landlock needs no option of the container, only a kernel of 5.13 or newer that has it; "
            "or let the container be the sandbox"
        )
    return "; ".join([*filter(None, steps), "or pass --no-sandbox, which lets commands do all that you can do"])


def describe_bubblewrap_steps() -> str:
    """The likely reason why bubblewrap does not work here."""
    steps: list[str] = []
    if find_bubblewrap() is None:
        steps.append("install bubblewrap (Debian, Ubuntu: sudo apt install bubblewrap)")
    if _read_kernel_setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        steps.append(
            "AppArmor keeps bubblewrap from making namespaces (Ubuntu 23.10 and newer): sudo apt install apparmor-profiles && "
            "sudo cp /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && "
            "sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict"
        )
    if _read_kernel_setting("kernel/unprivileged_userns_clone") == "0":
        steps.append("allow user namespaces: sudo sysctl kernel.unprivileged_userns_clone=1")
    if _read_kernel_setting("user/max_user_namespaces") == "0":
        steps.append("allow user namespaces: sudo sysctl user.max_user_namespaces=10000")
    return "; ".join(steps)


def is_in_container() -> bool:
    """Whether the usual marker files of a container exist."""
    return any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv"))


def _read_kernel_setting(name: str) -> str:
    try:
        return (Path("/proc/sys") / name).read_text().strip()
    except OSError:
        return ""
