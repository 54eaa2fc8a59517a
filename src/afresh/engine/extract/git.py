"""What git says of commits, branches, the state of the tree, and of what it refuses."""

import re
from collections.abc import Iterable, Sequence

from afresh.engine.extract.output import Output
from afresh.engine.extract.reading import MOST, Finding, Reading, clipped, plural

GIT = re.compile(r"(?:^|[;&|(]\s*)git\s+(?:-[cC]\s+\S+\s+|--no-pager\s+)*([a-z][a-z-]*)")
COMMIT = re.compile(r"^\[(\S+)(?: \([\w-]+\))? ([0-9a-f]{7,40})\] (.+)$")
COUNTS = re.compile(r"^ (\d+ files? changed.*)$")
BRANCH = re.compile(r"^(?:On branch (\S+)|## ([^\s.]+)|HEAD detached at (\S+))")
CHANGED = re.compile(r"^\t(?:(modified|new file|deleted|renamed|both modified|both added|deleted by \w+):\s+)?(\S.*)$")
SHORT = re.compile(r"^(?:[ MADRCUT?!]{2}) (\S.*)$")
CONFLICT = re.compile(r"^CONFLICT \(([^)]+)\): (.+)$")
IN = re.compile(r"\bin (\S+)$")
REJECTED = re.compile(r"^ ! \[(?:remote )?rejected\]\s+(\S+) -> (\S+) \((.+)\)$")
FAULT = re.compile(r"^(?:fatal|error): (.+)$")
SWITCHED = re.compile(
    r"^(?:Switched to (?:a new )?branch '.+'|Already on '.+'|HEAD is now at .+|Deleted branch .+|Reset branch '.+')"
)
LOGGED = re.compile(r"^(?:\* |[*|/\\ ]+)?([0-9a-f]{7,40}) (\S.*)$")
FULL = re.compile(r"^commit ([0-9a-f]{40})\b")
DIFF = re.compile(r"^diff --git a/(.+) b/(.+)$")
SAID = re.compile(
    r"^(?:Already up to date\.|Everything up-to-date|Updated \d+ path|Saved working directory|Fast-forward|Dropped )"
)


def read_git(output: Output) -> Reading | None:
    """Only for commands of git: other programs print such lines too."""
    asked = GIT.findall(output.command)
    if not asked:
        return None
    return refused(output) or committed(output) or by_question(output, asked) or answered(output)


def refused(output: Output) -> Reading | None:
    """Conflicts and pushes that were turned down name what is to be done about; else the first fault."""
    lines = output.lines
    clashes = [(place, match) for place, line in enumerate(lines) if (match := CONFLICT.match(line))]
    if clashes:
        named = [(place, match, IN.search(match[2])) for place, match in clashes]
        found = [
            Finding(f"conflict in {where[1] if where else match[2]}", clipped(match[2]), 0.9, output.span(place))
            for place, match, where in named
        ]
        return Reading(clipped(f"git: {plural(len(found), 'conflict')}: {clashes[0][1][2]}"), tuple(found[:MOST]))
    for place, line in enumerate(lines):
        if match := REJECTED.match(line):
            told = clipped(f"push of {match[1]} to {match[2]} refused: {match[3]}")
            return Reading(f"git: {told}", (Finding("git push", told, 0.9, output.span(place)),))
    fault = next(((place, match) for place, line in enumerate(lines) if (match := FAULT.match(line))), None)
    if fault is None:
        return None
    told = clipped(f"git: {fault[1][1]}")
    return Reading(told, (Finding("", told, 0.8, output.span(fault[0])),) if output.failed else ())


def committed(output: Output) -> Reading | None:
    for place, line in enumerate(output.lines):
        if match := COMMIT.match(line):
            counts = next((found[1] for later in output.lines[place:] if (found := COUNTS.match(later))), "")
            told = clipped(f"commit {match[2]} on {match[1]}: {match[3]}{f' ({counts})' if counts else ''}")
            return Reading(told, (Finding("git commit", told, 0.9, output.span(place)),))
    return None


def by_question(output: Output, asked: Sequence[str]) -> Reading | None:
    if "status" in asked:
        told = clipped(status(output.lines))
        if told:
            return Reading(told, (Finding("git status", told, 0.6, output.span(0, len(output.lines) - 1)),))
    if {"log", "reflog", "show"}.intersection(asked) and (told := logged(output.lines)):
        return Reading(clipped(told))
    if "branch" in asked and (told := branches(output.lines)):
        return Reading(clipped(told))
    return Reading(clipped(told)) if (told := compared(output.lines)) else None


def status(lines: Iterable[str]) -> str:
    branch, changed, clean = "", list[str](), False
    for line in lines:
        if match := BRANCH.match(line):
            branch = next(filter(None, match.groups()))
        elif (match := CHANGED.match(line)) or (match := SHORT.match(line)):
            changed.append(match[match.lastindex or 1])
        clean = clean or "working tree clean" in line
    if not branch and not changed and not clean:
        return ""
    told = f"{len(changed)} changed: {', '.join(changed[:3])}" if changed else "nothing changed"
    return f"on {branch}: {told}" if branch else told


def logged(lines: Sequence[str]) -> str:
    """How many, and the newest."""
    full = [(match[1][:8], place) for place, line in enumerate(lines) if (match := FULL.match(line))]
    if full:
        subject = next((line.strip() for line in lines[full[0][1] :] if line.startswith("    ") and line.strip()), "")
        return f"{plural(len(full), 'commit')}: {full[0][0]} {subject}"
    short = [match for line in lines if (match := LOGGED.match(line))]
    return f"{plural(len(short), 'commit')}: {short[0][1]} {short[0][2]}" if short else ""


def branches(lines: Sequence[str]) -> str:
    names = [line[2:].strip() for line in lines if line.startswith(("* ", "  "))]
    here = next((line[2:] for line in lines if line.startswith("* ")), "")
    return f"on {here}; {plural(len(names), 'branch', 'branches')}" if here else ""


def compared(lines: Sequence[str]) -> str:
    """A patch by its files and lines; a summary of one by its last line."""
    counts = [match[1] for line in lines if (match := COUNTS.match(line))]
    if counts:
        return counts[-1]
    files = [match[2] for line in lines if (match := DIFF.match(line))]
    if not files:
        return ""
    added = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    return f"diff of {plural(len(files), 'file')} (+{added} −{removed}): {', '.join(files[:3])}{', …' if len(files) > 3 else ''}"


def answered(output: Output) -> Reading | None:
    """What git says in one line."""
    for line in output.lines:
        if SWITCHED.match(line) or SAID.match(line):
            return Reading(clipped(line))
    return None
