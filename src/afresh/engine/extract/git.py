"""What git says of a commit, and of the state of the tree."""

import re

from afresh.engine.extract.reading import Finding, Reading, clipped

COMMIT = re.compile(r"^\[(\S+)(?: \([\w-]+\))? ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
COUNTS = re.compile(r"^ (\d+ files? changed.*)$", re.MULTILINE)
STATUS = re.compile(r"^On branch (\S+)$", re.MULTILINE)
CHANGED = re.compile(r"^\t(?:(modified|new file|deleted|renamed|both modified):\s+)?(\S.*)$", re.MULTILINE)
SHORT = re.compile(r"^(?:[ MADRCU?!]{2}) \S", re.MULTILINE)
FAULT = re.compile(r"^(?:fatal|error): (.+)$|^(CONFLICT \(.+\): .+)$", re.MULTILINE)


def read_git(text: str, command: str) -> Reading | None:
    """Only for commands of git: other programs print such lines too."""
    if not re.search(r"(?:^|[;&|]\s*)git\s", command):
        return None
    if fault := FAULT.search(text):
        return Reading(clipped(f"git: {fault[1] or fault[2]}"))
    if commit := COMMIT.search(text):
        counts = COUNTS.search(text)
        told = clipped(f"commit {commit[2]} on {commit[1]}: {commit[3]}{f' ({counts[1]})' if counts else ''}")
        return Reading(told, (Finding("git commit", told, 0.9),))
    if "status" in command:
        told = clipped(status(text))
        return Reading(told, (Finding("git status", told, 0.6),)) if told else None
    counts = COUNTS.findall(text)
    return Reading(clipped(counts[-1])) if counts else None


def status(text: str) -> str:
    branch = STATUS.search(text)
    changed = [name for _, name in CHANGED.findall(text)] or [line[3:] for line in text.splitlines() if SHORT.match(line)]
    if not branch and not changed:
        return ""
    told = f"{len(changed)} changed: {', '.join(changed[:3])}" if changed else "nothing changed"
    return f"on {branch[1]}: {told}" if branch else told
