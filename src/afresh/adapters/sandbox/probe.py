"""Proof by trying: a level holds only if a command runs in it and every attempt to get out of it fails.

Costs about a fifth of a second for a level, so a level that held is remembered, in the process and, if the caller names a file,
for as long as the machine stays up with the same kernel, the same bubblewrap and the same afresh.
"""

import contextlib
import functools
import hashlib
import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from afresh.adapters.sandbox.bubblewrap import Bubblewrap, bubblewrap_program
from afresh.adapters.sandbox.landlock import Landlock
from afresh.adapters.sandbox.mounts import Limits, Mounts
from afresh.adapters.sandbox.outside import Outside
from afresh.adapters.sandbox.plain import Plain
from afresh.errors import AfreshError

Confined = Bubblewrap | Landlock | Plain
LEVELS: Mapping[str, type[Confined]] = {"bubblewrap": Bubblewrap, "landlock": Landlock, "none": Plain}
"""Strongest first."""

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Check:
    """One attempt. It is `ok` when the sandbox behaved."""

    name: str
    ok: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """What was tried at one level."""

    level: str
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        return bool(self.checks) and all(check.ok for check in self.checks)

    @property
    def why_not(self) -> str:
        """Empty when it holds."""
        return "; ".join(f"{check.name}: {check.detail}" for check in self.checks if not check.ok)


def probe(level: str, cache: Path | None = None) -> Probe:
    """Try this level on this machine, or remember that it held. `cache` must lie outside of any repository."""
    if cache is None:
        return _tried(level)
    key = _machine(level)
    if _remembered(cache, key):
        return Probe(level, (Check("held before on this machine", True, key),))
    result = _tried(level)
    if result.holds:
        _remember(cache, key)
    return result


@functools.cache
def _tried(level: str) -> Probe:
    folder = Path(tempfile.mkdtemp(prefix="afresh-probe-"))
    try:
        (folder / "tree").mkdir()
        (folder / "repository").mkdir()
        shutil.copy(_HERE / "attempts.py", folder / "tree")
        sandbox = LEVELS[level](Mounts(folder / "tree", folder / "repository"), Limits())
        with Outside(folder / "outside") as outside:
            return Probe(level, _checks(sandbox, outside))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _checks(sandbox: Confined, outside: Outside) -> tuple[Check, ...]:
    try:
        works = sandbox.run('echo kept > kept && cat kept && echo x > "$TMPDIR/x"', 20)
        command = [sys.executable, "-I", "-S", "attempts.py", json.dumps(outside.aim())]
        tried = sandbox.run(shlex.join(command), 30)
    except (AfreshError, OSError) as problem:
        return (Check("a command runs", False, str(problem)),)
    if works.exit or works.output != "kept\n":
        return (Check("a command runs", False, works.output.strip()[-300:]),)
    try:
        worked = json.loads(tried.output)
    except ValueError:
        return (Check("the attempts run", False, tried.output.strip()[-300:]),)
    seen = outside.damage()
    found = {name: worked.get(name, "") or seen.get(name, "") for name in {**worked, **seen}}
    return (Check("a command runs", True), *(Check(name.replace("_", " "), not how, how) for name, how in found.items()))


def _machine(level: str) -> str:
    """All that the answer depends on, as far as it can be named."""
    facts = [level, str(os.geteuid()), os.uname().release, os.uname().machine, sys.executable]
    with contextlib.suppress(OSError):
        facts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    if program := bubblewrap_program():
        facts += [program, str(os.stat(program).st_mtime_ns)]
    facts += [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(_HERE.glob("*.py"))]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()


def _remembered(cache: Path, key: str) -> bool:
    with contextlib.suppress(OSError):
        return key in cache.read_text().split()
    return False


def _remember(cache: Path, key: str) -> None:
    """Replaced whole, so that a reader never sees half a file. Only levels that held are kept: a failure may be mended."""
    with contextlib.suppress(OSError):
        cache.parent.mkdir(parents=True, exist_ok=True)
        known = cache.read_text().split()[-10:] if cache.exists() else []
        part = cache.with_name(f"{cache.name}.{os.getpid()}")
        part.write_text("\n".join([*known, key]) + "\n")
        part.replace(cache)
