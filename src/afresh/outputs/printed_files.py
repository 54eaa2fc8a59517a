"""Commands that print files, or names of files: which, and which lines. A phrase is enough, what they show is no finding."""

import re
import shlex
from collections.abc import Sequence

from afresh.core.command_output import CommandOutput, OutputReading, format_plural, truncate_to_one_line

PRINTING_PROGRAMS = ("cat", "nl", "head", "tail", "sed", "bat", "less", "more")
LISTING_PROGRAMS = ("ls", "find", "tree", "fd")
MAX_PRINT_COMMAND_CHARACTERS = 600
"""Characters of a command that are looked at."""
COMMAND_SEPARATOR = re.compile(r"\s*(?:&&|;|\|\||\n)\s*")
SED_LINE_RANGE = re.compile(r"^(?:-n)?\s*'?\"?(\d+)(?:,(\d+|\$))?p'?\"?;?$")
LOG_FILE = re.compile(r"\.(?:log|out|err|txt)\b")
SED_PATTERN_RANGE = re.compile(r"^/(.{1,80}?)/,(?:/.{1,80}/|\+\d+|\$)p$")
QUIET_REDIRECTION = re.compile(r"\s*(?:2>&1|2>\s*/dev/null)|<<\s*/dev/null")


def read_printed_source(output: CommandOutput) -> OutputReading | None:
    """What a file of the project holds is its text, whatever that looks like; a log is to be read as what it tells of."""
    return None if LOG_FILE.search(output.command) else read_printed_files(output)


def read_printed_files(output: CommandOutput) -> OutputReading | None:
    """If all of a command does nothing but print files, or list names."""
    command = QUIET_REDIRECTION.sub("", output.command.strip())
    if output.failed or not any(output.lines) or len(command) > MAX_PRINT_COMMAND_CHARACTERS or ">" in command or "<" in command:
        return None
    parts = [
        part for part in COMMAND_SEPARATOR.split(command) if part and not re.match(r"(?:cd|echo|printf|set|true|pwd)\b", part)
    ]
    shown = [describe_printed_lines(part) for part in parts]
    if shown and all(shown):
        return OutputReading(truncate_to_one_line("prints " + "; ".join(dict.fromkeys(shown))))
    if len(parts) == 1 and split_words(parts[0])[:1] and split_words(parts[0])[0] in LISTING_PROGRAMS and "-exec" not in parts[0]:
        return reading_from_listing(output.lines)
    return None


def split_words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def describe_printed_lines(part: str) -> str:
    """`path lines 10-40`; nothing if it is anything else than printing. A pipe may only cut the lines further."""
    first, *more = [split_words(piece) for piece in part.split("|")]
    if not first or first[0] not in PRINTING_PROGRAMS or not all(piece and piece[0] in PRINTING_PROGRAMS for piece in more):
        return ""
    paths, where = parse_print_arguments(first)
    if first[0] == "sed" and not where:
        return ""
    cuts = [cut for piece in more if (cut := parse_print_arguments(piece)[1])]
    told = ", ".join(paths[:3]) + (", …" if len(paths) > 3 else "")
    return f"{told} {' of '.join([*reversed(cuts), *filter(None, [where])])}".strip() if paths else ""


def parse_print_arguments(piece: Sequence[str]) -> tuple[list[str], str]:
    """The files of a command, and the lines that it prints of them."""
    program, rest = piece[0], list(piece[1:])
    lines, paths, counting = "", list[str](), False
    for word in rest:
        if program == "sed" and (match := SED_LINE_RANGE.match(word)):
            lines = f"lines {match[1]}-{match[2] or match[1]}"
        elif program == "sed" and (match := SED_PATTERN_RANGE.match(word)):
            lines = f"from {match[1]!r}"
        elif (
            program in ("head", "tail")
            and (match := re.fullmatch(r"(?:-n?|--lines=)?\+?(\d+)", word))
            and (counting or word[0] == "-")
        ):
            lines = f"{'first' if program == 'head' else 'last'} {match[1]} lines"
        elif not word.startswith("-") and not (program == "nl" and word == "a"):
            paths.append(word)
        counting = word in ("-n", "--lines")
    return paths, lines or {"head": "first 10 lines", "tail": "last 10 lines"}.get(program, "")


def reading_from_listing(lines: Sequence[str]) -> OutputReading:
    names = [line.split()[-1] for line in lines if line.split() and not re.match(r"total \d+$", line)]
    return OutputReading(
        truncate_to_one_line(f"{format_plural(len(names), 'name')}: {', '.join(names[:6])}{', …' if len(names) > 6 else ''}")
    )
