"""Parses findings of compilers, linters and type checkers, and failures of builds, installations and commands."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afresh.core.command_output import (
    MAX_FINDINGS,
    CommandOutput,
    OutputFinding,
    OutputReading,
    format_plural,
    mask_volatile_names,
    truncate_to_one_line,
)

PATH_WITH_ENDING = r"[\w./\\+@~$\[\]-]+\.[A-Za-z]\w{0,9}"
"""A path with a suffix. No pattern may contain it twice for one line: matching would no longer take linear time."""
SEVERITY_WORD = re.compile(r"^(?:fatal |internal |compiler )?(error|warning)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    place: str
    text: str
    first: int
    last: int
    severity: str = ""
    """error, warning, or empty for a finding without a severity."""


def severity_from_text(text: str) -> str:
    match = SEVERITY_WORD.match(text)
    return match[1].lower() if match else ""


ONE_LINE_DIAGNOSTIC = re.compile(
    rf"^\s*(?:vet: |\[(?:ERROR|WARNING)\] )?(?:\./)?(?P<path>{PATH_WITH_ENDING})"
    r"(?::\[?|\()(?P<line>\d+)(?:[:,](?P<column>\d+))?[\])]?:?(?:\s-)?\s+(?P<text>\S.*)$"
)
WHOLE_FILE_ERROR = re.compile(rf"^(?P<path>{PATH_WITH_ENDING}): (?P<text>error: .+)$")
"""An error about a file as a whole."""
SEVERITY_OR_CODE = re.compile(r"(?:fatal |internal )?(?:error|warning)\b|[A-Z]{1,4}\d{2,5}\b")
COMPILED_ENDINGS = (".go", ".java")
"""Go reports errors without a severity; Maven puts the severity first."""


def parse_one_line_diagnostics(lines: Sequence[str]) -> Iterator[Diagnostic]:
    """Yield diagnostics; notes belong to the line before them."""
    for number, line in enumerate(lines):
        if match := ONE_LINE_DIAGNOSTIC.match(line):
            path, text = match["path"], match["text"].replace("[*] ", "", 1)
            compiled = path.endswith(COMPILED_ENDINGS)
            if SEVERITY_OR_CODE.match(match["text"]) or (match["column"] and compiled and not line[0].isspace()):
                severity = "warning" if "[WARNING]" in line else "error" if compiled else ""
                yield Diagnostic(f"{path}:{match['line']}", text, number, number, severity_from_text(text) or severity)
        elif match := WHOLE_FILE_ERROR.match(line):
            yield Diagnostic(match["path"], match["text"], number, number, "error")


ARROW_LINE = re.compile(rf"^\s*--> (?P<path>{PATH_WITH_ENDING}):(?P<line>\d+)(?::\d+)?$")
ARROW_HEADING = re.compile(r"^(?:[a-z][\w-]{2,40}(?:\[[\w-]+\])?: |[A-Z]{1,4}\d{2,5} )\S")
ASIDE_HEADINGS = ("help: ", "note: ")
MAX_HEADING_LINES = 3
"""Lines that a heading may have before its arrow."""


def parse_arrow_diagnostics(lines: Sequence[str]) -> Iterator[Diagnostic]:
    heading = -MAX_HEADING_LINES - 1
    for number, line in enumerate(lines):
        if ARROW_HEADING.match(line):
            heading = number
        elif (
            (match := ARROW_LINE.match(line))
            and number - heading <= MAX_HEADING_LINES
            and not lines[heading].startswith(ASIDE_HEADINGS)
        ):
            text = " ".join(part.strip() for part in lines[heading:number]).replace("[*] ", "", 1)
            yield Diagnostic(f"{match['path']}:{match['line']}", text, heading, number, severity_from_text(text))
            heading = -MAX_HEADING_LINES - 1


STYLISH_FILE = re.compile(r"^\S.*\.\w{1,6}$")
STYLISH_LINE = re.compile(r"^\s+(\d+):\d+\s+(error|warning)\s+(\S.*)$")


def parse_stylish_diagnostics(lines: Sequence[str]) -> Iterator[Diagnostic]:
    file = ""
    for number, line in enumerate(lines):
        if (match := STYLISH_LINE.match(line)) and file:
            message, gap, rule = match[3].rpartition("  ")
            text = f"{message.strip()} ({rule})" if gap and " " not in rule else match[3]
            yield Diagnostic(mask_volatile_names(f"{file}:{match[1]}"), f"{match[2]}: {text}", number, number, match[2])
        elif line:
            file = line if STYLISH_FILE.match(line) else ""


CLEAN_RESULT = re.compile(
    r"^(?:All checks passed!|Success: no issues found|0 issues\.|0 errors, 0 warnings|Found 0 errors|\d+ files? already formatted"
    r"|\d+ files? left unchanged|No (?:errors|issues|problems) found)"
)
"""How linters report that they found nothing."""
MAX_CLOSING_LINES = 6


def read_diagnostics(output: CommandOutput) -> OutputReading | None:
    lines = output.lines
    parsed = [*parse_one_line_diagnostics(lines), *parse_arrow_diagnostics(lines), *parse_stylish_diagnostics(lines)]
    if not parsed:
        return None if output.failed else read_clean_result(lines)
    latest_first = sorted(parsed, key=lambda one: -one.first)
    diagnostics = list({(one.place, one.text): one for one in latest_first}.values())[::-1]
    where = f" in {format_plural(len({one.place.rpartition(':')[0] or one.place for one in diagnostics}), 'file')}"
    gravest = dict[str, Diagnostic]()  # one for each place, as a newer fact about a place replaces the older
    for diagnostic in sorted(diagnostics, key=lambda one: one.severity == "warning"):
        gravest.setdefault(diagnostic.place, diagnostic)
    shown = list(gravest.values())
    first = shown[0]
    findings = [
        OutputFinding(one.place, truncate_to_one_line(one.text), 0.9, output.span(one.first, one.last))
        for one in shown[:MAX_FINDINGS]
    ]
    phrase = truncate_to_one_line(f"{count_by_severity(diagnostics)}{where}: {first.place} {first.text}")
    return OutputReading(phrase, tuple(findings), wrong=frozenset(one.place for one in diagnostics))


def read_clean_result(lines: Sequence[str]) -> OutputReading | None:
    """Return the line that says that nothing was found, unless much else is printed."""
    text = next((line for line in reversed(lines[-MAX_CLOSING_LINES:]) if CLEAN_RESULT.match(line)), None)
    return OutputReading(truncate_to_one_line(text)) if text else None


def count_by_severity(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the number of errors and warnings if they have a severity, otherwise of findings."""
    errors, warnings = (sum(diagnostic.severity == word for diagnostic in diagnostics) for word in ("error", "warning"))
    rest = len(diagnostics) - errors - warnings
    told = [(errors, "error"), (warnings, "warning"), (rest, "finding")]
    return ", ".join(format_plural(count, word) for count, word in told if count)


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
    ("make {0}", re.compile(r"^make(?:\[\d+\])?: \*\*\* \[(?:[^\]:]+:\d+: )?([^\]]+)\] (?:Error \d+|Killed|Terminated)")),
    ("make", re.compile(r"^make(?:\[\d+\])?: \*\*\* (.+)$")),
)  # fmt: skip
"""Subject and pattern, the most specific first."""


def read_build_failure(output: CommandOutput) -> OutputReading | None:
    """Return the failure of a build; None if the command succeeded, since errors did not stop it."""
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
