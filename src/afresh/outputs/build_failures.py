"""What stops a build, an installation or a command before any code of the project is looked at."""

import re

from afresh.core.command_output import MAX_FINDINGS, CommandOutput, OutputFinding, OutputReading, truncate_to_one_line

BUILD_FAILURE_PATTERNS = (
    ("pip {0}", re.compile(r"^ERROR: No matching distribution found for (\S+)")),
    ("pip {0}", re.compile(r"^(?:  )?ERROR: Failed building wheel for (\S+)")),
    ("module {0}", re.compile(r"^(?:[^\s:]*python[\d.]*: |\s*ModuleNotFoundError: )No module named '?([\w.]+)'?")),
    ("file {0}", re.compile(r"^[^\s:]*(?:python|bash|sh)[\d.]*: (?:can't open file|line \d+:) '?([^\s':]+)'?: .*No such file")),
    ("file {0}", re.compile(r"^(?!rm: )[\w.-]+: (?:[a-z']+ ){0,3}['‘]?([^\s':‘’]+)['’]?: (?:open: )?No such file or directory$")),
    ("tests {0}", re.compile(r"^ERROR: (?:file or directory )?not found: (\S+)")),
    ("command {0}", re.compile(r"(?:^|: )(\S{1,80}): (?:command )?not found$")),
    ("command {0}", re.compile(r": command not found: (\S{1,80})$")),
    ("go", re.compile(r"^go: (?!downloading|finding|extracting|added|upgraded)(.+)$")),
    ("npm", re.compile(r"^npm (?:ERR!|error) (?!code\b|errno\b|path\b|A complete log)([A-Za-z].+)$")),
    ("cargo", re.compile(r"^error: ((?:could not compile|failed to|no matching package|no such command|package ID).+)$")),
    ("cmake", re.compile(r"^CMake Error(?: at (\S+:\d+))?")),
    ("gradle", re.compile(r"^> Task (\S+) FAILED$")),
    ("make {0}", re.compile(r"^make(?:\[\d+\])?: \*\*\* \[(?:[^\]:]+:\d+: )?([^\]]+)\] (?:Error \d+|Killed|Terminated)")),
    ("make", re.compile(r"^make(?:\[\d+\])?: \*\*\* (.+)$")),
)  # fmt: skip
"""Subject and line, what says most first."""


def read_build_failure(output: CommandOutput) -> OutputReading | None:
    """Only of a command that failed; what a build went on after did not stop it."""
    if not output.failed:
        return None
    found: dict[str, tuple[int, int]] = {}
    for place, line in enumerate(output.lines):
        for rank, (subject, pattern) in enumerate(BUILD_FAILURE_PATTERNS):
            if match := pattern.search(line):
                found.setdefault(subject.format(match[1]), (rank, place))
                break
    if not found:
        return None
    ordered = sorted(found.items(), key=lambda one: one[1])[:MAX_FINDINGS]
    findings = [
        OutputFinding(truncate_to_one_line(subject, 100), truncate_to_one_line(output.lines[place]), 0.9, output.span(place))
        for subject, (_, place) in ordered
    ]
    return OutputReading(truncate_to_one_line(f"{output.ended}: {findings[0].text}"), tuple(findings))
