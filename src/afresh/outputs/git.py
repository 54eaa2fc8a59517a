"""Parses what git prints about commits, branches, the state of the tree, and refused operations."""

import re
from collections.abc import Iterable, Sequence

from afresh.core.command_output import (
    MAX_FINDINGS,
    CommandOutput,
    OutputFinding,
    OutputReading,
    format_plural,
    truncate_to_one_line,
)
from afresh.core.truncate import join_first

GIT_COMMAND = re.compile(r"(?:^|[;&|(]\s*)git\s+(?:-[cC]\s+\S+\s+|--no-pager\s+){0,9}([a-z][a-z-]*)")
COMMIT_LINE = re.compile(r"^\[(\S+)(?: \([\w-]+\))? ([0-9a-f]{7,40})\] (.+)$")
CHANGE_COUNTS = re.compile(r"^ (\d+ files? changed.*)$")
BRANCH_LINE = re.compile(r"^(?:On branch (\S+)|## ([^\s.]+)|HEAD detached at (\S+))")
CHANGED_FILE = re.compile(r"^\t(?:(modified|new file|deleted|renamed|both modified|both added|deleted by \w+):\s+)?(\S.*)$")
SHORT_STATUS = re.compile(r"^(?:[ MADRCUT?!]{2}) (\S.*)$")
CONFLICT_LINE = re.compile(r"^CONFLICT \(([^)]+)\): (.+)$")
CONFLICT_PATH = re.compile(r"\bin (\S+)$")
REJECTED_PUSH = re.compile(r"^ ! \[(?:remote )?rejected\]\s+(\S+) -> (\S+) \((.+)\)$")
FAULT_LINE = re.compile(r"^(?:fatal|error): (.+)$")
SWITCHED_BRANCH = re.compile(
    r"^(?:Switched to (?:a new )?branch '.+'|Already on '.+'|HEAD is now at .+|Deleted branch .+|Reset branch '.+')"
)
SHORT_LOG_LINE = re.compile(r"^(?:\* |[*|/\\ ]+)?([0-9a-f]{7,40}) (\S.*)$")
FULL_LOG_LINE = re.compile(r"^commit ([0-9a-f]{40})\b")
DIFF_HEADER = re.compile(r"^diff --git a/(.+) b/(.+)$")
ONE_LINE_ANSWER = re.compile(
    r"^(?:Already up to date\.|Everything up-to-date|Updated \d+ path|Saved working directory|Fast-forward|Dropped )"
)


def read_git(output: CommandOutput) -> OutputReading | None:
    """Return the reading of a git command; None for other programs, which may print such lines, too."""
    asked = GIT_COMMAND.findall(output.command)
    if not asked:
        return None
    return read_refusal(output) or read_commit(output) or read_by_subcommand(output, asked) or read_one_line_answer(output)


def read_refusal(output: CommandOutput) -> OutputReading | None:
    """Return conflicts and rejected pushes by what must be resolved; otherwise the first error."""
    lines = output.lines
    clashes = [(place, match) for place, line in enumerate(lines) if (match := CONFLICT_LINE.match(line))]
    if clashes:
        named = [(place, match, CONFLICT_PATH.search(match[2])) for place, match in clashes]
        findings = [
            OutputFinding(
                f"conflict in {where[1] if where else match[2]}", truncate_to_one_line(match[2]), 0.9, output.span(place)
            )
            for place, match, where in named
        ]
        return OutputReading(
            truncate_to_one_line(f"git: {format_plural(len(findings), 'conflict')}: {clashes[0][1][2]}"),
            tuple(findings[:MAX_FINDINGS]),
        )
    for place, line in enumerate(lines):
        if match := REJECTED_PUSH.match(line):
            text = truncate_to_one_line(f"push of {match[1]} to {match[2]} refused: {match[3]}")
            return OutputReading(f"git: {text}", (OutputFinding("git push", text, 0.9, output.span(place)),))
    fault = next(((place, match) for place, line in enumerate(lines) if (match := FAULT_LINE.match(line))), None)
    if fault is None:
        return None
    text = truncate_to_one_line(f"git: {fault[1][1]}")
    return OutputReading(text, (OutputFinding("", text, 0.8, output.span(fault[0])),) if output.failed else ())


