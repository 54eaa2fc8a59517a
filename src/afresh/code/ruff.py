"""Complexity findings from ruff itself, which applies the project's own settings."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from afresh.errors import BadInput

COMPLEXITY_RULES = {
    "C901": "complexity", "PLR0911": "returns", "PLR0912": "branches", "PLR0913": "arguments", "PLR0915": "statements",
    "PLR0916": "conditions in one test", "PLR0917": "positional arguments", "PLR1702": "nested blocks",
}  # fmt: skip
_OVER_LIMIT_PATTERN = re.compile(r"\((\d+)\s*[>/]\s*(\d+)\)")
RUFF_TIMEOUT_SECONDS = 300


@dataclass(frozen=True, slots=True)
class RuffFinding:
    path: str
    line: int
    code: str
    value: int
    limit: int


def find_violations(root: Path, places: Sequence[str]) -> list[RuffFinding]:
    """Return findings ordered by path and line. Raises BadInput if ruff can't read its settings or a place does not exist."""
    options = [
        "--select",
        ",".join(COMPLEXITY_RULES),
        "--preview",
        "--output-format",
        "json",
        "--no-cache",
        "--exit-zero",
        "--no-fix",
    ]
    out = _run_ruff(root, ["check", *options, "--", *places])
    findings = [finding for raw in json.loads(out or "[]") if (finding := _finding_from_json(root, raw))]
    return sorted(findings, key=lambda ruff_finding: (ruff_finding.path, ruff_finding.line, ruff_finding.code))


def list_checked_files(root: Path) -> list[str]:
    """Return the Python files that ruff would check."""
    out = _run_ruff(root, ["check", "--show-files", "--", "."])
    return sorted(_make_relative(root, line) for line in out.splitlines() if line.endswith(".py"))


def _run_ruff(root: Path, arguments: list[str]) -> str:
    command = [sys.executable, "-P", "-m", "ruff", *arguments]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=RUFF_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        raise BadInput(f"ruff did not finish within {RUFF_TIMEOUT_SECONDS} s", next="name the folders to check") from None
    if done.returncode > 1 or (done.returncode and not done.stdout.strip()):
        lines = (done.stderr.strip() or "no reason given").splitlines()
        raise BadInput(f"ruff failed: {lines[0][:200]}", next="fix what it names, or give other paths")
    return done.stdout


def _finding_from_json(root: Path, raw: dict[str, object]) -> RuffFinding | None:
    over, code = _OVER_LIMIT_PATTERN.search(str(raw["message"])), str(raw["code"])
    if over is None or code not in COMPLEXITY_RULES:
        return None
    location = raw["location"]
    assert isinstance(location, dict)
    return RuffFinding(_make_relative(root, str(raw["filename"])), int(location["row"]), code, int(over[1]), int(over[2]))


def _make_relative(root: Path, name: str) -> str:
    path = Path(name)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else name
