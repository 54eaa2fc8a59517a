"""Errors, by who must act.

AfreshError
├── ModelMistake      the model: told in its next window what was wrong with its action
├── UnreadableTree    the model: what a step left can't be read as a tree, so it is put back, and the model is told
├── TryAgain          a retry: the same call may well succeed later
│   ├── Cancelled     this worker was asked to stop; the task goes on when it is resumed
│   │   └── StopRequested     a person asked it to pause or cancel the task, which it does
│   └── LeaseLost     somebody else owns the task now; this worker stops
├── NeedsPerson       a person: `what` happened, what is `safe`, what to do `next`; raised itself for the provider and the
│   │                 set-up (key, package, address, git, disk)
│   ├── BadInput      the command or a file of the user's is not usable as it is
│   │   ├── BadInstructions   a file of instructions is not: its task waits until it is mended
│   │   ├── NotPossible       the command is right, but the state of the task or the checkout does not allow it now
│   │   └── NeedsAnswer       the task waits for an answer or for another task
│   ├── OverLimit     a limit of spending does not allow the call: nothing was sent
│   ├── OverCeiling   no prompt fits under the ceiling: nothing was sent
│   ├── NoSandbox     nothing on this machine can confine a command
│   ├── DiskFault     a disk is full or fails
│   └── Damaged       stored state fails its checksum, or a newer afresh wrote it
└── Broken            a developer: an invariant of the program does not hold
    └── Conflict      the journal has moved on under this writer
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


class AfreshError(Exception):
    """Everything that this program raises on purpose."""

    retry_at = 0.0
    """When the task that it stopped is tried again by itself, in seconds since the epoch; 0: it is not."""
    of_one_task = False
    """Whether it stops one task alone, in whose error log it is: a worker goes on with others."""


class ModelMistake(AfreshError):
    """The model's action can't be done as it stands; the text is shown to the model."""


class UnreadableTree(AfreshError):
    """What commands left in the tree can't be kept: a path is too long for git or for afresh."""


class TryAgain(AfreshError):
    """A passing fault of something outside. `usage`: tokens (a `Usage`) that it has cost all the same; `wait`: seconds after
    which it may be over, where somebody has said so; `brief`: the fault in a few words; `local`: it is of this machine, not of
    a provider."""

    def __init__(
        self, what: str = "", usage: Any = None, wait: float | None = None, brief: str = "", local: bool = False
    ) -> None:
        super().__init__(what)
        self.usage, self.wait, self.brief, self.local = usage, wait, brief, local


class Cancelled(TryAgain):
    """This worker was asked to stop."""


class StopRequested(Cancelled):
    """A person wants the task paused or cancelled. `request`: a `StopRequest`."""

    def __init__(self, what: str, request: Any) -> None:
        super().__init__(what)
        self.request = request


class LeaseLost(TryAgain):
    """Another worker holds the task."""


class NeedsPerson(AfreshError):
    """Says what happened, what is safe, and what to do next."""

    of_model = False
    """Whether it is of the model: its name, key, package or account."""

    def __init__(self, what: str, next: str = "", safe: str = "") -> None:
        super().__init__(what)
        self.what, self.next, self.safe = what, next, safe


@contextmanager
def blame_model() -> Generator[None]:
    """Errors below that a person must act on are of the model."""
    try:
        yield
    except NeedsPerson as fault:
        fault.of_model = True
        raise


class BadInput(NeedsPerson):
    """What the user gave can't be used as it is."""


class BadInstructions(BadInput):
    """A file of instructions can't be used as it is."""


class NotPossible(BadInput):
    """The state of the task or the checkout does not allow now what was asked for."""


class NeedsAnswer(BadInput):
    """The task goes on only after an answer, or after another task."""


class OverLimit(NeedsPerson):
    """A limit of spending is reached; only a person raises or resets it. `scope`: whose limit it is, `call` and `task` stop one
    task alone."""

    def __init__(self, what: str, next: str = "", safe: str = "", scope: str = "") -> None:
        super().__init__(what, next, safe)
        self.scope = scope