def read_commit(output: CommandOutput) -> OutputReading | None:
    for place, line in enumerate(output.lines):
        if match := COMMIT_LINE.match(line):
            counts = next((found[1] for later in output.lines[place:] if (found := CHANGE_COUNTS.match(later))), "")
            text = truncate_to_one_line(f"commit {match[2]} on {match[1]}: {match[3]}{f' ({counts})' if counts else ''}")
            return OutputReading(text, (OutputFinding("git commit", text, 0.9, output.span(place)),))
    return None


def read_by_subcommand(output: CommandOutput, asked: Sequence[str]) -> OutputReading | None:
    if "status" in asked:
        text = truncate_to_one_line(summarise_status(output.lines))
        if text:
            return OutputReading(text, (OutputFinding("git status", text, 0.6, output.span(0, len(output.lines) - 1)),))
    if {"log", "reflog", "show"}.intersection(asked) and (text := summarise_log(output.lines)):
        return OutputReading(truncate_to_one_line(text))
    if "branch" in asked and (text := summarise_branches(output.lines)):
        return OutputReading(truncate_to_one_line(text))
    return OutputReading(truncate_to_one_line(text)) if (text := summarise_diff(output.lines)) else None


def summarise_status(lines: Iterable[str]) -> str:
    branch, changed, clean = "", list[str](), False
    for line in lines:
        if match := BRANCH_LINE.match(line):
            branch = next(filter(None, match.groups()))
        elif (match := CHANGED_FILE.match(line)) or (match := SHORT_STATUS.match(line)):
            changed.append(match[match.lastindex or 1])
        clean = clean or "working tree clean" in line
    if not branch and not changed and not clean:
        return ""
    text = f"{len(changed)} changed: {', '.join(changed[:3])}" if changed else "nothing changed"
    return f"on {branch}: {text}" if branch else text


def summarise_log(lines: Sequence[str]) -> str:
    """Return the number of commits, and the newest."""
    full = [(match[1][:8], place) for place, line in enumerate(lines) if (match := FULL_LOG_LINE.match(line))]
    if full:
        subject = next((line.strip() for line in lines[full[0][1] :] if line.startswith("    ") and line.strip()), "")
        return f"{format_plural(len(full), 'commit')}: {full[0][0]} {subject}"
    short = [match for line in lines if (match := SHORT_LOG_LINE.match(line))]
    return f"{format_plural(len(short), 'commit')}: {short[0][1]} {short[0][2]}" if short else ""


def summarise_branches(lines: Sequence[str]) -> str:
    names = [line[2:].strip() for line in lines if line.startswith(("* ", "  "))]
    here = next((line[2:] for line in lines if line.startswith("* ")), "")
    return f"on {here}; {format_plural(len(names), 'branch', 'branches')}" if here else ""


def summarise_diff(lines: Sequence[str]) -> str:
    """Return the files and lines of a patch, or the last line of a diffstat."""
    counts = [match[1] for line in lines if (match := CHANGE_COUNTS.match(line))]
    if counts:
        return counts[-1]
    files = [match[2] for line in lines if (match := DIFF_HEADER.match(line))]
    if not files:
        return ""
    added = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    return f"diff of {format_plural(len(files), 'file')} (+{added} −{removed}): {join_first(files, 3)}"


def read_one_line_answer(output: CommandOutput) -> OutputReading | None:
    """Return the answer of a command that prints one line."""
    for line in output.lines:
        if SWITCHED_BRANCH.match(line) or ONE_LINE_ANSWER.match(line):
            return OutputReading(truncate_to_one_line(line))
    return None