class OverCeiling(NeedsPerson):
    """No prompt can be built under the limit: what is never left out does not fit. `evidence`: which section, its size and what
    is left for it. `missing`: by how many tokens the limit is too low; `needed`: which one would do."""

    def __init__(self, what: str, evidence: str = "", next: str = "", missing: int = 0, needed: int = 0) -> None:
        super().__init__(what, next)
        self.evidence, self.missing, self.needed = evidence or what, missing, needed


class NoSandbox(NeedsPerson):
    """No confinement can be had, and the user has not waived it."""


WAY_BACK = "`afresh doctor --deep` lists what is damaged and what can be brought back; `afresh doctor --repair` does it"


class DiskFault(NeedsPerson):
    """A disk is full or fails. When a person has seen to it, what was tried may succeed."""


class Damaged(NeedsPerson):
    """Stored state can't be believed."""


def name_damaged_task(fault: Damaged, task: str) -> Damaged:
    """The same fault, with the task that it concerns."""
    return fault if task in fault.what else Damaged(f"task {task}: {fault.what}", next=fault.next, safe=fault.safe)


class Broken(AfreshError):
    """An invariant does not hold: a bug here, not there."""


class Conflict(Broken):
    """The head of the journal is not where this writer left it."""


def suggest_extra(extra: str) -> str:
    """Return the command that adds an optional package to this afresh."""
    return _suggest_install(extra)


def suggest_reinstall() -> str:
    """Return the command that brings back packages that every install has."""
    return _suggest_install()


def _suggest_install(*wanted: str) -> str:
    """Install from where this afresh came, with the tool that installed it; one that replaces all gets the same extras again."""
    import sys
    from importlib import metadata
    from importlib.util import find_spec
    from pathlib import Path
    from shlex import quote

    try:
        distribution = metadata.distribution("afresh")
    except metadata.PackageNotFoundError:
        distribution = None
    place, address, options = _find_source(distribution)
    by_receipt = {"uv-receipt.toml": "uv tool install --force", "pipx_metadata.json": "pipx install --force"}
    install = next((command for receipt, command in by_receipt.items() if (Path(sys.prefix) / receipt).exists()), "")
    extras = ",".join(sorted({*wanted, *(_list_extras(distribution) if install else ())}))
    if not install:
        pip = f"{sys.executable} -m pip install" if find_spec("pip") else f"uv pip install --python {sys.executable}"
        install = f"{pip}{options}"
    requirement = quote(f"{place}[{extras}]{address}" if extras else f"{place}{address}")
    return f"{install} {requirement}{' in a clone of afresh' if place == '.' else ''}"


def _find_source(value: Any) -> tuple[str, str, str]:
    """Where the installed package came from: its path (`.` if that is not known or gone), or name and address; and options."""
    import json
    from pathlib import Path
    from urllib.parse import unquote, urlsplit

    origin: dict[str, Any] = json.loads(value.read_text("direct_url.json") or "{}") if value else {}
    url = str(origin.get("url", ""))
    if "vcs_info" in origin:
        return "afresh", f" @ {origin['vcs_info']['vcs']}+{url}", ""
    path = Path(unquote(urlsplit(url).path))
    if not url.startswith("file:") or not path.exists():
        return ".", "", ""
    return str(path), "", " -e" if origin.get("dir_info", {}).get("editable") else ""


def _list_extras(value: Any) -> list[str]:
    """The extras whose packages are all installed."""
    import re
    from importlib import metadata

    names: dict[str, set[str]] = {}
    for line in (value.requires or ()) if value else ():
        if extra := re.search(r"extra == ['\"]([\w-]+)", line):
            names.setdefault(extra[1], set()).add(re.split(r"[^\w.-]", line, maxsplit=1)[0])
    present = (
        {str(distribution.metadata["Name"]).lower().replace("_", "-") for distribution in metadata.distributions()}
        if names
        else set[str]()
    )
    return [extra for extra, needed in names.items() if needed <= present]
